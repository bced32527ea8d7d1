/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/rate/rate_estimator.h"

#include "waveform/timing.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::s5066 {

namespace {

// Receptions of this length outweigh everything before them, in mean and deviation.
constexpr double settle_s = 15;
// Before anything is known: probability of each of known_channels (HF mostly fades; ten
// hertz are rare), and deviation of the offset, dB.
constexpr std::array<double, channel_classes> class_prior = { 0.25, 0.2, 0.25, 0.2, 0.1 };
constexpr double offset_sigma_db = 1;
// How far the curve of one mode strays from the place that other curves give it, dB. It
// was measured in steps of 2 dB with 20 to 100 blocks. A tenth more or fewer of them are
// 0.2 to 0.6 dB in its slope.
constexpr double shift_sigma_db = 0.5;
// Share of the prior in the belief after every observation. So old certainty is doubted
// again, and a change of class is believed within two transmissions.
constexpr double forget = 0.02;
// Variance of the power of two equal Rayleigh paths in dB^2: that of the logarithm of a
// chi-square variable with four degrees of freedom, (10 / ln 10)^2 (pi^2 / 6 - 1).
constexpr double fading_variance = 12.16;
// Error of the receiver's SNR: of a block, and of the mean of many.
constexpr double block_sigma_db = 0.5, mean_sigma_db = 0.5;
// Drift of the mean level from one transmission to the next, dB^2.
constexpr double drift_variance = 0.5;
// A level this many deviations away means another channel.
constexpr double new_channel = 4;
// Error of the natural logarithm of a deviation, beyond the sampling error. Measured with
// stations on the five channels, 600 s each, at 8 to 22 dB (seed 7). They saw 0.07 to
// 0.35 less than expected here, with a scatter of 0.08 to 0.25.
constexpr double spread_doubt = 0.3;
// Doppler spread measured on a channel without any, and relative error of a class. Real
// channels lie between the classes, which are a factor of two to ten apart.
constexpr double steady_doppler_hz = 0.1, doppler_doubt = 0.5;
// One transmission counts as at most 20 independent D_PDUs. No probability is below 1 %:
// the classes are examples, not the channel.
constexpr double max_evidence = 20, min_probability = 0.01;
// Real curves lie between those of the classes. So losses count as at most this many
// D_PDUs for the choice of the class, but up to max_evidence for the offset.
constexpr double max_class_evidence = 4;
// A transmission without any D_PDU counts as this many lost D_PDUs of this length. One,
// because the D_PDUs of a short transmission share a fade.
constexpr double nothing_d_pdus = 1, nothing_octets = 100;
// Another mode must promise this much more than the present one. About the cost of a
// trial, 2 s of turn beside a longest transmission.
constexpr double worth_a_change = 1.02;
// Gauss-Hermite quadrature with three nodes: distance in deviations, weight.
constexpr std::array<std::pair<double, double>, 3> nodes = {
    { { -1.7320508, 1.0 / 6 }, { 0, 2.0 / 3 }, { 1.7320508, 1.0 / 6 } }
};

bool is_long(const mode& m) { return m.il == interleaver::long_; }

double square(double x) { return x * x; }

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

} // namespace

rate_estimator::rate_estimator(unsigned window) : d_window(window), d_weight(prior()) {}

const rate_estimator::weights& rate_estimator::prior()
{
    static const weights all = [] {
        weights w;
        for (size_t c = 0; c < channel_classes; ++c) {
            double sum = 0;
            for (size_t k = 0; k < offsets; ++k) {
                w[c][k] = std::exp(-square(offset_db(k) / offset_sigma_db) / 2);
                sum += w[c][k];
            }
            for (double& v : w[c])
                v *= class_prior[c] / sum;
        }
        return w;
    }();
    return all;
}

double rate_estimator::level::update(double snr_db, double its_variance)
{
    variance += drift_variance;
    const double total = variance + its_variance;
    const double miss = snr_db - mean_db;
    if (square(miss) > square(new_channel) * total) {
        *this = { snr_db, its_variance };
        return -square(new_channel) / 2 - std::log(total) / 2;
    }
    const double gain = variance / total;
    mean_db += gain * miss;
    variance *= 1 - gain;
    return -square(miss) / total / 2 - std::log(total) / 2;
}

void rate_estimator::multiply(const weights& log_likelihood)
{
    double most = log_likelihood[0][0];
    for (const auto& row : log_likelihood)
        most = std::max(most, *std::max_element(row.begin(), row.end()));
    double sum = 0;
    for (size_t c = 0; c < channel_classes; ++c) {
        for (size_t k = 0; k < offsets; ++k) {
            d_weight[c][k] *= std::exp(log_likelihood[c][k] - most);
            sum += d_weight[c][k];
        }
    }
    for (size_t c = 0; c < channel_classes; ++c)
        for (size_t k = 0; k < offsets; ++k)
            d_weight[c][k] = (1 - forget) * d_weight[c][k] / sum + forget * prior()[c][k];
}

void rate_estimator::on_blocks(const mode& m,
                               const std::vector<double>& snr_db,
                               std::optional<double> doppler_hz)
{
    if (snr_db.empty())
        return;
    const auto n = static_cast<double>(snr_db.size());
    double mean = 0, squares = 0, power = 0;
    for (const double v : snr_db) {
        const double limited = std::clamp(v, -30.0, 60.0);
        mean += limited / n;
        squares += square(limited) / n;
        power += std::pow(10, limited / 10) / n;
    }
    const auto t = kernel::timing_of(m);
    const double block_s = to_seconds(t.block_end(0) - t.block_begin(0));
    const double weight = d_known ? 1 - std::exp(-n * block_s / settle_s) : 1;
    d_mean_db += weight * (mean - d_mean_db);
    const double seen_db = std::sqrt(std::max(squares - square(mean), 0.0));
    if (n >= 4) {
        // Averaging over a long block hides about half of the deviation.
        const double short_deviation = is_long(m) ? 2 * seen_db : seen_db;
        d_short_deviation_db += weight * (short_deviation - d_short_deviation_db);
    }
    track({ 10 * std::log10(power) - mode_promises::of(m, d_window).power_db(),
            seen_db,
            block_s,
            n,
            doppler_hz });
    d_known = true;
}

void rate_estimator::track(const seen& s)
{
    weights w{};
    for (size_t c = 0; c < channel_classes; ++c) {
        const auto& channel = known_channels[c];
        const double fading = channel.doppler_hz > 0 ? fading_variance : 0;
        const double variance =
            square(mean_sigma_db) + fading / channel.fades_in(s.blocks * s.block_s);
        double log = 0;
        if (d_known)
            log = d_level[c].update(s.snr_db, variance);
        else
            d_level[c] = { s.snr_db, variance };
        w[c].fill(log + spread_likelihood(channel, s) + doppler_likelihood(channel, s));
    }
    multiply(w);
}

double rate_estimator::spread_likelihood(const channel_class& c, const seen& s) const
{
    if (s.blocks < 4)
        return 0;
    const double fading = c.doppler_hz > 0 ? fading_variance : 0;
    const double in_block = c.fades_in(s.block_s),
                 in_all = c.fades_in(s.blocks * s.block_s);
    const double expected = square(block_sigma_db) + fading * (1 / in_block - 1 / in_all);
    const double samples = fading > 0 ? std::min(s.blocks, in_all) : s.blocks;
    const double doubt = square(spread_doubt) + 1 / (2 * samples);
    const double variance = std::max(square(s.deviation_db), square(block_sigma_db) / 4);
    return -square(std::log(variance / expected) / 2) / doubt / 2 - std::log(doubt) / 2;
}

double rate_estimator::doppler_likelihood(const channel_class& c, const seen& s) const
{
    if (!s.doppler_hz)
        return 0;
    const double read = *s.doppler_hz;
    double variance = square(steady_doppler_hz) + square(doppler_doubt * c.doppler_hz);
    if (c.doppler_hz > 0)
        variance += square(doppler_error_hz(c.doppler_hz, s.block_s)) / s.blocks;
    const auto below = [&](double hz) {
        return normal_cdf((hz - c.doppler_hz) / std::sqrt(variance));
    };
    const double near = steady_doppler_hz + doppler_doubt / 2 * read;
    // A reading of 0 may be anything below.
    const double p = below(read + near) - (read > near ? below(read - near) : 0);
    return std::log(std::max(p, min_probability));
}

void rate_estimator::on_d_pdus(const mode& m, double good, double lost, double octets)
{
    const double all = good + lost;
    if (!d_known || all <= 0)
        return;
    const double seconds = 8 * octets * all / m.rate_bps;
    const shift_weights& shift = shift_of(m);
    by_sum likelihood = success(m, octets);
    weights w{};
    for (size_t c = 0; c < channel_classes; ++c) {
        const auto& channel = known_channels[c];
        const double apart =
            channel.doppler_hz > 0 ? std::min(all, channel.fades_in(seconds)) : all;
        const double evidence = std::min(apart, max_evidence);
        double most = -1e9;
        for (double& v : likelihood[c]) {
            v = evidence / all * (good * std::log(v) + lost * std::log(1 - v));
            most = std::max(most, v);
        }
        double before = 0, after = 0;
        for (double& v : likelihood[c])
            v = std::exp(v - most);
        for (size_t k = 0; k < offsets; ++k) {
            double p = 0;
            for (size_t i = 0; i < shifts; ++i)
                p += shift[i] * likelihood[c][k + i];
            before += d_weight[c][k];
            after += d_weight[c][k] * p;
            w[c][k] = std::log(p);
        }
        // Evidence for or against the class as a whole counts less.
        const double counts = std::min(1.0, max_class_evidence / evidence);
        const double of_class = std::log(after / before);
        for (double& v : w[c])
            v += counts * most - (1 - counts) * of_class;
        // All classes contribute to the shift by their weight.
        for (double& v : likelihood[c])
            v *= before / after;
    }
    learn_shift(m, likelihood);
    multiply(w);
}

rate_estimator::by_sum rate_estimator::success(const mode& m, double octets) const
{
    const auto& promises = mode_promises::of(m, d_window);
    by_sum all{};
    for (size_t c = 0; c < channel_classes; ++c) {
        const double sigma = std::sqrt(d_level[c].variance);
        for (size_t j = 0; j < sums; ++j) {
            const double db = promises.power_db() + d_level[c].mean_db + sum_db(j);
            for (const auto& [far, share] : nodes)
                all[c][j] += share * promises.d_pdu_success(c, db + far * sigma, octets);
            all[c][j] = std::clamp(all[c][j], min_probability, 1 - min_probability);
        }
    }
    return all;
}

void rate_estimator::learn_shift(const mode& m, const by_sum& likelihood)
{
    shift_weights w = shift_of(m);
    double sum = 0;
    for (size_t i = 0; i < shifts; ++i) {
        double p = 0;
        for (size_t c = 0; c < channel_classes; ++c)
            for (size_t k = 0; k < offsets; ++k)
                p += d_weight[c][k] * likelihood[c][k + i];
        w[i] *= p;
        sum += w[i];
    }
    for (size_t i = 0; i < shifts; ++i)
        w[i] = (1 - forget) * w[i] / sum + forget * shift_prior()[i];
    d_shift[m.to_string()] = w;
}

const rate_estimator::shift_weights& rate_estimator::shift_prior()
{
    static const shift_weights all = [] {
        shift_weights w;
        double sum = 0;
        for (size_t i = 0; i < shifts; ++i) {
            w[i] = std::exp(-square(shift_db(i) / shift_sigma_db) / 2);
            sum += w[i];
        }
        for (double& v : w)
            v /= sum;
        return w;
    }();
    return all;
}

const rate_estimator::shift_weights& rate_estimator::shift_of(const mode& m) const
{
    const auto it = d_shift.find(m.to_string());
    return it == d_shift.end() ? shift_prior() : it->second;
}

void rate_estimator::on_nothing(const mode& m)
{
    on_d_pdus(m, 0, nothing_d_pdus, nothing_octets);
}

double rate_estimator::class_probability(size_t c) const
{
    double sum = 0;
    for (const double w : d_weight[c])
        sum += w;
    return sum;
}

template <size_t n, typename F>
std::array<double, n> rate_estimator::means(const mode& m, F&& of) const
{
    const auto& promises = mode_promises::of(m, d_window);
    const shift_weights& shift = shift_of(m);
    std::array<double, n> all{};
    for (size_t c = 0; c < channel_classes; ++c) {
        const double sigma = std::sqrt(d_level[c].variance);
        std::array<double, sums> both{};
        for (size_t k = 0; k < offsets; ++k)
            for (size_t i = 0; i < shifts; ++i)
                both[k + i] += d_weight[c][k] * shift[i];
        for (size_t j = 0; j < sums; ++j) {
            const double db = promises.power_db() + d_level[c].mean_db + sum_db(j);
            std::array<double, n> over_levels{};
            for (const auto& [far, share] : nodes) {
                const promise& p = promises.at(c, db + far * sigma);
                for (size_t i = 0; i < n; ++i)
                    over_levels[i] += share * of(p, i);
            }
            for (size_t i = 0; i < n; ++i)
                all[i] += both[j] * over_levels[i];
        }
    }
    return all;
}

double rate_estimator::block_success(const mode& m) const
{
    return means<1>(
        m, [](const promise& p, size_t) { return p.block_success; })[0];
}

std::pair<size_t, double> rate_estimator::best_segment(const mode& m) const
{
    const auto bps = means<tried_segments.size()>(
        m, [](const promise& p, size_t i) { return p.goodput_bps[i]; });
    std::pair<size_t, double> best{ tried_segments.back(), 0 };
    for (size_t i = 0; i < tried_segments.size(); ++i)
        if (bps[i] >= best.second)
            best = { tried_segments[i], bps[i] };
    return best;
}

mode rate_estimator::best(const std::vector<mode>& modes,
                          const std::optional<mode>& present,
                          double worth_a_rise) const
{
    const mode* found = &modes.front();
    double most = 0;
    const double needed_db = present ? mode_promises::of(*present).needed_db() : 0;
    for (const mode& m : modes) {
        double worth = 1;
        if (present && m != *present) {
            const bool rise = mode_promises::of(m).needed_db() > needed_db;
            worth = std::max(worth_a_change, rise ? worth_a_rise : 1.0);
        }
        const double gain = goodput_bps(m) / worth;
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
        // A transmission is repeated until it arrives. Each failure costs its duration and
        // failure_s. The lower limit of p keeps modes comparable that all fail.
        const double p = std::max(block_success(m), 1e-3);
        const double s =
            (to_seconds(kernel::timing_of(m).duration(octets)) + failure_s) / p;
        if (s < least) {
            least = s;
            found = &m;
        }
    }
    return *found;
}

} // namespace gr::hf::s5066
