/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/rate/block_errors.h"

#include "waveform/description.h"
#include "waveform/family.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <tuple>

namespace gr::hf::s5066 {

namespace {

constexpr double beyond_db = 2; // distance of the measured points
constexpr int narrow_hz = 3000; // the bandwidth from which others are derived
// Half an error in 80 blocks, the usual number of blocks in a point. Used for shares of 0
// and 1.
constexpr double min_share = 0.5 / 80;

// Value that a normal distribution stays below with probability p. Abramowitz and Stegun,
// 26.2.23, within 4.5e-4.
double normal_quantile(double p)
{
    p = std::clamp(p, min_share, 1 - min_share);
    const double t = std::sqrt(-2 * std::log(std::min(p, 1 - p)));
    const double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                             (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    return p < 0.5 ? -x : x;
}

// Bit error rate inside bad blocks at the fraction t of the way from a to b. The logarithm
// is nearly a straight line: 1200L with K = 9 on Poor has 0.061, 0.020 and 0.0068 at 1, 2
// and 3 dB. A point without bad blocks has none, so the other one counts.
double ber_between(const block_error_point& a, const block_error_point& b, double t)
{
    if (b.bad == 0 || b.ber_of_bad == 0)
        return a.ber_of_bad;
    return a.ber_of_bad == 0 ? b.ber_of_bad
                             : a.ber_of_bad * std::pow(b.ber_of_bad / a.ber_of_bad, t);
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// Share of bad blocks at the fraction t of the way from a to b.
double share_between(double a, double b, double t)
{
    if (a == b || t <= 0)
        return a;
    return normal_cdf(normal_quantile(a) + t * (normal_quantile(b) - normal_quantile(a)));
}

// Rank of an interleaver by its length.
int length_rank(interleaver il)
{
    constexpr std::array<interleaver, 9> by_length = {
        interleaver::none,        interleaver::zero,       interleaver::voice,
        interleaver::ultra_short, interleaver::very_short, interleaver::short_,
        interleaver::medium,      interleaver::long_,      interleaver::very_long
    };
    const auto it = std::find(by_length.begin(), by_length.end(), il);
    return static_cast<int>(it - by_length.begin());
}

// SNR in 3 kHz below which no code carries the rate without fading.
double shannon_db(int rate_bps)
{
    constexpr double symbol_rate_bd = 2400;
    return 10 * std::log10((std::pow(2.0, rate_bps / symbol_rate_bd) - 1) *
                           symbol_rate_bd / narrow_hz);
}

double bits_per_symbol(const kernel::description& d)
{
    return d.m.rate_bps / d.symbol_rate_bd;
}

// The same waveform in 3 kHz.
mode narrow_waveform(const mode& m)
{
    static std::mutex guard;
    static std::map<std::pair<int, int>, int> rates; // by bandwidth and rate
    const std::lock_guard<std::mutex> lock(guard);
    auto& rate = rates[{ m.bandwidth_hz, m.rate_bps }];
    mode narrow = m;
    narrow.bandwidth_hz = narrow_hz;
    if (rate == 0) {
        const auto wide = kernel::describe(m);
        double least = 1e9;
        for (const mode& c : mode::all()) {
            if (c.family != m.family || c.bandwidth_hz != narrow_hz || c.il != m.il ||
                c.constraint_length != m.constraint_length)
                continue;
            const auto d = kernel::describe(c);
            const bool other = d.alphabet.bits != wide.alphabet.bits ||
                               d.words.empty() != wide.words.empty();
            const double distance =
                std::abs(std::log2(bits_per_symbol(d) / bits_per_symbol(wide))) +
                (other ? 100 : 0);
            if (distance < least) {
                least = distance;
                rate = c.rate_bps;
            }
        }
    }
    narrow.rate_bps = rate;
    return narrow;
}

block_error_point all_bad(const mode& m, double snr_db)
{
    return { snr_db, 1, 1, 0.5, error_burst_bits(m) };
}

bool share(double v, double most) { return v >= 0 && v <= most; }

} // namespace

void block_error_curves::add(const mode& m, const std::vector<block_error_point>& points)
{
    const auto refuse = [&m](const std::string& why) {
        throw std::invalid_argument("block errors of " + m.to_string() + ": " + why);
    };
    if (points.empty())
        refuse("no points");
    for (size_t i = 0; i < points.size(); ++i) {
        const auto& p = points[i];
        if (i > 0 && !(p.snr_db > points[i - 1].snr_db))
            refuse("SNR " + std::to_string(p.snr_db) + " dB does not rise");
        if (!share(p.lost, 1) || !share(p.bad, 1) || !share(p.ber_of_bad, 0.5)) {
            refuse("at " + std::to_string(p.snr_db) +
                   " dB: shares must be 0 to 1, bit errors of bad blocks 0 to 0.5");
        }
    }
    auto& curve = d_curves[key_of(m)];
    curve = { m, points };
    curve.points.insert(curve.points.begin(),
                        all_bad(m, points.front().snr_db - beyond_db));
    const auto& last = points.back();
    if (last.bad == 0 && last.lost == 0)
        curve.points.push_back({ last.snr_db + beyond_db, 0, 0, 0 });
}

block_error_curves::key block_error_curves::key_of(const mode& m)
{
    return { static_cast<int>(m.family),
             m.bandwidth_hz,
             m.rate_bps,
             m.constraint_length,
             length_rank(m.il) };
}

const block_error_curves::measured_curve* block_error_curves::own(const mode& m) const
{
    const auto it = d_curves.find(key_of(m));
    return it == d_curves.end() ? nullptr : &it->second;
}

const block_error_curves::measured_curve* block_error_curves::nearest(const mode& m) const
{
    const measured_curve* found = nullptr;
    int least = 0;
    const auto [family, bandwidth_hz, rate_bps, length, il] = key_of(m);
    for (auto it = d_curves.lower_bound({ family, bandwidth_hz, rate_bps, 0, 0 });
         it != d_curves.end() && std::get<0>(it->first) == family &&
         std::get<1>(it->first) == bandwidth_hz && std::get<2>(it->first) == rate_bps;
         ++it) {
        const int distance = std::abs(std::get<4>(it->first) - il);
        if (!found || distance < least) {
            found = &it->second;
            least = distance;
        }
    }
    return found;
}

block_error_curves::served block_error_curves::find(const mode& m) const
{
    if (const auto* curve = own(m))
        return { curve, curve_source::measured, 0 };
    if (const auto* curve = nearest(m))
        return { curve, curve_source::interleaver, 0 };
    if (m.bandwidth_hz != narrow_hz) {
        auto s = find(narrow_waveform(m));
        if (s.curve)
            s.source = curve_source::derived;
        return s;
    }
    // A mode without a curve gets the curve of the fastest mode up to its own rate, of the
    // same standard, and of equally fast ones with the nearest interleaver. A mode of 5069
    // may get one of 4539, but not the other way round: at 10 Hz 5069 fails where 4539 works.
    const auto standard = [](const mode& c) {
        return std::string_view(kernel::family_of(c).standard);
    };
    const auto wanted = standard(m);
    const std::pair<const key, measured_curve>* best = nullptr;
    int best_rate_bps = 0, best_distance = 0;
    bool best_same = false;
    for (const auto& entry : d_curves) {
        const auto [family, bandwidth_hz, rate_bps, length, il] = entry.first;
        const int distance = std::abs(il - length_rank(m.il));
        const auto other = standard(entry.second.m);
        const bool same = other == wanted,
                   serves = same || (wanted == "5069" && other == "4539");
        if (bandwidth_hz != narrow_hz || rate_bps > m.rate_bps || !serves)
            continue;
        if (!best || std::tuple(same, rate_bps, -distance) >
                         std::tuple(best_same, best_rate_bps, -best_distance)) {
            best = &entry;
            best_rate_bps = rate_bps;
            best_distance = distance;
            best_same = same;
        }
    }
    if (!best)
        return {};
    return { &best->second,
             curve_source::derived,
             shannon_db(m.rate_bps) - shannon_db(best_rate_bps) };
}

std::optional<mode> block_error_curves::serving(const mode& m) const
{
    const auto s = find(m);
    return s.curve ? std::optional(s.curve->m) : std::nullopt;
}

block_error_point block_error_curves::at(const mode& m, double snr_db) const
{
    const auto s = find(m);
    const double at_db = snr_db - s.shift_db;
    if (!s.curve || at_db <= s.curve->points.front().snr_db)
        return all_bad(m, snr_db);
    const auto next = std::find_if(s.curve->points.begin(),
                                   s.curve->points.end(),
                                   [at_db](const auto& p) { return p.snr_db > at_db; });
    if (next == s.curve->points.end()) {
        return { snr_db,
                 s.curve->points.back().lost,
                 s.curve->points.back().bad,
                 s.curve->points.back().ber_of_bad,
                 error_burst_bits(m) };
    }
    const auto& a = *(next - 1);
    const auto& b = *next;
    const double t = (at_db - a.snr_db) / (b.snr_db - a.snr_db);
    return { snr_db,
             share_between(a.lost, b.lost, t),
             share_between(a.bad, b.bad, t),
             ber_between(a, b, t),
             error_burst_bits(m) };
}

std::optional<double> block_error_curves::needed_db(const mode& m, double good) const
{
    const auto s = find(m);
    if (!s.curve)
        return std::nullopt;
    constexpr double step_db = 0.1;
    const double last_db = s.curve->points.back().snr_db + s.shift_db;
    for (double db = s.curve->points.front().snr_db + s.shift_db; db <= last_db + step_db;
         db += step_db) {
        const auto p = at(m, db);
        if ((1 - p.lost) * (1 - p.bad) >= good)
            return db;
    }
    return std::nullopt;
}

double error_burst_bits(const mode& m) { return m.constraint_length == 9 ? 32 : 12; }

double block_error_point::loss(size_t octets, unsigned copies) const
{
    const double bursts = 2 * ber_of_bad / burst_bits;
    const double hit = 1 - std::exp(-8 * static_cast<double>(octets) * bursts);
    return lost + (1 - lost) * bad * std::pow(hit, copies);
}

namespace {

struct measured_row {
    const char *mode, *channel;
    double snr_db, trials, lost, blocks, bad_blocks, ber_of_bad, date;
};
constexpr measured_row measured_rows[] = {
#include "measured_block_errors.inc"
};

std::map<std::string, block_error_curves, std::less<>> read_measured()
{
    std::map<std::string, std::map<std::string, std::vector<block_error_point>>> points;
    for (const auto& r : measured_rows) {
        const bool any = r.blocks > 0;
        points[r.channel][r.mode].push_back({ r.snr_db,
                                              r.lost / r.trials,
                                              any ? r.bad_blocks / r.blocks : 1,
                                              r.ber_of_bad });
    }
    std::map<std::string, block_error_curves, std::less<>> curves;
    for (const auto& [channel, modes] : points)
        for (const auto& [name, list] : modes)
            curves[channel].add(mode::parse(name), list);
    return curves;
}

} // namespace

const block_error_curves& measured_block_errors(std::string_view channel)
{
    static const auto all = read_measured();
    const auto found = all.find(channel);
    if (found == all.end()) {
        std::string known;
        for (const auto& [name, curves] : all)
            known += (known.empty() ? "" : ", ") + name;
        throw std::invalid_argument("channel '" + std::string(channel) +
                                    "': measured are " + known);
    }
    return found->second;
}

} // namespace gr::hf::s5066
