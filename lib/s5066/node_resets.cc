/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Lost synchronisation, resets and resynchronisation of windows (C.6.3).
#include "s5066/node_impl.h"

namespace gr::hf::s5066 {

void node::impl::out_of_sync(sim_time now, peer& p, bool own_window)
{
    ++d_stats.out_of_sync;
    trace(now, "out of sync with " + p.addr.to_string());
    reset_header h;
    if (++p.sync_failures >= 2) {
        h.full = true;
    } else if (own_window) {
        p.tx.rewind(p.tx.lwe());
        h.rx_cmnd = true;
        h.new_rx_lwe = p.tx.lwe();
    } else {
        h.tx_rqst = true;
    }
    begin_reset(p, h);
}

void node::impl::begin_reset(peer& p, const reset_header& h)
{
    p.reset.header = h;
    p.reset.header.frame_id = ++p.reset_id;
    p.reset.active = true;
    p.reset.silent = 0;
    ++d_stats.resets;
}

void node::impl::on_reset(sim_time now, peer& p, const d_pdu& d)
{
    const auto& h = d.reset;
    const bool repeated = p.heard_reset_id == h.frame_id;
    const auto answer = [&](const reset_header& a) {
        d_pdu r = make_arq(p, d_pdu_type::reset);
        r.reset = a;
        for (const auto& q : p.control) {
            if (q.type == r.type && q.reset.ack) {
                return; // the command came in several copies
            }
        }
        if (p.control.size() < max_control) {
            p.control.push_back(r);
        }
    };
    if (h.ack && p.reset.active && !p.reset.header.tx_rqst &&
        (p.reset.header.full || h.frame_id == p.reset.header.frame_id)) {
        if (p.reset.header.full) {
            p.restart_arq();
            ++p.numberings;
        }
        p.reset.active = false;
    }
    if (h.full) {
        if (!repeated) {
            p.restart_arq();
            ++p.numberings;
            p.reset.active = false;
            trace(now, "full reset by " + p.addr.to_string());
        }
        reset_header a;
        a.ack = true;
        answer(a);
    } else if (h.rx_cmnd) {
        if (!repeated) {
            p.rx.reset(h.new_rx_lwe);
            ++p.numberings;
        }
        if (p.reset.active && p.reset.header.tx_rqst) {
            p.reset.active = false;
        }
        reset_header a;
        a.ack = true;
        a.frame_id = h.frame_id;
        answer(a);
    } else if (h.tx_rqst && !repeated && !p.reset.active) {
        p.tx.rewind(p.tx.lwe());
        reset_header c;
        c.rx_cmnd = true;
        c.new_rx_lwe = p.tx.lwe();
        begin_reset(p, c);
    }
    if (h.full || h.rx_cmnd || h.tx_rqst) {
        p.heard_reset_id = h.frame_id;
    }
}

} // namespace gr::hf::s5066
