/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/node/node.h"
#include "s5066/pdu/c_pdu.h"
#include "s5066/pdu/deframer.h"
#include "s5066/pdu/s_pdu.h"
#include "s5066/pdu/s_primitive.h"
#include "waveform/timing.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief A node under test, with a modem and a peer that do exactly what the test says.
 *
 * The node is 1.1.0.0, the peer 1.2.0.0.
 */
class scripted_peer
{
public:
    explicit scripted_peer(node_config c = node_config(), code_decoder decode = {})
        : d_config(prepare(c)), n(d_config, std::move(decode))
    {
    }

    static node_config prepare(node_config c)
    {
        c.own = address("1.1.0.0");
        return c;
    }

    //! A D_PDU from the peer to the node.
    static d_pdu from_peer(d_pdu_type type)
    {
        d_pdu d;
        d.type = type;
        d.src = address("1.2.0.0");
        d.dst = address("1.1.0.0");
        d.eot = 1;
        return d;
    }
    static d_pdu data(uint8_t fsn, size_t octets = 10)
    {
        d_pdu d = from_peer(d_pdu_type::data_only);
        d.arq.start = d.arq.end = true;
        d.arq.in_order = true;
        d.arq.fsn = fsn;
        s_pdu s;
        s.src_sap = s.dst_sap = 3;
        s.u_pdu.assign(octets, fsn);
        d.segment = encode(c_pdu{ c_pdu_type::data, 0, encode(s) });
        return d;
    }
    static d_pdu link(c_pdu_type type, uint16_t id = 1, uint8_t low = 0)
    {
        d_pdu d = from_peer(d_pdu_type::expedited_non_arq_data);
        d.non_arq.c_pdu_id = id;
        d.non_arq.c_pdu_size = 1;
        d.non_arq.window = 60;
        d.segment = encode(c_pdu{ type, low, {} });
        return d;
    }
    static d_pdu ack(uint8_t rx_lwe, std::vector<uint8_t> selective = {})
    {
        d_pdu d = from_peer(d_pdu_type::ack_only);
        d.ack.rx_lwe = rx_lwe;
        d.ack.selective = std::move(selective);
        return d;
    }

    //! The node receives one transmission of the peer.
    void receive(const std::vector<d_pdu>& list, rx_end_reason how = rx_end_reason::eom)
    {
        std::vector<uint8_t> octets;
        for (const auto& d : list) {
            const auto v = encode(d);
            octets.insert(octets.end(), v.begin(), v.end());
        }
        receive_octets(octets, how);
    }
    void receive_octets(const std::vector<uint8_t>& octets,
                        rx_end_reason how = rx_end_reason::eom)
    {
        rx_start s;
        s.m = peer_mode ? *peer_mode : mode::parse(d_config.mode);
        n.on_rx_start(now, s);
        now += std::chrono::milliseconds(600);
        rx_octets o;
        o.octets = octets;
        o.snr_db = snr_db;
        n.on_rx_octets(now, o);
        rx_end e;
        e.reason = how;
        e.air_end = now;
        n.on_rx_end(now, e);
    }

    //! Lets time pass, at most \p s seconds. \return true if the node keys its
    //! transmitter
    bool wait(double s)
    {
        const station_time end = now + from_seconds(s);
        for (; now <= end; now += std::chrono::milliseconds(10)) {
            n.on_tick(now);
            if (const auto m = n.want_tx(now)) {
                tx_mode = *m;
                return true;
            }
        }
        return false;
    }

    //! The node's next transmission; empty if it does not transmit within \p s seconds.
    std::vector<d_pdu> transmission(double s = 5)
    {
        if (!wait(s)) {
            return {};
        }
        return send_out();
    }
    //! Call after wait() has returned true.
    std::vector<d_pdu> send_out()
    {
        const auto t = kernel::timing_of(tx_mode);
        const station_time begin = now;
        d_pdu_deframer f;
        size_t octets = 0, block = 0;
        tx_octets o;
        do {
            const size_t ask = ((block + 1) * t.bits_per_block + 7) / 8 - octets;
            o = n.pull(begin + t.block_begin(block), begin + t.block_begin(block), ask);
            octets += o.octets.size();
            f.push(o.octets);
            ++block;
        } while (!o.last);
        now = begin + t.duration(octets);
        n.on_tx_end(now);
        air_time = now - begin - t.block_begin(0);
        std::vector<d_pdu> list;
        while (const auto r = f.next()) {
            list.push_back(r->pdu);
        }
        return list;
    }

    //! Primitives for the clients since the last call.
    std::vector<std::pair<client_id, s_primitive>> primitives()
    {
        std::vector<std::pair<client_id, s_primitive>> list;
        while (auto p = n.poll_sis()) {
            if (const auto q = decode_primitive(p->octets)) {
                list.emplace_back(p->client, *q);
            }
        }
        return list;
    }
    //! The only primitive that arrived, of type T.
    template <typename T>
    std::optional<T> answer()
    {
        const auto list = primitives();
        if (list.size() != 1 || !std::holds_alternative<T>(list[0].second)) {
            return std::nullopt;
        }
        return std::get<T>(list[0].second);
    }
    void send(client_id c, const s_primitive& p) { n.sis_in(now, c, encode(p)); }
    void bind(client_id c, uint8_t sap, uint8_t rank = 0)
    {
        s_bind_request r;
        r.sap = sap;
        r.rank = rank;
        send(c, r);
        primitives();
    }
    void submit(client_id c,
                size_t octets,
                const delivery_mode& m = delivery_mode(),
                uint8_t priority = 0)
    {
        s_unidata_request r;
        r.dst = address("1.2.0.0");
        r.dst_sap = 3;
        r.priority = priority;
        r.mode = m;
        r.u_pdu.assign(octets, priority);
        send(c, r);
    }
    //! The peer makes a link.
    void make_link()
    {
        receive({ link(c_pdu_type::link_request) });
        transmission();
        // Shows that the answer was heard: a repeat of the last number of another link.
        auto repeat = data(255);
        repeat.arq.uwe = repeat.arq.lwe = false;
        receive({ repeat });
        transmission();
    }

    node_config d_config;
    node n;
    station_time now{};
    mode tx_mode;
    std::optional<mode> peer_mode; // empty: that of the node
    double snr_db = 0;             // reported for what the peer sends
    station_time air_time{};
};

//! The D_PDUs of one type.
inline std::vector<d_pdu> of_type(const std::vector<d_pdu>& list, d_pdu_type t)
{
    std::vector<d_pdu> r;
    std::copy_if(list.begin(), list.end(), std::back_inserter(r), [t](const d_pdu& d) {
        return d.type == t;
    });
    return r;
}

} // namespace gr::hf::s5066
