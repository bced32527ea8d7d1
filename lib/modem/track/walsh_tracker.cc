/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/track/walsh_tracker.h"

#include "modem/base/vector_code.h"
#include "modem/front/pulse.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel {

namespace {

// Rows before the first set at which the stream starts: the early delays and the filter's
// span.
int64_t rows_before(size_t early) { return static_cast<int64_t>(early) + 16; }

// (re, im)[k] = sum over chips c of reference[c] (y_re, y_im)[2 c + k]
HF_VECTOR_CODE
void correlate(const std::complex<float>* reference,
               size_t chips,
               const float* y_re,
               const float* y_im,
               size_t taps,
               float* re,
               float* im)
{
    std::fill(re, re + taps, 0.0f);
    std::fill(im, im + taps, 0.0f);
    for (size_t c = 0; c < chips; ++c) {
        const float r = reference[c].real(), i = reference[c].imag();
        const float *a = y_re + 2 * c, *b = y_im + 2 * c;
        for (size_t k = 0; k < taps; ++k) {
            re[k] += r * a[k] - i * b[k];
            im[k] += r * b[k] + i * a[k];
        }
    }
}

} // namespace

walsh_tracker::walsh_tracker(const acquired& a, double lost_after_s, size_t rounds)
    : d_d(*a.waveform), d_plan(a.plan->walsh), d_a(a), d_grid(d_d.symbol_rate_bd),
      d_early(static_cast<size_t>(d_grid.half_symbols(d_plan.early_s))),
      d_taps(d_early + static_cast<size_t>(d_grid.half_symbols(d_plan.late_s))),
      d_set_s(chips / d_d.symbol_rate_bd),
      d_stream(d_grid, a.origin, -rows_before(d_early), a.frequency_hz, a.clock),
      d_presence(std::max<size_t>(d_plan.least_sets,
                                  static_cast<size_t>(lost_after_s / d_set_s)),
                 d_plan.recent_sets,
                 d_plan.present),
      d_decoder(d_d), d_profile(a.profile), d_noise(a.noise),
      d_coherent(d_d, d_plan.widest_average), d_doppler(d_set_s), d_rounds(rounds),
      d_meter(d_taps, d_early)
{
    if (d_d.chips() != chips || d_d.words.size() != 2 * words)
        throw std::invalid_argument("Walsh tracker: " + std::to_string(d_d.words.size()) +
                                    " words of " + std::to_string(d_d.chips()) +
                                    " chips, it follows 4 and 4 exceptional ones of 32");
    d_profile.insert(d_profile.begin(), d_early, 0);
    d_profile.resize(d_taps, 0);
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
                                 static_cast<int64_t>(d_taps - d_early);
        d_stream.run(in, last_row);
        if (d_stream.end() < last_row)
            return std::nullopt;
        const bool last = d_set % sets == sets - 1;
        set(begin, last);
        ++d_set;
        if (last) {
            received_block b;
            for (size_t round = 0; round < d_rounds; ++round) {
                d_decoder.soft_output(d_soft, d_posterior);
                d_coherent.refine(d_posterior, d_plan.overlap, d_soft);
            }
            if (d_rounds > 0)
                take_words(d_posterior);
            d_coherent.clear();
            if (d_details)
                b.details =
                    std::make_shared<block_details>(block_details{ {}, d_soft, {} });
            b.decoded = d_decoder.decode(d_soft);
            b.channel.freq_offset_hz = d_stream.frequency();
            b.channel.doppler_hz = d_doppler.take_spread_hz();
            b.channel.coded_ber = b.decoded.coded_ber;
            measure(b.channel);
            d_stream.drop_before(2 * begin - static_cast<int64_t>(d_early));
            std::vector<float> above(d_profile);
            for (float& p : above)
                p = std::max(p - d_plan.by_chance * d_noise / static_cast<float>(chips),
                             0.0f);
            if (const int rows = window_error(
                    above,
                    static_cast<size_t>(d_grid.half_symbols(d_plan.window_margin_s)))) {
                d_stream.move(rows);
                d_doppler.move(rows);
                d_meter.move(rows);
                move_taps(d_profile, rows);
                if (!d_last.empty())
                    move_taps(d_last, rows);
            }
            d_soft.clear();
            d_words.clear();
            return b;
        }
    }
}

// Correlate with the four words at all delays; return the weighted energies.
walsh_tracker::word_values
walsh_tracker::despread(int64_t begin, bool exceptional, const std::vector<float>& weight)
{
    const auto& points = d_d.alphabet.points;
    std::array<std::complex<float>, chips> reference[words];
    for (size_t w = 0; w < words; ++w)
        for (size_t c = 0; c < chips; ++c) {
            const uint8_t scramble = d_d.at(static_cast<uint64_t>(begin) + c).value;
            const auto& word = d_d.words[w + (exceptional ? words : 0)];
            reference[w][c] = std::conj(points[(word[c] + scramble) & 7]);
        }
    const auto* y = d_stream.at(2 * begin - static_cast<int64_t>(d_early));
    const size_t rows = d_taps + 2 * (chips - 1);
    d_rows_re.resize(rows);
    d_rows_im.resize(rows);
    for (size_t q = 0; q < rows; ++q) {
        d_rows_re[q] = y[q].real();
        d_rows_im[q] = y[q].imag();
    }
    d_sum_re.resize(d_taps);
    d_sum_im.resize(d_taps);
    word_values metric{};
    for (size_t w = 0; w < words; ++w) {
        correlate(reference[w].data(),
                  chips,
                  d_rows_re.data(),
                  d_rows_im.data(),
                  d_taps,
                  d_sum_re.data(),
                  d_sum_im.data());
        d_correlation[w].resize(d_taps);
        for (size_t k = 0; k < d_taps; ++k) {
            d_correlation[w][k] = { d_sum_re[k], d_sum_im[k] };
            metric[w] += weight[k] * std::norm(d_correlation[w][k]);
        }
    }
    return metric;
}

void walsh_tracker::set(int64_t begin, bool last)
{
    std::vector<float> weight(d_taps, 0);
    std::vector<float> rho(d_taps);
    for (size_t k = 0; k < d_taps; ++k) {
        rho[k] = std::max(
            d_profile[k] - d_plan.by_chance * d_noise / static_cast<float>(chips), 0.0f);
        weight[k] = rho[k] / (d_noise * (static_cast<float>(chips) * rho[k] + d_noise)) /
                    d_plan.overlap;
    }
    word_values metric = despread(begin, last, weight);
    if (last && d_plan.either_last_word) {
        const auto exceptional = d_correlation;
        const word_values usual = despread(begin, false, weight);
        d_exceptional_score += *std::max_element(metric.begin(), metric.end()) -
                               *std::max_element(usual.begin(), usual.end());
        d_exceptional = d_exceptional_score >= 0;
        if (d_exceptional)
            d_correlation = exceptional;
        else
            metric = usual;
    }
    word_soft_bits(d_d.alphabet, metric, d_soft);
    if (d_rounds > 0)
        d_coherent.add(d_correlation, rho, d_noise);
    watch(begin + static_cast<int64_t>(chips));
    learn(metric);
}

// Distance of the best word above the others, in standard deviations of noise.
void walsh_tracker::watch(int64_t end)
{
    std::vector<float> share(d_taps, 0);
    float total = 1e-30f;
    for (size_t k = 0; k < d_taps; ++k) {
        share[k] = std::max(d_profile[k], 0.0f);
        total += share[k];
    }
    float variance = 1e-12f; // relative; taps an odd number apart share noise
    word_values energy{};
    for (size_t k = 0; k < d_taps; ++k) {
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
    const float speed = others > d_level ? d_plan.level_rises : d_plan.level_falls;
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
    d_words.push_back(static_cast<uint8_t>(best));
    const auto n = static_cast<float>(chips);
    float losers = 0, loser_weight = 1e-9f;
    for (size_t k = 0; k < d_taps; ++k) {
        float right = 0;
        for (size_t w = 0; w < words; ++w) {
            const float p = posterior[w] / total;
            const float power = std::norm(d_correlation[w][k]);
            right += p * power;
            losers += (1 - p) * power;
            loser_weight += 1 - p;
        }
        d_profile[k] += d_plan.profile_share * ((right / n - d_noise) / n - d_profile[k]);
    }
    d_noise = std::max(
        d_noise + d_plan.noise_share * (losers / loser_weight / n - d_noise), 1e-20f);
    auto taps = d_correlation[best];
    for (size_t k = 0; k < d_taps; ++k)
        if (d_profile[k] < d_plan.by_chance * d_noise / n)
            taps[k] = 0; // noise alone
    d_doppler.add(std::move(taps));
    track_frequency(best);
}

// The decoder knows the words better than each set alone.
void walsh_tracker::take_words(const std::vector<float>& posterior)
{
    const unsigned bits = d_d.alphabet.bits;
    for (size_t t = 0; t < d_words.size(); ++t) {
        size_t label = 0;
        for (unsigned b = 0; b < bits; ++b)
            label = 2 * label + (posterior[t * bits + b] < 0);
        d_words[t] = d_d.alphabet.label_to_number[label];
    }
}

// A decided chip of the block just received; 0 outside of the block.
std::complex<float> walsh_tracker::chip(int64_t symbol) const
{
    const int64_t first = static_cast<int64_t>((d_set - d_words.size()) * chips);
    const auto at = static_cast<size_t>(symbol - first); // negative values become very
                                                         // large
    if (at / chips >= d_words.size())
        return 0;
    const bool exceptional = at / chips + 1 == d_words.size() && d_exceptional;
    const auto& word = d_d.words[d_words[at / chips] + (exceptional ? words : 0)];
    const uint8_t scramble = d_d.at(static_cast<uint64_t>(symbol)).value;
    return d_d.alphabet.points[(word[at % chips] + scramble) & 7];
}

void walsh_tracker::measure(channel_report& r)
{
    const size_t sets = d_words.size();
    const size_t step = std::min(d_plan.measured_sets, sets / 3);
    for (size_t t = std::max(d_plan.sets_before, step / 2); t + d_plan.sets_after < sets;
         t += step) {
        const auto begin = static_cast<int64_t>((d_set - sets + t) * chips);
        d_meter.add(
            d_stream,
            begin,
            begin + static_cast<int64_t>(chips + chips / 2),
            [this](int64_t n) {
                return symbol_belief{ chip(n), 0 };
            },
            d_profile,
            d_noise);
    }
    r.snr_db = snr_in_bandwidth(d_meter.es_over_n0(), d_d);
    describe_delays(d_meter.profile(), d_grid, r);
}

// Correct the frequency by the phase turn of each path between sets.
void walsh_tracker::track_frequency(size_t best)
{
    if (d_set % d_plan.sets_per_turn != 0)
        return;
    const auto& now = d_correlation[best];
    if (d_last.size() == now.size())
        for (size_t k = 0; k < now.size(); ++k)
            if (d_profile[k] > d_noise / chips) {
                d_turn += now[k] * std::conj(d_last[k]);
                d_turn_power += std::norm(now[k]);
            }
    d_last = now;
    if (++d_turns < d_plan.sets_per_update)
        return;
    const double hz = std::arg(d_turn) /
                      (2 * M_PI * static_cast<double>(d_plan.sets_per_turn) * d_set_s);
    // Noise and fast fading turn phases too, but not in step.
    const bool certain = std::abs(d_turn) > d_plan.in_step * d_turn_power;
    d_turn_power = 0;
    if (certain && std::abs(hz) > d_plan.least_error_hz)
        d_stream.set_frequency(d_stream.frequency() + d_plan.correction * hz);
    d_turn = 0;
    d_turns = 0;
}

} // namespace gr::hf::kernel
