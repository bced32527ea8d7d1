/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Expedited ARQ: D_PDU types 4 and 5 (C.6.2).
#include "s5066/node_impl.h"

namespace gr::hf::s5066 {

bool node::impl::emit_expedited(sim_time now, bool fill)
{
    peer& p = *d_tx.to;
    if (!p.expedited_allowed() || d_tx.no_data) {
        return false;
    }
    const auto o = fill ? p.expedited_tx.copy(room(), data_overhead())
                        : p.expedited_tx.next(room(), data_overhead());
    if (!o) {
        return false;
    }
    d_pdu d = make(p, d_pdu_type::expedited_data_only);
    d.expedited = o->header;
    d.segment.assign(o->segment, o->segment + o->size);
    d_stats.d_pdus_fill += fill ? 1 : 0;
    d_stats.d_pdus_repeated += o->repeat && !fill ? 1 : 0;
    p.last_data = now;
    return emit(now, d);
}

bool node::impl::emit_expedited_ack(sim_time now)
{
    d_pdu d = make(*d_tx.to, d_pdu_type::expedited_ack_only);
    d.ack = d_tx.to->expedited_rx.ack();
    return emit(now, d);
}

void node::impl::on_expedited_data(sim_time now, peer& p, const d_pdu& d)
{
    p.expedited_ack_due = p.expedited_last = p.heard_expedited = true;
    p.last_data = now;
    std::vector<std::vector<uint8_t>> delivered;
    const bool taken =
        p.expedited_rx.take(d.expedited, d.segment, d.segment_ok, delivered);
    d_stats.d_pdus_duplicate += !taken && d.segment_ok ? 1 : 0;
    deliver_arq(now, p, delivered, true);
}

void node::impl::on_expedited_ack(sim_time now, peer& p, const d_pdu& d)
{
    // One that does not fit is a repeat for the C_PDU before: there is nothing to reset.
    if (!p.expedited_tx.in_sync(d.ack)) {
        return;
    }
    p.last_data = now;
    std::vector<outgoing_ptr> done;
    d_stats.d_pdus_acked += p.expedited_tx.acknowledge(d.ack, done);
    for (const auto& o : done) {
        d_sis.on_delivered(*o);
    }
}

} // namespace gr::hf::s5066
