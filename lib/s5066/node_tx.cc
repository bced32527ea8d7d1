/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// What a transmission contains: its D_PDUs, their EOT.
#include "s5066/node_impl.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gr::hf::s5066 {

namespace {

constexpr unsigned max_control_copies = 4;
// First transmission of a run on a shared channel whose stations do not know of us: two that begin
// together lose no more than this. The answer shows that the channel is ours for a longer one.
constexpr double contended_s = 5;
// Share of the longest transmission that is sent to a peer whose losses are not yet known.
constexpr size_t first_part = 12;
// D_PDUs in it, at least, for a measure of their losses; the longest ones.
constexpr size_t least_sample = 8;
// A sample costs a turn, so it is sent only if more than this share of a longest transmission
// waits: then it costs two percent if nothing is lost, and saves a fifth at BER 1e-4.
constexpr double worth_a_sample = 0.5;
// Data behind a link request or its acceptance are lost with it, so to a peer that loses some it
// is repeated: once at the begin, then whenever so many times its octets were sent.
constexpr size_t opening_spacing = 200;
// Losses that count (peer::loss_events).
constexpr double some_losses = 0.5;

} // namespace

bool node::impl::ack_only(const peer& p) const
{
    const bool arq = !p.tx.idle() && (p.data_allowed() || may_call(p)) &&
                     (p.tx.unacknowledged() > 0 || p.tx.can_send_new());
    const bool expedited =
        !p.expedited_tx.idle() && (p.expedited_allowed() || may_call(p));
    return !arq && !expedited && p.non_arq.empty();
}

size_t node::impl::data_overhead() const
{
    return 15u + d_config.address_size + (d_tx.to && d_tx.to->large ? 1 : 0);
}

size_t node::impl::ack_octets(const peer& p, const ack_header& a) const
{
    d_pdu d = make_arq(p, d_pdu_type::ack_only);
    d.ack = a;
    return d.octets();
}

size_t node::impl::plan_acks(const peer& p)
{
    const auto all = p.rx.acks();
    // The rounds of what one lost part leaves unacknowledged cost more than a copy of each.
    const unsigned copies =
        all.size() > 1 ? d_config.ack_copies : ack_copies(p, ack_octets(p, all.front()));
    size_t octets = 0;
    for (unsigned k = 0; k < copies; ++k) {
        for (const auto& a : all) {
            octets += ack_octets(p, a);
            d_tx.acks.push_back(a);
        }
    }
    return octets;
}

size_t node::impl::plan_opening(size_t need)
{
    if (!d_tx.opening || d_tx.to->loss_events <= some_losses) {
        return 0;
    }
    const size_t octets = d_tx.opening->octets();
    const size_t copies = need / (opening_spacing * octets);
    if (copies == 0) {
        return 0;
    }
    d_tx.opening_again = 0;
    return (copies + 1) * octets;
}

bool node::impl::emit_opening(sim_time now)
{
    if (d_tx.produced < d_tx.opening_again) {
        return false;
    }
    d_tx.opening_again = d_tx.produced + opening_spacing * d_tx.opening->octets();
    return emit(now, *d_tx.opening);
}

d_pdu node::impl::make_arq(const peer& p, d_pdu_type type) const
{
    d_pdu d = make(p, p.large ? large_type(type) : type);
    d.large = p.large;
    return d;
}

void node::impl::bound_window(peer& p)
{
    if (!p.large) {
        return;
    }
    // Two transmissions: one whose losses are still being repeated and the present one.
    const size_t longest =
        d_tx.timing.octets_in(max_blocks(d_tx.timing, d_config.max_transmission_s));
    p.tx.set_window_octets(std::min(2 * longest, arq_receiver::max_held_octets));
}

unsigned node::impl::ack_copies(const peer& p, size_t octets) const
{
    // A second copy helps against bit errors alone. Where it takes long, that is worth while only
    // if there are some; in the last block it costs nothing and is sent anyway.
    constexpr double cheap_s = 0.25;
    const bool worth = 8.0 * static_cast<double>(octets) / d_tx.m.rate_bps < cheap_s ||
                       p.loss_events > some_losses;
    return worth ? d_config.ack_copies : 1;
}

d_pdu node::impl::make(const peer& p, d_pdu_type type) const
{
    d_pdu d;
    d.type = type;
    d.address_size = d_config.address_size;
    d.dst = p.addr;
    d.src = d_config.own;
    d.eow = eow_for(p);
    return d;
}

uint16_t node::impl::eow_for(const peer& p) const
{
    if (p.eow != 0) {
        return p.eow;
    }
    if (d_tx.tell && d_tx.produced == 0 && &p == d_tx.to) {
        return make_eow(eow_type::extensions, extensions());
    }
    const auto advised = d_policy->advice(p.addr);
    return advised ? encode_rate_advice(*advised).value_or(0) : 0;
}

void node::impl::begin_transmission(sim_time now, peer& p)
{
    if ((may_call(p) && (p.wants_exclusive || !p.arq_idle())) || upgrade_due(p)) {
        call(now, p);
    }
    tx_context c;
    c.peer = p.addr;
    const bool yields = must_yield();
    const bool in_turn =
        d_turn == &p && now <= d_turn_at + guard_time() && !(yields && now >= d_free_at);
    if (!in_turn) {
        d_run_since = now;
    }
    // Only what is owed, if others come first.
    const bool no_data = in_turn && (yields || outranked(p, now));
    note_begin(now, d_config.own);
    if (!in_turn || !shared() || d_share.ahead_of(d_config.own) == 0) {
        d_served_time = sim_time::zero();
    }
    d_served = !no_data;
    c.ack_only = no_data || ack_only(p);
    c.backlog_octets = p.unsent().total();
    c.silent_rounds = p.silent;
    d_tx = transmission();
    d_tx.to = &p;
    d_tx.no_data = no_data;
    d_tx.contended = !in_turn && shared() && !p.addr.is_group() &&
                     (d_unheard > 0 || !d_share.has(d_config.own));
    d_tx.m = d_policy->choose(now, c);
    if (d_config.drc && p.link != link_state::none) {
        begin_rate_change(now, p, d_tx.m);
        d_tx.m = p.rates.tx_mode();
    }
    try {
        d_tx.timing = kernel::timing_of(d_tx.m);
    } catch (const std::invalid_argument&) {
        d_tx.m = d_data_mode; // a policy of the user's chose what no modem can send
        d_tx.timing = kernel::timing_of(d_tx.m);
    }
    d_tx.longest_s = std::min({ d_policy->longest_s(c),
                                prompt_longest_s(now, p),
                                to_seconds(turn_length() - d_served_time) });
    d_tx.begin = now;
    d_transmitting = true;
    bound_window(p);
    fit_segments(now, p);
    d_turn = nullptr;
    if (!d_config.full_duplex) {
        d_waiting = nullptr;
    }
    if (d_last_peer != p.addr.raw()) {
        d_last_peer = p.addr.raw();
        d_run_since = now;
    }
    d_shown_peer = p.addr;
    const size_t segment = segment_length(p, d_tx.m);
    // Where D_PDUs are lost, equal ones lose least; elsewhere fewer headers count.
    const bool variable =
        d_config.extensions && p.has_extension(extension_variable_segment);
    p.tx.set_variable(variable);
    p.tx.set_segment(segment,
                     d_config.segment_octets == 0 &&
                         !(variable && p.loss_events < some_losses));
    p.tx.begin_transmission();
    constexpr unsigned times_told = 3;
    d_tx.tell = d_config.extensions && p.extensions_told < times_told;
    p.extensions_told += d_tx.tell ? 1 : 0;
    p.expedited_tx.set_segment(segment, d_config.segment_octets == 0);
    p.expedited_tx.begin_transmission();
    ++d_stats.transmissions;
}

void node::impl::plan()
{
    peer& p = *d_tx.to;
    d_tx.planned = true;
    // Link control first, so that the other side processes it before what is behind it.
    for (auto& d : p.control) {
        d_tx.control.push_back(std::move(d));
    }
    p.control.clear();
    if (p.accept_due) {
        d_tx.control.push_back(
            make_link_c_pdu(p, c_pdu_type::link_accepted, p.large, *p.heard_request_id));
        d_tx.opening = d_tx.control.back();
    }
    if (p.link == link_state::calling) {
        ++p.tries;
        d_tx.control.push_back(
            make_link_c_pdu(p, c_pdu_type::link_request, request_bits(p), p.request_id));
        d_tx.opening = d_tx.control.back();
    } else if (p.link == link_state::breaking) {
        ++p.tries;
        for (const auto& d : last_acks(p)) {
            d_tx.control.push_back(d);
        }
        d_tx.control.push_back(make_link_c_pdu(
            p, c_pdu_type::link_break, uint8_t(p.break_reason), p.request_id));
    }
    if (p.management.due()) {
        d_tx.control.push_back(make_management(d_tx.begin, p));
    }
    if (p.reset.active && !p.managing()) {
        d_pdu d = make_arq(p, d_pdu_type::reset);
        d.reset = p.reset.header;
        d_tx.control.push_back(d);
    }
    size_t need = 0;
    for (const auto& d : d_tx.control) {
        need += d.octets();
    }
    const auto& t = d_tx.timing;
    double longest_s = std::min(d_tx.longest_s, d_config.max_transmission_s);
    if (p.addr.is_group() && longest_s >= d_config.max_transmission_s) {
        longest_s = d_config.broadcast_s;
    }
    if (d_tx.contended && p.non_arq.empty()) {
        longest_s = std::min(longest_s, contended_s);
    }
    size_t longest = max_blocks(t, longest_s);
    if (shared() && longest_s < d_config.max_transmission_s) {
        // One D_PDU must fit, or nothing would ever go out.
        const size_t first = std::max(p.tx.first_octets(data_overhead()),
                                      p.expedited_tx.first_octets(data_overhead()));
        longest = std::max(longest, t.blocks_for(need + first));
    }
    size_t cap = t.octets_in(longest);
    const size_t sample = least_sample * (max_segment + data_overhead());
    const size_t first = std::max(longest / first_part, t.blocks_for(sample));
    if (!d_adaptive && p.loss_bits < 8 * double(sample) && 4 * first <= longest &&
        double(p.tx.unsent_octets()) > worth_a_sample * double(cap)) {
        // What comes later shall have the right segments.
        longest = first;
        cap = t.octets_in(first);
    }
    if (p.expedited_ack_due && p.expedited_allowed()) {
        const size_t octets =
            9u + d_config.address_size + p.expedited_rx.ack().selective.size();
        d_tx.expedited_acks_due = ack_copies(p, octets);
        need += d_tx.expedited_acks_due * octets;
    }
    if (p.expedited_allowed() && !d_tx.no_data) {
        need += p.expedited_tx.pending_octets(data_overhead(), cap - std::min(cap, need));
    }
    const bool ack = p.ack_due && p.data_allowed();
    const bool data = p.data_allowed() && !p.tx.idle() && !d_tx.no_data;
    const bool probe = !d_tx.no_data && p.probe && p.tx.unacknowledged() > 0;
    d_tx.with_new = !probe;
    if (ack && data && p.rx.acks().size() == 1) {
        d_tx.data_acks = d_config.ack_copies;
        need += d_tx.data_acks * (1 + p.rx.ack().selective.size());
    } else if (ack) {
        need += plan_acks(p);
    }
    if (data && !probe && p.prompt_at) {
        longest = fitting_blocks(p, need, longest);
        cap = t.octets_in(longest);
    }
    const size_t left = cap - std::min(cap, need);
    if (probe) {
        const size_t least = need + p.tx.first_octets(data_overhead());
        const size_t blocks = std::max<size_t>(t.blocks_for(least), probe_blocks);
        const size_t room = t.octets_in(std::min(blocks, longest));
        need += p.tx.pending_octets(data_overhead(), room - std::min(room, need), false);
        need = std::max(need, least);
    } else if (data) {
        need += p.tx.pending_octets(data_overhead(), left, true);
    } else if (d_tx.ask) {
        need += data_overhead() + 4;
    }
    for (const auto& n : p.non_arq) {
        if (need > cap || p.managing()) {
            break;
        }
        const size_t size = n.o->c_pdu.size();
        const size_t segment = segment_length(p, d_tx.m);
        const size_t parts = (size + segment - 1) / segment;
        need += (size + parts * (non_arq_overhead())) * (n.rounds + 1);
    }
    need += plan_opening(std::min(need, cap));
    d_tx.blocks = std::clamp<size_t>(t.blocks_for(std::min(need, cap)), 1, longest);
    d_tx.octets = t.octets_in(d_tx.blocks);
    p.probe = false;
}

sim_time node::impl::air_time_at(size_t octet) const
{
    const auto& t = d_tx.timing;
    const size_t bit = 8 * octet;
    const size_t block = bit / t.bits_per_block;
    const double inside = static_cast<double>(bit % t.bits_per_block) /
                          static_cast<double>(t.bits_per_block);
    const double block_s = static_cast<double>(t.block_symbols) / t.symbol_rate_bd;
    return d_tx.begin + t.block_begin(block) - t.block_begin(0) +
           from_seconds(inside * block_s);
}

sim_time node::impl::end_of_transmission() const
{
    const auto& t = d_tx.timing;
    return d_tx.begin + t.block_end(d_tx.blocks - 1) - t.block_begin(0);
}

uint8_t node::impl::eot_at(size_t octet) const
{
    const double left = to_seconds(end_of_transmission() - air_time_at(octet));
    if (d_config.full_duplex || (d_tx.to->addr.is_group() && left > max_eot_s)) {
        return 0;
    }
    return static_cast<uint8_t>(
        std::clamp(std::ceil(left / eot_unit_s - 1e-6), 0.0, 255.0));
}

bool node::impl::emit(sim_time now, d_pdu d)
{
    if (d.octets() > room()) {
        return false;
    }
    d.eot = eot_at(d_tx.produced);
    const auto octets = encode(d);
    if (octets.empty()) {
        return true; // cannot happen for what is built here; nothing to send then
    }
    d_tx.buffer.insert(d_tx.buffer.end(), octets.begin(), octets.end());
    d_tx.produced += octets.size();
    ++d_stats.d_pdus_sent[static_cast<size_t>(d.type)];
    d_stats.octets_sent += octets.size();
    d_tx.data |= carries_data(d);
    switch (d.large ? small_type(d.type) : d.type) {
    case d_pdu_type::ack_only:
        d_tx.ack_sent = true;
        break;
    case d_pdu_type::data_ack:
        d_tx.ack_sent = d_tx.answer_wanted = true;
        break;
    case d_pdu_type::data_only:
    case d_pdu_type::expedited_data_only:
        d_tx.answer_wanted = true;
        break;
    case d_pdu_type::warning:
        ++d_stats.warnings_sent;
        break;
    case d_pdu_type::reset:
        d_tx.answer_wanted |= !d.reset.ack;
        break;
    case d_pdu_type::management:
        d_tx.answer_wanted |= d.management.valid || d_tx.to->rates.wants_confirm();
        break;
    case d_pdu_type::expedited_non_arq_data:
        if (d.segment.size() == 1) {
            const auto type = static_cast<c_pdu_type>(d.segment[0] >> 4);
            d_tx.answer_wanted |=
                type == c_pdu_type::link_request || type == c_pdu_type::link_break;
        }
        break;
    default:
        break;
    }
    if (d_config.trace) {
        trace(now,
              d_config.own.to_string() + ">" + d.dst.to_string() + " " + describe(d) +
                  " @" + d_tx.m.to_string());
    }
    tap(now, true, true, octets);
    return true;
}

bool node::impl::emit_data(sim_time now, const arq_sender::out& o, bool fill)
{
    peer& p = *d_tx.to;
    const bool with_ack = d_tx.data_acks > 0 || (fill && p.ack_due);
    d_pdu d = make_arq(p, with_ack ? d_pdu_type::data_ack : d_pdu_type::data_only);
    d.arq = o.header;
    d.segment.assign(o.segment, o.segment + o.size);
    if (with_ack) {
        d.ack = p.rx.ack();
    }
    if (with_ack && d.octets() > room()) {
        d.type = p.large ? d_pdu_type::large_data_only : d_pdu_type::data_only;
        d.ack = {};
    } else if (d_tx.data_acks > 0) {
        --d_tx.data_acks;
    }
    d_stats.d_pdus_fill += fill ? 1 : 0;
    d_stats.d_pdus_repeated += o.repeat && !fill ? 1 : 0;
    p.last_data = now;
    return emit(now, d);
}

bool node::impl::build_next(sim_time now)
{
    peer& p = *d_tx.to;
    while (d_tx.next_control < d_tx.control.size()) {
        if (emit(now, d_tx.control[d_tx.next_control++])) {
            return true;
        }
    }
    if (emit_opening(now)) {
        return true;
    }
    if (d_tx.expedited_acks_due > 0) {
        --d_tx.expedited_acks_due;
        if (emit_expedited_ack(now)) {
            return true;
        }
    }
    if (emit_expedited(now, false)) {
        return true;
    }
    if (!p.non_arq.empty() && p.non_arq.front().expedited && emit_non_arq(now)) {
        return true;
    }
    while (d_tx.next_ack < d_tx.acks.size()) {
        d_pdu d = make_arq(p, d_pdu_type::ack_only);
        d.ack = d_tx.acks[d_tx.next_ack++];
        if (emit(now, d)) {
            return true;
        }
    }
    if (d_tx.ask && !d_tx.answer_wanted && emit_question(now)) {
        return true;
    }
    const bool arq = p.data_allowed() && !p.tx.idle() && !d_tx.no_data;
    if (!p.non_arq.empty() &&
        (!arq || p.non_arq.front().o->priority >= p.tx.next_priority()) &&
        emit_non_arq(now)) {
        return true;
    }
    if (arq) {
        const size_t extra = d_tx.data_acks > 0 ? 1 + p.rx.ack().selective.size() : 0;
        if (const auto o = p.tx.next(room(), data_overhead() + extra, d_tx.with_new)) {
            return emit_data(now, *o, false);
        }
    }
    if (!p.non_arq.empty() && emit_non_arq(now)) {
        return true;
    }
    return build_fill();
}

bool node::impl::build_fill()
{
    // Room to the end of the last block costs nothing: copies of what must not get lost.
    peer& p = *d_tx.to;
    const sim_time now = d_tx.begin;
    const size_t n = d_tx.control.size();
    const size_t limit = n * (max_control_copies - 1);
    if (d_tx.next_fill < limit && emit(now, d_tx.control[d_tx.next_fill++ % n])) {
        ++d_stats.d_pdus_fill;
        return true;
    }
    if (emit_expedited(now, true)) {
        return true;
    }
    if (!p.data_allowed()) {
        return false;
    }
    if (d_tx.ask) {
        return d_tx.next_fill++ < limit + max_control_copies && emit_question(now);
    }
    if (d_tx.no_data) {
        return false;
    }
    if (const auto o = p.tx.copy(room(), data_overhead())) {
        return emit_data(now, *o, true);
    }
    if (p.ack_due && d_tx.next_fill < limit + max_control_copies - d_config.ack_copies) {
        ++d_tx.next_fill;
        d_pdu d = make_arq(p, d_pdu_type::ack_only);
        d.ack = p.rx.ack();
        if (emit(now, d)) {
            ++d_stats.d_pdus_fill;
            return true;
        }
    }
    return false;
}

tx_octets node::impl::pull(sim_time now, sim_time air_time, size_t max_octets)
{
    tx_octets r;
    if (!d_transmitting) {
        r.last = true;
        return r;
    }
    if (!d_tx.planned) {
        d_tx.begin = air_time;
        plan();
    }
    auto& b = d_tx.buffer;
    // One D_PDU more than asked for tells whether these octets are the last.
    while (!d_tx.ended && b.size() - d_tx.taken <= max_octets) {
        d_tx.ended = !build_next(now);
    }
    const size_t n = std::min(max_octets, b.size() - d_tx.taken);
    const auto from = b.begin() + static_cast<std::ptrdiff_t>(d_tx.taken);
    r.octets.assign(from, from + static_cast<std::ptrdiff_t>(n));
    d_tx.taken += n;
    r.last = d_tx.ended && d_tx.taken == b.size();
    b.erase(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(d_tx.taken));
    d_tx.taken = 0;
    return r;
}

} // namespace gr::hf::s5066
