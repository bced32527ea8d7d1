/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/access/access_rules.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {
constexpr unsigned max_slots = 16;
// Slots for stations not on the list: few, or many when new stations have appeared.
constexpr unsigned few_new_slots = 3, many_new_slots = 8;
// Slots after those of all others, for a station that lets them pass.
constexpr unsigned last_slots = 4;
// Gap between the end of a preamble that may be on the air and our own, s.
constexpr double preamble_doubt_s = 0.2;
// If this many stations let their turn pass recently, several may start at a time.
constexpr size_t several_stations = 3;
constexpr unsigned max_doublings = 2;
// Stations expected for each one on the list after new ones came. With 1 the last of 20
// that begin together at 1200 bit/s waits 1325 s for its first turn, with 3 721 s.
constexpr size_t expected_newcomers = 3;
// Duration of a station's run without a pause for others, in multiples of that pause. At
// first it is short, since the station may not be alone. The later minimum keeps the cost
// of long pauses small.
constexpr double first_run_gaps = 15, run_gaps = 75;
// From the end of another station's transmission to keying, in 3 kHz, unless configured.
constexpr double usual_turnaround_s = 0.1;
// Two stations give way to a third one sooner for this long after it was heard.
constexpr station_time third_memory = std::chrono::hours(2);
// Turns of two longest transmissions, after which known stations get a pause to start in,
// s.
constexpr double two_turns_s = 20;
} // namespace

// A wideband transmission is over in the time of a preamble elsewhere, so the pauses
// around it matter.
double channel_access::turnaround_s() const
{
    return d_config.turnaround_s > 0 ? d_config.turnaround_s
           : d_wideband              ? usual_turnaround_s / 2
                                     : usual_turnaround_s;
}

double channel_access::hold_s() const { return d_wideband ? 0.02 : 0.1; }

station_time channel_access::rules::noticed_after(const channel_access& c)
{
    return c.d_senses ? from_seconds(c.d_config.carrier_detect_s)
                      : c.d_longest_preamble + from_seconds(c.d_config.rx_latency_s);
}

station_time channel_access::guard_time() const
{
    // Another station may answer: its turnaround (while ours passes, too), and our delay
    // in noticing it. All count with the slowest one, so that all have the same slots.
    return from_seconds(rules::slowest_s(*this)) + rules::noticed_after(*this);
}

double channel_access::rules::slowest_s(const channel_access& c)
{
    double most = c.turnaround_s();
    for (const auto& [raw, s] : c.d_keys_after)
        most = std::max(most, s);
    return most;
}

void channel_access::timed(station_time begin, address a, std::optional<address> to)
{
    const double s = to_seconds(begin - d_busy_end);
    const bool for_hidden =
        !d_hidden.at.empty() && d_own.ended == d_busy_end && to != d_config.own;
    if (for_hidden || d_asked != a || d_heard_at.count(a.raw()) == 0 || s < 0 ||
        s > d_config.peer_turnaround_s + usual_turnaround_s)
        return;
    // The modem's ticks lengthen the measured time a little, and sometimes a lot.
    const double rounded = s < 2 * usual_turnaround_s ? 0 : s;
    const auto it = d_keys_after.emplace(a.raw(), rounded).first;
    it->second = std::min(it->second, rounded);
}

double channel_access::answer_wait_s() const
{
    return d_config.peer_turnaround_s + d_config.rx_latency_s +
           to_seconds(d_longest_preamble);
}

void channel_access::heard(station_time now, address a)
{
    if (a == d_config.own || a.is_group() ||
        (d_heard_at.size() >= max_stations && d_heard_at.count(a.raw()) == 0))
        return;
    if (d_heard_at.count(a.raw()) == 0) {
        d_gaps = 0;
        d_newest_heard_at = now;
    }
    d_heard_at[a.raw()] = now;
    if (shared())
        d_shared_at = now;
    d_hidden.at.erase(a.raw());
}

station_time channel_access::turn_length() const
{
    size_t n = std::max(d_share.recent(),
                        d_share.stations() + (d_share.has(d_config.own) ? 0 : 1));
    // Where stations were heard for the first time more are likely to come, and all want a
    // first turn.
    const bool heard_lately =
        d_gap_at - d_newest_heard_at < from_seconds(d_config.share_cycle_s / 2);
    if (d_new_rounds > 0 && heard_lately && d_hidden.at.empty())
        n *= expected_newcomers;
    const double part_s = d_config.share_cycle_s / static_cast<double>(n);
    return from_seconds(shared() ? std::min(part_s, d_config.max_transmission_s)
                                 : d_config.max_transmission_s);
}

// True if only the stations of the present exchange could start, for more than a longest
// transmission.
bool channel_access::rules::held_long(const channel_access& c, station_time at)
{
    return at - c.d_gap_at > from_seconds(c.d_config.max_transmission_s + answer_s);
}

// True if another transmission of this length would keep out stations not heard yet for
// too long. The limit is short at first, then grows. The other end of the link finds the
// same a moment later, so both give way.
bool channel_access::rules::gap_due(const channel_access& c,
                                    station_time at,
                                    station_time length)
{
    const double gap_s =
        to_seconds(c.guard_time()) + few_new_slots * to_seconds(c.shared_slot());
    const double longest_s = c.d_config.max_transmission_s;
    const double first_s =
        first_run_gaps * gap_s * static_cast<double>(1u << 2 * c.d_gaps);
    double run_s =
        std::min(longest_s + first_s, std::max(c.d_config.lone_run_s, run_gaps * gap_s));
    if (c.d_shared_at && at - *c.d_shared_at < third_memory)
        run_s = std::min(run_s, 2 * longest_s + two_turns_s);
    return at - c.d_gap_at + length > from_seconds(run_s);
}

// True if there may be stations that could not start for long.
bool channel_access::rules::crowded(const channel_access& c, station_time at)
{
    return held_long(c, at) ||
           gap_due(c, at, from_seconds(c.d_config.max_transmission_s));
}

// True if another station has waited longer for its turn. With two stations that is the
// other end of the link. An answer without data means that it has none, or gives way.
// Then we give way as well.
bool channel_access::rules::others_first(const channel_access& c, station_time turn_at)
{
    if (c.d_share.ahead_of(c.d_config.own) == 0)
        return false;
    if (!c.shared())
        return held_long(c, turn_at);
    // Where stations have just appeared, more are likely to. The first transmission of
    // each must then be enough. A station that joins others of long standing is the only
    // new one.
    const bool alone =
        turn_at - c.d_newest_heard_at > from_seconds(c.d_config.share_cycle_s / 2);
    return !(c.d_own.served && (c.d_new_rounds == 0 || alone) &&
             2 * c.d_own.served_time < c.turn_length());
}

bool channel_access::must_yield(station_time turn_at, double length_s) const
{
    return rules::gap_due(*this, turn_at, from_seconds(length_s)) ||
           rules::others_first(*this, turn_at);
}

void channel_access::began(station_time begin, address a)
{
    if (a != d_config.own && d_asked != a)
        rules::note_other(*this, begin);
    if (begin - d_busy_end < guard_time() + shared_slot() / 2)
        return;
    d_gap_at = begin;
    d_last_began = a.raw();
    if (d_new_rounds < many_rounds)
        d_gaps = std::min(d_gaps + 1, max_doublings);
    if (!d_share.has(a)) {
        // The answer will show whether ours is heard.
        d_new_heard = a != d_config.own || (d_new_heard && d_new_rounds > 0);
        d_new_rounds = many_rounds;
    } else if (d_new_rounds > 0) {
        // The only known station started when all new ones could have: there are none.
        d_new_rounds = d_share.stations() == 1 ? 0 : d_new_rounds - 1;
    }
    d_share.began_first(a);
    d_own.served = false;
}

void channel_access::began_unknown(station_time noticed, bool may_be_answer)
{
    rules::note_other(*this, noticed);
    d_own.unread_at = noticed;
    if (!may_be_answer && noticed - d_busy_end >= guard_time()) {
        d_new_heard = d_new_heard && d_new_rounds > 0;
        d_new_rounds = many_rounds;
        d_gaps = 0;
    }
}

station_time channel_access::shared_slot() const
{
    // The station that keys first must be noticed before the next slot starts. The time
    // to key after others is in guard_time(), so slots are the same for all.
    const double margin_s = d_senses ? 0 : d_config.rx_latency_s / 2;
    const double keying_s = d_wideband ? usual_turnaround_s / 2 : usual_turnaround_s;
    constexpr double min_slot_s = 0.3; // our choice
    return std::max(from_seconds(min_slot_s),
                    from_seconds(keying_s - margin_s) + rules::noticed_after(*this));
}

// One time in this many, a station starts at once if its transmissions were not answered,
// or want no answer.
unsigned channel_access::rules::chances(const channel_access& c)
{
    constexpr unsigned without_arq = 4;
    constexpr unsigned unanswered = 2;
    // The order of the list settles the first collision.
    return c.d_own.unsure ? without_arq : c.d_own.unheard > 1 ? unanswered : 1;
}

// True if many stations have a little to send each, as all know by listening.
bool channel_access::rules::several(const channel_access& c)
{
    return c.shared() && c.d_share.recent() >= c.d_share.stations() + several_stations;
}

// True if all others know our station, by what was answered.
bool channel_access::rules::regular(const channel_access& c, station_time now)
{
    return c.d_own.known_at && now - *c.d_own.known_at < station_memory &&
           c.d_own.unheard < 2;
}

// Known stations not on the list whose slot is before ours. The order is by address, from
// the last station that started on the free channel. All stations count the same.
unsigned channel_access::rules::regulars_ahead(const channel_access& c)
{
    const auto place = [&c](uint32_t raw) { return raw - c.d_last_began - 1; };
    const uint32_t own = c.d_config.own.raw();
    return static_cast<unsigned>(
        std::count_if(c.d_heard_at.begin(), c.d_heard_at.end(), [&](const auto& e) {
            return place(e.first) < place(own) && !c.d_share.has(address::node(e.first));
        }));
}

// Number of slots before those of the stations on the list.
unsigned channel_access::rules::first_slots(const channel_access& c)
{
    if (c.d_new_rounds == 0 && !several(c))
        return few_new_slots;
    const auto others = static_cast<unsigned>(
        std::count_if(c.d_heard_at.begin(), c.d_heard_at.end(), [&c](const auto& e) {
            return !c.d_share.has(address::node(e.first));
        }));
    const unsigned all =
        others + (c.d_share.has(c.d_config.own) || !c.d_own.known_at ? 0 : 1);
    return std::max(many_new_slots, few_new_slots + all);
}

// Slots to wait on the free channel. The first ones are for stations not on the list.
// Stations unknown to the others draw one; known ones have one each where several may
// start. Then the stations on the list follow, the one that has waited longest first.
unsigned
channel_access::rules::contention_slot(channel_access& c, station_time end, size_t peers)
{
    if (!c.shared() && !rules::crowded(c, end)) {
        const auto others = static_cast<unsigned>(std::max<size_t>(peers, 1));
        return static_cast<unsigned>(c.d_random() % std::min(others, max_slots));
    }
    const bool many = c.d_new_rounds > 0 || rules::several(c);
    const unsigned first = rules::first_slots(c);
    if (c.d_share.has(c.d_config.own)) {
        return first + c.d_share.ahead_of(c.d_config.own) +
               static_cast<unsigned>(c.d_random() % rules::chances(c));
    }
    if (many && (c.d_new_heard || rules::several(c)) && rules::regular(c, end) &&
        c.shared())
        return few_new_slots + rules::regulars_ahead(c);
    // Other stations may not expect several new ones. So half of the time we draw among the
    // slots that they leave free in any case.
    const bool wide =
        many && (c.d_new_heard || c.d_share.stations() == 0 || c.d_random() % 2 == 0);
    const unsigned new_slots = wide ? first : few_new_slots;
    const bool pass = many && c.d_own.unheard > 1 && c.d_random() % 2 == 0;
    return static_cast<unsigned>(pass ? new_slots + c.d_share.stations() +
                                            c.d_random() % last_slots
                                      : c.d_random() % new_slots);
}

station_time channel_access::rules::fixed_slot(const channel_access& c)
{
    return std::max(from_seconds(c.d_config.slot_s * (c.d_config.slot + 1)),
                    c.guard_time());
}

station_time channel_access::wait_of_others(station_time end, size_t peers)
{
    if (d_config.slot > 0)
        return rules::fixed_slot(*this);
    // If some stations are hidden, an unknown station can only get in at the start of a
    // pause that others leave. It cannot hear whether they leave one. If they do not,
    // their preamble is over by then. Several such stations let each other pass.
    if (unknown_to_hidden() && (d_own.unheard > 0 || !rules::regular(*this, end))) {
        return d_own.unheard < 2 || d_random() % 2 == 0
                   ? std::max(guard_time(),
                              from_seconds(rules::slowest_s(*this) + preamble_doubt_s) +
                                  d_longest_preamble)
                   : rules::hidden_turn(*this);
    }
    const station_time wait =
        guard_time() +
        static_cast<int>(rules::contention_slot(*this, end, peers)) * shared_slot();
    return wait +
           (rules::hidden_ahead(*this) ? rules::hidden_turn(*this) : d_hidden.wait);
}

station_time channel_access::wait_after_own(station_time end, bool to_group, size_t peers)
{
    // Without a third station, the other one may start before us, even if it was not
    // addressed (wait_of_heard()). No random wait is needed.
    const bool last =
        !shared() && !rules::crowded(*this, end) && d_config.slot == 0 && !to_group;
    return last ? guard_time() : wait_of_others(end, peers);
}

station_time channel_access::longest_wait(station_time end, size_t peers) const
{
    if (d_config.slot > 0)
        return rules::fixed_slot(*this);
    const bool alone = !shared() && !rules::crowded(*this, end);
    const size_t slots = alone ? std::clamp<size_t>(peers, 1, max_slots)
                               : std::max(rules::first_slots(*this), many_new_slots) +
                                     d_share.stations() + last_slots;
    return guard_time() + static_cast<int>(slots - 1) * shared_slot();
}

station_time
channel_access::wait_of_heard(station_time end, bool non_arq_alone, size_t peers)
{
    // Data without ARQ get no answer, and their sender waits until all others could have
    // started. Others that nobody hears may start at the same time.
    const bool free = non_arq_alone && !shared() && d_config.slot == 0 &&
                      d_random() % rules::chances(*this) == 0;
    return free ? from_seconds(turnaround_s()) : wait_of_others(end, peers);
}

station_time channel_access::back_off(unsigned silent, bool later)
{
    // The silence may be that of two stations that called each other: they never choose
    // the same slot. After a collision with others we draw among more slots each time.
    // Until somebody was heard there may be dozens, which all began together.
    const unsigned pairs = 1u << std::min(silent - 1, d_heard_at.empty() ? 5u : 2u);
    const auto k = static_cast<unsigned>(d_random() % pairs);
    return 2 * (2 * k + (later ? 1u : 0u)) * shared_slot();
}

void channel_access::begin_own(station_time now, bool in_turn, bool with_data)
{
    d_own.in_rush = !in_turn && d_own.others_since && rules::rush(*this, now);
    began(now, d_config.own);
    if (!in_turn || !shared() || d_share.ahead_of(d_config.own) == 0)
        d_own.served_time = station_time::zero();
    d_own.served = with_data;
    if (with_data)
        d_hidden.run = 0;
}

void channel_access::end_own_data(station_time now,
                                  station_time begin,
                                  bool answer_wanted)
{
    d_share.served(d_config.own, begin);
    d_own.served_time += now - begin;
    d_own.unsure = !answer_wanted;
}

void channel_access::unanswered(bool data)
{
    ++d_own.unheard;
    if (data)
        d_share.unserved(d_config.own);
}

bool channel_access::contended() const
{
    return shared() && (d_own.unheard > 0 || !d_share.has(d_config.own));
}

void channel_access::forget(station_time now)
{
    walk().forget(now);
    for (auto it = d_heard_at.begin(); it != d_heard_at.end();) {
        if (now - it->second <= station_memory) {
            ++it;
            continue;
        }
        d_keys_after.erase(it->first);
        it = d_heard_at.erase(it);
    }
    for (auto it = d_hidden.at.begin(); it != d_hidden.at.end();)
        it = now - it->second > station_memory ? d_hidden.at.erase(it) : std::next(it);
    d_share.forget_before(now - station_memory,
                          now - from_seconds(d_config.share_cycle_s));
}

} // namespace gr::hf::s5066
