/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/track/coherent_walsh.h"

#include "modem/detect/linear_algebra.h"
#include "modem/front/pulse.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::kernel {

namespace {

constexpr float largest_ratio = 20;     // limit of a belief
constexpr float largest_soft_bit = 200; // its exp() is still a finite double
constexpr double reach_of_width = 2.5;  // end of the averaging, in widths: the rest
                                        // weighs 4 %
constexpr float min_rest = 0.02f;       // least share of a delay's power outside any
                                        // prediction
/* Delays below this share of the strongest power add nothing: 17 dB. All delays have some
 * power by chance while the signal is strong, and 48 kHz has two thousand delays. */
constexpr float min_power = 0.02f;

/* Neighbour delays share noise and path. Added to the diagonal of their correlation, as the
 * pulse takes up 1.35 / 2 of the band; and most delays for which it is solved. */
constexpr float loading = 0.05f;
constexpr size_t max_solved = 32;

// Sets averaged on each side, in a block of \p sets.
size_t reach_of(double width, size_t sets)
{
    return std::min(sets - 1, static_cast<size_t>(reach_of_width * width + 1));
}

} // namespace

namespace {

bool is_one(const constellation& a, size_t label, unsigned bit)
{
    return (label >> (a.bits - 1 - bit) & 1) != 0;
}

/* Probability of each label, relative to the best, from the metric of its word and half the
 * ratios \p prior of its bits. */
void weigh_labels(const constellation& a,
                  const std::vector<float>& metric,
                  const float* prior,
                  std::vector<float>& weight)
{
    weight.resize(metric.size());
    float best = -1e30f;
    for (size_t label = 0; label < weight.size(); ++label) {
        weight[label] = metric[a.label_to_number[label]];
        for (unsigned b = 0; prior != nullptr && b < a.bits; ++b)
            weight[label] += is_one(a, label, b) ? -prior[b] / 2 : prior[b] / 2;
        best = std::max(best, weight[label]);
    }
    for (float& w : weight)
        w = std::exp(w - best);
}

} // namespace

void word_soft_bits(const constellation& alphabet,
                    const coherent_walsh::values_of_words& metric,
                    const float* prior,
                    std::vector<float>& soft)
{
    constexpr float impossible = 1e-38f;
    static thread_local std::vector<float> weight;
    weigh_labels(alphabet, metric, prior, weight);
    for (unsigned b = 0; b < alphabet.bits; ++b) {
        float zero = impossible, one = impossible;
        for (size_t label = 0; label < weight.size(); ++label)
            (is_one(alphabet, label, b) ? one : zero) += weight[label];
        const float own = prior == nullptr ? 0 : prior[b];
        soft.push_back(std::clamp(
            std::log(zero) - std::log(one) - own, -largest_soft_bit, largest_soft_bit));
    }
}

void coherent_walsh::add(const correlations& c,
                         values_of_words metric,
                         const std::vector<float>& power,
                         float noise)
{
    d_sets.push_back(c);
    d_metrics.push_back(std::move(metric));
    d_noise.push_back(noise);
    d_power.resize(power.size(), 0);
    for (size_t k = 0; k < power.size(); ++k)
        d_power[k] += power[k];
}

void coherent_walsh::clear()
{
    d_sets.clear();
    d_metrics.clear();
    d_noise.clear();
    d_power.clear();
}

// Gain of each delay in each set, by the beliefs, and the mean turn.
void coherent_walsh::form_gains()
{
    const constellation& c = d_d.alphabet;
    const size_t sets = d_sets.size();
    d_delays.clear();
    const float strongest = *std::max_element(d_power.begin(), d_power.end());
    for (size_t k = 0; k < d_power.size(); ++k)
        if (d_power[k] > min_power * strongest)
            d_delays.push_back(k);
    d_gains.assign(d_delays.size(), std::vector<value>(sets));
    std::vector<float> weight;
    for (size_t t = 0; t < sets; ++t) {
        weigh_labels(c, d_metrics[t], &d_prior[t * c.bits], weight);
        float total = 0;
        for (const float w : weight)
            total += w;
        for (size_t a = 0; a < d_delays.size(); ++a) {
            value g = 0;
            for (size_t label = 0; label < weight.size(); ++label)
                g += weight[label] * d_sets[t][c.label_to_number[label]][d_delays[a]];
            d_gains[a][t] = g / (d_chips * total);
        }
    }
    std::complex<double> turn = 0;
    for (const auto& g : d_gains)
        for (size_t t = 1; t < sets; ++t)
            turn += g[t] * std::conj(g[t - 1]);
    d_turn = std::arg(turn);
    for (auto& g : d_gains)
        for (size_t t = 0; t < sets; ++t)
            g[t] *=
                std::polar(1.0f, static_cast<float>(-d_turn * static_cast<double>(t)));
}

/* Spectra of the gains, so that any width of averaging costs one product and one
 * transform. */
void coherent_walsh::form_spectra()
{
    const size_t sets = d_sets.size();
    const size_t length = fourier::length_for(sets + reach_of(d_widest, sets));
    if (d_fourier.size() != length)
        d_fourier = fourier(length);
    d_spectra.resize(d_gains.size());
    for (size_t a = 0; a < d_gains.size(); ++a) {
        std::copy(d_gains[a].begin(), d_gains[a].end(), d_fourier.data());
        std::fill(d_fourier.data() + sets, d_fourier.data() + length, 0);
        d_fourier.forward();
        d_spectra[a].assign(d_fourier.data(), d_fourier.data() + length);
    }
}

/* Weighted mean of the sets around each set. Returns the error power after the best
 * scaling of the predictions, relative to the power of the gains. */
double coherent_walsh::predict(double width, std::vector<std::vector<value>>& prediction)
{
    const size_t sets = d_sets.size(), length = d_fourier.size();
    const size_t reach = reach_of(width, sets);
    // Weights on both sides without the set itself, and their sums from the middle on.
    std::vector<float> sum_of_weights(reach + 1);
    std::fill(d_fourier.data(), d_fourier.data() + length, 0);
    for (size_t l = 1; l <= reach; ++l) {
        const auto from_middle = static_cast<double>(l);
        const auto w = static_cast<float>(
            std::exp(-0.5 * from_middle * from_middle / (width * width)));
        sum_of_weights[l] = sum_of_weights[l - 1] + w;
        d_fourier.data()[l] = d_fourier.data()[length - l] = w;
    }
    d_fourier.forward();
    d_response.resize(length);
    for (size_t f = 0; f < length; ++f) // real, as the weights are symmetric
        d_response[f] = d_fourier.data()[f].real() / static_cast<float>(length);
    prediction.resize(d_gains.size());
    double explained = 0, total = 1e-30;
    for (size_t a = 0; a < d_gains.size(); ++a) {
        for (size_t f = 0; f < length; ++f)
            d_fourier.data()[f] = d_spectra[a][f] * d_response[f];
        d_fourier.backward();
        prediction[a].resize(sets);
        double cross = 0, square = 1e-30;
        for (size_t t = 0; t < sets; ++t) {
            const float weight = sum_of_weights[std::min(reach, t)] +
                                 sum_of_weights[std::min(reach, sets - 1 - t)];
            const value mean = d_fourier.data()[t] / (weight + 1e-20f);
            const value g = d_gains[a][t];
            prediction[a][t] = mean;
            cross += (std::conj(mean) * g).real();
            square += std::norm(mean);
            total += std::norm(g);
        }
        const double scale = std::max(cross, 0.0) / square;
        for (auto& v : prediction[a])
            v *= static_cast<float>(scale);
        explained += std::max(cross, 0.0) * scale;
    }
    return 1 - explained / total;
}

void coherent_walsh::refine(const std::vector<float>& posterior,
                            float overlap,
                            std::vector<float>& soft)
{
    d_prior.resize(soft.size());
    for (size_t k = 0; k < soft.size(); ++k)
        d_prior[k] = std::clamp(posterior[k] - soft[k], -largest_ratio, largest_ratio);
    form_gains();
    form_spectra();
    double least = 1;
    d_width = 0;
    for (double width = 1; width <= d_widest; width *= 2) {
        const double error = predict(width, d_prediction);
        if (error < least) {
            least = error;
            d_width = width;
            std::swap(d_prediction, d_best);
        }
    }
    if (d_width > 0) // else no prediction is possible: the metrics stay
        form_metrics(overlap);
    soft.clear();
    for (size_t t = 0; t < d_sets.size(); ++t)
        word_soft_bits(d_d.alphabet, d_metrics[t], &d_prior[t * d_d.alphabet.bits], soft);
}

std::vector<float> coherent_walsh::received() const
{
    std::vector<float> soft;
    for (const values_of_words& metric : d_metrics)
        word_soft_bits(d_d.alphabet, metric, nullptr, soft);
    return soft;
}

/* Weight of each delay: its part in the matched filter of the predicted path, whose noise is
 * correlated as the pulse is. A path on a delay leaves nothing for its neighbours. */
std::vector<float> coherent_walsh::weights(float overlap) const
{
    const size_t n = d_delays.size();
    std::vector<float> own(n, 1 / overlap);
    if (n > max_solved)
        return own;
    // Inverse of the correlation, column by column.
    std::vector<float> inverse;
    hermitian_solver solver;
    for (size_t column = 0; column < n; ++column) {
        solver.resize(n);
        for (size_t a = 0; a < n; ++a) {
            for (size_t b = 0; b <= a; ++b)
                solver.add(a,
                           b,
                           half_symbol_pulse(static_cast<int>(d_delays[a]) -
                                             static_cast<int>(d_delays[b])));
            solver.add(a, a, loading);
        }
        solver.rhs(column) = 1;
        if (!solver.solve())
            return own;
        for (size_t a = 0; a < n; ++a)
            inverse.push_back(solver.rhs(a).real());
    }
    std::vector<float> part(n, 0), power(n, 1e-30f);
    for (size_t a = 0; a < n; ++a)
        for (size_t b = 0; b < n; ++b) {
            value product = 0;
            for (size_t t = 0; t < d_sets.size(); ++t)
                product += std::conj(d_best[a][t]) * d_best[b][t];
            part[a] += inverse[b * n + a] * product.real();
            power[a] += a == b ? product.real() : 0;
        }
    for (size_t a = 0; a < n; ++a)
        own[a] = std::clamp((1 + loading) * part[a] / power[a], 0.0f, 1.0f);
    return own;
}

// Metrics of the words by the best prediction.
void coherent_walsh::form_metrics(float overlap)
{
    const size_t sets = d_sets.size();
    const std::vector<float> weight = weights(overlap);
    // Residual of each delay after the prediction, less the noise.
    std::vector<float> rest(d_delays.size());
    for (size_t a = 0; a < d_delays.size(); ++a) {
        float error = 0, noise = 0;
        for (size_t t = 0; t < sets; ++t) {
            error += std::norm(d_gains[a][t] - d_best[a][t]);
            noise += d_noise[t] / d_chips;
        }
        const float n = static_cast<float>(sets);
        const float power = d_power[d_delays[a]] / n;
        rest[a] = std::clamp((error - noise) / n, min_rest * power, power);
    }
    for (size_t t = 0; t < sets; ++t) {
        const auto turn =
            std::polar(1.0f, static_cast<float>(-d_turn * static_cast<double>(t)));
        values_of_words& metric = d_metrics[t];
        std::fill(metric.begin(), metric.end(), 0.0f);
        for (size_t a = 0; a < d_delays.size(); ++a) {
            const float noise = d_chips * d_noise[t];
            const float right = d_chips * d_chips * rest[a] + noise;
            for (size_t w = 0; w < metric.size(); ++w) {
                const value c = d_sets[t][w][d_delays[a]] * turn;
                metric[w] += weight[a] * (std::norm(c) / noise -
                                          std::norm(c - d_chips * d_best[a][t]) / right);
            }
        }
    }
}

} // namespace gr::hf::kernel
