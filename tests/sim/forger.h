/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/c_pdu.h"
#include "s5066/pdu/d_pdu.h"

#include <hf/modem_user.h>

#include <random>

namespace gr::hf::sim {

/*! \brief A modem's user that sends random D_PDUs with good CRCs between two other
 *         stations, as if it were one of them: link control, resets, any EOT, any number.
 */
class forger : public modem_user
{
public:
    forger(s5066::address a, s5066::address b, uint64_t seed, station_time until)
        : d_ends{ a, b }, d_random(seed), d_until(until)
    {
    }

    std::optional<mode> want_tx(station_time now) override
    {
        if (d_sending || now < d_next || now >= d_until) {
            return std::nullopt;
        }
        d_sending = true;
        d_blocks = 1 + d_random() % 4;
        return mode::parse("4539-2400S");
    }
    tx_octets pull(station_time, station_time, size_t max_octets) override
    {
        tx_octets o;
        for (auto d = encode(some()); o.octets.size() + d.size() <= max_octets;
             d = encode(some())) {
            o.octets.insert(o.octets.end(), d.begin(), d.end());
        }
        o.last = --d_blocks == 0;
        o.octets.resize(o.last ? o.octets.size() : max_octets);
        return o;
    }
    void on_tx_end(station_time now) override
    {
        d_sending = false;
        d_next = now + std::chrono::milliseconds(200 + d_random() % 5000);
    }
    void on_tick(station_time) override {}
    void on_rx_start(station_time, const rx_start&) override {}
    void on_rx_octets(station_time, const rx_octets&) override {}
    void on_rx_end(station_time, const rx_end&) override {}

private:
    uint8_t any() { return static_cast<uint8_t>(d_random()); }
    bool coin() { return d_random() % 2 != 0; }

    s5066::d_pdu some()
    {
        using s5066::d_pdu_type;
        s5066::d_pdu d;
        const bool forth = coin();
        d.src = d_ends[forth ? 0 : 1];
        d.dst = d_ends[forth ? 1 : 0];
        d.type = static_cast<d_pdu_type>(d_random() % 16);
        d.eot = any();
        d.eow = static_cast<uint16_t>(d_random() % 0x1000);
        d.arq.start = coin();
        d.arq.end = coin();
        d.arq.uwe = coin();
        d.arq.lwe = coin();
        d.arq.fsn = any();
        d.ack.rx_lwe = any();
        d.reset.full = coin();
        d.reset.ack = coin();
        d.reset.tx_rqst = coin();
        d.reset.rx_cmnd = coin();
        d.reset.frame_id = any();
        d.reset.new_rx_lwe = any();
        d.management.valid = coin();
        d.management.ack = coin();
        d.management.frame_id = any();
        d.warning.received_type = any() & 15;
        d.warning.reason = any() & 3;
        d.segment.assign(1 + d_random() % 30, any());
        d.non_arq.c_pdu_size = static_cast<uint16_t>(d.segment.size());
        d.non_arq.c_pdu_id = any();
        d.non_arq.window = static_cast<uint16_t>(d_random());
        if (d.type == d_pdu_type::expedited_non_arq_data && coin()) {
            d.segment = encode(s5066::c_pdu{
                static_cast<s5066::c_pdu_type>(d_random() % 6), any(), {} });
            d.segment.resize(1);
            d.non_arq.c_pdu_size = 1;
        }
        return d;
    }

    s5066::address d_ends[2];
    std::mt19937_64 d_random;
    station_time d_until;
    station_time d_next = std::chrono::seconds(2);
    bool d_sending = false;
    uint64_t d_blocks = 0;
};

} // namespace gr::hf::sim
