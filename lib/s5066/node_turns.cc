/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// When to transmit: turns, guard times, time-outs.
#include "s5066/node_impl.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace gr::hf::s5066 {

namespace {
constexpr sim_time housekeeping_period = std::chrono::seconds(1);
constexpr int narrow_hz = 3000; // voice channel
constexpr unsigned max_slots = 16;
// A rate change whose other side does not go on for so long per try is over.
constexpr sim_time management_pause = std::chrono::seconds(40);
// A station that was not heard for so long does not count as sharing the channel.
constexpr sim_time station_memory = std::chrono::minutes(15);
constexpr size_t max_stations = 64;
// Slots for stations that are not on the list; more of them when some have just come.
constexpr unsigned few_new_slots = 2, many_new_slots = 8;
// Turns of others for which these are left free.
constexpr unsigned many_rounds = 4;
constexpr unsigned most_doublings = 2;
// Runs of a station without a pause in which others could begin, in such pauses: at first, since it
// may not be the only one, and at least, so that the pauses cost little where they are long.
constexpr double first_run_gaps = 20, run_gaps = 200;
// Answer to a longest transmission, with its pauses.
constexpr double answer_s = 3;
// What lasts longer than any transmission is interference, and does not silence us.
constexpr sim_time longest_carrier = std::chrono::seconds(180);
// Half of the link requests are enough for a station that was not heard lately and may not exist,
// but not fewer than these; one less where they take long, so that whoever asks for it is told
// within a minute.
constexpr unsigned least_tries = 4;
constexpr sim_time long_calling = std::chrono::seconds(45);

// The first repeat comes at once, for what was merely lost. Then the peer may be inside a
// transmission whose begin we have missed, so the pauses grow: before the peer counts as lost,
// the tries together span more than the longest one. Where others transmit as well and are not
// sensed, they have to get out of the way for longer.
sim_time retry_pause(unsigned silent, bool breaking, bool blind)
{
    if (breaking) {
        return silent < 3 ? sim_time::zero() : from_seconds(10); // nothing depends on it
    }
    constexpr std::array<double, 7> short_s = { 0, 0, 5, 10, 20, 40, 60 };
    constexpr std::array<double, 7> long_s = { 0, 0, 0, 30, 100, 200, 200 };
    const auto& pauses_s = blind ? long_s : short_s;
    return from_seconds(pauses_s[std::min<size_t>(silent, pauses_s.size() - 1)]);
}

} // namespace

bool node::impl::control_waiting(const peer& p) const
{
    return !p.control.empty() || p.accept_now || p.management.due() ||
           (p.reset.active && !p.managing()) || p.link == link_state::breaking;
}

bool node::impl::may_call(const peer& p) const
{
    if (p.addr.is_group() || excluded(p) || d_broadcast) {
        return false;
    }
    return p.link == link_state::none || p.link == link_state::breaking ||
           (p.linked() && p.wants_exclusive);
}

bool node::impl::has_data(const peer& p) const
{
    const bool data = !p.tx.idle() && (p.tx.unacknowledged() > 0 || p.tx.can_send_new());
    const bool expedited = !p.expedited_tx.idle();
    return (!p.non_arq.empty() && !p.managing() && !excluded(p)) ||
           p.link == link_state::calling || (p.wants_exclusive && may_call(p)) ||
           (data && (p.data_allowed() || may_call(p))) ||
           (expedited && (p.expedited_allowed() || may_call(p)));
}

// Of the data that wait for a peer: 0 none, else one more than their priority.
unsigned node::impl::urgency(const peer& p)
{
    constexpr unsigned most = 17;
    if (!p.expedited_tx.idle()) {
        return most;
    }
    unsigned u = p.tx.idle() ? 0 : 1u + p.tx.urgency();
    if (!p.non_arq.empty()) {
        const auto& n = p.non_arq.front();
        u = std::max(u, n.expedited ? most : 1u + n.o->priority);
    }
    return u;
}

// Data of higher priority wait for another peer, and could go out.
bool node::impl::outranked(const peer& p, sim_time now) const
{
    return std::any_of(d_peers.begin(), d_peers.end(), [&](const auto& e) {
        const peer& q = *e.second;
        return &q != &p && q.ready_at <= now && urgency(q) > urgency(p) && has_data(q);
    });
}

bool node::impl::sendable(const peer& p) const
{
    return control_waiting(p) || p.ack_owed() || has_data(p);
}

std::optional<node::impl::start> node::impl::next_start() const
{
    if (d_transmitting || d_emcon) {
        return std::nullopt;
    }
    if (d_config.full_duplex) {
        return next_start_duplex();
    }
    if (d_receiving || d_waiting) {
        return std::nullopt;
    }
    sim_time from = d_free_at;
    if (d_turn) {
        const bool owes = d_turn->ack_owed() || control_waiting(*d_turn);
        const bool others = long_run() || exclusive_wanted() || must_yield() ||
                            outranked(*d_turn, d_turn_at);
        if (sendable(*d_turn) && (owes || !others)) {
            return start{ d_turn_at, d_turn };
        }
        // A turn with another peer goes on from here, unless others on the channel come first.
        from = must_yield() ? d_free_at : d_turn_at;
    }
    if (d_carrier_since) {
        return std::nullopt; // until it has gone
    }
    // The earliest; of several that could start together the one after the last served.
    std::optional<start> best;
    const auto consider = [&](peer& p) {
        if (!sendable(p)) {
            return;
        }
        const sim_time at = std::max(from, p.ready_at);
        if (!best || at < best->at ||
            (at == best->at && urgency(p) > urgency(*best->to))) {
            best = start{ at, &p };
        }
    };
    const auto after = d_peers.upper_bound(d_last_peer);
    for (auto it = after; it != d_peers.end(); ++it) {
        consider(*it->second);
    }
    for (auto it = d_peers.begin(); it != after; ++it) {
        consider(*it->second);
    }
    return best;
}

std::optional<node::impl::start> node::impl::next_start_duplex() const
{
    // Nothing to wait for but the answer to the last transmission; what is owed goes out before.
    std::optional<start> best;
    for (const auto& [raw, q] : d_peers) {
        peer& p = *q;
        // An ACK waits for the end of what it answers, so that it covers all of it.
        const bool ack = !d_receiving && p.ack_owed();
        if (!ack && !control_waiting(p) && (d_waiting || !has_data(p))) {
            continue;
        }
        if (!best || p.ready_at < best->at) {
            best = start{ p.ready_at, &p };
        }
    }
    return best;
}

std::optional<gr::hf::mode> node::impl::want_tx(sim_time now)
{
    const auto s = next_start();
    if (!s || now < s->at) {
        return std::nullopt;
    }
    begin_transmission(now, *s->to);
    return d_tx.m;
}

// A transmission of a wideband mode is over in the time that a preamble takes elsewhere: there the
// pauses around it count.
double node::impl::turnaround_s() const
{
    const bool wideband = d_data_mode.bandwidth_hz > narrow_hz;
    return d_config.turnaround_s > 0 ? d_config.turnaround_s : wideband ? 0.05 : 0.1;
}

double node::impl::hold_s() const
{
    const bool wideband = d_data_mode.bandwidth_hz > narrow_hz;
    return d_config.hold_s > 0 ? d_config.hold_s : wideband ? 0.02 : 0.1;
}

sim_time node::impl::noticed_after() const
{
    return d_senses ? from_seconds(d_config.carrier_detect_s)
                    : d_longest_preamble + from_seconds(d_config.rx_latency_s);
}

sim_time node::impl::guard_time() const
{
    // Another station may answer: its turnaround (ours goes on at the same time), our delay in
    // noticing it.
    return from_seconds(turnaround_s()) + noticed_after();
}

double node::impl::answer_wait_s() const
{
    return d_config.ack_timeout_s > 0
               ? d_config.ack_timeout_s
               : d_config.peer_turnaround_s + d_config.rx_latency_s +
                     to_seconds(d_longest_preamble);
}

bool node::impl::long_run() const
{
    return d_turn_at - d_run_since > from_seconds(d_config.link_alternate_s);
}

void node::impl::note_station(sim_time now, address a)
{
    if (a == d_config.own || a.is_group() ||
        (d_heard_at.size() >= max_stations && d_heard_at.count(a.raw()) == 0)) {
        return;
    }
    if (d_heard_at.count(a.raw()) == 0) {
        d_gaps = 0;
        d_newest_heard_at = now;
    }
    d_heard_at[a.raw()] = now;
    d_stations_heard = d_heard_at.size();
}

// Our part of the cycle in which each station that has data gets the channel once.
sim_time node::impl::turn_length() const
{
    const size_t n = std::max(d_share.recent(),
                              d_share.stations() + (d_share.has(d_config.own) ? 0 : 1));
    const double part_s = d_config.share_cycle_s / static_cast<double>(n);
    return from_seconds(shared() ? std::min(part_s, d_config.max_transmission_s)
                                 : d_config.max_transmission_s);
}

// Nobody but those in the present exchange could begin for longer than a longest transmission.
bool node::impl::held_long(sim_time at) const
{
    return at - d_gap_at > from_seconds(d_config.max_transmission_s + answer_s);
}

// Another transmission of ours, so long, would keep out for too long whoever was not heard yet: at
// first soon, then after ever longer times. The other end of the link finds the same a moment later,
// so that both give way.
bool node::impl::gap_due(sim_time at, sim_time length) const
{
    const double gap_s =
        to_seconds(guard_time()) + few_new_slots * to_seconds(shared_slot());
    const double longest_s = d_config.max_transmission_s;
    const double first_s = first_run_gaps * gap_s * static_cast<double>(1u << 2 * d_gaps);
    const double run_s =
        std::min(longest_s + first_s, std::max(d_config.lone_run_s, run_gaps * gap_s));
    return at - d_gap_at + length > from_seconds(run_s);
}

// There may be stations that could not begin for long.
bool node::impl::crowded(sim_time at) const
{
    return held_long(at) || gap_due(at, from_seconds(d_config.max_transmission_s));
}

// Another station has waited longer for its turn. Of two alone that is the other end of the link:
// without data in its answer it has none, or gives way, and then we do as well.
bool node::impl::others_first() const
{
    if (d_share.ahead_of(d_config.own) == 0) {
        return false;
    }
    if (!shared()) {
        return held_long(d_turn_at);
    }
    // Where stations have just come more are likely to, and the first words of each must do. Whoever
    // comes where the others have been for long is the only one.
    const bool alone =
        d_turn_at - d_newest_heard_at > from_seconds(d_config.share_cycle_s / 2);
    return !(d_served && (d_new_rounds == 0 || alone) &&
             2 * d_served_time < turn_length());
}

bool node::impl::must_yield() const
{
    if (d_config.full_duplex) {
        return false;
    }
    // A short answer keeps nobody out.
    double length_s = d_config.max_transmission_s;
    if (d_turn && d_turn->tx.unacknowledged() == 0) {
        const auto bits = 8 * static_cast<double>(d_turn->unsent().total());
        length_s = std::min(length_s, bits / d_data_mode.rate_bps);
    }
    return gap_due(d_turn_at, from_seconds(length_s)) || others_first();
}

// A transmission of \p a began, perhaps when everyone was free to begin.
void node::impl::note_begin(sim_time begin, address a)
{
    if (begin - d_busy_end < guard_time() + shared_slot() / 2) {
        return;
    }
    d_gap_at = begin;
    if (d_new_rounds < many_rounds) {
        d_gaps = std::min(d_gaps + 1, most_doublings);
    }
    if (!d_share.has(a)) {
        d_new_rounds = many_rounds;
        d_new_heard = true;
    } else if (d_new_rounds > 0) {
        --d_new_rounds;
    }
    d_share.began_first(a);
    d_served = false;
}

// What was noticed on the channel at this time was not received. If it was no answer, perhaps several
// began together that nobody knows of yet.
void node::impl::note_unknown(sim_time noticed)
{
    if (!d_waiting && noticed - d_busy_end >= guard_time()) {
        d_new_heard = d_new_heard && d_new_rounds > 0;
        d_new_rounds = many_rounds;
        d_gaps = 0;
    }
}

sim_time node::impl::shared_slot() const
{
    // Whoever keys first must have been noticed before the next slot begins.
    const double margin_s = d_senses ? 0 : d_config.rx_latency_s / 2;
    return std::max(from_seconds(d_config.contention_slot_s),
                    from_seconds(turnaround_s() - margin_s) + noticed_after());
}

// One in so many times a station begins at once whose transmissions were not answered, or want no
// answer.
unsigned node::impl::chances() const
{
    constexpr unsigned without_arq = 4;
    constexpr unsigned unanswered = 2;
    return d_unsure ? without_arq : d_unheard > 0 ? unanswered : 1;
}

// Slots to wait on the free channel. The first ones are for stations that the others do not know of,
// at random. Then all others follow in the order in which they have waited.
unsigned node::impl::contention_slot(sim_time end)
{
    constexpr unsigned last_slots = 4;
    if (!shared() && !crowded(end)) {
        const auto others = static_cast<unsigned>(std::max<size_t>(d_peers.size(), 1));
        return static_cast<unsigned>(d_random() % std::min(others, max_slots));
    }
    const bool many = d_new_rounds > 0;
    if (d_share.has(d_config.own)) {
        return (many ? many_new_slots : few_new_slots) + d_share.ahead_of(d_config.own) +
               static_cast<unsigned>(d_random() % chances());
    }
    // Others may not know what makes us think that several are new: half of the time we draw among
    // the slots that they leave free in any case.
    const bool wide =
        many && (d_new_heard || d_share.stations() == 0 || d_random() % 2 == 0);
    const unsigned new_slots = wide ? many_new_slots : few_new_slots;
    const bool pass = many && d_unheard > 1 && d_random() % 2 == 0;
    return static_cast<unsigned>(pass ? new_slots + d_share.stations() +
                                            d_random() % last_slots
                                      : d_random() % new_slots);
}

sim_time node::impl::wait_of_others(sim_time end)
{
    return d_config.slot > 0
               ? std::max(from_seconds(d_config.slot_s * (d_config.slot + 1)),
                          guard_time())
               : guard_time() + static_cast<int>(contention_slot(end)) * shared_slot();
}

sim_time node::impl::wait_after_own(sim_time end, const peer& p)
{
    // While there is no third station, the other one may begin before us, even if it was not
    // addressed (wait_of_heard()): nothing is left to chance.
    const bool last =
        !shared() && !crowded(end) && d_config.slot == 0 && !p.addr.is_group();
    return last ? guard_time() : wait_of_others(end);
}

sim_time node::impl::wait_of_heard(sim_time end)
{
    // After data without ARQ nobody owes an answer, and who has sent them waits until all others
    // could have begun. Others that nobody hears may do so at the same time.
    const bool free = d_heard_non_arq && !d_heard_other && !shared() &&
                      d_config.slot == 0 && d_random() % chances() == 0;
    return free ? from_seconds(turnaround_s()) : wait_of_others(end);
}

sim_time node::impl::back_off(const peer& p)
{
    if (d_config.full_duplex) {
        return sim_time::zero();
    }
    // The silence may be that of two that called each other: they never choose the same slot.
    // Others that collided with us draw among more slots each time.
    const unsigned pairs = std::min(1u << std::min(p.silent - 1, 3u), max_slots / 2);
    const auto k = static_cast<unsigned>(d_random() % pairs);
    const unsigned later = d_config.own.raw() > p.addr.raw() ? 1 : 0;
    return (2 * k + later) * shared_slot();
}

void node::impl::on_tx_end(sim_time now)
{
    if (!d_transmitting) {
        return;
    }
    d_transmitting = false;
    d_carrier_since.reset();
    peer& p = *d_tx.to;
    d_stats.tx_time += now - d_tx.begin;
    for (auto& [raw, q] : d_peers) {
        if (q->first_data_by > sim_time::zero()) {
            q->first_data_by += now - d_tx.begin; // nobody could send us anything
        }
    }
    d_busy_end = now;
    if (d_tx.data) {
        d_share.served(d_config.own, d_tx.begin);
        d_served_time += now - d_tx.begin;
        d_unsure = !d_tx.answer_wanted;
    }
    d_free_at = now + wait_after_own(now, p);
    d_turn = nullptr;
    p.ack_due = p.ack_due && !d_tx.ack_sent;
    p.expedited_ack_due = p.expedited_ack_due && !p.expedited_allowed();
    p.accept_now = false;
    p.eow = 0;
    const bool answered = d_config.full_duplex && p.arq_idle() && p.linked() &&
                          !p.managing() && !p.reset.active;
    if (d_tx.answer_wanted && !answered) {
        d_waiting = &p;
        d_answer_by = now + from_seconds(answer_wait_s());
    }
    d_sis.update_flow();
}

void node::impl::on_tx_damaged(sim_time now, const std::string& reason)
{
    trace(now, "the radio did not send the transmission whole: " + reason);
    d_tx.damaged = true;
    ++d_stats.tx_damaged;
}

void node::impl::on_carrier(sim_time now, bool present)
{
    d_senses = true;
    if (d_transmitting || d_receiving || present == d_carrier_since.has_value()) {
        return;
    }
    if (present) {
        d_carrier_since = now; // most often a preamble that is not over yet
        return;
    }
    trace(now,
          "channel free after " +
              std::to_string(std::lround(to_seconds(now - *d_carrier_since))) +
              " s of what was not received");
    // Whoever was addressed may answer first. The answer that we wait for, if it was that, is
    // lost.
    note_unknown(*d_carrier_since);
    d_carrier_since.reset();
    d_busy_end = now;
    d_free_at = std::max(d_free_at, now + wait_of_others(now));
}

bool node::impl::tried_enough(sim_time now, const peer& p) const
{
    const unsigned half = std::max(least_tries, d_config.link_tries / 2);
    const bool late = now - p.called_at >= long_calling;
    return p.tries >= d_config.link_tries ||
           (d_heard_at.count(p.addr.raw()) == 0 && p.tries + (late ? 1u : 0u) >= half);
}

void node::impl::on_silence(sim_time now, peer& p)
{
    d_waiting = nullptr;
    ++p.silent;
    ++d_unheard;
    if (d_tx.data) {
        d_share.unserved(d_config.own);
    }
    ++d_stats.silent_rounds;
    if (!d_tx.damaged) {
        d_policy->on_silence(now, p.addr);
    }
    p.probe = d_config.probe_after_silence;
    p.ready_at =
        now + back_off(p) +
        retry_pause(p.silent, p.link == link_state::breaking, shared() && !d_senses);
    trace(now,
          "no answer from " + p.addr.to_string() + ", round " + std::to_string(p.silent));
    if (p.managing()) {
        repeat_management(now, p);
        return;
    }
    switch (p.link) {
    case link_state::calling:
        if (tried_enough(now, p)) {
            link_lost(now, p, unidata_reject_reason::not_responding);
        }
        break;
    case link_state::breaking:
        if (p.tries >= d_config.break_tries) {
            link_closed(p);
        }
        break;
    default:
        p.reset.silent += p.reset.active ? 1 : 0;
        if (p.silent >= d_config.max_silent_rounds ||
            (p.reset.active && p.reset.silent >= d_config.reset_tries)) {
            link_lost(now, p, unidata_reject_reason::not_responding);
        }
    }
}

void node::impl::on_tick(sim_time now)
{
    if (d_carrier_since && now - *d_carrier_since >= longest_carrier) {
        d_carrier_since.reset();
        trace(now, "interference, not heeded");
    }
    if (!d_transmitting && !d_receiving) {
        if (d_waiting && now >= d_answer_by && !d_carrier_since) {
            on_silence(now, *d_waiting);
        }
        if (d_turn && now >= d_free_at && !sendable(*d_turn)) {
            d_turn = nullptr;
        }
    }
    if (now >= d_housekeeping_at) {
        d_housekeeping_at = now + housekeeping_period;
        housekeeping(now);
    }
    tell_links(now);
}

void node::impl::housekeeping(sim_time now)
{
    for (auto it = d_heard_at.begin(); it != d_heard_at.end();) {
        it = now - it->second > station_memory ? d_heard_at.erase(it) : std::next(it);
    }
    d_stations_heard = d_heard_at.size();
    d_share.forget_before(now - station_memory,
                          now - from_seconds(d_config.share_cycle_s));
    for (auto& [raw, p] : d_peers) {
        std::vector<outgoing_ptr> expired;
        if (p->rates.active() &&
            now - p->management_at >= management_pause * d_config.management_tries) {
            management_lost(now, *p);
        }
        p->tx.expire(now, expired);
        p->expedited_tx.expire(now, expired);
        for (auto it = p->non_arq.begin(); it != p->non_arq.end();) {
            it = it->over(now) ? give_up_non_arq(*p, it) : std::next(it);
        }
        for (const auto& o : expired) {
            ++d_stats.u_pdus_expired;
            d_sis.on_failed(*o, unidata_reject_reason::ttl_expired);
        }
    }
    std::vector<non_arq_c_pdu> ended;
    d_non_arq.expire(now, ended);
    for (const auto& c : ended) {
        deliver(now, c);
    }
    check_links(now);
    d_sis.on_time(now);
    d_sis.update_flow();
}

bool node::impl::housekeeping_needed() const
{
    if (!d_non_arq.empty()) {
        return true;
    }
    return std::any_of(d_peers.begin(), d_peers.end(), [](const auto& e) {
        const peer& p = *e.second;
        return p.link != link_state::none || !p.arq_idle() || !p.non_arq.empty();
    });
}

std::optional<sim_time> node::impl::next_deadline() const
{
    std::optional<sim_time> t = d_sis.next_deadline();
    const auto add = [&t](sim_time d) { t = t ? std::min(*t, d) : d; };
    if (t) {
        *t = std::max(*t, d_housekeeping_at);
    }
    if (!d_transmitting && (!d_receiving || d_config.full_duplex)) {
        if (d_carrier_since) {
            add(*d_carrier_since + longest_carrier);
        } else if (d_waiting && !d_receiving) {
            add(d_answer_by);
        }
        if (const auto s = next_start()) {
            add(s->at);
        }
    }
    if (housekeeping_needed()) {
        add(d_housekeeping_at);
    }
    return t;
}

} // namespace gr::hf::s5066
