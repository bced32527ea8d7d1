/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/deframer.h"
#include "slep/codec.h"

#include <hf/modem_user.h>

#include <array>
#include <optional>
#include <random>

namespace gr::hf::sim {

//! SLEP PDUs that a station can send in the name of another one.
enum class slep_forgery : unsigned {
    open,     //!< SO with a connect request of HF-PEP
    accept,   //!< SR to an open that is on its way
    refuse,   //!< SR that refuses it
    data,     //!< SD with other octets
    end,      //!< SD with FIN and a wrong digest
    control,  //!< SC with any acknowledgement and window
    abort,    //!< SX
    restart,  //!< SX that announces a restart
    datagram, //!< UD, RD and RA
    garbage   //!< octets without a layout
};
constexpr unsigned slep_forgeries = 10;
const char* to_string(slep_forgery f);
//! Port in forged connect requests, which no genuine connection uses.
constexpr uint16_t forged_port = 6666;

/*! \brief User of a third modem between two proxies. It injects SLEP PDUs in the name of
 *         either station, in D_PDUs with good CRCs, whenever it hears nobody.
 */
class slep_forger : public modem_user
{
public:
    //! What it does.
    struct plan {
        slep_forgery forgery{};
        //! True: stream numbers, incarnations and SEQs are those it has overheard and
        //! that come next. False: they are random.
        bool listens = false;
        //! True: ARQ data with the number that the victim expects. False: without ARQ.
        bool arq = false;
        uint64_t seed = 1;
        station_time from{}, until{}; //!< time of the first and of the last forgery
        const char* mode_text = "4539-9600S";
        //! The stations seal their U_PDUs. It reads these without the trailer, and
        //! appends a trailer that it has overheard to half of the forgeries.
        bool sealed = false;
    };
    slep_forger(s5066::address a, s5066::address b, const plan& p)
        : d_ends{ a, b }, d_plan(p), d_random(p.seed), d_next(p.from)
    {
        d_deframer.set_large([](s5066::address, s5066::address) { return true; });
    }

    unsigned sent() const { return d_count; } //!< forged PDUs so far

    void on_tick(station_time) override {}
    std::optional<mode> want_tx(station_time now) override;
    tx_octets pull(station_time now, station_time air_time, size_t max_octets) override;
    void on_tx_end(station_time now) override;
    void on_rx_start(station_time now, const rx_start& e) override;
    void on_rx_octets(station_time now, const rx_octets& e) override;
    void on_rx_end(station_time now, const rx_end& e) override;
    //! Time at which it may want to transmit.
    std::optional<station_time> next_deadline() const
    {
        return d_hears || d_next >= d_plan.until ? std::nullopt : std::optional(d_next);
    }

private:
    // What one station has sent last.
    struct overheard {
        std::optional<slep::stream_open> open;
        std::optional<slep::stream_data> data;
        uint16_t instance = 0;
        uint16_t next_fsn = 0;
        slep::octets trailer; // of a sealed U_PDU
        bool large = false;
    };
    uint64_t below(uint64_t n) { return d_random() % n; }
    uint8_t any() { return static_cast<uint8_t>(d_random()); }
    slep::octets octets_of(size_t most);
    void note(const s5066::d_pdu& d);
    slep::octets forged(size_t side);
    slep::octets opening(const overheard& me);
    slep::octets answer(const overheard& me, const overheard& other);
    slep::octets in_stream(const overheard& me, const overheard& other);
    slep::octets some_datagram();
    void add_transmission();
    s5066::d_pdu carrier(size_t side, slep::octets u_pdu);

    const std::array<s5066::address, 2> d_ends;
    const plan d_plan;
    std::mt19937_64 d_random;
    station_time d_next;
    bool d_hears = false;
    s5066::d_pdu_deframer d_deframer;
    std::array<overheard, 2> d_heard;
    std::vector<uint8_t> d_octets; // to send
    size_t d_sent = 0;
    unsigned d_count = 0;
};

} // namespace gr::hf::sim
