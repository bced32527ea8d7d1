/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Turns among stations of which some do not hear each other: chance, and the token.
#include "s5066/node/turns_rules.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {
// A peer that may be sent to later than this does not keep the token here.
constexpr station_time longest_hold = std::chrono::seconds(3);
// Between the end of a preamble that may be on the air and our own.
constexpr station_time preamble_doubt = std::chrono::milliseconds(200);
} // namespace

// A call of a station that never gets the token, and the start of its answer.
station_time turns::rules::call_slot(const turns& t)
{
    return from_seconds(t.d_access.answer_wait_s());
}

// Time for such calls after a handover.
station_time turns::rules::invited_time(const turns& t)
{
    return t.d_access.walk().invited(t.d_used_until)
               ? t.d_access.guard_time() +
                     static_cast<int>(token_walk::invited_slots) * call_slot(t)
               : station_time::zero();
}

station_time turns::rules::token_from(const turns& t)
{
    return std::max(t.d_token_at,
                    t.d_used_until + from_seconds(t.d_access.turnaround_s()) +
                        invited_time(t));
}

// True in three of four pauses, which differ between stations: several may wait for one.
bool turns::rules::tries_now(const turns& t)
{
    constexpr uint64_t mix = 0x9e3779b97f4a7c15; // 2^64 divided by the golden ratio
    const auto ticks = static_cast<uint64_t>(t.d_used_until.count());
    return ((ticks / 1000 + 1) * (t.d_node.config.own.raw() + 1) * mix >> 40) % 4 != 0;
}

// Two stations that call each other between dialogues of the same length would do so at the
// same time for ever. So while calls fail, half of the turns in dialogues do not count.
void turns::rules::serve(turns& t, station_time now, peer& p)
{
    const auto& peers = t.d_node.peers;
    const bool fails = std::any_of(peers.begin(), peers.end(), [](const auto& e) {
        return e.second->link.calling() && e.second->turn.silent > 0;
    });
    if (!(p.link.made() && fails) || t.d_node.random() % 2 == 0)
        p.turn.served_at = now;
    if (t.d_last_served != p.addr.raw())
        t.d_run_since = now;
    t.d_last_served = p.addr.raw();
}

// A call that keeps failing follows the end of a transmission of others, since dialogues
// pause. Until then the holder listens.
std::optional<turns::start> turns::rules::next_listening(const turns& t,
                                                         station_time from)
{
    for (const auto& [raw, p] : t.d_node.peers) {
        if (!t.granted(*p) || !starving(*p) || t.d_access.walk().left_s(p->addr) <= 0 ||
            t.d_access.walk().must_be_met(from, p->addr))
            continue;
        const bool ended = t.d_used_until > p->turn.ready_at && tries_now(t);
        return start{ ended ? t.d_used_until + t.d_access.guard_time() + preamble_doubt
                            : std::max(from, p->turn.ready_at) +
                                  from_seconds(t.d_node.config.max_transmission_s),
                      p.get() };
    }
    return std::nullopt;
}

// The next transmission of the holder that does not hand the token over.
std::optional<turns::start> turns::rules::next_of_holder(const turns& t)
{
    const station_time from = token_from(t);
    const auto usable = [&](const peer& p) {
        const bool late_ack = p.ack_owed() && &p != t.d_turn;
        return t.granted(p) && (t.has_data(p) || control_waiting(p) || late_ack) &&
               !starving(p) && !t.d_access.walk().must_be_met(from, p.addr) &&
               t.d_access.walk().left_s(p.addr) > 0 &&
               std::max(p.turn.ready_at, p.turn.not_before) <= from + longest_hold;
    };
    peer* longest = nullptr; // served longest ago
    for (const auto& [raw, p] : t.d_node.peers)
        if (usable(*p) && (!longest || p->turn.served_at < longest->turn.served_at))
            longest = p.get();
    return longest
               ? std::optional<start>({ std::max(from, longest->turn.ready_at), longest })
               : next_listening(t, from);
}

peer* turns::rules::next_holder(const turns& t)
{
    if (!t.d_access.walk().holds() || next_of_holder(t))
        return nullptr;
    const auto to = t.d_access.walk().next(token_from(t), t.d_grant.only);
    return to ? t.d_node.find_peer(*to) : nullptr;
}

std::optional<turns::start> turns::rules::next_with_token(const turns& t)
{
    const auto& walk = t.d_access.walk();
    if (t.d_turn && t.granted(*t.d_turn) &&
        (t.d_turn->ack_owed() || control_waiting(*t.d_turn)))
        return start{ t.d_turn_at, t.d_turn };
    if (t.d_carrier_since || walk.awaited())
        return std::nullopt;
    if (!walk.holds()) {
        const auto slot = walk.invited_slot(t.d_used_until);
        if (const auto call = slot ? t.best_from(t.d_used_until) : std::nullopt)
            return start{ t.d_used_until + t.d_access.guard_time() +
                              static_cast<int>(*slot) * call_slot(t),
                          call->to };
        return t.best_from(std::max(t.d_free_at, walk.lost_at(t.d_used_until)));
    }
    if (const auto own = next_of_holder(t))
        return own;
    peer* const to = next_holder(t);
    if (!to)
        return std::nullopt;
    if (!walk.must_be_met(token_from(t), to->addr))
        return start{ token_from(t), to };
    const station_time wait = walk.heard_last(t.d_used_until, to->addr) && tries_now(t)
                                  ? t.d_access.guard_time() + preamble_doubt
                                  : from_seconds(t.d_node.config.max_transmission_s);
    return start{ t.d_used_until + wait, to };
}

turns::kind
turns::rules::begin_with_token(turns& t, station_time now, const peer& p, bool answer)
{
    auto& walk = t.d_access.walk();
    // A peer that knows nothing of the token leaves no silence to create another one in.
    const bool unaware = answer && walk.unaware(p.addr);
    kind k;
    if (!answer && !walk.holds() && walk.invited_slot(t.d_used_until)) {
        k.no_data = true;
        k.ask = p.link.made() && !p.arq.tx.idle();
        return k;
    }
    if (!walk.holds() && (!answer || unaware))
        walk.create(now);
    const bool over = walk.left_s(p.addr) <= 0 || !t.has_data(p);
    k.hands = next_holder(t) == &p || (walk.holds() && unaware && over);
    k.more =
        std::any_of(t.d_node.peers.begin(), t.d_node.peers.end(), [&](const auto& e) {
            return t.granted(*e.second) && t.has_data(*e.second);
        });
    k.invites = k.hands && walk.invites(now);
    // A call that failed may have met a hidden station. Short ones meet less often.
    const bool again = !answer && p.link.calling() && p.turn.silent > 0;
    k.no_data = k.hands || again || !walk.holds() || walk.left_s(p.addr) <= 0;
    t.d_kind = k;
    return k;
}

void turns::rules::tick_token(turns& t, station_time now)
{
    auto& walk = t.d_access.walk();
    if (!walk.active() || !t.quiet() || t.d_carrier_since)
        return;
    if (walk.awaited()) {
        if (now >= token_due(t))
            walk.not_taken(now);
        return;
    }
    if (!walk.holds() || now < token_from(t) || next_with_token(t))
        return;
    const auto ready = own_ready(t);
    if (!ready)
        walk.drop();
    else if (*ready <= now)
        walk.keep(now);
    t.d_token_at = now;
}

// When we can send something, if anything waits.
std::optional<station_time> turns::rules::own_ready(const turns& t)
{
    std::optional<station_time> first;
    for (const auto& [raw, q] : t.d_node.peers) {
        const station_time at = std::max(q->turn.ready_at, q->turn.not_before);
        if (t.granted(*q) && t.sendable(*q) &&
            !t.d_access.walk().must_be_met(token_from(t), q->addr) &&
            (!first || at < *first))
            first = at;
    }
    return first;
}

station_time turns::rules::token_due(const turns& t)
{
    return t.d_used_until + from_seconds(t.d_access.answer_wait_s()) + invited_time(t);
}

void turns::rules::add_token_due(const turns& t, earliest& first)
{
    const auto& walk = t.d_access.walk();
    if (!walk.active() || !t.quiet() || t.d_carrier_since)
        return;
    if (walk.awaited())
        first.add(timer::answer, token_due(t));
    else if (walk.holds() && !next_with_token(t)) {
        constexpr station_time later = std::chrono::seconds(1);
        const auto ready = own_ready(t);
        const auto visit = walk.next_visit();
        station_time at =
            std::min(ready.value_or(token_from(t)), visit.value_or(token_from(t)));
        if (ready && at <= t.d_token_at)
            at = t.d_token_at + later;
        first.add(timer::turn, std::max(token_from(t), at));
    }
}

} // namespace gr::hf::s5066
