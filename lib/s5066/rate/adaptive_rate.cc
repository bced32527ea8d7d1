/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/rate/adaptive_rate.h"

#include "waveform/timing.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace gr::hf::s5066 {

namespace {

constexpr size_t max_stations = 256;
// A mode that the peer advises is left after so many transmissions without an answer, for so many
// others. More others gain under 10 Hz of fading (examples/scenarios/fast-fading.toml), and lose
// where a slow fade was the reason (hf bench link, rate adaptation, Poor).
constexpr unsigned most_unheard = 2, others_before_again = 8;
constexpr double longest_transmission_s = 127.5;
// Of the first transmission to a peer, in a mode that is a guess.
constexpr double first_s = 10;
// Of a mode that no data were acknowledged in, nor in one that needs more, the first transmission
// has so many blocks, and is as long as that of a guess at least.
constexpr double trial_blocks = 4;
// A C_PDU is cut once, and what such a transmission leaves of it goes in the mode before: at 10 Hz and
// 0 dB segments of 48 octets, for a try of 1200S, cost 600L as much as the try. So they are as long as
// there, but so many D_PDUs at least fit into the shortest one: one alone tells little.
constexpr size_t trial_d_pdus = 4;
// After each transmission without an answer the next one is in a mode that needs so much less.
constexpr double fall_db = 6;
// A reception of so long without any loss may be followed by a try of a faster mode that promises
// this share at least of the present one; after tries in vain only by the twofold, fourfold... One
// choice, judged by the runs in docs/measurements.md with and without it (15 s costs trials of 24 h on
// Poor 0.8 points more), not swept. At 10 Hz and 0 dB a share of 0.6 has 462 bit/s, 0.75 has 470 (seeds 1
// to 24), and AWGN as much as before.
constexpr double whole_s = 30, worth_a_try = 0.75;
constexpr unsigned most_whole_before_try = 64;
// An answer that was heard is followed by one in a mode that needs so much more, unless the peer has
// told what it can receive.
constexpr double climb_db = 6;
// The peer's advice counts for answers with this room for fades, which short blocks do not average.
constexpr double fade_db = 3;
// The ways differ if what the peer advises us needs so much more or less than what we advise it.
constexpr double other_way_db = 6;
// Cost of an answer that is lost: the time-out, and asking again.
constexpr double lost_answer_s = 10;
constexpr size_t ack_octets = 60;
// Where most channels work: what nothing is known about begins with, in 3 kHz. The same waveform has a
// rate in proportion in wider bands, at the same SNR there.
constexpr int first_bps = 600, first_hz = 3000;

double needed_db(const mode& m) { return mode_promises::of(m).needed_db(); }

bool is_long(const mode& m) { return m.il == interleaver::long_; }

} // namespace

adaptive_rate_policy::adaptive_rate_policy(const rate_range& range, unsigned window)
    : d_range(range), d_modes(range.modes()), d_window(window)
{
    for (const mode& m : d_modes) {
        if (!is_long(m)) {
            const mode a = default_ack_mode(m);
            d_ack_modes.push_back(m);
            if (a != m) {
                d_ack_modes.push_back(a);
            }
        }
    }
}

adaptive_rate_policy::station& adaptive_rate_policy::of(address peer)
{
    if (d_stations.size() >= max_stations && d_stations.count(peer.raw()) == 0) {
        d_stations.erase(d_stations.begin());
    }
    return d_stations.try_emplace(peer.raw(), d_window).first->second;
}

void adaptive_rate_policy::on_window(address peer, bool large)
{
    station& s = of(peer);
    s.in.set_window(large ? d_window : usual_window);
    s.out.set_window(large ? d_window : usual_window);
}

mode adaptive_rate_policy::below(const mode& m, double db) const
{
    const mode* found = &d_modes.front();
    for (const mode& c : d_modes) {
        if (!is_long(c) && needed_db(c) <= needed_db(m) - db &&
            needed_db(c) >= needed_db(*found)) {
            found = &c;
        }
    }
    return *found;
}

mode adaptive_rate_policy::data_mode(const station& s, const tx_context& c)
{
    if (c.silent_rounds > 0 && s.sent) {
        d_why = mode_reason::silence;
        return below(s.last, fall_db * c.silent_rounds);
    }
    if (s.advised) {
        d_why = s.advised_fails ? mode_reason::advice_fails : mode_reason::advice;
        // The nearest mode of the own range that is not faster.
        std::vector<mode> list;
        for (const mode& m : d_modes) {
            if (m.rate_bps <= s.advised->rate_bps &&
                (!is_long(m) || is_long(*s.advised))) {
                list.push_back(m);
            }
        }
        if (list.empty()) {
            return d_modes.front();
        }
        // What the peer cannot tell, since nothing of it arrives.
        return s.advised_fails ? s.out.best(list) : list.back();
    }
    if (s.out.known()) {
        d_why = mode_reason::own_estimate;
        return s.out.best(s.proven ? d_modes : within_reach(s));
    }
    d_why = mode_reason::nothing_known;
    // Nothing is known: a rate at which most channels work.
    const mode* found = &d_modes.front();
    for (const mode& m : d_modes) {
        const bool robust = m.rate_bps <= first_bps * (m.bandwidth_hz / first_hz);
        found = robust && !is_long(m) ? &m : found;
    }
    return *found;
}

// The channel is much the same both ways, but neither noise nor power need be. What the peer advises
// counts. Before it has, and after it has asked again, what it sends in and what has reached it.
double adaptive_rate_policy::answer_limit_db(const station& s)
{
    return s.advised && !s.answer_lost ? needed_db(*s.advised) - fade_db
                                       : s.reaches_db.value_or(1e9);
}

// By how much the way to the peer is better than the one from there, dB; 0 where they are much the same.
double adaptive_rate_policy::better_there_db(const station& s)
{
    const double db =
        s.advised && s.wanted ? needed_db(*s.advised) - needed_db(*s.wanted) : 0;
    return std::abs(db) > other_way_db ? db : 0;
}

std::vector<mode> adaptive_rate_policy::robust_modes(const station& s) const
{
    const double limit_db = answer_limit_db(s);
    std::vector<mode> list;
    for (const mode& m : d_ack_modes) {
        if (list.empty() || needed_db(m) <= limit_db) {
            list.push_back(m);
        }
    }
    return list;
}

std::vector<mode> adaptive_rate_policy::within_reach(const station& s) const
{
    const double limit_db = s.reaches_db.value_or(1e9);
    std::vector<mode> list;
    for (const mode& m : d_modes) {
        if (list.empty() || needed_db(m) <= limit_db) {
            list.push_back(m);
        }
    }
    return list;
}

// What is heard tells whether our last answer was: who did not hear it asks again.
void adaptive_rate_policy::note_answer(station& s, const reception& r)
{
    if (!s.reaches_db) {
        s.reaches_db = needed_db(r.m);
    }
    if (!s.answered || !r.read) {
        return;
    }
    s.answer_lost = r.again;
    const double answered_db = needed_db(*s.answered);
    s.reaches_db = s.answer_lost ? std::min(answered_db - fall_db, needed_db(r.m))
                                 : std::max(*s.reaches_db, answered_db + climb_db);
}

// What is best for much data is slow for a message that leaves its long block all but empty.
mode adaptive_rate_policy::message_mode(const station& s,
                                        const tx_context& c,
                                        const mode& bulk) const
{
    const size_t octets = c.backlog_octets + ack_octets;
    if (!is_long(bulk) || !s.in.known() || c.silent_rounds > 0 || c.backlog_octets == 0 ||
        octets > kernel::timing_of(bulk).octets_in(1)) {
        return bulk;
    }
    auto list = robust_modes(s);
    list.push_back(bulk);
    return s.in.soonest(list, octets, lost_answer_s);
}

mode adaptive_rate_policy::choose(station_time, const tx_context& c)
{
    station& s = of(c.peer);
    if (c.ack_only && s.in.known() && c.silent_rounds == 0) {
        const auto& way = better_there_db(s) != 0 ? s.out : s.in;
        const mode m = way.soonest(robust_modes(s), ack_octets, lost_answer_s);
        s.answered = m;
        d_why = mode_reason::soonest;
        return m;
    }
    const mode bulk = data_mode(s, c);
    const mode m = message_mode(s, c, bulk);
    if (m != bulk) {
        d_why = mode_reason::soonest;
    }
    if (!c.ack_only) {
        s.last = m;
        s.sent = true;
    }
    return m;
}

double adaptive_rate_policy::longest_s(const tx_context& c) const
{
    const auto it = d_stations.find(c.peer.raw());
    const bool known =
        it != d_stations.end() && (it->second.advised || it->second.out.known());
    if (c.peer.is_group()) {
        return longest_transmission_s;
    }
    if (!known) {
        return first_s;
    }
    const station& s = it->second;
    if (s.proven && needed_db(s.last) <= needed_db(*s.proven)) {
        return longest_transmission_s;
    }
    // It may all be lost: what it costs then, beside what its turn costs.
    const auto t = kernel::timing_of(s.last);
    return std::max(first_s,
                    trial_blocks * to_seconds(t.block_end(0) - t.block_begin(0)));
}

void adaptive_rate_policy::on_reception(station_time, address peer, const reception& r)
{
    station& s = of(peer);
    note_answer(s, r);
    s.answered = r.read ? std::nullopt : s.answered;
    if (r.read) {
        s.in.on_blocks(r.m, r.block_snr_db, r.doppler_hz);
    }
    s.in.on_d_pdus(r.m, r.good_d_pdus, r.lost_d_pdus, r.d_pdu_octets);
    s.wanted = s.in.best(d_modes, s.wanted);
    if (r.read) {
        // It fades the same both ways; the level differs as the advice of both does.
        auto there_db = r.block_snr_db;
        for (double& db : there_db) {
            db += better_there_db(s);
        }
        s.out.on_blocks(r.m, there_db, r.doppler_hz);
    }
    try_faster(s, r);
}

/* Where nothing is lost for long, nothing is learned either of whether a faster mode would do.
 * One that promises nearly as much is advised now and then, for a short transmission since it
 * is not proven; the less often, the more such tries were in vain. */
void adaptive_rate_policy::try_faster(station& s, const reception& r) const
{
    if (s.tried) {
        const bool gain =
            s.wanted == s.tried && r.m == *s.tried && r.lost_d_pdus < r.good_d_pdus;
        s.whole_before_try =
            gain ? 1 : std::min(2 * s.whole_before_try, most_whole_before_try);
        s.tried.reset();
        s.whole = 0;
        return;
    }
    // A wrong guess is a try in vain as well.
    if (r.lost_d_pdus > r.good_d_pdus && needed_db(r.m) > needed_db(*s.wanted)) {
        s.whole_before_try = std::min(2 * s.whole_before_try, most_whole_before_try);
        s.whole = 0;
        return;
    }
    if (r.m != *s.wanted || r.lost_d_pdus > 0 ||
        8 * r.d_pdu_octets * r.good_d_pdus < r.m.rate_bps * whole_s ||
        ++s.whole < s.whole_before_try) {
        return;
    }
    std::vector<mode> faster;
    std::copy_if(d_modes.begin(),
                 d_modes.end(),
                 std::back_inserter(faster),
                 [&](const mode& m) { return m.rate_bps > r.m.rate_bps; });
    if (faster.empty()) {
        return;
    }
    const mode candidate = s.in.best(faster);
    if (s.in.goodput_bps(candidate) >= worth_a_try * s.in.goodput_bps(r.m)) {
        s.wanted = s.tried = candidate;
    }
}

void adaptive_rate_policy::on_frames(station_time,
                                     address peer,
                                     const mode& m,
                                     unsigned sent,
                                     unsigned lost,
                                     double octets)
{
    station& s = of(peer);
    if (!s.sent || sent == 0) {
        return;
    }
    s.out.on_d_pdus(m, sent - lost, lost, octets);
    if (2 * lost <= sent) {
        s.proven = m;
    }
    if (sent > lost && m == s.unheard_in) {
        // It had arrived, and its answer was lost.
        s.unheard -= s.unheard > 0 ? 1 : 0;
        s.advised_fails = s.advised_fails && s.unheard >= most_unheard;
        s.unheard_in.reset();
    }
    if (sent > lost && s.advised && m == *s.advised) {
        s.unheard = 0;
    } else if (sent > lost && s.patience > 0 && --s.patience == 0) {
        s.advised_fails = false; // the channel may have changed
        s.unheard = most_unheard - 1;
    }
}

void adaptive_rate_policy::on_silence(station_time, address peer)
{
    station& s = of(peer);
    if (!s.sent) {
        return;
    }
    s.out.on_nothing(s.last);
    s.proven.reset();
    if (s.advised && s.last == *s.advised) {
        s.unheard_in = s.last;
        if (++s.unheard >= most_unheard) {
            s.advised_fails = true;
            s.patience = others_before_again;
        }
    }
}

void adaptive_rate_policy::on_advice(station_time, address peer, const mode& m)
{
    station& s = of(peer);
    if (!s.advised || *s.advised != m) {
        s.advised_fails = s.advised_fails && needed_db(m) >= needed_db(s.last);
    }
    s.advised = m;
}

std::optional<mode> adaptive_rate_policy::advice(address peer) const
{
    const auto it = d_stations.find(peer.raw());
    if (it == d_stations.end() || !it->second.in.known()) {
        return std::nullopt;
    }
    return it->second.wanted;
}

std::optional<size_t> adaptive_rate_policy::segment_octets(address peer,
                                                           const mode& m) const
{
    const auto it = d_stations.find(peer.raw());
    if (it == d_stations.end() || !it->second.out.known()) {
        return std::nullopt;
    }
    const station& s = it->second;
    const size_t best = s.out.segment_octets(m);
    if (!s.proven || needed_db(m) <= needed_db(*s.proven)) {
        return best;
    }
    const auto piece = static_cast<size_t>(m.rate_bps * first_s / 8 / trial_d_pdus);
    return std::max(best, std::min(s.out.segment_octets(*s.proven), piece));
}

} // namespace gr::hf::s5066
