/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/access/token_walk.h"

#include "s5066/access/access_rules.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {
// A station acknowledged by others and not heard for this long is hidden. In a net in
// which all hear each other, each is heard within this time.
constexpr station_time hidden_after = std::chrono::seconds(60);
// A station that does not answer for this long, while others are noticed whose signals of
// this length are not received, is in a dialogue with a hidden one.
constexpr station_time starving = std::chrono::minutes(3);
constexpr station_time long_signal = std::chrono::seconds(10);
// Such signals in the last minutes. In a net in which all hear each other, a collision
// takes at most a longest transmission.
constexpr station_time jam = std::chrono::seconds(60);
constexpr int unread_share = 4;
// Turns in a share_cycle_s.
constexpr double cycle_turns = 8;
// A neighbour and those beyond it have no data if it returns the token within this time.
constexpr station_time empty_visit = std::chrono::seconds(12);
// Pause before the next visit of such a neighbour, or of one that did not take the token.
// It doubles each time.
constexpr station_time first_rest = std::chrono::seconds(15);
constexpr unsigned max_doublings = 3;
// Handovers to a station that does not take the token, in a row.
constexpr unsigned hand_tries = 2;
// Handovers to a station in a dialogue that may not know of the token, in a row. Dialogues
// pause after two longest transmissions.
constexpr unsigned meet_tries = 4;
// Unanswered transmissions to a station in a turn.
constexpr unsigned turn_tries = 2;
// A token counts as lost after a silence of this number of turns, and a random part of one.
constexpr double lost_turns = 3;
// Pause before the next invitation if nobody followed the last one. It doubles each time up
// to share_cycle_s.
constexpr station_time first_pause = std::chrono::seconds(30);
// An invitation ends the transmission that it is in.
constexpr station_time last_d_pdu = std::chrono::seconds(4);
// A station heard within this time after an invitation has understood it: two slots of 3 to 4
// s, and its call.
constexpr station_time invited_call = std::chrono::seconds(12);
// Numbers between that of a lost token and its replacement.
constexpr unsigned new_token = 16;
} // namespace

double token_walk::turn_s() const
{
    return std::min(d_config.share_cycle_s / cycle_turns, d_config.max_transmission_s);
}

void token_walk::heard(station_time now, address a, bool ours, address to)
{
    if (a == d_config.own || a.is_group() ||
        (d_near.size() >= max_stations && d_near.count(a.raw()) == 0))
        return;
    const auto [it, is_new] = d_near.try_emplace(a.raw());
    auto& n = it->second;
    n.heard_at = now;
    if (to != d_config.own)
        n.elsewhere_at = now;
    n.ours |= ours || (d_active && now - d_invitation.at < invited_call);
    if (is_new)
        d_invitation.next = d_invitation.pause =
            station_time::zero(); // perhaps of several
    d_hidden.erase(a.raw());
    if (d_awaited == a) {
        n.fails = 0;
        n.walks = true;
        d_awaited.reset();
    }
}

void token_walk::carried_data(station_time now, address a)
{
    const auto it = d_near.find(a.raw());
    if (it == d_near.end())
        return;
    auto& n = it->second;
    n.served = now;
    n.rest_until = now;
}

void token_walk::hidden(station_time now, address a, bool by_data)
{
    if ((by_data && now <= d_called_at) || d_config.full_duplex || d_config.slot > 0 ||
        a.is_group() || a == d_config.own || d_near.count(a.raw()) != 0 ||
        (d_hidden.size() >= max_stations && d_hidden.count(a.raw()) == 0))
        return;
    const auto since = d_hidden.emplace(a.raw(), now).first->second;
    if (now - since < hidden_after)
        return;
    d_active = true;
    d_needed_at = now;
}

void token_walk::unread(station_time now, station_time length)
{
    if (length < long_signal)
        return;
    const station_time old = d_unread.length - (now - d_unread.at) / unread_share;
    d_unread = { now, std::max(old, station_time::zero()) + length };
}

bool token_walk::jammed(station_time now) const
{
    return d_unread.length - (now - d_unread.at) / unread_share >= jam;
}

void token_walk::starves(station_time now, station_time since)
{
    if (d_config.full_duplex || d_config.slot > 0 || now - since < starving ||
        !jammed(now))
        return;
    d_active = true;
    d_needed_at = now;
}

bool token_walk::newer(station_time now, uint8_t number) const
{
    const auto ahead = static_cast<uint8_t>((number - d_number) & number_mask);
    return !d_seen || now - d_seen_at > station_memory ||
           (ahead > 0 && ahead <= number_mask / 2);
}

void token_walk::see(station_time now, uint8_t number)
{
    d_seen = d_active = true;
    d_number = number & number_mask;
    d_seen_at = d_needed_at = now;
    const double s = turn_s();
    const double part = static_cast<double>(d_random() % 1000) / 1000;
    d_lost_wait = from_seconds((lost_turns + part) * s);
}

void token_walk::begin_turn(station_time now)
{
    d_holds = true;
    d_passes = gives_way(now);
    d_awaited.reset();
    d_used.clear();
    d_silent.clear();
    d_needed_at = now;
    d_invitation.turn_at = now;
    d_invitation.calls = 0;
    d_missed = false;
}

// The visit of a neighbour ends. If it was short and without data, and those to whom it
// hands the token are heard here, too, the next visit can wait.
void token_walk::passed_on(station_time now, neighbour& from, address to, bool more)
{
    if (more && !from.served)
        from.served = station_time::zero(); // it has waited for longest
    if (!more)
        from.served.reset();
    const bool here = to == d_config.own || d_near.count(to.raw()) != 0;
    if (!from.got_at || !here)
        return;
    from.empty = more ? 0 : from.empty;
    if (now - *from.got_at < empty_visit) {
        from.rest_until = now + first_rest * (1u << std::min(from.empty, max_doublings));
        from.empty += more ? 0 : 1;
    } else {
        from.empty = 0;
    }
    from.got_at.reset();
}

void token_walk::handed(station_time now, address from, address to, uint8_t octet)
{
    heard(now, from, true, to);
    if (d_config.full_duplex || d_config.slot > 0)
        return;
    if (!newer(now, octet)) {
        // The station that got the newest token last did not notice, and has an older one.
        const auto it = d_near.find(from.raw());
        const bool lost = d_seen && it != d_near.end() && it->second.got_at == d_seen_at;
        if (lost && to == d_config.own && !d_holds)
            begin_turn(now);
        return;
    }
    see(now, octet);
    if (octet & invite_bit) {
        // A station that has called without success calls after every second one, and so
        // on: others did, too.
        const unsigned most = invited_slots
                              << std::min(d_invitation.calls, max_doublings);
        const bool visited =
            d_invitation.turn_at &&
            now - *d_invitation.turn_at < from_seconds(d_config.share_cycle_s);
        d_invitation.slot =
            visited ? invited_slots : static_cast<unsigned>(d_random() % most);
        d_invitation.calls += d_invitation.slot < invited_slots ? 1 : 0;
        d_invitation.at = now;
    }
    if (const auto it = d_near.find(from.raw()); it != d_near.end()) {
        it->second.had_at = now;
        it->second.walks = it->second.hands = true;
        passed_on(now, it->second, to, octet & more_bit);
    }
    if (to == d_config.own) {
        begin_turn(now);
        return;
    }
    d_holds = false;
    if (const auto it = d_near.find(to.raw()); it != d_near.end())
        it->second.had_at = it->second.got_at = now;
}

void token_walk::forget(station_time now)
{
    const auto old = [&](station_time t) { return now - t > station_memory; };
    for (auto it = d_near.begin(); it != d_near.end();)
        it = old(it->second.heard_at) ? d_near.erase(it) : std::next(it);
    if (d_active && old(d_needed_at)) {
        d_active = d_holds = d_seen = false;
        d_awaited.reset();
        d_hidden.clear();
    }
}

station_time token_walk::lost_at(station_time silent) const
{
    if (!d_seen)
        return silent;
    // A dialogue with a station that never had the token leaves no such silence.
    const bool passed_by =
        std::any_of(d_near.begin(), d_near.end(), [this](const auto& e) {
            const neighbour& n = e.second;
            return n.ours && !n.hands && n.heard_at > d_seen_at;
        });
    return (passed_by ? d_seen_at : std::max(silent, d_seen_at)) + d_lost_wait;
}

bool token_walk::waits(const neighbour& n, station_time now) const
{
    return n.ours && n.served && n.fails == 0 && n.rest_until <= now &&
           now - n.heard_at < station_memory;
}

double token_walk::left_s(address a) const
{
    const auto silent = d_silent.find(a.raw());
    if (d_passes || (silent != d_silent.end() && silent->second >= turn_tries))
        return 0;
    const auto used = d_used.find(a.raw());
    const double s = used == d_used.end() ? 0 : to_seconds(used->second);
    constexpr double min_part = 0.2; // less is not worth a transmission
    return s > (1 - min_part) * turn_s() ? 0 : turn_s() - s;
}

std::optional<address> token_walk::next(station_time now,
                                        std::optional<address> usable) const
{
    const std::pair<const uint32_t, neighbour>* best = nullptr;
    // After one that did not take it, one that did before. So stations that have gone cost
    // the others little.
    const auto known_first = [this](const neighbour& n) { return d_missed && !n.walks; };
    for (const auto& e : d_near) {
        const auto& n = e.second;
        const address a = address::node(e.first);
        if (!n.ours || n.rest_until > now || now - n.heard_at > station_memory ||
            (usable && a != *usable))
            continue;
        if (!best || std::pair(known_first(n), n.had_at) <
                         std::pair(known_first(best->second), best->second.had_at))
            best = &e;
    }
    return best ? std::optional(address::node(best->first)) : std::nullopt;
}

std::optional<station_time> token_walk::next_visit() const
{
    std::optional<station_time> first;
    for (const auto& [raw, n] : d_near)
        if (n.ours && (!first || n.rest_until < *first))
            first = n.rest_until;
    return first;
}

bool token_walk::gives_way(station_time now) const
{
    return d_served && std::any_of(
                           d_near.begin(),
                           d_near.end(),
                           [&](const auto& e) {
                               const neighbour& n = e.second;
                               // A station that has had the token since could not use it.
                               return waits(n, now) && *n.served < *d_served &&
                                      (!n.had_at || *n.had_at < *d_served);
                           });
}

bool token_walk::must_be_met(station_time now, address a) const
{
    const auto it = d_near.find(a.raw());
    return it != d_near.end() && !it->second.walks && it->second.fails > 0 &&
           now - it->second.elsewhere_at < from_seconds(2 * d_config.max_transmission_s);
}

bool token_walk::heard_last(station_time end, address a) const
{
    const auto it = d_near.find(a.raw());
    return it != d_near.end() && end - it->second.heard_at < last_d_pdu;
}

void token_walk::create(station_time now)
{
    see(now, static_cast<uint8_t>(d_number + new_token));
    keep(now);
}

void token_walk::keep(station_time now)
{
    begin_turn(now);
    d_passes = false;
}

void token_walk::sent_data(station_time now, address a, station_time length)
{
    d_served = now;
    d_used[a.raw()] += length;
    d_silent.erase(a.raw());
}

void token_walk::hand_over(station_time now, address a, bool invited)
{
    see(now, number(false, false));
    d_invitation.turn_at = now;
    if (invited) {
        auto& pause = d_invitation.pause;
        pause = std::clamp(2 * pause,
                           first_pause,
                           std::max(first_pause, from_seconds(d_config.share_cycle_s)));
        d_invitation.next = now + pause;
        d_invitation.at = now;
        d_invitation.slot = invited_slots;
    }
    d_holds = false;
    d_awaited = a;
    auto& n = d_near[a.raw()];
    n.had_at = n.got_at = now;
}

void token_walk::not_taken(station_time now)
{
    if (!d_awaited)
        return;
    auto& n = d_near[d_awaited->raw()];
    n.got_at.reset();
    d_missed = !n.walks;
    const unsigned tries = n.walks ? hand_tries : meet_tries;
    if (++n.fails < tries)
        n.had_at.reset(); // once more
    else
        n.rest_until =
            now + first_rest * (1u << std::min(n.fails - tries, max_doublings));
    d_awaited.reset();
    d_holds = true;
    d_passes = d_passes && gives_way(now);
}

void token_walk::taken(station_time now)
{
    if (d_awaited && !d_near[d_awaited->raw()].walks)
        not_taken(now); // a transmission in its dialogue with others
    d_awaited.reset();
    if (d_invitation.at + long_signal > now)
        d_invitation.next = d_invitation.pause = station_time::zero();
}

bool token_walk::invited(station_time end) const
{
    return d_active && end - d_invitation.at < last_d_pdu;
}

std::optional<unsigned> token_walk::invited_slot(station_time end) const
{
    return invited(end) && d_invitation.slot < invited_slots
               ? std::optional(d_invitation.slot)
               : std::nullopt;
}

} // namespace gr::hf::s5066
