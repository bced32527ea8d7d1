/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/track/walsh_parts.h"

#include "modem/base/vector_code.h"
#include "modem/front/pulse.h"
#include "modem/track/delay_window.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gr::hf::kernel {

namespace {

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

walsh_values walsh_correlator::despread(const half_symbol_stream& stream,
                                        int64_t begin,
                                        bool exceptional,
                                        const std::vector<float>& weight)
{
    const auto& points = d_d.alphabet.points;
    const size_t words = d_correlation.size(), chips = d_d.chips();
    std::vector<uint8_t> scramble(chips);
    for (size_t c = 0; c < chips; ++c)
        scramble[c] = d_d.at(static_cast<uint64_t>(begin) + c).value;
    std::vector<std::complex<float>> reference(chips);
    const auto* y = stream.at(2 * begin - static_cast<int64_t>(d_early));
    const size_t rows = d_taps + 2 * (chips - 1);
    d_rows_re.resize(rows);
    d_rows_im.resize(rows);
    for (size_t q = 0; q < rows; ++q) {
        d_rows_re[q] = y[q].real();
        d_rows_im[q] = y[q].imag();
    }
    d_sum_re.resize(d_taps);
    d_sum_im.resize(d_taps);
    walsh_values metric(words, 0);
    for (size_t w = 0; w < words; ++w) {
        const auto& word = d_d.words[w + (exceptional ? words : 0)];
        for (size_t c = 0; c < chips; ++c)
            reference[c] = std::conj(points[(word[c] + scramble[c]) & 7]);
        correlate(reference.data(),
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

std::vector<float> walsh_profile::above() const
{
    std::vector<float> rho(d_power);
    for (float& p : rho)
        p = std::max(p - d_plan.by_chance * d_noise / d_chips, 0.0f);
    return rho;
}

float walsh_profile::weight(float above) const
{
    return above / (d_noise * (d_chips * above + d_noise)) / d_plan.overlap;
}

bool walsh_profile::empty(size_t tap) const
{
    return d_power[tap] < d_plan.by_chance * d_noise / d_chips;
}

void walsh_profile::learn(const walsh_values& metric,
                          const coherent_walsh::correlations& c)
{
    const float best = *std::max_element(metric.begin(), metric.end());
    const size_t words = metric.size();
    walsh_values posterior(words);
    float total = 0;
    for (size_t w = 0; w < words; ++w) {
        posterior[w] = std::exp(metric[w] - best);
        total += posterior[w];
    }
    const float n = d_chips;
    float losers = 0, loser_weight = 1e-9f;
    for (size_t k = 0; k < d_power.size(); ++k) {
        float right = 0;
        for (size_t w = 0; w < words; ++w) {
            const float p = posterior[w] / total;
            const float power = std::norm(c[w][k]);
            right += p * power;
            losers += (1 - p) * power;
            loser_weight += 1 - p;
        }
        d_power[k] += d_plan.profile_share * ((right / n - d_noise) / n - d_power[k]);
    }
    d_noise = std::max(
        d_noise + d_plan.noise_share * (losers / loser_weight / n - d_noise), 1e-20f);
}

void walsh_profile::move(int rows) { move_taps(d_power, rows); }

walsh_presence::walsh_presence(const walsh_plan& plan, double set_s, double lost_after_s)
    : d_plan(plan),
      d_presence(
          std::max<size_t>(plan.min_sets, static_cast<size_t>(lost_after_s / set_s)),
          plan.recent_sets,
          plan.present)
{
}

void walsh_presence::add(const std::vector<float>& power,
                         const coherent_walsh::correlations& c,
                         int64_t end)
{
    const size_t taps = power.size(), words = c.size();
    std::vector<float> share(taps, 0);
    float total = 1e-30f;
    for (size_t k = 0; k < taps; ++k) {
        share[k] = std::max(power[k], 0.0f);
        total += share[k];
    }
    float variance = 1e-12f; // relative; taps an odd number apart share noise
    walsh_values energy(words, 0);
    for (size_t k = 0; k < taps; ++k) {
        share[k] /= total;
        for (size_t w = 0; w < words; ++w)
            energy[w] += share[k] * std::norm(c[w][k]);
        for (size_t l = 0; l <= k && l <= half_symbol_reach; ++l) {
            const float p = half_symbol_pulse(static_cast<int>(l));
            variance += (l == 0 ? 1.0f : 2.0f) * share[k] * share[k - l] * p * p;
        }
    }
    const float best = *std::max_element(energy.begin(), energy.end());
    const float others = (std::accumulate(energy.begin(), energy.end(), 0.0f) - best) /
                         static_cast<float>(words - 1);
    const float speed = others > d_level ? d_plan.level_rises : d_plan.level_falls;
    d_level = d_first ? others : d_level + speed * (others - d_level);
    d_first = false;
    const float level = std::max({ d_level, others, 1e-30f });
    d_presence.add((best - others) / (std::sqrt(variance) * level), end);
}

double walsh_turn::add(const std::vector<std::complex<float>>& now,
                       const walsh_profile& taps)
{
    if (d_last.size() == now.size())
        for (size_t k = 0; k < now.size(); ++k)
            if (taps.strong(k)) {
                d_turn += now[k] * std::conj(d_last[k]);
                d_turn_power += std::norm(now[k]);
            }
    d_last = now;
    if (++d_turns < d_plan.sets_per_update)
        return 0;
    const double hz = std::arg(d_turn) /
                      (2 * M_PI * static_cast<double>(d_plan.sets_per_turn) * d_set_s);
    // Noise and fast fading turn phases too, but not in step.
    const bool certain = std::abs(d_turn) > d_plan.in_step * d_turn_power;
    d_turn_power = 0;
    d_turn = 0;
    d_turns = 0;
    return certain && std::abs(hz) > d_plan.min_error_hz ? d_plan.correction * hz : 0;
}

void walsh_turn::move(int rows)
{
    if (!d_last.empty())
        move_taps(d_last, rows);
}

bool walsh_words::compare_last(float exceptional)
{
    d_score += exceptional;
    return d_exceptional = d_score >= 0;
}

void walsh_words::take(const std::vector<float>& posterior)
{
    const unsigned bits = d_d.alphabet.bits;
    for (size_t t = 0; t < d_words.size(); ++t) {
        size_t label = 0;
        for (unsigned b = 0; b < bits; ++b)
            label = 2 * label + (posterior[t * bits + b] < 0);
        d_words[t] = d_d.alphabet.label_to_number[label];
    }
}

std::complex<float> walsh_words::chip(int64_t symbol, int64_t first) const
{
    const auto at = static_cast<size_t>(symbol - first); // negative values become very
                                                         // large
    const size_t chips = d_d.chips();
    if (at / chips >= d_words.size())
        return 0;
    const bool exceptional = at / chips + 1 == d_words.size() && d_exceptional;
    const auto& word =
        d_d.words[d_words[at / chips] + (exceptional ? d_d.words.size() / 2 : 0)];
    const uint8_t scramble = d_d.at(static_cast<uint64_t>(symbol)).value;
    return d_d.alphabet.points[(word[at % chips] + scramble) & 7];
}

} // namespace gr::hf::kernel
