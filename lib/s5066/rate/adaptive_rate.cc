/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/rate/adaptive_rate.h"

#include "s5066/rate/mode_ladder.h"
#include "s5066/words/max_eot.h"
#include "waveform/timing.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace gr::hf::s5066 {

namespace {

constexpr size_t max_stations = 256;
// After the first number of transmissions without an answer, an advised mode is left for
// the second number of transmissions. A larger second number gains under 10 Hz of fading
// (examples/scenarios/fast-fading.toml), and loses where a slow fade was the reason (hf
// bench link, rate adaptation, Poor).
constexpr unsigned max_unheard = 2, others_before_again = 8;
// Duration of the first transmission to a peer, in a guessed mode.
constexpr double first_s = 10;
// Duration of the first transmission in a mode to which silence led. A channel that was
// gone comes back as well, and only an answer tells that a faster mode works again. One
// choice (rate_adaptation.survives_a_collapse_and_recovers), not swept.
constexpr double after_fall_s = 40;
// Duration of the first transmissions with both standards on a channel that does not fade,
// and of the acknowledged data that end this: the peer may advise a faster mode after whole_s,
// and there one is nearer than with 4539 alone. AWGN, 600 s, seeds 1 and 2: 13,749 bit/s
// instead of 13,409 at 25 dB, 5187 instead of 5119 at 10 dB, but 2968 instead of 3022 at 5 dB.
// On fading channels it gains nothing (means of 4 seeds in 12 cells), so it is not done there.
constexpr double early_s = 40, known_after_s = 60;
// Blocks of the first transmission in an unproven mode: no data were acknowledged in it,
// nor in a mode that needs more SNR. It is at least first_s long.
constexpr double trial_blocks = 4;
// A C_PDU is cut once, and what a trial leaves of it goes out in the mode before. At 10
// Hz and 0 dB, segments of 48 octets for a trial of 1200S cost 600L as much as the trial.
// So segments stay as long as in the mode before. But at least this many D_PDUs fit into
// the shortest trial, because one alone tells little.
constexpr size_t trial_d_pdus = 4;
// After a reception this long without any loss, a faster mode may be tried that promises
// at least this share of the present one. After failed tries it takes twice, four
// times... as many receptions. One choice, judged by the runs in laboratory/results/measurements/rate.md
// with and without it (15 s costs trials of 24 h on Poor 0.8 points more), not swept. At
// 10 Hz and 0 dB a share of 0.6 gives 462 bit/s, 0.75 gives 470 (seeds 1 to 24), and AWGN
// is unchanged.
constexpr double whole_s = 30, worth_a_try = 0.75;
constexpr unsigned max_whole_before_try = 64;
// Answers stay this far below the peer's advice, for fades that short blocks do not
// average.
constexpr double fade_db = 3;
// The two directions differ if the SNR needed by the peer's advice and ours differs by more.
constexpr double other_way_db = 6;
// Start when nothing is known: a rate in 3 kHz that works on most channels. In wider
// bands the same waveform has a proportional rate at the same SNR.
constexpr int first_bps = 600, first_hz = 3000;
// A mode has failed if more than this many D_PDUs are lost for each one that arrives. 9
// and 2 give the same goodput to five digits over 12 h on Poor, on Moderate, and at 10 Hz.
constexpr unsigned lost_nearly_all = 9;
// Caution with both standards: their modes lie closer, so a change brings less, and a wrong
// one costs as much. A mode that needs more SNR must promise this factor more, and counts as proven if it
// needs no more than the error of a curve beyond a proven one (shift_sigma_db). Moderate at
// 0 dB, seeds 1 and 2, 4 h: 465 bit/s, 450 without; Poor 443 and 415; a day on Moderate loses
// 0.5 %. Nearness of 1 dB: 448 and 439.
constexpr double worth_a_rise = 1.1, near_db = 0.5;

double needed_db(const mode& m) { return mode_promises::of(m).needed_db(); }

bool is_long(const mode& m) { return m.il == interleaver::long_; }

bool steady(const rate_estimator& e) { return e.known() && e.class_probability(0) > 0.5; }

// At 10 Hz the waveforms of 5069 in 3 kHz lose nearly every block from 1600 bit/s on, and
// their curves there rest on a few blocks. With both standards 10 Hz and 5 dB gave 898 bit/s,
// with 4539 alone 1071 (laboratory/results/measurements/rate.md).
bool fades_fast(const rate_estimator& e)
{
    constexpr size_t ten_hertz = channel_classes - 1;
    return e.known() && e.class_probability(ten_hertz) > 0.5;
}

// Robust modes promise most below -4 dB. Above this level only fading stops others, and it
// stops robust modes first (examples/scenarios/fast-fading.toml).
constexpr double robust_below_db = -4;

// Share of the blocks of a transmission to a group that each station is to receive. One choice,
// not swept: repeats and coded blocks are made for losses of 10 to 30 %.
constexpr double group_success = 0.9;

} // namespace

adaptive_rate_policy::adaptive_rate_policy(const rate_range& range, unsigned window)
    : d_modes(range), d_window(window)
{
}

const mode_set& adaptive_rate_policy::modes_for(const station& s) const
{
    modes_read r = fades_fast(s.in) ? modes_read{} : s.reads;
    if (s.in.mean_db() > robust_below_db &&
        !(s.advised && s.advised->family == waveform_family::robust))
        r.robust = false;
    return d_modes.read_by(r);
}

adaptive_rate_policy::station& adaptive_rate_policy::of(address peer)
{
    if (d_stations.size() >= max_stations && d_stations.count(peer.raw()) == 0)
        d_stations.erase(d_stations.begin());
    return d_stations.try_emplace(peer.raw(), d_window).first->second;
}

void adaptive_rate_policy::on_new_channel(address peer)
{
    if (const auto it = d_stations.find(peer.raw()); it != d_stations.end()) {
        const modes_read reads = it->second.reads;
        it->second = station(it->second.in.window());
        it->second.reads = reads;
    }
}

void adaptive_rate_policy::on_modes_read(address peer, modes_read r)
{
    station& s = of(peer);
    // Advice of modes that it may not read now is of no use.
    if ((s.reads.of_5069 && !r.of_5069) || (s.reads.robust && !r.robust))
        s.advised.reset();
    s.reads = r;
}

void adaptive_rate_policy::on_window(address peer, bool large)
{
    station& s = of(peer);
    s.in.set_window(large ? d_window : usual_window);
    s.out.set_window(large ? d_window : usual_window);
}

bool adaptive_rate_policy::fails_there(const station& s, const mode& m)
{
    return s.reads.any() && !s.failed_there.allows(m, s.out.mean_db());
}

// The fastest short mode that needs db less SNR than m. Without one, the slowest short
// mode. If even that is expected to fail, the one that needs the least SNR.
mode adaptive_rate_policy::below(const mode_set& modes, const mode& m, double db)
{
    const bool far = needed_db(m) - db < needed_db(modes.lowest) - fall_db;
    const mode* found = far ? &modes.lowest : &modes.data.front();
    for (const mode& c : modes.data)
        if (!is_long(c) && needed_db(c) <= needed_db(m) - db &&
            needed_db(c) >= needed_db(*found))
            found = &c;
    return *found;
}

mode adaptive_rate_policy::data_mode(const station& s, const tx_context& c)
{
    if (c.silent_rounds > 0 && s.sent) {
        d_why = mode_reason::silence;
        // A call is repeated only a few times, so each falls by twice as much.
        const double steps =
            s.advised || s.out.known() ? c.silent_rounds : 2 * c.silent_rounds;
        // The peer may have restarted as a station that reads the common modes alone.
        const bool doubt = c.silent_rounds >= max_unheard;
        return below(doubt ? d_modes.common() : modes_for(s), s.last, fall_db * steps);
    }
    if (s.advised) {
        // The receiver knows its fading, and advises for it.
        const auto& modes = d_modes.read_by(s.reads).data;
        const bool fails = s.advised_fails || fails_there(s, *s.advised);
        d_why = fails ? mode_reason::advice_fails : mode_reason::advice;
        const bool ours =
            std::find(modes.begin(), modes.end(), *s.advised) != modes.end();
        if (ours && !fails)
            return *s.advised;
        // Nearest mode of our own range that is not faster.
        std::vector<mode> list;
        for (const mode& m : modes)
            if (m.rate_bps <= s.advised->rate_bps &&
                (!is_long(m) || is_long(*s.advised)) && !fails_there(s, m))
                list.push_back(m);
        if (list.empty())
            return modes.front();
        // The peer cannot know that its advice fails, since nothing of it arrives.
        return fails ? s.out.best(list) : list.back();
    }
    if (s.out.known()) {
        d_why = mode_reason::own_estimate;
        return s.out.best(s.proven ? modes_for(s).ladder : within_reach(s));
    }
    if (const auto m = c.peer.is_group() ? group_mode() : std::nullopt) {
        d_why = mode_reason::own_estimate;
        return *m;
    }
    d_why = mode_reason::nothing_known;
    // Nothing is known: a rate that works on most channels.
    const auto& modes = modes_for(s).data;
    const mode* found = &modes.front();
    for (const mode& m : modes) {
        const bool robust = m.rate_bps <= first_bps * (m.bandwidth_hz / first_hz);
        found = robust && !is_long(m) && m.rate_bps > found->rate_bps ? &m : found;
    }
    return *found;
}

// Nobody of a group answers. Of its stations those are known that were heard.
std::optional<mode> adaptive_rate_policy::group_mode() const
{
    std::optional<mode> best;
    double success_of_best = 0;
    bool any = false;
    for (const mode& m : d_modes.common().data) {
        double success = 1;
        for (const auto& [raw, s] : d_stations)
            if (s.out.known()) {
                any = true;
                success = std::min(success, s.out.block_success(m));
            }
        const bool better = !best || m.rate_bps > best->rate_bps ||
                            (m.rate_bps == best->rate_bps && success > success_of_best);
        if (any && success >= group_success && better) {
            best = m;
            success_of_best = success;
        }
    }
    return best || !any ? best : d_modes.common().lowest;
}

// The channel is similar in both directions, but noise and power may differ. The peer's
// advice counts, except after an answer that it did not hear.
double adaptive_rate_policy::answer_limit_db(const station& s)
{
    return s.advised && !s.answer.lost() ? needed_db(*s.advised) - fade_db
                                         : s.answer.reaches_db();
}

// By how much the direction to the peer is better than the one from it, dB; 0 if they are
// similar.
double adaptive_rate_policy::better_there_db(const station& s)
{
    const double db =
        s.advised && s.wanted ? needed_db(*s.advised) - needed_db(*s.wanted) : 0;
    return std::abs(db) > other_way_db ? db : 0;
}

std::vector<mode> adaptive_rate_policy::answer_modes(const station& s) const
{
    const double limit_db = answer_limit_db(s);
    std::vector<mode> list;
    for (const mode& m : modes_for(s).acks)
        if (list.empty() || needed_db(m) <= limit_db)
            list.push_back(m);
    return list;
}

std::vector<mode> adaptive_rate_policy::within_reach(const station& s) const
{
    const double limit_db = s.answer.reaches_db();
    std::vector<mode> list;
    for (const mode& m : modes_for(s).ladder)
        if (list.empty() || needed_db(m) <= limit_db)
            list.push_back(m);
    return list;
}

// The best mode for much data is slow for a message that leaves its block almost empty.
mode adaptive_rate_policy::message_mode(const station& s,
                                        const tx_context& c,
                                        const mode& bulk) const
{
    const size_t octets = c.backlog_octets + ack_octets;
    if (!s.in.known() || c.silent_rounds > 0 || c.backlog_octets == 0 ||
        octets > kernel::timing_of(bulk).octets_in(1))
        return bulk;
    auto list = answer_modes(s);
    list.push_back(bulk);
    return s.in.soonest(list, octets, lost_answer_s);
}

mode adaptive_rate_policy::choose(station_time, const tx_context& c)
{
    station& s = of(c.peer);
    if (c.ack_only && s.in.known() && c.silent_rounds == 0) {
        const auto& way = better_there_db(s) != 0 ? s.out : s.in;
        const mode m = way.soonest(answer_modes(s), ack_octets, lost_answer_s);
        s.answer.on_answer(m);
        d_why = mode_reason::soonest;
        return m;
    }
    const mode bulk = data_mode(s, c);
    const mode m = message_mode(s, c, bulk);
    if (m != bulk)
        d_why = mode_reason::soonest;
    if (!c.ack_only) {
        s.last = m;
        s.sent = true;
    }
    return m;
}

// Data were acknowledged in m, or in a mode that needs as much SNR.
bool adaptive_rate_policy::proven(const station& s, const mode& m)
{
    return s.proven &&
           needed_db(m) <= needed_db(*s.proven) + (s.reads.any() ? near_db : 0);
}

// The peer knows the channel for too short a time, and there is a faster mode.
bool adaptive_rate_policy::may_rise(const station& s) const
{
    return s.reads.any() && s.last.family == waveform_family::wideband &&
           s.last.rate_bps < modes_for(s).ladder.back().rate_bps &&
           s.acknowledged_s < known_after_s && steady(s.out);
}

double adaptive_rate_policy::longest_s(const tx_context& c) const
{
    const auto it = d_stations.find(c.peer.raw());
    if (c.peer.is_group())
        return max_eot_s;
    if (it == d_stations.end() || !(it->second.advised || it->second.out.known()))
        return first_s;
    const station& s = it->second;
    if (proven(s, s.last)) {
        const bool fell =
            s.fell_from && needed_db(s.last) <= needed_db(*s.fell_from) - fall_db;
        return fell ? after_fall_s : may_rise(s) ? early_s : max_eot_s;
    }
    // All of it may be lost, so its length limits the cost of a failure.
    const auto t = kernel::timing_of(s.last);
    return std::max(first_s,
                    trial_blocks * to_seconds(t.block_end(0) - t.block_begin(0)));
}

void adaptive_rate_policy::on_reception(station_time, address peer, const reception& r)
{
    station& s = of(peer);
    s.answer.on_reception(r, s.advised.has_value());
    if (r.read)
        s.in.on_blocks(r.m, r.block_snr_db, r.doppler_hz);
    s.in.on_d_pdus(r.m, r.good_d_pdus, r.lost_d_pdus, r.d_pdu_octets);
    if (r.good_d_pdus + r.lost_d_pdus > 0) {
        const bool failed = lost_nearly_all * r.good_d_pdus < r.lost_d_pdus;
        s.failed.on_reception(r.m, failed, s.in.mean_db());
    }
    s.wanted = s.in.best(allowed(s), s.wanted, s.reads.any() ? worth_a_rise : 1);
    if (r.read) {
        // Fading is the same in both directions. The level differs as the two advised
        // modes do.
        auto there_db = r.block_snr_db;
        for (double& db : there_db)
            db += better_there_db(s);
        s.out.on_blocks(r.m, there_db, r.doppler_hz);
    }
    try_faster(s, r);
}

// Modes to advise: without those that have just failed.
std::vector<mode> adaptive_rate_policy::allowed(const station& s) const
{
    const auto& ladder = modes_for(s).ladder;
    std::vector<mode> list;
    std::copy_if(
        ladder.begin(), ladder.end(), std::back_inserter(list), [&s](const mode& m) {
            return !s.reads.any() || s.failed.allows(m, s.in.mean_db());
        });
    return list.empty() ? std::vector<mode>{ modes_for(s).lowest } : list;
}

/* Long receptions without loss do not show whether a faster mode would work. So a faster
 * mode that promises nearly as much is advised now and then. Its transmission is short,
 * since it is not proven. The more tries failed, the less often.
 */
void adaptive_rate_policy::try_faster(station& s, const reception& r) const
{
    if (s.faster.tried) {
        const bool gain = s.wanted == s.faster.tried && r.m == *s.faster.tried &&
                          r.lost_d_pdus < r.good_d_pdus;
        s.faster.whole_before_try =
            gain ? 1 : std::min(2 * s.faster.whole_before_try, max_whole_before_try);
        s.faster.tried.reset();
        s.faster.whole = 0;
        return;
    }
    // A wrong guess counts as a failed try as well.
    if (r.lost_d_pdus > r.good_d_pdus && needed_db(r.m) > needed_db(*s.wanted)) {
        s.faster.whole_before_try =
            std::min(2 * s.faster.whole_before_try, max_whole_before_try);
        s.faster.whole = 0;
        return;
    }
    if (r.m != *s.wanted || r.lost_d_pdus > 0 ||
        8 * r.d_pdu_octets * r.good_d_pdus < r.m.rate_bps * whole_s ||
        ++s.faster.whole < s.faster.whole_before_try)
        return;
    std::vector<mode> faster;
    const auto modes = allowed(s);
    std::copy_if(modes.begin(),
                 modes.end(),
                 std::back_inserter(faster),
                 [&](const mode& m) { return m.rate_bps > r.m.rate_bps; });
    if (faster.empty())
        return;
    const mode candidate = s.in.best(faster);
    if (s.in.goodput_bps(candidate) >= worth_a_try * s.in.goodput_bps(r.m))
        s.wanted = s.faster.tried = candidate;
}

void adaptive_rate_policy::on_frames(station_time, address peer, const sent_data& d)
{
    station& s = of(peer);
    if (!s.sent || d.sent == 0)
        return;
    const auto& [m, sent, lost, octets, lost_at_end] = d;
    s.out.on_d_pdus(m, sent - lost, lost, octets);
    s.acknowledged_s += 8.0 * (sent - lost) * static_cast<double>(octets) / m.rate_bps;
    // One D_PDU alone tells little.
    if (lost_at_end >= trial_d_pdus && 8 * octets * lost_at_end > m.rate_bps * first_s) {
        s.proven.reset(); // the channel may have become worse in between
    } else if (2 * lost <= sent) {
        s.proven = m;
        if (++s.since_fall >= 2)
            s.fell_from.reset();
    }
    s.failed_there.on_reception(m, sent == lost, s.out.mean_db());
    if (sent > lost && m == s.unheard_in) {
        // The data had arrived; only the answer was lost.
        s.unheard -= s.unheard > 0 ? 1 : 0;
        s.advised_fails = s.advised_fails && s.unheard >= max_unheard;
        s.unheard_in.reset();
    }
    if (sent > lost && s.advised && m == *s.advised) {
        s.unheard = 0;
    } else if (sent > lost && s.patience > 0 && --s.patience == 0) {
        s.advised_fails = false; // the channel may have changed
        s.unheard = max_unheard - 1;
    }
}

void adaptive_rate_policy::on_silence(station_time, address peer)
{
    station& s = of(peer);
    if (!s.sent)
        return;
    s.out.on_nothing(s.last);
    s.fell_from = s.proven ? s.proven : s.fell_from;
    s.since_fall = 0;
    s.proven.reset();
    if (s.advised && s.last == *s.advised) {
        s.unheard_in = s.last;
        s.failed_there.on_reception(s.last, true, s.out.mean_db());
        if (++s.unheard >= max_unheard) {
            s.advised_fails = true;
            s.patience = others_before_again;
        }
    }
}

void adaptive_rate_policy::on_advice(station_time, address peer, const mode& m)
{
    station& s = of(peer);
    if (!s.advised || *s.advised != m)
        s.advised_fails = s.advised_fails && needed_db(m) >= needed_db(s.last);
    s.advised = m;
}

std::optional<mode> adaptive_rate_policy::advice(address peer) const
{
    const auto it = d_stations.find(peer.raw());
    if (it == d_stations.end() || !it->second.in.known())
        return std::nullopt;
    return it->second.wanted;
}

std::optional<size_t> adaptive_rate_policy::segment_octets(address peer,
                                                           const mode& m) const
{
    const auto it = d_stations.find(peer.raw());
    if (it == d_stations.end() || !it->second.out.known())
        return std::nullopt;
    const station& s = it->second;
    const size_t best = s.out.segment_octets(m);
    if (!s.proven || proven(s, m))
        return best;
    const auto piece = static_cast<size_t>(m.rate_bps * first_s / 8 / trial_d_pdus);
    return std::max(best, std::min(s.out.segment_octets(*s.proven), piece));
}

} // namespace gr::hf::s5066
