/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/equaliser.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gr::hf::kernel {

namespace {

constexpr size_t max_labels = 256;
constexpr float least_error = 1e-6f; // keeps soft bits finite on a clean channel

/* Of the diagonal. The pivots of a real channel's matrix are about the geometric mean of
 * its spectrum over the arithmetic one; smaller ones are rounding. */
constexpr float least_pivot = 0.03f;

// Error of the model itself: cut pulses, a channel constant in sub-blocks.
constexpr float model_error = 3e-4f;

// A + (noise / power) I, in place. Returns what was added.
float add_load(frame_observation& f)
{
    double trace = 0;
    for (size_t i = 0; i < f.z.size(); ++i)
        trace += f.a.at(i, 0).real();
    const auto mean = static_cast<float>(trace / static_cast<double>(f.z.size()));
    const float load = f.noise / f.symbol_power + model_error * mean + 1e-30f;
    for (size_t i = 0; i < f.z.size(); ++i)
        f.a.at(i, 0) += load;
    return load;
}

} // namespace

void decision_feedback_equaliser::equalise(frame_observation& f,
                                           std::vector<symbol_estimate>& out)
{
    const size_t n = f.z.size(), band = f.a.band();
    out.assign(n, {});
    if (n == 0)
        return;
    const float load = add_load(f);
    f.a.factor(least_pivot);
    f.a.forward(f.z.data());

    // v = D^-1 L^-1 z = L^H a + e: symbol i sees the later ones through column i of L
    const constellation& c = *f.alphabet;
    const size_t labels = size_t{ 1 } << c.bits;
    std::vector<std::complex<float>> fed_back(n);
    std::array<float, max_labels> distance{};
    for (size_t i = n; i-- > 0;) {
        const float d = f.a.at(i, 0).real();
        std::complex<float> v = f.z[i] / d;
        for (size_t k = 1; k <= std::min(band, n - 1 - i); ++k)
            v -= std::conj(f.a.at(i + k, k)) * fed_back[i + k];
        const float gain = std::max(1 - load / d, 1e-4f); // of the biased estimate
        symbol_estimate& e = out[i];
        e.value = v / gain;
        e.error = std::max(f.symbol_power * (1 - gain) / gain, least_error);

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
    const size_t n = f.z.size();
    out.assign(n, {});
    if (n == 0)
        return;
    const float load = add_load(f);
    f.a.factor(least_pivot);
    f.a.forward(f.z.data());
    for (size_t i = 0; i < n; ++i)
        f.z[i] /= f.a.at(i, 0).real();
    f.a.backward(f.z.data());
    f.a.inverse_diagonal(d_diagonal);
    for (size_t i = 0; i < n; ++i) {
        const float gain = std::max(1 - load * d_diagonal[i], 1e-4f);
        out[i].value = f.z[i] / gain;
        out[i].error = std::max(f.symbol_power * (1 - gain) / gain, least_error);
    }
}

void soft_bits(const constellation& alphabet,
               uint8_t scrambling,
               const symbol_estimate& e,
               float* llr)
{
    std::array<float, 8> zero, one;
    zero.fill(1e30f);
    one.fill(1e30f);
    const unsigned bits = alphabet.bits;
    for (unsigned l = 0; l < 1u << bits; ++l) {
        const float d =
            std::norm(e.value - alphabet.point(static_cast<uint8_t>(l), scrambling));
        for (unsigned b = 0; b < bits; ++b) {
            float& least = l >> (bits - 1 - b) & 1 ? one[b] : zero[b];
            least = std::min(least, d);
        }
    }
    for (unsigned b = 0; b < bits; ++b)
        llr[b] = std::clamp((one[b] - zero[b]) / e.error, -200.0f, 200.0f);
}

} // namespace gr::hf::kernel
