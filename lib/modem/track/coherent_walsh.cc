/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/track/coherent_walsh.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::kernel {

namespace {

constexpr float chips = 32;
constexpr float largest_ratio = 20;     // of a belief
constexpr float largest_soft_bit = 200; // exp() of it is a finite double
constexpr double reach_of_width = 2.5;  // sets that are averaged: the rest weighs 4 %
constexpr float least_rest = 0.02f; // of a delay's power that no prediction takes away

} // namespace

void word_soft_bits(const constellation& alphabet,
                    const std::array<float, coherent_walsh::words>& metric,
                    std::vector<float>& soft)
{
    for (unsigned b = 0; b < alphabet.bits; ++b) {
        float zero = -1e30f, one = -1e30f;
        for (uint8_t label = 0; label < coherent_walsh::words; ++label) {
            float& best = label >> (alphabet.bits - 1 - b) & 1 ? one : zero;
            best = std::max(best, metric[alphabet.label_to_number[label]]);
        }
        soft.push_back(std::clamp(zero - one, -largest_soft_bit, largest_soft_bit));
    }
}

void coherent_walsh::add(const correlations& c,
                         const std::vector<float>& power,
                         float noise)
{
    d_sets.push_back(c);
    d_noise.push_back(noise);
    d_power.resize(power.size(), 0);
    for (size_t k = 0; k < power.size(); ++k)
        d_power[k] += power[k];
}

void coherent_walsh::clear()
{
    d_sets.clear();
    d_noise.clear();
    d_power.clear();
}

// The gain of each delay in each set as the beliefs say, and its mean turn.
void coherent_walsh::form_gains(const std::vector<float>& posterior)
{
    const constellation& c = d_d.alphabet;
    const size_t sets = d_sets.size();
    d_delays.clear();
    for (size_t k = 0; k < d_power.size(); ++k)
        if (d_power[k] > 0)
            d_delays.push_back(k);
    d_gains.assign(d_delays.size(), std::vector<value>(sets));
    for (size_t t = 0; t < sets; ++t) {
        std::array<float, words> p{};
        for (uint8_t label = 0; label < words; ++label) {
            float q = 1;
            for (unsigned b = 0; b < c.bits; ++b) {
                const float l =
                    std::clamp(posterior[t * c.bits + b], -largest_ratio, largest_ratio);
                const bool one = label >> (c.bits - 1 - b) & 1;
                q /= 1 + std::exp(one ? l : -l);
            }
            p[c.label_to_number[label]] = q;
        }
        for (size_t a = 0; a < d_delays.size(); ++a) {
            value g = 0;
            for (size_t w = 0; w < words; ++w)
                g += p[w] * d_sets[t][w][d_delays[a]];
            d_gains[a][t] = g / chips;
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

/* Weighted mean of the sets around each. Returns the error power that is left when the
 * predictions are scaled best, over the power itself. */
double coherent_walsh::predict(double width,
                               std::vector<std::vector<value>>& prediction) const
{
    const auto sets = static_cast<int>(d_sets.size());
    const int reach = std::min(sets - 1, static_cast<int>(reach_of_width * width + 1));
    std::vector<float> h(static_cast<size_t>(reach) + 1);
    for (int l = 1; l <= reach; ++l)
        h[static_cast<size_t>(l)] =
            static_cast<float>(std::exp(-0.5 * l * l / (width * width)));
    prediction.assign(d_gains.size(), std::vector<value>(d_sets.size()));
    double explained = 0, total = 1e-30;
    for (size_t a = 0; a < d_gains.size(); ++a) {
        double cross = 0, square = 1e-30;
        for (int t = 0; t < sets; ++t) {
            value sum = 0;
            float weight = 1e-20f;
            for (int l = 1; l <= reach; ++l) {
                const float w = h[static_cast<size_t>(l)];
                if (t - l >= 0) {
                    sum += w * d_gains[a][static_cast<size_t>(t - l)];
                    weight += w;
                }
                if (t + l < sets) {
                    sum += w * d_gains[a][static_cast<size_t>(t + l)];
                    weight += w;
                }
            }
            sum /= weight;
            const value g = d_gains[a][static_cast<size_t>(t)];
            prediction[a][static_cast<size_t>(t)] = sum;
            cross += (std::conj(sum) * g).real();
            square += std::norm(sum);
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
    form_gains(posterior);
    const size_t sets = d_sets.size();
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
    if (d_width == 0)
        return; // nothing can be predicted: what there is is best
    // What the prediction leaves of each delay, noise taken off.
    std::vector<float> rest(d_delays.size());
    for (size_t a = 0; a < d_delays.size(); ++a) {
        float error = 0, noise = 0;
        for (size_t t = 0; t < sets; ++t) {
            error += std::norm(d_gains[a][t] - d_best[a][t]);
            noise += d_noise[t] / chips;
        }
        const float n = static_cast<float>(sets);
        const float power = d_power[d_delays[a]] / n;
        rest[a] = std::clamp((error - noise) / n, least_rest * power, power);
    }
    soft.clear();
    for (size_t t = 0; t < sets; ++t) {
        const auto turn =
            std::polar(1.0f, static_cast<float>(-d_turn * static_cast<double>(t)));
        std::array<float, words> metric{};
        for (size_t a = 0; a < d_delays.size(); ++a) {
            const float noise = chips * d_noise[t];
            const float right = chips * chips * rest[a] + noise;
            for (size_t w = 0; w < words; ++w) {
                const value c = d_sets[t][w][d_delays[a]] * turn;
                metric[w] +=
                    std::norm(c) / noise - std::norm(c - chips * d_best[a][t]) / right;
            }
        }
        for (float& m : metric)
            m /= overlap;
        word_soft_bits(d_d.alphabet, metric, soft);
    }
}

} // namespace gr::hf::kernel
