/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/walsh_tracker.h"

#include "modem/pulse.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gr::hf::kernel {

namespace {

/* Delays in half symbols: those of acquisition, 10 ms after the path it found and 10 ms
 * before it, since in slow fading the first path may have been away at that moment. */
constexpr size_t early_taps = 48;
constexpr size_t window_taps = early_taps + 76;
constexpr size_t window_margin = 8; // a long block at 100 parts per million drifts by 2.3
constexpr double set_seconds = 32 / 2400.0;
constexpr size_t recent_sets = 24; // a single good score may be chance
// Energy of a path appears on several half-symbol taps, whose noise is correlated.
constexpr float overlap = 1.77f;
/* Two deviations of what learn() finds on a tap without a path, in units of the noise after
 * despreading: many such taps together would cost a dB. */
constexpr float by_chance = 0.3f;
// (best - mean of the others) / standard deviation on noise; noise gives about 1, other
// signals up to 2.
constexpr float present_score = 2.4f;

/* Es / N0 from what the wrong words show on the paths, which is noise and the signal itself:
 * its half-symbol neighbours, and the other paths. Their shares are measured; above 15 dB
 * there is nothing left to tell. */
double without_own_noise(double seen, const std::vector<float>& profile)
{
    constexpr double of_itself = 0.26, of_other_paths = 0.36; // against the signal
    constexpr double one_path = 0.39; // share of squares in the profile of a single path
    constexpr double bias = 0.8, least_noise = 0.025;
    double sum = 1e-30, squares = 0;
    for (const float p : profile) {
        sum += p;
        squares += static_cast<double>(p) * p;
    }
    const double single = std::min(squares / (sum * sum) / one_path, 1.0);
    const double own = of_itself + of_other_paths * (1 - single);
    return bias / std::max(1 / std::max(seen, 1e-9) - own, least_noise);
}

} // namespace

walsh_tracker::walsh_tracker(const acquired& a, double lost_after_s, size_t rounds)
    : d_d(describe(a.m)), d_a(a), d_stream(a.origin, -64, a.frequency_hz),
      d_presence(std::max<size_t>(8, static_cast<size_t>(lost_after_s / set_seconds)),
                 recent_sets,
                 present_score),
      d_decoder(d_d), d_profile(a.profile), d_noise(a.noise), d_path_noise(a.noise),
      d_coherent(d_d), d_doppler(set_seconds), d_rounds(rounds)
{
    d_profile.insert(d_profile.begin(), early_taps, 0);
    d_profile.resize(window_taps, 0);
}

double walsh_tracker::sample_of(int64_t symbol) const
{
    return d_stream.input_time(2 * static_cast<double>(symbol) +
                               static_cast<double>(d_a.first_tap));
}

std::optional<received_block> walsh_tracker::advance(const sample_buffer& in)
{
    const size_t sets = d_d.block_symbols() / chips;
    for (;;) {
        const auto begin = static_cast<int64_t>(d_set * chips);
        const int64_t last_row = 2 * begin + 2 * static_cast<int64_t>(chips) +
                                 static_cast<int64_t>(window_taps - early_taps);
        d_stream.run(in, last_row);
        if (d_stream.end() < last_row)
            return std::nullopt;
        const bool last = d_set % sets == sets - 1;
        set(begin, last);
        d_stream.drop_before(2 * begin);
        ++d_set;
        if (last) {
            received_block b;
            for (size_t round = 0; round < d_rounds; ++round) {
                d_decoder.soft_output(d_soft, d_posterior);
                d_coherent.refine(d_posterior, overlap, d_soft);
            }
            d_coherent.clear();
            b.decoded = d_decoder.decode(d_soft);
            b.channel.freq_offset_hz = d_stream.frequency();
            b.channel.doppler_hz = d_doppler.spread_hz();
            b.channel.coded_ber = b.decoded.coded_ber;
            std::vector<float> above(d_profile);
            for (float& p : above)
                p = std::max(p - by_chance * d_noise / static_cast<float>(chips), 0.0f);
            describe_delays(above, b.channel);
            b.channel.snr_db = snr_in_3_khz(
                without_own_noise(d_snr_sum / static_cast<double>(sets), above));
            if (const int rows = window_error(above, window_margin)) {
                d_stream.move(rows);
                d_doppler.move(rows);
                move_taps(d_profile, rows);
                if (!d_last.empty())
                    move_taps(d_last, rows);
            }
            d_soft.clear();
            d_snr_sum = 0;
            return b;
        }
    }
}

void walsh_tracker::set(int64_t begin, bool exceptional)
{
    const auto& psk = psk8_points();
    std::array<std::complex<float>, chips> reference[words];
    for (size_t w = 0; w < words; ++w)
        for (size_t c = 0; c < chips; ++c) {
            const uint8_t scramble = d_d.at(static_cast<uint64_t>(begin) + c).value;
            const auto& word = d_d.words[w + (exceptional ? words : 0)];
            reference[w][c] = std::conj(psk[(word[c] + scramble) & 7]);
        }
    const auto* y = d_stream.at(2 * begin - static_cast<int64_t>(early_taps));
    std::array<float, window_taps> weight{};
    std::vector<float> rho(window_taps);
    for (size_t k = 0; k < window_taps; ++k) {
        rho[k] = std::max(d_profile[k] - by_chance * d_noise / static_cast<float>(chips),
                          0.0f);
        weight[k] =
            rho[k] / (d_noise * (static_cast<float>(chips) * rho[k] + d_noise)) / overlap;
    }
    word_values metric{};
    for (size_t w = 0; w < words; ++w) {
        d_correlation[w].assign(window_taps, 0);
        for (size_t k = 0; k < window_taps; ++k) {
            std::complex<float> sum = 0;
            for (size_t c = 0; c < chips; ++c)
                sum += reference[w][c] * y[2 * c + k];
            d_correlation[w][k] = sum;
            metric[w] += weight[k] * std::norm(sum);
        }
    }
    word_soft_bits(d_d.alphabet, metric, d_soft);
    if (d_rounds > 0)
        d_coherent.add(d_correlation, rho, d_noise);
    watch(begin + static_cast<int64_t>(chips));
    learn(metric);
}

// How far the best word stands above the others, in deviations that noise would cause.
void walsh_tracker::watch(int64_t end)
{
    std::array<float, window_taps> share{};
    float total = 1e-30f;
    for (size_t k = 0; k < window_taps; ++k) {
        share[k] = std::max(d_profile[k], 0.0f);
        total += share[k];
    }
    float variance = 1e-12f; // relative; taps an odd number apart share noise
    word_values energy{};
    for (size_t k = 0; k < window_taps; ++k) {
        share[k] /= total;
        for (size_t w = 0; w < words; ++w)
            energy[w] += share[k] * std::norm(d_correlation[w][k]);
        for (size_t l = 0; l <= k && l <= half_symbol_reach; ++l) {
            const float p = half_symbol_pulse(static_cast<int>(l));
            variance += (l == 0 ? 1.0f : 2.0f) * share[k] * share[k - l] * p * p;
        }
    }
    const float best = *std::max_element(energy.begin(), energy.end());
    const float others =
        (std::accumulate(energy.begin(), energy.end(), 0.0f) - best) / (words - 1);
    const float speed = others > d_level ? 1 / 6.0f : 1 / 24.0f;
    d_level = d_set == 0 ? others : d_level + speed * (others - d_level);
    const float level = std::max({ d_level, others, 1e-30f });
    d_presence.add((best - others) / (std::sqrt(variance) * level), end);
}

void walsh_tracker::learn(const word_values& metric)
{
    const auto best = static_cast<size_t>(std::max_element(metric.begin(), metric.end()) -
                                          metric.begin());
    word_values posterior{};
    float total = 0;
    for (size_t w = 0; w < words; ++w) {
        posterior[w] = std::exp(metric[w] - metric[best]);
        total += posterior[w];
    }
    constexpr float quick = 1 / 24.0f, slow = 1 / 64.0f;
    const auto n = static_cast<float>(chips);
    float losers = 0, loser_weight = 1e-9f;
    float on_path = 0, on_path_weight = 1e-20f; // where the words are orthogonal
    for (size_t k = 0; k < window_taps; ++k) {
        float right = 0;
        for (size_t w = 0; w < words; ++w) {
            const float p = posterior[w] / total;
            const float power = std::norm(d_correlation[w][k]);
            right += p * power;
            losers += (1 - p) * power;
            loser_weight += 1 - p;
            on_path += (1 - p) * power * std::max(d_profile[k], 0.0f);
            on_path_weight += (1 - p) * std::max(d_profile[k], 0.0f);
        }
        d_profile[k] += quick * ((right / n - d_noise) / n - d_profile[k]);
    }
    d_noise = std::max(d_noise + slow * (losers / loser_weight / n - d_noise), 1e-20f);
    float power = 0;
    for (const float p : d_profile)
        power += std::max(p, 0.0f);
    d_path_noise += slow * (on_path / on_path_weight / n - d_path_noise);
    d_snr_sum += power / overlap / std::max(d_path_noise, 1e-20f);
    auto taps = d_correlation[best];
    for (size_t k = 0; k < window_taps; ++k)
        if (d_profile[k] < by_chance * d_noise / n)
            taps[k] = 0; // noise alone
    d_doppler.add(std::move(taps));
    track_frequency(best);
}

// From how the phase of each path turns between sets.
void walsh_tracker::track_frequency(size_t best)
{
    constexpr size_t sets_per_update = 32;
    const auto& now = d_correlation[best];
    if (d_last.size() == now.size())
        for (size_t k = 0; k < now.size(); ++k)
            if (d_profile[k] > d_noise / chips) {
                d_turn += now[k] * std::conj(d_last[k]);
                d_turn_power += std::norm(now[k]);
            }
    d_last = now;
    if (++d_turns < sets_per_update)
        return;
    const double hz = std::arg(d_turn) / (2 * M_PI * set_seconds);
    // Noise and fast fading turn phases too, but not in step.
    const bool certain = std::abs(d_turn) > 0.5f * d_turn_power;
    d_turn_power = 0;
    if (certain && std::abs(hz) > 0.2)
        d_stream.set_frequency(d_stream.frequency() + 0.4 * hz);
    d_turn = 0;
    d_turns = 0;
}

} // namespace gr::hf::kernel
