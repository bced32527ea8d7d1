/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/families/wideband/preamble_scores.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::kernel::wideband {

namespace {

using value = std::complex<float>;

/* Phase lines: half a step loses 1 % of a correlation. Over the nine symbols, 120 ms, an
 * offset error of 2 Hz turns by 1.5. That is the error left on the weakest preamble (0.36
 * at -9 dB in 3 kHz, by the bound on frequency estimates). Paths that fade at 1 Hz turn
 * no faster. */
constexpr int phases = 12, slopes = 3;
constexpr float turn = 1.5f;

// Score of the impossible. It stays the worst after adding other scores.
constexpr float never = -1e30f;

float log_sum(float a, float b)
{
    const float top = std::max(a, b);
    return top <= never ? never : top + std::log1p(std::exp(std::min(a, b) - top));
}

float log_sum(const std::vector<float>& all)
{
    const float top = *std::max_element(all.begin(), all.end());
    if (top <= never)
        return never;
    float sum = 0;
    for (const float a : all)
        sum += std::exp(a - top);
    return top + std::log(sum);
}

// Logarithm of the modified Bessel function I0: the mean of exp(x cos) over all phases.
float log_bessel(float x)
{
    // For larger x, the first terms of the asymptotic series are exact to 1 %.
    return x < 12 ? static_cast<float>(std::log(std::cyl_bessel_i(0.0, x)))
                  : x - 0.5f * std::log(2 * static_cast<float>(M_PI) * x) + 0.125f / x;
}

using log_likelihoods = std::vector<std::array<float, 4>>; // [symbol][di-bit]

log_likelihoods along(const std::vector<dibit_evidence>& symbols, int phase, int slope)
{
    log_likelihoods out(symbols.size());
    const auto last = static_cast<float>(symbols.size()) - 1;
    for (size_t g = 0; g < symbols.size(); ++g) {
        const float at = last > 0 ? static_cast<float>(g) / last - 0.5f : 0;
        const value back = std::polar(1.0f,
                                      -2 * static_cast<float>(M_PI) *
                                              static_cast<float>(phase) / phases -
                                          turn * at * static_cast<float>(slope) / slopes);
        for (size_t v = 0; v < 4; ++v)
            out[g][v] = (symbols[g][v] * back).real();
    }
    return out;
}

log_likelihoods at_any_phase(const std::vector<dibit_evidence>& symbols)
{
    log_likelihoods out(symbols.size());
    for (size_t g = 0; g < symbols.size(); ++g)
        for (size_t v = 0; v < 4; ++v)
            out[g][v] = log_bessel(std::abs(symbols[g][v]));
    return out;
}

// Log-likelihood of each word, if its symbols start at \p first.
std::vector<float>
of_words(const log_likelihoods& symbols, size_t first, const dibit_words& words)
{
    std::vector<float> out;
    for (const auto& dibits : words) {
        float sum = 0;
        for (size_t k = 0; k < dibits.size(); ++k)
            sum += symbols[first + k][dibits[k]];
        out.push_back(sum);
    }
    return out;
}

std::vector<float> plus(std::vector<float> a, const std::vector<float>& b)
{
    for (size_t k = 0; k < a.size(); ++k)
        a[k] = std::max(a[k] + b[k], never);
    return a;
}

} // namespace

float add_superframe(preamble_scores& scores,
                     const std::vector<dibit_evidence>& symbols,
                     const dibit_words& counts,
                     const dibit_words& words)
{
    float evidence = never;
    const float before = log_sum(scores.counts) + log_sum(scores.words);
    const size_t first = symbols.size() - words.front().size();
    std::vector<float> count_sums(counts.size(), never), word_sums(words.size(), never);
    const auto add = [&](const log_likelihoods& l, float prior) {
        const auto c = plus(of_words(l, 0, counts), scores.counts);
        const auto w = plus(of_words(l, first, words), scores.words);
        const float all_c = log_sum(c), all_w = log_sum(w);
        for (size_t k = 0; k < c.size(); ++k)
            count_sums[k] = log_sum(count_sums[k], c[k] + all_w + prior);
        for (size_t k = 0; k < w.size(); ++k)
            word_sums[k] = log_sum(word_sums[k], w[k] + all_c + prior);
        evidence = log_sum(evidence, all_c + all_w + prior - before);
    };
    // A line or none, equally likely.
    for (int phase = 0; phase < phases; ++phase)
        for (int slope = -slopes; slope <= slopes; ++slope)
            add(along(symbols, phase, slope),
                std::log(0.5f / static_cast<float>(phases * (2 * slopes + 1))));
    add(at_any_phase(symbols), std::log(0.5f));
    // Only differences count.
    const auto settle = [](std::vector<float>& sums) {
        const float top = *std::max_element(sums.begin(), sums.end());
        for (float& s : sums)
            s = s <= never ? never : s - top;
    };
    settle(count_sums);
    settle(word_sums);
    scores = { std::move(count_sums), std::move(word_sums) };
    return evidence;
}

float faded_by(double db)
{
    const double x = 2 * std::pow(10.0, -db / 10);
    // 1 - (1 + x) exp(-x), which loses precision for small x.
    const double p = x < 1e-3 ? x * x / 2 : 1 - (1 + x) * std::exp(-x);
    return static_cast<float>(std::log(p));
}

} // namespace gr::hf::kernel::wideband
