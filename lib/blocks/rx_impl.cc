/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/modem_messages.h"
#include "blocks/pdu.h"
#include "modem/burst_receiver.h"
#include "modem/diversity_receiver.h"
#include "waveform/family.h"

#include <gnuradio/io_signature.h>
#include <hf/rx.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>

namespace gr::hf {
namespace {

constexpr size_t max_message_octets = 16 * 1024 * 1024;

// A receiver with one antenna or two, which take different input.
class listener
{
public:
    listener(const kernel::rx_options& options, int bandwidth, int antennas, bool join)
    {
        const auto families = kernel::listened_for(bandwidth, join);
        if (antennas == 2)
            d_both.emplace(options, families);
        else
            d_one.emplace(options, families);
    }

    void push(const gr_vector_const_void_star& in, size_t n)
    {
        const auto* a = static_cast<const gr_complex*>(in[0]);
        if (d_both)
            d_both->push(a, static_cast<const gr_complex*>(in[1]), n);
        else
            d_one->push(a, n);
    }
    std::optional<kernel::rx_event> poll()
    {
        return d_both ? d_both->poll() : d_one->poll();
    }
    void keep_details(bool wanted)
    {
        d_both ? d_both->keep_details(wanted) : d_one->keep_details(wanted);
    }
    const kernel::symbol_grid& grid() const
    {
        return d_both ? d_both->grid() : d_one->grid();
    }

private:
    std::optional<kernel::burst_receiver> d_one;
    std::optional<kernel::diversity_receiver> d_both;
};

int checked_antennas(int antennas)
{
    if (antennas != 1 && antennas != 2)
        throw std::invalid_argument("antennas = " + std::to_string(antennas) +
                                    ": allowed are 1 and 2");
    return antennas;
}

class rx_impl : public rx
{
public:
    rx_impl(bool zero_interleaver,
            uint64_t max_blocks,
            int effort,
            int bandwidth,
            int antennas,
            bool join)
        : gr::sync_block("hf_rx",
                         gr::io_signature::make(antennas, antennas, sizeof(gr_complex)),
                         gr::io_signature::make(0, 0, 0)),
          d_receiver(
              [&] {
                  kernel::rx_options o;
                  o.zero_interleaver = zero_interleaver;
                  o.max_blocks = max_blocks;
                  o.effort = effort;
                  return o;
              }(),
              bandwidth,
              antennas,
              join),
          d_pdus(pmt::mp("pdus")), d_events(pmt::mp("events")),
          d_blocks(pmt::mp("blocks"))
    {
        message_port_register_out(d_pdus);
        message_port_register_out(d_events);
        message_port_register_out(d_blocks);
    }

    // Details are kept only while a block is connected.
    bool start() override
    {
        d_receiver.keep_details(pmt::length(message_subscribers(d_blocks)) > 0);
        return true;
    }

    uint64_t receptions() const override { return d_receptions; }

    int work(int n, gr_vector_const_void_star& in, gr_vector_void_star&) override
    {
        d_receiver.push(in, static_cast<size_t>(n));
        while (const auto e = d_receiver.poll())
            if (const auto* s = std::get_if<rx_start>(&e->what))
                begin(*s, e->sample);
            else if (const auto* o = std::get_if<rx_octets>(&e->what))
                block(*o, *e);
            else
                end(std::get<rx_end>(e->what).reason, e->sample);
        return n;
    }

    // A transmission cut off by the end of the input is delivered as well.
    bool stop() override
    {
        if (d_receiving)
            end(rx_end_reason::lost, static_cast<int64_t>(nitems_read(0)));
        return true;
    }

private:
    void begin(const rx_start& s, int64_t sample)
    {
        ++d_receptions;
        d_receiving = true;
        d_octets.clear();
        d_meta = pdu::builder();
        d_mode = s.m.to_string();
        d_meta.set(keys::mode(), d_mode)
            .set(keys::snr_db(), s.snr_db)
            .set(keys::freq_offset_hz(), s.freq_offset_hz)
            .set(keys::joined(), s.joined)
            .set(keys::start_sample(),
                 static_cast<uint64_t>(std::max<int64_t>(sample, 0)));
        publish_event("rx_start", {});
    }

    void block(const rx_octets& o, const kernel::rx_event& e)
    {
        const kernel::channel_report& c = e.channel;
        if (e.details) {
            const double seconds =
                static_cast<double>(e.sample) / d_receiver.grid().sample_rate();
            message_port_pub(
                d_blocks,
                modem_messages::block(
                    from_seconds(std::max(seconds, 0.0)), d_mode, o, c, *e.details));
        }
        d_meta.set(keys::snr_db(), o.snr_db)
            .set(keys::quality(), o.quality)
            .set(keys::reading(), std::string(to_string(o.reading)));
        if (c.profile.empty()) {
            // Values of an earlier block must not look like those of this one.
            for (const auto* key : { &keys::doppler_hz(),
                                     &keys::delay_spread_ms(),
                                     &keys::coded_ber(),
                                     &keys::profile() })
                d_meta.unset(*key);
        } else {
            d_meta.set(keys::freq_offset_hz(), c.freq_offset_hz)
                .set(keys::doppler_hz(), c.doppler_hz)
                .set(keys::delay_spread_ms(), c.delay_spread_ms)
                .set(keys::coded_ber(), c.coded_ber)
                .set(keys::profile(), c.profile);
        }
        publish_event("rx_octets", o.octets);
        d_octets.insert(d_octets.end(), o.octets.begin(), o.octets.end());
        if (d_octets.size() >= max_message_octets) {
            message_port_pub(d_pdus, d_meta.make(d_octets));
            d_octets.clear();
        }
    }

    void end(rx_end_reason reason, int64_t sample)
    {
        d_receiving = false;
        d_meta.set(keys::reason(), std::string(modem_messages::to_string(reason)))
            .set(keys::end_sample(), static_cast<uint64_t>(std::max<int64_t>(sample, 0)));
        publish_event("rx_end", {});
        // The profile describes only one block, and makes the PDU long to read.
        d_meta.unset(keys::profile());
        message_port_pub(d_pdus, d_meta.make(d_octets));
        d_octets.clear();
    }

    void publish_event(const char* type, const std::vector<uint8_t>& octets)
    {
        pdu::builder e = d_meta;
        message_port_pub(d_events, e.set(keys::type(), std::string(type)).make(octets));
    }

    listener d_receiver;
    const pmt::pmt_t d_pdus;
    const pmt::pmt_t d_events;
    const pmt::pmt_t d_blocks;
    bool d_receiving = false;
    std::string d_mode;
    pdu::builder d_meta;
    std::vector<uint8_t> d_octets;
    std::atomic<uint64_t> d_receptions{ 0 };
};

} // namespace

rx::sptr rx::make(bool zero_interleaver,
                  uint64_t max_blocks,
                  int effort,
                  int bandwidth,
                  int antennas,
                  bool join)
{
    return gnuradio::make_block_sptr<rx_impl>(zero_interleaver,
                                              max_blocks,
                                              effort,
                                              bandwidth,
                                              checked_antennas(antennas),
                                              join);
}

} // namespace gr::hf
