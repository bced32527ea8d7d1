/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/node/turns_rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <tuple>

namespace gr::hf::s5066 {

namespace {
// A signal longer than any transmission is interference, and does not silence us.
constexpr station_time longest_carrier = std::chrono::seconds(180);
// Pause before a repeat. The first repeat comes at once, for a transmission that was
// merely lost. Later the peer may be inside a transmission whose start we missed, so the
// pauses grow. Before the peer counts as lost, the tries together span more than the
// longest transmission. If others transmit and cannot be sensed, the pauses are longer,
// to get out of their way.
station_time retry_pause(unsigned silent, bool breaking, bool blind)
{
    if (breaking) {
        return silent < 3 ? station_time::zero()
                          : from_seconds(10); // no data depend on it
    }
    constexpr std::array<double, 7> short_s = { 0, 0, 5, 10, 20, 40, 60 };
    constexpr std::array<double, 7> long_s = { 0, 0, 0, 30, 100, 200, 200 };
    const auto& pauses_s = blind ? long_s : short_s;
    return from_seconds(pauses_s[std::min<size_t>(silent, pauses_s.size() - 1)]);
}

} // namespace

bool turns::sends_non_arq(const peer& p) const
{
    return !p.managing() && !d_links.excluded(p);
}

std::optional<station_time> turns::repeat_at(const peer& p) const
{
    return sends_non_arq(p) ? p.non_arq.repeat_at() : std::nullopt;
}

bool turns::has_data(const peer& p) const
{
    const bool data =
        !p.arq.tx.idle() && (p.arq.tx.unacknowledged() > 0 || p.arq.tx.can_send_new());
    const bool expedited = !p.expedited.tx.idle();
    return (p.non_arq.ready() && sends_non_arq(p)) || p.link.calling() ||
           (p.link.wants_exclusive && d_links.may_call(p)) ||
           (data && (p.data_allowed() || d_links.may_call(p))) ||
           (expedited && (p.expedited_allowed() || d_links.may_call(p)));
}

// Urgency of the data that wait for a peer: 0 if none, else one more than their priority.
unsigned turns::urgency(const peer& p)
{
    constexpr unsigned most = 17;
    if (!p.expedited.tx.idle())
        return most;
    unsigned u = p.arq.tx.idle() ? 0 : 1u + p.arq.tx.urgency();
    if (p.non_arq.ready())
        u = std::max(u, p.non_arq.expedited() ? most : 1u + p.non_arq.priority());
    return u;
}

// True if data of higher priority wait for another peer and can be sent.
bool turns::outranked(const peer& p, station_time now) const
{
    return std::any_of(
        d_node.peers.begin(),
        d_node.peers.end(),
        [&](const auto& e) {
            const peer& q = *e.second;
            return &q != &p && q.turn.ready_at <= now && urgency(q) > urgency(p) &&
                   has_data(q);
        });
}

// True if data as urgent can be sent to a peer served longer ago, and p has had its run.
bool turns::others_wait(const peer& p, station_time now) const
{
    const bool runs =
        d_last_served == p.addr.raw() &&
        d_turn_at - d_run_since <= from_seconds(d_node.config.link_alternate_s);
    return !runs && has_data(p) &&
           std::any_of(d_node.peers.begin(), d_node.peers.end(), [&](const auto& e) {
               const peer& q = *e.second;
               return q.turn.served_at < p.turn.served_at && granted(q) &&
                      q.turn.ready_at <= now && urgency(q) >= urgency(p) && has_data(q);
           });
}

bool turns::granted(const peer& p) const
{
    return d_grant.open &&
           (!d_grant.only || p.addr == *d_grant.only || p.addr.is_group());
}

std::optional<address> turns::wanted() const
{
    const peer* best = nullptr;
    for (const auto& [raw, q] : d_node.peers)
        if (!q->addr.is_group() && (has_data(*q) || repeat_at(*q)) &&
            (!best || urgency(*q) > urgency(*best)))
            best = q.get();
    return best ? std::optional(best->addr) : std::nullopt;
}

bool turns::active() const
{
    return !quiet() || std::any_of(
                           d_node.peers.begin(),
                           d_node.peers.end(),
                           [this](auto& e) {
                               const peer& p = *e.second;
                               return granted(p) && (sendable(p) || repeat_at(p));
                           });
}

unsigned turns::unanswered(station_time now) const
{
    const auto waits = (now - d_used_until) / from_seconds(d_access.answer_wait_s());
    unsigned most = 0;
    for (const auto& [raw, p] : d_node.peers) {
        if (!granted(*p))
            continue;
        most = std::max(most, p->turn.silent);
        const bool more =
            p->arq.rx.incomplete() || p->turn.repeats || d_reception.runs_on == p.get();
        if (quiet() && !d_carrier_since && p->link.made() && more)
            most = std::max(most, static_cast<unsigned>(std::max<long long>(0, waits)));
    }
    return most;
}

bool turns::sendable(const peer& p) const
{
    return rules::control_waiting(p) || p.ack_owed() || has_data(p);
}

bool turns::ack_only(const peer& p) const
{
    const bool arq = !p.arq.tx.idle() && (p.data_allowed() || d_links.may_call(p)) &&
                     (p.arq.tx.unacknowledged() > 0 || p.arq.tx.can_send_new());
    const bool expedited =
        !p.expedited.tx.idle() && (p.expedited_allowed() || d_links.may_call(p));
    return !arq && !expedited && !p.non_arq.ready();
}

std::pair<node_phase, std::optional<station_time>> turns::phase() const
{
    if (d_transmitting)
        return { node_phase::transmitting, {} };
    if (d_receiving)
        return { node_phase::receiving, {} };
    if (d_waiting)
        return { node_phase::waiting_answer, d_answer_by };
    if (const auto start = next())
        return { node_phase::holding, start->at };
    if (d_emcon || !wanted())
        return { node_phase::idle, {} };
    return { d_carrier_since ? node_phase::other_signal : node_phase::no_channel, {} };
}

std::optional<turns::start> turns::next() const
{
    if (d_transmitting || d_emcon || !d_grant.open)
        return std::nullopt;
    if (d_node.config.full_duplex)
        return next_duplex();
    if (d_receiving || d_waiting)
        return std::nullopt;
    if (d_access.walk().exists())
        return rules::next_with_token(*this);
    station_time from = d_free_at;
    if (d_turn) {
        const bool owes = d_turn->ack_owed() || rules::control_waiting(*d_turn);
        const bool others = others_wait(*d_turn, d_turn_at) ||
                            d_links.exclusive_wanted() || must_yield() ||
                            outranked(*d_turn, d_turn_at);
        const bool paused =
            d_turn_at < d_turn->turn.not_before || d_carrier_since.has_value();
        if (granted(*d_turn) && sendable(*d_turn) && (owes || !(others || paused)))
            return start{ d_turn_at, d_turn };
        // A turn with another peer continues from here, unless other stations come first.
        from = must_yield() ? d_free_at : d_turn_at;
    }
    if (d_carrier_since)
        return std::nullopt; // until the carrier has gone
    return best_from(from);
}

// Earliest start. Of several at the same time the most urgent, then the one that was
// served longest ago.
std::optional<turns::start> turns::best_from(station_time from) const
{
    std::optional<start> best;
    for (const auto& [raw, q] : d_node.peers) {
        peer& p = *q;
        const auto repeat = repeat_at(p);
        const bool now = sendable(p);
        if (!granted(p) || !(now || repeat))
            continue;
        const station_time ready =
            now ? p.turn.ready_at : std::max(p.turn.ready_at, *repeat);
        const station_time at = d_access.clear_at(std::max(from, ready), d_free_at);
        const auto rank = [](station_time t, const peer& r) {
            return std::tuple(t, -static_cast<int>(urgency(r)), r.turn.served_at);
        };
        if (!best || rank(at, p) < rank(best->at, *best->to))
            best = start{ at, &p };
    }
    return best;
}

std::optional<turns::start> turns::next_duplex() const
{
    // Only data wait for the answer to the last transmission; control and ACKs do not.
    std::optional<start> best;
    for (const auto& [raw, q] : d_node.peers) {
        peer& p = *q;
        // An ACK waits for the end of the reception, so that it covers all of it.
        const bool ack = !d_receiving && p.ack_owed();
        const bool now = ack || rules::control_waiting(p) || (!d_waiting && has_data(p));
        const auto repeat = d_waiting ? std::nullopt : repeat_at(p);
        if (!granted(p) || !(now || repeat))
            continue;
        const station_time at =
            now ? p.turn.ready_at : std::max(p.turn.ready_at, *repeat);
        if (!best || at < best->at)
            best = start{ at, &p };
    }
    return best;
}

bool turns::must_yield() const
{
    if (d_node.config.full_duplex)
        return false;
    // A short answer keeps no other station out.
    double length_s = d_node.config.max_transmission_s;
    if (d_turn && d_turn->arq.tx.unacknowledged() == 0) {
        const auto bits = 8 * static_cast<double>(d_turn->unsent().total());
        length_s = std::min(length_s, bits / d_node.modes.data_mode.rate_bps);
    }
    return d_access.must_yield(d_turn_at, length_s);
}

turns::kind turns::begin_own(station_time now, peer& p)
{
    const bool yields = must_yield();
    const bool in_turn = d_turn == &p && now <= d_turn_at + d_access.guard_time() &&
                         !(yields && now >= d_free_at);
    if (d_access.walk().exists()) {
        const bool answer = in_turn && (p.ack_owed() || rules::control_waiting(p));
        const kind k = rules::begin_with_token(*this, now, p, answer);
        rules::begin_transmission(*this, now, p, k, in_turn);
        return k;
    }
    kind k;
    // A call that was not answered may have met that of a hidden station. Short ones meet
    // less often.
    const bool short_call =
        p.link.calling() && (p.turn.silent > 0 || d_access.unknown_to_hidden());
    k.ask = !in_turn && p.link.made() && !p.arq.tx.idle() && d_access.unknown_to_hidden();
    k.no_data = k.ask || (in_turn ? yields || outranked(p, now) || others_wait(p, now)
                                  : short_call);
    k.contended = !in_turn && !p.addr.is_group() && d_access.contended();
    if (d_access.walk().active() && (has_data(p) || !in_turn))
        d_access.walk().create(now);
    rules::begin_transmission(*this, now, p, k, in_turn);
    return k;
}

void turns::rules::begin_transmission(turns& t,
                                      station_time now,
                                      peer& p,
                                      const kind& k,
                                      bool in_turn)
{
    t.d_access.begin_own(now, in_turn, !k.no_data);
    t.d_transmitting = true;
    t.d_turn = nullptr;
    if (!t.d_node.config.full_duplex)
        t.d_waiting = nullptr;
    if (!in_turn || (!k.no_data && t.has_data(p)))
        serve(t, now, p);
}

void turns::end_own(station_time now, const transmission& tx)
{
    peer& p = *tx.to();
    d_transmitting = false;
    d_used_until = now;
    d_carrier_since.reset();
    d_access.ended_own(now, p.addr);
    if (tx.has_data()) {
        d_access.end_own_data(now, tx.begin(), tx.answer_wanted());
        d_access.walk().sent_data(now, p.addr, now - tx.begin());
    }
    if (d_kind.hands && !tx.cut())
        d_access.walk().hand_over(now, p.addr, d_kind.invites);
    d_kind.hands = false;
    d_free_at =
        now + d_access.wait_after_own(now, p.addr.is_group(), d_node.peers.size());
    d_turn = nullptr;
    if (tx.cut()) {
        // A transmission that ran for a while shows that the radio works.
        const bool worked = now - tx.begin() > from_seconds(d_access.answer_wait_s());
        d_cut_in_a_row = worked ? 1 : d_cut_in_a_row + 1;
        p.turn.ready_at = now + after_cut(now, tx);
        return;
    }
    d_cut_in_a_row = 0;
    const bool answered = d_node.config.full_duplex && p.arq_idle() && p.link.made() &&
                          !p.managing() && !p.reset.active();
    if (tx.answer_wanted() && !answered) {
        d_waiting = &p;
        d_answer_by = now + from_seconds(d_access.answer_wait_s());
    }
}

// No answer is expected to what our radio did not send. A peer that heard part of it
// answers at the planned end, which matters only if that is soon.
station_time turns::after_cut(station_time now, const transmission& tx) const
{
    constexpr unsigned max_doublings = 4; // a radio that stays broken is tried less often
    const unsigned doublings = std::min(d_cut_in_a_row - 1, max_doublings);
    const station_time wait = from_seconds(d_access.answer_wait_s());
    const station_time rest = tx.planned() ? tx.end() - now : station_time::zero();
    return wait * (1u << doublings) +
           (rest > station_time::zero() && rest < wait ? rest : station_time::zero());
}

void turns::on_silence(station_time now, peer& p, const transmission& tx)
{
    d_waiting = nullptr;
    if (++p.turn.silent == 1)
        p.turn.silent_since = tx.begin();
    if (p.turn.silent == 1 || d_access.newcomer_since(p.turn.fair_since)) {
        p.turn.silent_fair = 0;
        p.turn.fair_since = tx.begin();
    }
    if (d_access.had_fair_chance())
        ++p.turn.silent_fair;
    d_access.unanswered(tx.has_data());
    p.turn.probe = d_node.config.probe_after_silence;
    // If this node senses others, it also senses the peer. Then their turns are pause
    // enough.
    constexpr unsigned max_pauses = 3;
    const bool sensed = d_access.shared() && !d_access.blind();
    p.turn.ready_at =
        now + retry_pause(sensed ? std::min(p.turn.silent, max_pauses) : p.turn.silent,
                          p.link.breaking(),
                          d_access.blind());
    d_access.walk().unanswered(p.addr);
    // Between two stations alone, what is not read is the other one's.
    const bool third =
        std::any_of(d_node.peers.begin(), d_node.peers.end(), [&](const auto& e) {
            return e.second.get() != &p && e.second->turn.heard_at;
        });
    if (third && p.turn.silent >= rules::starving_calls)
        d_access.walk().starves(now, p.turn.silent_since);
    if (d_access.walk().holds() && !d_access.blind())
        p.turn.ready_at = now; // other stations have their turns with the token
    if (!d_node.config.full_duplex) {
        p.turn.ready_at +=
            d_access.back_off(p.turn.silent, d_node.config.own.raw() > p.addr.raw());
    }
}

void turns::begin_reception(station_time now)
{
    const bool follows = now - d_used_until <= from_seconds(d_access.answer_wait_s());
    d_reception = { now, follows, nullptr };
    d_receiving = true;
    d_carrier_since.reset();
    d_turn = nullptr;
}

void turns::end_reception(station_time end,
                          bool non_arq_alone,
                          std::optional<address> asked)
{
    d_receiving = false;
    d_used_until = end;
    // The addressed station may answer first; all others, and new calls, wait for that.
    d_turn_at = end + from_seconds(d_access.turnaround_s());
    d_access.ended(end, asked);
    d_free_at = end + d_access.wait_of_heard(end, non_arq_alone, d_node.peers.size());
}

void turns::note_run()
{
    const auto length = d_used_until - d_reception.begin;
    if (!d_reception.follows || length < from_seconds(d_access.answer_wait_s()))
        return;
    for (const auto& [raw, p] : d_node.peers)
        if (p->heard.data)
            d_reception.runs_on = p.get();
}

peer* turns::after_reception(station_time now, bool preempted)
{
    note_run();
    if (!d_waiting)
        return nullptr;
    const auto& heard = d_waiting->heard;
    if (preempted || (d_node.config.full_duplex && heard.any && !heard.ack)) {
        d_answer_by = std::max(d_answer_by, now + d_access.guard_time());
        return nullptr;
    }
    peer* missing = heard.any ? nullptr : d_waiting;
    d_waiting = missing;
    return missing;
}

void turns::on_carrier(station_time now, bool present)
{
    d_access.senses_carrier();
    if (d_transmitting || present == d_carrier_since.has_value())
        return;
    if (present) {
        // Most often a preamble that is not over yet. During a reception it shows that the
        // modem has ended the reception without a report.
        d_carrier_since = now;
        return;
    }
    if (d_receiving) {
        d_carrier_since.reset();
        return;
    }
    d_node.log.trace(now,
                     "channel free after " +
                         std::to_string(std::lround(to_seconds(now - *d_carrier_since))) +
                         " s of a signal that was not received");
    // The addressed station may answer first. If this was the answer that we wait for, it
    // is lost.
    d_used_until = now;
    d_access.began_unknown(*d_carrier_since, d_waiting != nullptr);
    d_access.walk().taken(now);
    const station_time length = now - *d_carrier_since;
    d_access.walk().unread(now, length);
    // It may be a station that we call, in a dialogue with one that we do not hear.
    if (d_access.walk().active() || d_access.walk().jammed(now))
        for (auto& [raw, p] : d_node.peers)
            p->turn.silent_fair = 0;
    d_carrier_since.reset();
    d_access.ended(now);
    d_free_at =
        std::max(d_free_at, now + d_access.wait_of_others(now, d_node.peers.size()));
}

peer* turns::on_tick(station_time now)
{
    if (d_carrier_since && now - *d_carrier_since >= longest_carrier) {
        d_carrier_since.reset();
        d_node.log.trace(now, "interference, ignored");
    }
    if (d_transmitting || d_receiving)
        return nullptr;
    rules::tick_token(*this, now);
    const bool late = d_waiting && now >= d_answer_by && !d_carrier_since;
    return late ? d_waiting : nullptr;
}

void turns::drop_idle_turn(station_time now)
{
    if (!d_transmitting && !d_receiving && d_turn && now >= d_free_at &&
        !sendable(*d_turn))
        d_turn = nullptr;
}

std::optional<due> turns::next_due() const
{
    if (d_transmitting || (d_receiving && !d_node.config.full_duplex))
        return std::nullopt;
    earliest first;
    if (d_carrier_since)
        first.add(timer::carrier, *d_carrier_since + longest_carrier);
    else if (d_waiting && !d_receiving)
        first.add(timer::answer, d_answer_by);
    if (const auto s = next())
        first.add(timer::turn, s->at);
    rules::add_token_due(*this, first);
    return first.get();
}

} // namespace gr::hf::s5066
