/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/tx/transmission_planner.h"

#include "s5066/dts/tx/segment_length.h"

#include <algorithm>

namespace gr::hf::s5066 {

// Segments may have been cut for a faster mode. After silence we first ask for an ACK, so
// that nothing delivered is sent again. If the rest is far too long, a new window starts
// in which it is cut again.
void transmission_planner::fit_segments(station_time now, peer& p)
{
    if (p.arq.tx.unacknowledged() == 0)
        return;
    if (!d_node.modes.adaptive) {
        if (repeats_in_vain(p)) {
            d_node.log.detail(now, "shorter segments for " + p.addr.to_string());
            d_resets.rewind(p);
        }
        return;
    }
    constexpr double longest_probe_s = 3;
    const double first_s =
        8.0 * static_cast<double>(p.arq.tx.first_octets(d_length.data_overhead())) /
        d_tx.mode().rate_bps;
    if (p.turn.silent > 0 && p.link.made() && !p.reset.active() &&
        first_s > longest_probe_s) {
        d_plan.ask = d_plan.no_data = true;
        return;
    }
    if (recut_needed(p)) {
        d_node.log.detail(now, "new segments for " + d_tx.mode().to_string());
        d_resets.rewind(p);
    }
}

// True if the segments in flight are too long for their repeats to arrive.
bool transmission_planner::repeats_in_vain(const peer& p) const
{
    constexpr double max_errors = 2; // in a D_PDU, on average
    const auto octets = p.arq.tx.longest_in_flight() + d_length.data_overhead();
    return d_node.config.segment_octets == 0 && p.link.made() && !p.reset.active() &&
           p.turn.silent == 0 && p.losses.too_long() &&
           p.losses.per_bit() * 8 * static_cast<double>(octets) > max_errors &&
           2 * segment_length(d_node, p, d_tx.mode()) < p.arq.tx.longest_in_flight();
}

bool transmission_planner::recut_needed(const peer& p) const
{
    constexpr double longest_d_pdu_s = 40;
    return p.link.made() && !p.reset.active() &&
           8.0 * static_cast<double>(p.arq.tx.longest_in_flight()) /
                   d_tx.mode().rate_bps >
               longest_d_pdu_s;
}

void transmission_planner::bound_window(peer& p) const
{
    if (!p.arq.large)
        return;
    // Two transmissions: the one whose losses are being repeated, and the present one.
    const size_t longest = d_tx.timing().octets_in(
        max_blocks(d_tx.timing(), d_node.config.max_transmission_s));
    p.arq.tx.set_window_octets(std::min(2 * longest, arq_receiver::max_held_octets));
}

void transmission_planner::begin(station_time now)
{
    peer& p = *d_tx.to();
    const auto& c = d_node.config;
    bound_window(p);
    fit_segments(now, p);
    const size_t segment = segment_length(d_node, p, d_tx.mode());
    // Where D_PDUs are lost, equal ones lose least. Elsewhere fewer headers count.
    const bool variable =
        c.extensions && p.management.has_extension(extension_variable_segment);
    p.arq.tx.set_variable(variable);
    p.arq.tx.set_segment(segment, c.segment_octets == 0 && !(variable && p.losses.few()));
    if (p.turn.silent > 0 && p.link.made() && !p.reset.active() && p.arq.tx.doubts(now)) {
        // Only an answer tells whether they have arrived. They are not sent again.
        d_plan.ask = d_plan.no_data = true;
    }
    // A request for an ACK is about the transmission before, which counts until the
    // answer.
    if (!d_plan.ask) {
        p.arq.tx.begin_transmission();
        p.arq.data_mode = d_tx.mode();
    }
    constexpr unsigned times_announced = 3;
    const bool tell = c.extensions && p.management.extensions_announced < times_announced;
    d_maker.tell_extensions(tell);
    p.management.extensions_announced += tell ? 1 : 0;
    p.expedited.tx.set_segment(segment, c.segment_octets == 0);
    p.expedited.tx.begin_transmission();
    std::vector<outgoing_ptr> expired;
    p.arq.tx.expire(now, expired);
    p.expedited.tx.expire(now, expired);
    if (p.expedited.tx.unacknowledged() == 0)
        p.expedited.tx.begin_transmission(); // with the next one
    d_node.expired(expired);
}

size_t transmission_planner::plan_control(peer& p, const std::vector<d_pdu>& link_control)
{
    auto& list = d_plan.control;
    list = p.control.take();
    list.insert(list.end(), link_control.begin(), link_control.end());
    if (p.management.exchange.due())
        list.push_back(d_orderwire.make(d_tx.begin(), p));
    if (p.reset.active() && !p.managing()) {
        d_pdu d = d_maker.make_arq(p, d_pdu_type::reset);
        d.reset = p.reset.header();
        list.push_back(d);
    }
    size_t octets = 0;
    for (const auto& d : list)
        octets += d.octets();
    return octets;
}

size_t transmission_planner::ack_octets(const peer& p, const ack_header& a) const
{
    d_pdu d = d_maker.make_arq(p, d_pdu_type::ack_only);
    d.ack = a;
    return d.octets();
}

unsigned transmission_planner::ack_copies(const peer& p, size_t octets) const
{
    // A second copy helps only against bit errors. A long one pays only if there are
    // some. In the last block it costs nothing and is sent anyway.
    constexpr double cheap_s = 0.25;
    const bool worth =
        8.0 * static_cast<double>(octets) / d_tx.mode().rate_bps < cheap_s ||
        p.losses.some();
    return worth ? usual_ack_copies : 1;
}

size_t transmission_planner::plan_ack_only(const peer& p)
{
    const auto all = p.arq.rx.acks();
    // A lost part leaves data unacknowledged, and their repeats cost more than a copy of
    // each part.
    const unsigned copies =
        all.size() > 1 ? usual_ack_copies : ack_copies(p, ack_octets(p, all.front()));
    size_t octets = 0;
    for (unsigned k = 0; k < copies; ++k) {
        for (const auto& a : all) {
            octets += ack_octets(p, a);
            d_plan.acks.push_back(a);
        }
    }
    return octets;
}

size_t transmission_planner::plan_acks(const peer& p, bool with_data)
{
    if (!p.arq.ack_due || !p.data_allowed())
        return 0;
    if (!with_data || p.arq.rx.acks().size() != 1)
        return plan_ack_only(p);
    d_plan.data_acks = usual_ack_copies;
    return d_plan.data_acks * (1 + p.arq.rx.ack().selective.size());
}

size_t transmission_planner::plan_expedited(const peer& p, size_t need, size_t cap)
{
    if (!p.expedited_allowed())
        return need;
    if (p.expedited.ack_due) {
        const size_t octets =
            9u + d_node.config.address_size + p.expedited.rx.ack().selective.size();
        d_plan.expedited_acks = ack_copies(p, octets);
        need += d_plan.expedited_acks * octets;
    }
    if (!d_plan.no_data) {
        need += p.expedited.tx.pending_octets(d_length.data_overhead(),
                                              cap - std::min(cap, need));
    }
    return need;
}

size_t transmission_planner::plan_data(const peer& p,
                                       size_t need,
                                       size_t longest,
                                       bool probe) const
{
    const auto& t = d_tx.timing();
    const size_t overhead = d_length.data_overhead();
    if (!probe) {
        const size_t cap = t.octets_in(longest);
        return need + p.arq.tx.pending_octets(overhead, cap - std::min(cap, need), true);
    }
    const size_t least = need + p.arq.tx.first_octets(overhead);
    const size_t blocks = std::max<size_t>(t.blocks_for(least), probe_blocks);
    const size_t room = t.octets_in(std::min(blocks, longest));
    need += p.arq.tx.pending_octets(overhead, room - std::min(room, need), false);
    return std::max(need, least);
}

size_t transmission_planner::plan_opening(size_t need)
{
    if (!d_plan.opening || !d_tx.to()->losses.some())
        return 0;
    const size_t octets = d_plan.opening->octets();
    const size_t copies = need / (opening_spacing * octets);
    if (copies == 0)
        return 0;
    d_plan.opening_again = 0;
    return (copies + 1) * octets;
}

void transmission_planner::plan(const std::vector<d_pdu>& link_control,
                                const std::optional<d_pdu>& opening)
{
    peer& p = *d_tx.to();
    const auto& t = d_tx.timing();
    const size_t control = plan_control(p, link_control);
    d_plan.opening = opening;
    size_t longest =
        d_length.allowed_blocks(p, d_plan.longest_s, d_plan.contended, control);
    size_t need = plan_expedited(p, control, t.octets_in(longest));
    const bool data = p.data_allowed() && !p.arq.tx.idle() && !d_plan.no_data;
    const bool probe = !d_plan.no_data && p.turn.probe && p.arq.tx.unacknowledged() > 0;
    d_plan.with_new = !probe;
    need += plan_acks(p, data);
    if (data && control == 0)
        longest = std::max(longest, d_length.min_blocks(p, need));
    if (data && !probe && p.turn.prompt_at)
        longest = d_length.fitting_blocks(p, need, longest);
    const size_t cap = t.octets_in(longest);
    if (probe || data)
        need = plan_data(p, need, longest, probe);
    else if (d_plan.ask)
        need += d_length.data_overhead() + 4;
    const auto set_octets = [&](size_t octets) {
        d_tx.set_blocks(
            std::clamp<size_t>(t.blocks_for(std::min(octets, cap)), 1, longest));
    };
    if (!p.managing()) {
        const size_t before = need;
        // Repeats that would expire before another transmission travel in this one.
        next_start again;
        for (unsigned pass = 0; pass < 2; ++pass) {
            need = p.non_arq.pending_octets(before,
                                            cap,
                                            segment_length(d_node, p, d_tx.mode()),
                                            d_length.non_arq_overhead(),
                                            again);
            set_octets(need);
            again = d_length.earliest_repeat();
        }
    }
    need += plan_opening(std::min(need, cap));
    set_octets(need);
    p.turn.probe = false;
}

} // namespace gr::hf::s5066
