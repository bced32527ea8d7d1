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
constexpr unsigned max_slots = 16;
// A rate change whose other side does not go on for so long per try is over.
constexpr sim_time management_pause = std::chrono::seconds(40);
// A station that was not heard for so long does not count as sharing the channel.
constexpr sim_time station_memory = std::chrono::minutes(15);
constexpr size_t max_stations = 64;
// What lasts longer than any transmission is interference, and does not silence us.
constexpr sim_time longest_carrier = std::chrono::seconds(180);

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
        if (sendable(*d_turn) && (owes || !(long_run() || exclusive_wanted()))) {
            return start{ d_turn_at, d_turn };
        }
        // After a long run the others on the channel come first: all of their slots pass.
        from = yield_due() ? d_free_at + yield_time() : d_turn_at;
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
        if (!best || at < best->at) {
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

sim_time node::impl::noticed_after() const
{
    return d_senses ? from_seconds(d_config.carrier_detect_s)
                    : d_longest_preamble + from_seconds(d_config.rx_latency_s);
}

sim_time node::impl::guard_time() const
{
    // Another station may answer: its turnaround (ours goes on at the same time), our delay in
    // noticing it.
    return from_seconds(d_config.turnaround_s) + noticed_after();
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
    d_heard_at[a.raw()] = now;
    d_stations_heard = d_heard_at.size();
}

bool node::impl::yield_due() const
{
    // Whoever never gets a chance to transmit is not heard, so now and then one is given blindly.
    const double run_s = shared() ? d_config.link_alternate_s : d_config.lone_run_s;
    return d_turn_at - d_run_since > from_seconds(run_s);
}

sim_time node::impl::shared_slot() const
{
    // Whoever keys first must have been noticed before the next slot begins.
    const double margin_s = d_senses ? 0 : d_config.rx_latency_s / 2;
    return std::max(from_seconds(d_config.contention_slot_s),
                    from_seconds(d_config.turnaround_s - margin_s) + noticed_after());
}

sim_time node::impl::yield_time() const
{
    const auto others = static_cast<unsigned>(std::max<size_t>(d_stations_heard, 2));
    return std::min(2 * others, max_slots) * shared_slot();
}

unsigned node::impl::contention_slots() const
{
    const auto others = static_cast<unsigned>(std::max<size_t>(d_peers.size(), 1));
    return std::min(shared() ? 2 * static_cast<unsigned>(d_stations_heard) : others,
                    max_slots);
}

sim_time node::impl::contention_wait()
{
    return static_cast<int>(d_random() % contention_slots()) * shared_slot();
}

sim_time node::impl::wait_of_others()
{
    return d_config.slot > 0
               ? std::max(from_seconds(d_config.slot_s * (d_config.slot + 1)),
                          guard_time())
               : guard_time() + contention_wait();
}

sim_time node::impl::wait_after_own(const peer& p)
{
    // While there is no third station, the other one may begin before us, even if it was not
    // addressed (wait_of_heard()): nothing is left to chance.
    const bool last = !shared() && d_config.slot == 0 && !p.addr.is_group();
    return last ? guard_time() : wait_of_others();
}

sim_time node::impl::wait_of_heard()
{
    // After data without ARQ nobody owes an answer, and who has sent them waits until all others
    // could have begun.
    const bool free =
        d_heard_non_arq && !d_heard_other && !shared() && d_config.slot == 0;
    return free ? from_seconds(d_config.turnaround_s) : wait_of_others();
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
    d_free_at = now + wait_after_own(p);
    d_turn = nullptr;
    p.ack_due = p.ack_due && !d_tx.ack_sent;
    p.expedited_ack_due = p.expedited_ack_due && !p.expedited_allowed();
    p.accept_now = false;
    p.eow = 0;
    const bool answered = d_config.full_duplex && p.arq_idle() && p.linked() &&
                          !p.managing() && !p.reset.active;
    if (d_tx.answer_wanted && !answered) {
        d_waiting = &p;
        const double wait = d_config.ack_timeout_s > 0
                                ? d_config.ack_timeout_s
                                : d_config.peer_turnaround_s + d_config.rx_latency_s +
                                      to_seconds(d_longest_preamble);
        d_answer_by = now + from_seconds(wait);
    }
    d_sis.update_flow();
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
    d_carrier_since.reset();
    d_free_at = std::max(d_free_at, now + wait_of_others());
}

void node::impl::on_silence(sim_time now, peer& p)
{
    d_waiting = nullptr;
    ++p.silent;
    ++d_stats.silent_rounds;
    d_policy->on_silence(now, p.addr);
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
        if (p.tries >= d_config.link_tries) {
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
