/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/tx/resets.h"

namespace gr::hf::s5066 {

void resets::out_of_sync(station_time now, peer& p, bool own_window)
{
    ++d_node.stats.out_of_sync;
    d_node.log.trace(now, "out of sync with " + p.addr.to_string());
    reset_header h;
    if (p.reset.on_sync_failure() >= 2) {
        h.full = true;
    } else if (own_window) {
        rewind(p);
        return;
    } else {
        h.tx_rqst = true;
    }
    begin(p, h);
}

void resets::begin(peer& p, const reset_header& h)
{
    p.reset.begin(h);
    ++d_node.stats.resets;
}

void resets::rewind(peer& p)
{
    p.arq.tx.rewind(p.arq.tx.lwe());
    reset_header h;
    h.rx_cmnd = true;
    h.new_rx_lwe = p.arq.tx.lwe();
    begin(p, h);
}

void resets::answer(peer& p, const reset_header& h) const
{
    d_pdu r = d_maker.make_arq(p, d_pdu_type::reset);
    r.reset = h;
    r.reset.ack = true;
    // The command may arrive in several copies.
    if (!p.control.has([&r](const d_pdu& q) { return q.type == r.type && q.reset.ack; }))
        p.control.push(r);
}

void resets::on_reset(station_time now, peer& p, const reset_header& h)
{
    const bool repeated = p.reset.repeated(h);
    if (p.reset.answered_by(h)) {
        if (p.reset.header().full) {
            p.restart_arq();
            ++p.arq.numberings;
        }
        p.reset.end();
    }
    if (h.full) {
        if (!repeated) {
            p.restart_arq();
            ++p.arq.numberings;
            p.reset.end();
            d_node.log.trace(now, "full reset by " + p.addr.to_string());
        }
        answer(p, reset_header());
    } else if (h.rx_cmnd) {
        if (!repeated) {
            p.arq.rx.reset(h.new_rx_lwe);
            ++p.arq.numberings;
        }
        if (p.reset.asks())
            p.reset.end();
        reset_header a;
        a.frame_id = h.frame_id;
        answer(p, a);
    } else if (h.tx_rqst && !repeated && !p.reset.active()) {
        rewind(p);
    }
    if (h.full || h.rx_cmnd || h.tx_rqst)
        p.reset.heard(h);
}

} // namespace gr::hf::s5066
