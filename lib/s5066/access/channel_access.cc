/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/access/channel_access.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {
constexpr int narrow_hz = 3000; // voice channel
constexpr unsigned max_slots = 16;
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
} // namespace

void channel_access::set_modes(int bandwidth_hz, sim_time longest_preamble)
{
    d_wideband = bandwidth_hz > narrow_hz;
    d_longest_preamble = longest_preamble;
}

// A transmission of a wideband mode is over in the time that a preamble takes elsewhere: there the
// pauses around it count.
double channel_access::turnaround_s() const
{
    return d_config.turnaround_s > 0 ? d_config.turnaround_s : d_wideband ? 0.05 : 0.1;
}

double channel_access::hold_s() const
{
    return d_config.hold_s > 0 ? d_config.hold_s : d_wideband ? 0.02 : 0.1;
}

sim_time channel_access::noticed_after() const
{
    return d_senses ? from_seconds(d_config.carrier_detect_s)
                    : d_longest_preamble + from_seconds(d_config.rx_latency_s);
}

sim_time channel_access::guard_time() const
{
    // Another station may answer: its turnaround (ours goes on at the same time), our delay in
    // noticing it.
    return from_seconds(turnaround_s()) + noticed_after();
}

double channel_access::answer_wait_s() const
{
    return d_config.ack_timeout_s > 0
               ? d_config.ack_timeout_s
               : d_config.peer_turnaround_s + d_config.rx_latency_s +
                     to_seconds(d_longest_preamble);
}

void channel_access::heard(sim_time now, address a)
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
}

// Our part of the cycle in which each station that has data gets the channel once.
sim_time channel_access::turn_length() const
{
    const size_t n = std::max(d_share.recent(),
                              d_share.stations() + (d_share.has(d_config.own) ? 0 : 1));
    const double part_s = d_config.share_cycle_s / static_cast<double>(n);
    return from_seconds(shared() ? std::min(part_s, d_config.max_transmission_s)
                                 : d_config.max_transmission_s);
}

// Nobody but those in the present exchange could begin for longer than a longest transmission.
bool channel_access::held_long(sim_time at) const
{
    return at - d_gap_at > from_seconds(d_config.max_transmission_s + answer_s);
}

// Another transmission of ours, so long, would keep out for too long whoever was not heard yet: at
// first soon, then after ever longer times. The other end of the link finds the same a moment later,
// so that both give way.
bool channel_access::gap_due(sim_time at, sim_time length) const
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
bool channel_access::crowded(sim_time at) const
{
    return held_long(at) || gap_due(at, from_seconds(d_config.max_transmission_s));
}

// Another station has waited longer for its turn. Of two alone that is the other end of the link:
// without data in its answer it has none, or gives way, and then we do as well.
bool channel_access::others_first(sim_time turn_at) const
{
    if (d_share.ahead_of(d_config.own) == 0) {
        return false;
    }
    if (!shared()) {
        return held_long(turn_at);
    }
    // Where stations have just come more are likely to, and the first words of each must do. Whoever
    // comes where the others have been for long is the only one.
    const bool alone =
        turn_at - d_newest_heard_at > from_seconds(d_config.share_cycle_s / 2);
    return !(d_served && (d_new_rounds == 0 || alone) &&
             2 * d_served_time < turn_length());
}

bool channel_access::must_yield(sim_time turn_at, double length_s) const
{
    return gap_due(turn_at, from_seconds(length_s)) || others_first(turn_at);
}

void channel_access::began(sim_time begin, address a)
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
        // The only one that is known began when all new ones could have: there are none.
        d_new_rounds = d_share.stations() == 1 ? 0 : d_new_rounds - 1;
    }
    d_share.began_first(a);
    d_served = false;
}

void channel_access::began_unknown(sim_time noticed, bool may_be_answer)
{
    if (!may_be_answer && noticed - d_busy_end >= guard_time()) {
        d_new_heard = d_new_heard && d_new_rounds > 0;
        d_new_rounds = many_rounds;
        d_gaps = 0;
    }
}

sim_time channel_access::shared_slot() const
{
    // Whoever keys first must have been noticed before the next slot begins.
    const double margin_s = d_senses ? 0 : d_config.rx_latency_s / 2;
    return std::max(from_seconds(d_config.contention_slot_s),
                    from_seconds(turnaround_s() - margin_s) + noticed_after());
}

// One in so many times a station begins at once whose transmissions were not answered, or want no
// answer.
unsigned channel_access::chances() const
{
    constexpr unsigned without_arq = 4;
    constexpr unsigned unanswered = 2;
    return d_unsure ? without_arq : d_unheard > 0 ? unanswered : 1;
}

// Slots to wait on the free channel. The first ones are for stations that the others do not know of,
// at random. Then all others follow in the order in which they have waited.
unsigned channel_access::contention_slot(sim_time end, size_t peers)
{
    constexpr unsigned last_slots = 4;
    if (!shared() && !crowded(end)) {
        const auto others = static_cast<unsigned>(std::max<size_t>(peers, 1));
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

sim_time channel_access::wait_of_others(sim_time end, size_t peers)
{
    return d_config.slot > 0
               ? std::max(from_seconds(d_config.slot_s * (d_config.slot + 1)),
                          guard_time())
               : guard_time() +
                     static_cast<int>(contention_slot(end, peers)) * shared_slot();
}

sim_time channel_access::wait_after_own(sim_time end, bool to_group, size_t peers)
{
    // While there is no third station, the other one may begin before us, even if it was not
    // addressed (wait_of_heard()): nothing is left to chance.
    const bool last = !shared() && !crowded(end) && d_config.slot == 0 && !to_group;
    return last ? guard_time() : wait_of_others(end, peers);
}

sim_time channel_access::wait_of_heard(sim_time end, bool non_arq_alone, size_t peers)
{
    // After data without ARQ nobody owes an answer, and who has sent them waits until all others
    // could have begun. Others that nobody hears may do so at the same time.
    const bool free =
        non_arq_alone && !shared() && d_config.slot == 0 && d_random() % chances() == 0;
    return free ? from_seconds(turnaround_s()) : wait_of_others(end, peers);
}

sim_time channel_access::back_off(unsigned silent, bool later)
{
    // The silence may be that of two that called each other: they never choose the same slot.
    // Others that collided with us draw among more slots each time.
    const unsigned pairs = std::min(1u << std::min(silent - 1, 3u), max_slots / 2);
    const auto k = static_cast<unsigned>(d_random() % pairs);
    return (2 * k + (later ? 1u : 0u)) * shared_slot();
}

void channel_access::begin_own(sim_time now, bool in_turn, bool with_data)
{
    began(now, d_config.own);
    if (!in_turn || !shared() || d_share.ahead_of(d_config.own) == 0)
        d_served_time = sim_time::zero();
    d_served = with_data;
}

void channel_access::end_own_data(sim_time now, sim_time begin, bool answer_wanted)
{
    d_share.served(d_config.own, begin);
    d_served_time += now - begin;
    d_unsure = !answer_wanted;
}

void channel_access::unanswered(bool data)
{
    ++d_unheard;
    if (data)
        d_share.unserved(d_config.own);
}

bool channel_access::contended() const
{
    return shared() && (d_unheard > 0 || !d_share.has(d_config.own));
}

void channel_access::forget(sim_time now)
{
    for (auto it = d_heard_at.begin(); it != d_heard_at.end();)
        it = now - it->second > station_memory ? d_heard_at.erase(it) : std::next(it);
    d_share.forget_before(now - station_memory,
                          now - from_seconds(d_config.share_cycle_s));
}

} // namespace gr::hf::s5066
