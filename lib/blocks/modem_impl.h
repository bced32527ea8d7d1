/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "blocks/level.h"
#include "blocks/modem_messages.h"
#include "blocks/modem_reporter.h"
#include "modem/half_duplex_modem.h"

#include <hf/modem.h>

namespace gr::hf {

class modem_impl : virtual public modem, protected modem_user
{
public:
    modem_impl(bool lock_step,
               bool zero_interleaver,
               int agc_blocks,
               int effort,
               double start_delay_s,
               double level,
               int bandwidth);

    int work(int noutput_items,
             gr_vector_const_void_star& input_items,
             gr_vector_void_star& output_items) override;

    bool start() override;
    modem_state state() const override;
    void set_level(double level) override { d_level.set(level); }

protected:
    //! Whether the data link may use the channel; empty: nobody else decides.
    virtual std::optional<modem_messages::channel_use> channel_use() { return {}; }
    //! Each answer of the data link to a tick.
    virtual void on_answer(const modem_messages::tick_answer&) {}
    // modem_user, as messages on the port
    void on_tick(station_time now) override;
    std::optional<mode> want_tx(station_time now) override;
    tx_octets pull(station_time now, station_time air_time, size_t max_octets) override;
    void on_tx_end(station_time now) override { d_reports.tx_end(now); }
    void on_rx_start(station_time now, const rx_start& e) override
    {
        d_reports.rx_start(now, e);
    }
    void on_rx_octets(station_time now, const rx_octets& e) override
    {
        d_reports.rx_octets(now, e);
        d_reports.channel(now, d_modem.channel());
        d_reports.block(now, e, d_modem.channel(), d_modem.details().get());
    }
    void on_rx_end(station_time now, const rx_end& e) override
    {
        d_reports.rx_end(now, e);
    }
    void on_carrier(station_time now, bool present) override
    {
        d_reports.carrier(now, present);
    }

    hf::level d_level;
    kernel::half_duplex_modem d_modem;
    modem_reporter d_reports{ *this };

private:
    const float* find_erased(size_t n);
    void on_radio(const pmt::pmt_t& msg);
    template <class Parse>
    auto await(Parse parse, int patience_ms) -> decltype(parse(pmt::pmt_t()));

    const bool d_lock_step;
    const pmt::pmt_t d_port;
    std::vector<float> d_erased; // erasures among the samples of one call
    uint64_t d_erased_end = 0;   // end of the range that the latest tag reports
    const int d_bandwidth;       // kHz
    bool d_connected = false;    // a block is connected to the port and will answer
    size_t d_ticks_out = 0;      // ticks not yet answered
};

} // namespace gr::hf
