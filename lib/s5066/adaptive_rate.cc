/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/adaptive_rate.h"

#include "waveform/timing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace gr::hf::s5066 {

namespace {

// Rates by their code in the EOW, and the SNR in 3 kHz at which nearly all blocks arrive on a
// channel without fading. 3600 bit/s is no rate of these waveforms.
struct rate_row {
    int rate_bps;
    double snr_db;
};
constexpr std::array<rate_row, 12> rates = { {
    { 75, -9.5 },
    { 150, -4.5 },
    { 300, -1.5 },
    { 600, 1.5 },
    { 1200, 4.5 },
    { 2400, 9.0 },
    { 3200, 7.0 },
    { 3600, 99.0 },
    { 4800, 11.5 },
    { 6400, 14.0 },
    { 8000, 17.0 },
    { 9600, 20.0 },
} };
constexpr unsigned eow_rate = 1;
constexpr unsigned other_advisory = 2; // for the advising node's receiver, independent
constexpr unsigned il_short = 1;
constexpr unsigned il_long = 2;

constexpr size_t max_stations = 256;
constexpr double longest_offset_db = 6;
// High rates are left after so many transmissions without an answer, for so many others. More
// others gain under 10 Hz of fading (examples/scenarios/fast-fading.toml: 1964 bit/s with 8, 2201
// with 30), and lose where a slow fade was the reason (hf bench link, rate adaptation, Poor: 90.5
// and 89.3 % of the oracle's goodput).
constexpr unsigned most_unheard = 2, others_before_again = 8;
// What high rates may be denied beyond that: more than any SNR is above their needs. A step of
// it for a transmission that fails, and what is given back for one that arrives.
constexpr double longest_denial_db = 40, denial_step_db = 8, denial_back_db = 0.3;
// Cost of a turn in seconds, for comparing interleavers: turnarounds, answer.
constexpr double turn_s = 1.0;
constexpr double longest_transmission_s = 127.5;
// What was heard for so long outweighs all that came before.
constexpr double settle_s = 15;
// A D_PDU is lost with any block that it touches.
constexpr double blocks_per_d_pdu = 1.5;
// Estimates of a fading channel are noisy: another rate must promise so much more, a slower one
// most, since by the time it is used the fade that called for it is often over.
constexpr double worth_slower = 1.4, worth_faster = 1.05;
// Cost of an answer that is lost: the time-out, and asking again.
constexpr double lost_answer_s = 10;
constexpr size_t ack_octets = 60;

double needed_db(const mode& m)
{
    for (const auto& r : rates) {
        if (r.rate_bps == m.rate_bps) {
            return r.snr_db;
        }
    }
    return 99;
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

bool is_high_rate(const mode& m) { return m.family == waveform_family::high_rate; }

bool is_long(const mode& m) { return m.il == interleaver::long_; }

std::optional<mode> mode_of(int rate_bps, interleaver il)
{
    for (const mode& m : mode::all()) {
        // Wideband modes have names of their own: a range of rates is one of STANAG 4539's.
        if (m.family != waveform_family::wideband && m.rate_bps == rate_bps &&
            m.il == il) {
            return m;
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<rate_range> rate_range::parse(const std::string& text)
{
    if (text.compare(0, 4, "auto") != 0) {
        return std::nullopt;
    }
    const auto refuse = [&text]() -> std::invalid_argument {
        return std::invalid_argument(
            "mode " + text.substr(0, 60) +
            ": allowed is auto, auto:<rate>..<rate> or, for the short interleaver only, "
            "auto:<rate>S..<rate>S, with rates 75, 150, 300, 600, 1200, 2400, 3200, "
            "4800, "
            "6400, 8000 and 9600, the lower one first");
    };
    const std::string range = text == "auto" ? "auto:75..9600" : text;
    const size_t dots = range.find("..");
    if (range[4] != ':' || dots == std::string::npos) {
        throw refuse();
    }
    bool short_only = true;
    const auto end = [&](std::string s) {
        if (s.compare(0, 5, "4539-") == 0) {
            s.erase(0, 5);
        }
        if (!s.empty() && s.back() == 'S') {
            s.pop_back();
        } else {
            short_only = false;
            if (!s.empty() && s.back() == 'L') {
                s.pop_back();
            }
        }
        for (const auto& r : rates) {
            if (std::to_string(r.rate_bps) == s) {
                if (const auto m = mode_of(r.rate_bps, interleaver::short_)) {
                    return *m;
                }
            }
        }
        throw refuse();
    };
    rate_range r;
    r.floor = end(range.substr(5, dots - 5));
    r.ceiling = end(range.substr(dots + 2));
    r.long_allowed = !short_only;
    if (r.floor.rate_bps > r.ceiling.rate_bps) {
        throw refuse();
    }
    return r;
}

std::vector<mode> rate_range::modes() const
{
    std::vector<mode> list;
    for (const auto& r : rates) {
        if (r.rate_bps < floor.rate_bps || r.rate_bps > ceiling.rate_bps) {
            continue;
        }
        for (const auto il : { interleaver::short_, interleaver::long_ }) {
            const auto m = mode_of(r.rate_bps, il);
            if (m && (il == interleaver::short_ || long_allowed)) {
                list.push_back(*m);
            }
        }
    }
    return list;
}

std::optional<uint16_t> encode_rate_advice(const mode& m)
{
    if (m.il != interleaver::short_ && m.il != interleaver::long_) {
        return std::nullopt;
    }
    for (unsigned i = 0; i < rates.size(); ++i) {
        if (rates[i].rate_bps == m.rate_bps) {
            const unsigned il = is_long(m) ? il_long : il_short;
            return static_cast<uint16_t>(eow_rate << 8 | i << 4 | il << 2 |
                                         other_advisory);
        }
    }
    return std::nullopt;
}

std::optional<mode> decode_rate_advice(uint16_t eow)
{
    const unsigned rate = eow >> 4 & 15, il = eow >> 2 & 3;
    if (eow >> 8 != eow_rate || (eow & 3) < other_advisory || rate >= rates.size() ||
        il > il_long) {
        return std::nullopt;
    }
    return mode_of(rates[rate].rate_bps,
                   il == il_long ? interleaver::long_ : interleaver::short_);
}

void rate_estimator::on_blocks(const mode& m, const std::vector<double>& snr_db)
{
    if (snr_db.empty()) {
        return;
    }
    const auto n = static_cast<double>(snr_db.size());
    double mean = 0, square = 0;
    for (const double v : snr_db) {
        const double limited = std::clamp(v, -30.0, 60.0);
        mean += limited / n;
        square += limited * limited / n;
    }
    const auto t = kernel::timing_of(m);
    const double block_s = to_seconds(t.block_end(0) - t.block_begin(0));
    const double weight = d_known ? 1 - std::exp(-n * block_s / settle_s) : 1;
    d_mean_db += weight * (mean - d_mean_db);
    if (n >= 4) {
        // Averaging over a long block hides about half of the deviation.
        const double seen = std::sqrt(std::max(square - mean * mean, 0.0));
        const double short_deviation = is_long(m) ? 2 * seen : seen;
        d_short_deviation_db += weight * (short_deviation - d_short_deviation_db);
    }
    d_known = true;
}

void rate_estimator::on_share(const mode& m, double good, double blocks)
{
    const double weight = std::min(blocks / 10, 1.0);
    double& o = offset(m);
    // A share is a noisy measure on a fading channel: small surprises count for less.
    const double surprise = block_success(m) - good;
    o += std::min(2 + 2 * std::abs(surprise), 3.0) * weight * surprise;
    o -= good > 0.97 ? 0.15 * weight : 0; // what was learned in bad times is tried again
    if (is_high_rate(m) && o >= longest_offset_db) {
        d_high_rates_db += denial_step_db * weight * std::max(surprise, 0.0);
    } else if (good > 0.97) {
        d_high_rates_db -= denial_back_db * weight;
        if (is_high_rate(m)) {
            d_high_rates_db /= 2; // the fading has slowed down
        }
    }
    d_high_rates_db = std::clamp(d_high_rates_db, 0.0, longest_denial_db);
    o = std::clamp(o, -longest_offset_db, longest_offset_db);
    // The long interleaver never needs more than the short one.
    if (is_long(m)) {
        d_offset_db[0] = std::max(d_offset_db[0], o);
    } else {
        d_offset_db[1] = std::min(d_offset_db[1], o);
    }
}

void rate_estimator::on_nothing(const mode& m)
{
    if (is_high_rate(m) && offset(m) >= longest_offset_db) {
        d_high_rates_db = std::min(d_high_rates_db + 1, longest_denial_db);
    }
    offset(m) = std::min(offset(m) + 1, longest_offset_db);
}

void rate_estimator::copy_channel(const rate_estimator& other)
{
    d_known = other.d_known;
    d_mean_db = other.d_mean_db;
    d_short_deviation_db = other.d_short_deviation_db;
}

double rate_estimator::deviation_db(const mode& m) const
{
    const double d = is_long(m)                    ? d_short_deviation_db / 2
                     : m.il == interleaver::short_ ? d_short_deviation_db
                                                   : 1.3 * d_short_deviation_db;
    return std::max(d, 0.7);
}

double rate_estimator::block_success(const mode& m) const
{
    const double margin = d_mean_db - needed_db(m) - d_offset_db[is_long(m) ? 1 : 0] -
                          (is_high_rate(m) ? d_high_rates_db : 0);
    return normal_cdf(margin / deviation_db(m));
}

mode rate_estimator::best(const std::vector<mode>& modes,
                          const std::optional<mode>& present) const
{
    const mode* found = &modes.front();
    double most = 0;
    for (const mode& m : modes) {
        const auto t = kernel::timing_of(m);
        const double block_s = to_seconds(t.block_end(0) - t.block_begin(0));
        const double idle_s = turn_s + to_seconds(t.block_begin(0)) + block_s / 2;
        const double gain = m.rate_bps * std::pow(block_success(m), blocks_per_d_pdu) *
                            (1 - idle_s / longest_transmission_s) /
                            (!present || m.rate_bps == present->rate_bps ? 1
                             : m.rate_bps < present->rate_bps            ? worth_slower
                                                                         : worth_faster);
        if (gain > most) {
            most = gain;
            found = &m;
        }
    }
    return *found;
}

mode rate_estimator::soonest(const std::vector<mode>& modes,
                             size_t octets,
                             double failure_s) const
{
    const mode* found = &modes.front();
    double least = 1e9;
    for (const mode& m : modes) {
        const double p = block_success(m);
        const double s =
            to_seconds(kernel::timing_of(m).duration(octets)) + (1 - p) * failure_s;
        if (s < least) {
            least = s;
            found = &m;
        }
    }
    return *found;
}

adaptive_rate_policy::adaptive_rate_policy(const rate_range& range)
    : d_range(range), d_modes(range.modes())
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
    return d_stations[peer.raw()];
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

mode adaptive_rate_policy::data_mode(const station& s, const tx_context& c) const
{
    if (c.silent_rounds > 0 && s.sent) {
        return c.silent_rounds == 1 ? below(s.last, 6) : d_modes.front();
    }
    if (s.advised) {
        // The nearest mode of the own range that is not faster.
        const mode* found = &d_modes.front();
        for (const mode& m : d_modes) {
            const bool fits = m.rate_bps <= s.advised->rate_bps &&
                              (!is_long(m) || is_long(*s.advised)) &&
                              !(s.high_rates_fail && is_high_rate(m));
            found = fits ? &m : found;
        }
        return *found;
    }
    if (s.out.known()) {
        return s.out.best(d_modes);
    }
    // Nothing is known: a rate at which most channels work.
    const mode* found = &d_modes.front();
    for (const mode& m : d_modes) {
        found = m.rate_bps <= 600 && !is_long(m) ? &m : found;
    }
    return *found;
}

// The channel is much the same both ways, but the noise need not be: the peer's own advice counts
// as well, with room for fades, which short blocks do not average.
std::vector<mode> adaptive_rate_policy::robust_modes(const station& s) const
{
    constexpr double fade_db = 3;
    std::vector<mode> list;
    for (const mode& m : d_ack_modes) {
        if (s.high_rates_fail && is_high_rate(m) && !list.empty()) {
            continue;
        }
        if (!s.advised || list.empty() ||
            needed_db(m) <= needed_db(*s.advised) - fade_db) {
            list.push_back(m);
        }
    }
    return list;
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

mode adaptive_rate_policy::choose(sim_time, const tx_context& c)
{
    station& s = of(c.peer);
    if (c.ack_only && s.in.known() && c.silent_rounds == 0) {
        const mode m = s.in.soonest(robust_modes(s), ack_octets, lost_answer_s);
        s.answered_high = is_high_rate(m);
        return m;
    }
    const mode m = message_mode(s, c, data_mode(s, c));
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
    if (!known) {
        return c.peer.is_group() ? longest_transmission_s : 10;
    }
    // What changes quickly is looked at more often. The peer wants long interleavers then.
    const station& s = it->second;
    const bool changing = s.advised ? is_long(*s.advised) : s.out.fading();
    if (!changing) {
        return longest_transmission_s;
    }
    // As long as the choice holds, a turn with its preambles may cost a fourteenth.
    constexpr double often_s = 40;
    constexpr unsigned steady = 4;
    constexpr double answer_s = 2.5;
    if (!s.advised || s.advised_again < steady) {
        return often_s;
    }
    const double turn =
        to_seconds(kernel::timing_of(*s.advised).block_begin(0)) + answer_s;
    return std::clamp(14 * turn, often_s, longest_transmission_s);
}

void adaptive_rate_policy::on_reception(sim_time, address peer, const reception& r)
{
    station& s = of(peer);
    /* Who did not hear our answer asks again, and more slowly. The SNR says nothing of fading that
     * is too fast for high rates, and nobody else can tell. */
    if (is_high_rate(r.m) && r.good_share > 0.5) {
        s.high_rates_fail = false;
    } else if (s.answered_high && r.m.rate_bps < s.heard_bps) {
        s.high_rates_fail = true;
    }
    s.heard_bps = r.m.rate_bps;
    s.answered_high = false;
    s.in.on_blocks(r.m, r.block_snr_db);
    s.in.on_share(r.m, r.good_share, static_cast<double>(r.block_snr_db.size()));
    s.out.copy_channel(s.in);
    s.wanted = s.in.best(d_modes, s.wanted);
}

void adaptive_rate_policy::on_frames(sim_time, address peer, unsigned sent, unsigned lost)
{
    station& s = of(peer);
    if (sent > lost && s.sent) {
        if (is_high_rate(s.last)) {
            s.unheard = 0;
            s.high_rates_fail = false;
        } else if (s.patience > 0 && --s.patience == 0) {
            s.high_rates_fail = false; // the fading may have slowed down
            s.unheard = most_unheard - 1;
        }
    }
    if (sent > 0 && !s.advises && s.sent) {
        s.out.on_share(s.last, 1 - double(lost) / sent, sent);
    }
}

void adaptive_rate_policy::on_silence(sim_time, address peer)
{
    station& s = of(peer);
    if (s.sent) {
        s.out.on_nothing(s.last);
        s.in.on_nothing(d_modes.front()); // as likely it was the answer that got lost
        if (is_high_rate(s.last) && ++s.unheard >= most_unheard) {
            s.high_rates_fail = true;
            s.patience = others_before_again;
        }
    }
}

void adaptive_rate_policy::on_advice(sim_time, address peer, uint16_t eow)
{
    if (const auto m = decode_rate_advice(eow)) {
        station& s = of(peer);
        s.advised_again = s.advised && *s.advised == *m ? s.advised_again + 1 : 0;
        s.advised = *m;
        s.advises = true;
    }
}

std::optional<uint16_t> adaptive_rate_policy::advice(address peer) const
{
    const auto it = d_stations.find(peer.raw());
    if (it == d_stations.end() || !it->second.in.known()) {
        return std::nullopt;
    }
    return encode_rate_advice(it->second.wanted.value_or(it->second.in.best(d_modes)));
}

} // namespace gr::hf::s5066
