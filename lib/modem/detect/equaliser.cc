/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/detect/equaliser.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gr::hf::kernel {

namespace {

constexpr size_t max_labels = 256;

/* Least pivot, relative to the diagonal. A real channel's pivots are near the geometric
 * mean of its spectrum over the arithmetic mean; smaller ones are rounding. */
constexpr float min_pivot = 0.03f;

float mean_diagonal(const frame_observation& f)
{
    double trace = 0;
    for (size_t i = 0; i < f.z.size(); ++i)
        trace += f.a.at(i, 0).real();
    return static_cast<float>(trace / static_cast<double>(f.z.size()));
}

/* True if the factors diverged. The cut matrix of a channel with a deep notch may be
 * indefinite; at a high SNR its factors then grow without limit. */
bool diverged(const std::vector<symbol_estimate>& estimates)
{
    constexpr float largest = 100;
    return std::any_of(estimates.begin(), estimates.end(), [](const symbol_estimate& e) {
        return !(std::norm(e.value) < largest * (1 + e.error)); // also true for NaN
    });
}

// Then try again with a larger model error, at most this.
constexpr float more_error = 8, largest_error = 0.2f;

// A + (noise / power) I, in place. Returns the load added.
float add_load(frame_observation& f, float error)
{
    const float load = f.noise / f.symbol_power + error * mean_diagonal(f) + 1e-30f;
    for (size_t i = 0; i < f.z.size(); ++i)
        f.a.at(i, 0) += load;
    return load;
}

} // namespace

void decision_feedback_equaliser::equalise(frame_observation& f,
                                           std::vector<symbol_estimate>& out)
{
    d_matrix = f.a;
    d_filtered = f.z;
    attempt(f, model_error, out);
    for (float error = more_error * model_error; error < largest_error && diverged(out);
         error *= more_error) {
        f.a = d_matrix;
        f.z = d_filtered;
        attempt(f, error, out);
    }
    if (diverged(out))
        out.assign(out.size(), { 0, f.symbol_power });
}

void decision_feedback_equaliser::attempt(frame_observation& f,
                                          float error,
                                          std::vector<symbol_estimate>& out)
{
    const size_t n = f.z.size(), band = f.a.band();
    out.assign(n, {});
    if (n == 0)
        return;
    const float load = add_load(f, error);
    f.a.factor(min_pivot);
    f.a.forward(f.z.data());

    // v = D^-1 L^-1 z = L^H a + e: later symbols reach symbol i through column i of L
    const constellation& c = *f.alphabet;
    const size_t labels = size_t{ 1 } << c.bits;
    std::vector<std::complex<float>> fed_back(n);
    std::array<float, max_labels> distance{};
    for (size_t i = n; i-- > 0;) {
        const float d = f.a.at(i, 0).real();
        std::complex<float> v = f.z[i] / d;
        for (size_t k = 1; k <= std::min(band, n - 1 - i); ++k)
            v -= std::conj(f.a.at(i + k, k)) * fed_back[i + k];
        const float gain = std::max(1 - load / d, min_gain); // of the biased estimate
        symbol_estimate& e = out[i];
        e.value = v / gain;
        e.error = std::max(f.symbol_power * (1 - gain) / gain, min_error);
        if (!f.interference.empty())
            e.error += f.interference[i];

        float best = 1e30f;
        for (size_t l = 0; l < labels; ++l) {
            distance[l] =
                std::norm(e.value - c.point(static_cast<uint8_t>(l), f.scrambling[i]));
            best = std::min(best, distance[l]);
        }
        std::complex<float> mean = 0;
        float total = 0;
        for (size_t l = 0; l < labels; ++l) {
            const float x = (distance[l] - best) / e.error;
            if (x > 12)
                continue;
            const float w = std::exp(-x);
            mean += w * c.point(static_cast<uint8_t>(l), f.scrambling[i]);
            total += w;
        }
        fed_back[i] = mean / total;
    }
}

void linear_equaliser::equalise(frame_observation& f, std::vector<symbol_estimate>& out)
{
    d_nothing.assign(f.z.size(), { 0, f.symbol_power });
    equalise(f, d_nothing.data(), out);
}

void linear_equaliser::equalise(frame_observation& f,
                                const symbol_belief* beliefs,
                                std::vector<symbol_estimate>& out)
{
    if (f.sparse) {
        d_sparse.equalise(f, beliefs, out);
        return;
    }
    d_matrix = f.a;
    d_filtered = f.z;
    attempt(f, beliefs, model_error, out);
    for (float error = more_error * model_error; error < largest_error && diverged(out);
         error *= more_error) {
        f.a = d_matrix;
        f.z = d_filtered;
        attempt(f, beliefs, error, out);
    }
    if (diverged(out))
        out.assign(out.size(), { 0, f.symbol_power });
}

void linear_equaliser::attempt(frame_observation& f,
                               const symbol_belief* beliefs,
                               float error,
                               std::vector<symbol_estimate>& out)
{
    const size_t n = f.z.size(), band = f.a.band();
    out.assign(n, {});
    if (n == 0)
        return;
    // z - A mean
    d_product.assign(n, 0);
    for (size_t i = 0; i < n; ++i)
        for (size_t d = 0; d <= std::min(i, band); ++d) {
            d_product[i] += f.a.at(i, d) * beliefs[i - d].mean;
            if (d > 0)
                d_product[i - d] += std::conj(f.a.at(i, d)) * beliefs[i].mean;
        }
    const float diagonal = mean_diagonal(f) + 1e-30f;
    const float noise = f.noise + error * f.symbol_power * diagonal;
    const float least = min_variance * noise / diagonal;
    d_load.resize(n);
    for (size_t i = 0; i < n; ++i) {
        f.z[i] -= d_product[i];
        d_load[i] = noise / std::max(beliefs[i].variance, least) + 1e-30f;
        f.a.at(i, 0) += d_load[i];
    }
    f.a.factor(min_pivot);
    f.a.forward(f.z.data());
    for (size_t i = 0; i < n; ++i)
        f.z[i] /= f.a.at(i, 0).real();
    f.a.backward(f.z.data());
    f.a.inverse_diagonal(d_diagonal);
    for (size_t i = 0; i < n; ++i) {
        const float gain = std::max(1 - d_load[i] * d_diagonal[i], min_gain);
        const float variance = std::max(beliefs[i].variance, least);
        out[i].value = beliefs[i].mean + f.z[i] / gain;
        out[i].error = std::max(variance * (1 - gain) / gain, min_error);
        if (!f.interference.empty())
            out[i].error += f.interference[i];
    }
}

} // namespace gr::hf::kernel
