/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/base/grid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Finds sudden level steps in a stream: a receiver's attenuator, a sender's power
 *         stage, another antenna.
 *
 * Compares the mean powers of 20 ms before and after every instant. Where they differ
 * most, and by enough, a step must explain the samples clearly better than a steady rise
 * or fall, which is fading.
 */
class level_steps
{
public:
    //! A step: from this sample on, counted from the first, the power is multiplied by
    //! ratio.
    struct step {
        int64_t sample;
        float ratio;
    };
    static constexpr double window_s = 0.02;
    static constexpr float least = 3.5f;   //!< least ratio; 5.4 dB
    static constexpr float largest = 1000; //!< largest ratio; more is the start or end of
                                           //!< a signal

    explicit level_steps(const symbol_grid& grid)
        : d_window(grid.samples(window_s)), d_bin(d_window / bins_per_window),
          d_kept(4 * d_window), d_sum(static_cast<size_t>(d_kept))
    {
    }

    //! Samples compared on either side of an instant.
    int64_t window() const { return d_window; }
    //! Longest delay of a report, samples.
    int64_t latest() const { return 2 * d_window; }

    //! Take the power of the next sample. Returns a step at most latest() samples after
    //! it.
    std::optional<step> push(float power)
    {
        // Samples after a reported step are still measured against the old level.
        return add(power / d_level);
    }

    //! The next sample is erased: it counts like those before it.
    std::optional<step> push_unknown()
    {
        const auto w = std::min(d_count, d_window);
        return add(w > 0 ? this->power(d_count - w, d_count) : 0);
    }

private:
    std::optional<step> add(double power)
    {
        at(d_count) = at(d_count - 1) + power;
        ++d_count;
        if (d_count % stride != 0 || d_count < 2 * d_window)
            return std::nullopt;
        const int64_t w = d_window;
        if (d_count - w < d_from)
            return std::nullopt;
        const double r = change(d_count - w, w);
        if (std::abs(r) > std::max(std::log(double{ least }), std::abs(d_best))) {
            d_best = r;
            d_best_at = d_count - w;
        }
        if (d_best == 0 || d_count - w - d_best_at < w / 2)
            return std::nullopt;
        return reported();
    }

    static constexpr int symbol = symbol_grid::samples_per_symbol;
    static constexpr int64_t stride = symbol;      // samples between two looks
    static constexpr int64_t search = 8 * symbol;  // on either side, for the instant
    static constexpr int64_t bins_per_window = 12; // for the comparison with fading
    static constexpr double independent = symbol; // samples that count as one observation
    static constexpr double clearly = 2;          // log-likelihood

    double& at(int64_t i) { return d_sum[static_cast<size_t>((i + d_kept) % d_kept)]; }
    double power(int64_t from, int64_t to)
    {
        return std::max(at(to - 1) - at(from - 1), 0.0) / static_cast<double>(to - from) +
               1e-30;
    }
    // log of the power after sample i over the power before it
    double change(int64_t i, int64_t length)
    {
        return std::log(power(i, i + length) / power(i - length, i));
    }

    std::optional<step> reported()
    {
        const int64_t w = d_window;
        const int64_t from = d_best_at - w, to = d_best_at + w;
        const bool too_large = std::abs(d_best) > std::log(double{ largest });
        d_best = 0;
        if (too_large) {
            // A window with a part of the old level would show a smaller step.
            d_from = to + search;
            return std::nullopt;
        }
        int64_t best = (from + to) / 2;
        double likelihood = -1e300;
        for (int64_t i = best - search; i <= (from + to) / 2 + search; ++i) {
            const double l =
                -static_cast<double>(i - from) * (1 + std::log(power(from, i))) -
                static_cast<double>(to - i) * (1 + std::log(power(i, to)));
            if (l > likelihood) {
                likelihood = l;
                best = i;
            }
        }
        if (likelihood - of_ramp(from, to) < clearly * independent)
            return std::nullopt;
        const double ratio = power(best, to) / power(from, best);
        const double before = at(best - 1);
        for (int64_t i = best; i < d_count; ++i)
            at(i) = before + (at(i) - before) / ratio;
        d_level *= static_cast<float>(ratio);
        return step{ best, static_cast<float>(ratio) };
    }

    // Log-likelihood of an exponential change of power.
    double of_ramp(int64_t from, int64_t to)
    {
        constexpr int64_t bins = 2 * bins_per_window;
        std::array<double, bins> mean{};
        double cross = 0, square = 0;
        for (int64_t b = 0; b < bins; ++b) {
            mean[static_cast<size_t>(b)] =
                power(from + b * d_bin, from + (b + 1) * d_bin);
            const double t = static_cast<double>(b) - (bins - 1) / 2.0;
            cross += t * std::log(mean[static_cast<size_t>(b)]);
            square += t * t;
        }
        const double slope = cross / square;
        double flat = 0; // mean power without the slope
        for (int64_t b = 0; b < bins; ++b)
            flat += mean[static_cast<size_t>(b)] *
                    std::exp(-slope * (static_cast<double>(b) - (bins - 1) / 2.0)) / bins;
        return -static_cast<double>(to - from) * (1 + std::log(flat));
    }

    int64_t d_window, d_bin, d_kept; // samples
    std::vector<double> d_sum;       // ring: sum of all powers up to a sample
    int64_t d_count = 0;
    float d_level = 1;
    double d_best = 0;
    int64_t d_best_at = 0;
    int64_t d_from = 0; // first instant at which a step may be
};

} // namespace gr::hf::kernel
