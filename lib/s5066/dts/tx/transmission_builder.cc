/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/tx/transmission_builder.h"

#include "s5066/dts/tx/segment_length.h"

#include <cmath>
#include <utility>

namespace gr::hf::s5066 {

namespace {
constexpr unsigned max_control_copies = 4;

const char* in_words(d_pdu_fate f)
{
    return f == d_pdu_fate::sent_again     ? "again "
           : f == d_pdu_fate::sent_as_fill ? "fill "
                                           : "";
}
} // namespace

bool transmission_builder::emit(station_time now, d_pdu d, d_pdu_fate fate)
{
    if (d.octets() > d_tx.room())
        return false;
    const size_t at = d_tx.produced();
    // A transmission to a group may be longer than EOT can express.
    const bool unannounced =
        d.dst.is_group() && to_seconds(d_tx.end() - d_tx.air_time_at(at)) > max_eot_s;
    d.eot = d_node.config.full_duplex || unannounced ? uint8_t{ 0 } : d_tx.eot_at(at);
    const auto octets = encode(d);
    if (octets.empty())
        return true; // cannot happen for D_PDUs built here
    d_tx.append(d, octets);
    ++d_node.stats.d_pdus_sent[static_cast<size_t>(d.type)];
    d_node.stats.octets_sent += octets.size();
    if (fate == d_pdu_fate::sent_again)
        d_node.stats.octets_sent_again += octets.size();
    if (fate == d_pdu_fate::sent_as_fill)
        d_node.stats.octets_sent_as_fill += octets.size();
    d_node.stats.warnings_sent += d.type == d_pdu_type::warning ? 1 : 0;
    if (d.type == d_pdu_type::management && d_tx.to()->management.rates.wants_confirm())
        d_tx.want_answer();
    if (d_node.config.trace) {
        d_node.log.trace(now,
                         d_node.config.own.to_string() + ">" + d.dst.to_string() + " " +
                             describe(d) + " " + in_words(fate) + "@" +
                             d_tx.mode().to_string(),
                         d_pdu_note{ fate, 1, has_ack(d.type) });
    }
    d_node.log.tap(now, true, true, octets);
    return true;
}

bool transmission_builder::emit_segment(station_time now, d_pdu d, bool repeat, bool fill)
{
    d_node.stats.d_pdus_fill += fill ? 1 : 0;
    d_node.stats.d_pdus_repeated += repeat && !fill ? 1 : 0;
    d_tx.to()->link.last_data = now;
    return emit(now,
                std::move(d),
                fill     ? d_pdu_fate::sent_as_fill
                : repeat ? d_pdu_fate::sent_again
                         : d_pdu_fate::sent);
}

bool transmission_builder::emit_data(station_time now,
                                     const arq_sender::out& o,
                                     bool fill)
{
    peer& p = *d_tx.to();
    const bool with_ack = d_plan.data_acks > 0 || (fill && p.arq.ack_due);
    d_pdu d =
        d_maker.make_arq(p, with_ack ? d_pdu_type::data_ack : d_pdu_type::data_only);
    d.arq = o.header;
    d.segment.assign(o.segment, o.segment + o.size);
    if (with_ack)
        d.ack = p.arq.rx.ack();
    if (with_ack && d.octets() > d_tx.room()) {
        d.type = p.arq.large ? d_pdu_type::large_data_only : d_pdu_type::data_only;
        d.ack = {};
    } else if (d_plan.data_acks > 0) {
        --d_plan.data_acks;
    }
    return emit_segment(now, std::move(d), o.repeat, fill);
}

// Builds what precedes ARQ data.
bool transmission_builder::build_first(station_time now)
{
    peer& p = *d_tx.to();
    while (d_plan.next_control < d_plan.control.size())
        if (emit(now, d_plan.control[d_plan.next_control++]))
            return true;
    if (emit_opening(now))
        return true;
    if (d_plan.expedited_acks > 0) {
        --d_plan.expedited_acks;
        if (emit_expedited_ack(now))
            return true;
    }
    if (emit_expedited(now, false))
        return true;
    if (p.non_arq.ready() && p.non_arq.expedited() && emit_non_arq(now))
        return true;
    while (d_plan.next_ack < d_plan.acks.size()) {
        d_pdu d = d_maker.make_arq(p, d_pdu_type::ack_only);
        d.ack = d_plan.acks[d_plan.next_ack++];
        if (emit(now, d))
            return true;
    }
    return d_plan.ask && !d_tx.answer_wanted() && emit_question(now);
}

bool transmission_builder::build_next(station_time now)
{
    if (build_first(now))
        return true;
    peer& p = *d_tx.to();
    const bool arq = p.data_allowed() && !p.arq.tx.idle() && !d_plan.no_data;
    const bool both =
        arq && p.non_arq.ready() && p.non_arq.priority() == p.arq.tx.next_priority();
    const size_t before = d_tx.produced();
    p.arq.ahead = both ? p.arq.ahead : 0;
    const bool non_arq_next =
        both ? p.arq.ahead >= 0
             : p.non_arq.ready() &&
                   (!arq || p.non_arq.priority() > p.arq.tx.next_priority());
    if (non_arq_next && emit_non_arq(now)) {
        p.arq.ahead -= both ? static_cast<int64_t>(d_tx.produced() - before) : 0;
        return true;
    }
    if (arq) {
        const size_t extra =
            d_plan.data_acks > 0 ? 1 + p.arq.rx.ack().selective.size() : 0;
        if (const auto o = p.arq.tx.next(
                d_tx.room(), d_length.data_overhead() + extra, d_plan.with_new)) {
            const bool done = emit_data(now, *o, false);
            p.arq.ahead += both ? static_cast<int64_t>(d_tx.produced() - before) : 0;
            return done;
        }
    }
    if (p.non_arq.ready() && emit_non_arq(now))
        return true;
    return build_fill();
}

bool transmission_builder::build_fill()
{
    // Room up to the end of the last block costs nothing: fill it with copies of what
    // must not get lost.
    peer& p = *d_tx.to();
    const station_time now = d_tx.begin();
    const size_t n = d_plan.control.size();
    const size_t limit = n * (max_control_copies - 1);
    if (d_plan.next_fill < limit &&
        emit(now, d_plan.control[d_plan.next_fill++ % n], d_pdu_fate::sent_as_fill)) {
        ++d_node.stats.d_pdus_fill;
        return true;
    }
    if (emit_expedited(now, true))
        return true;
    if (!p.data_allowed())
        return false;
    if (d_plan.ask)
        return d_plan.next_fill++ < limit + max_control_copies && emit_question(now);
    if (d_plan.no_data)
        return false;
    if (const auto o = p.arq.tx.copy(d_tx.room(), d_length.data_overhead()))
        return emit_data(now, *o, true);
    if (p.arq.ack_due &&
        d_plan.next_fill < limit + max_control_copies - usual_ack_copies) {
        ++d_plan.next_fill;
        d_pdu d = d_maker.make_arq(p, d_pdu_type::ack_only);
        d.ack = p.arq.rx.ack();
        if (emit(now, d, d_pdu_fate::sent_as_fill)) {
            ++d_node.stats.d_pdus_fill;
            return true;
        }
    }
    return false;
}

bool transmission_builder::emit_opening(station_time now)
{
    if (d_tx.produced() < d_plan.opening_again)
        return false;
    d_plan.opening_again = d_tx.produced() + opening_spacing * d_plan.opening->octets();
    return emit(now, *d_plan.opening);
}

bool transmission_builder::emit_question(station_time now)
{
    // Repeats the last acknowledged number. Every receiver must answer it with an ACK,
    // and none accepts data from it. It passes synchronisation test 3 while fewer than
    // half of the numbers are in use.
    const peer& p = *d_tx.to();
    d_pdu d = d_maker.make_arq(p, d_pdu_type::data_only);
    d.arq.start = d.arq.end = true;
    d.arq.fsn = p.arq.tx.before_lwe();
    return emit(now, d);
}

bool transmission_builder::emit_expedited(station_time now, bool fill)
{
    peer& p = *d_tx.to();
    if (!p.expedited_allowed() || d_plan.no_data)
        return false;
    const auto o = fill ? p.expedited.tx.copy(d_tx.room(), d_length.data_overhead())
                        : p.expedited.tx.next(d_tx.room(), d_length.data_overhead());
    if (!o)
        return false;
    d_pdu d = d_maker.make(p, d_pdu_type::expedited_data_only);
    d.expedited = o->header;
    d.segment.assign(o->segment, o->segment + o->size);
    return emit_segment(now, std::move(d), o->repeat, fill);
}

bool transmission_builder::emit_expedited_ack(station_time now)
{
    d_pdu d = d_maker.make(*d_tx.to(), d_pdu_type::expedited_ack_only);
    d.ack = d_tx.to()->expedited.rx.ack();
    return emit(now, d);
}

bool transmission_builder::emit_non_arq(station_time now)
{
    peer& p = *d_tx.to();
    if (p.managing())
        return false;
    const station_time at = d_tx.air_time_at(d_tx.produced());
    std::vector<outgoing_ptr> expired;
    p.non_arq.expire_first(at, expired);
    d_node.expired(expired);
    if (!p.non_arq.ready())
        return false;
    const size_t octets = p.non_arq.next_octets(
        segment_length(d_node, p, d_tx.mode()), d_length.non_arq_overhead(), d_tx.room());
    if (octets == 0)
        return false;
    d_pdu d = d_maker.make(p,
                           p.non_arq.expedited() ? d_pdu_type::expedited_non_arq_data
                                                 : d_pdu_type::non_arq_data);
    if (!p.non_arq.has_window()) {
        // Long enough for everything that waits for this destination, sent in its own
        // turns. Each round travels in another transmission, and may wait for one to
        // another destination.
        const double s = 8.0 * 1.2 * static_cast<double>(p.non_arq.unsent().total()) *
                         (p.non_arq.rounds() + 1) / d_tx.mode().rate_bps;
        const double turn_s = to_seconds(d_access.turn_length());
        const double pause_s = to_seconds(d_length.earliest_repeat().keyed - d_tx.end());
        const unsigned rounds = p.non_arq.rounds();
        const double turns = 1 + rounds + std::floor(s / turn_s);
        p.non_arq.set_window(d_tx.end() +
                             from_seconds(s + rounds * (pause_s + turn_s) +
                                          turns * (10 + d_access.cycle_s())));
    }
    d.non_arq.group = p.addr.is_group();
    p.non_arq.next(octets, at, d_length.earliest_repeat(), d);
    return emit(now, d);
}

} // namespace gr::hf::s5066
