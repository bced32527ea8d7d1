/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Learns the shape that the radio's filter gives to short pulses (power lines,
 *         switching), and subtracts it.
 *
 * A pulse much shorter than the filter's response leaves that response, at some level and
 * time. Pulses found by burst_finder are averaged in step. If they are frequent, the shape
 * is fitted to each further one from the 17th on, and subtracted. Only its middle then remains erased, where the
 * fit also takes from the signal, and not the whole response. Longer bursts have no common
 * shape: they do not fit, and nothing is subtracted.
 *
 * \tparam T float or std::complex<float>
 */
template <class T>
class pulse_shape
{
public:
    //! Samples around the middle of a pulse that cannot be used any more.
    struct remainder {
        int64_t first = 0; //!< sample
        std::vector<bool> erased;
    };

    /*! \param reach   samples of a response before and after its middle
     *  \param average samples over which power is averaged
     */
    pulse_shape(size_t reach, size_t average)
        : d_reach(static_cast<int64_t>(reach)),
          d_half(static_cast<int64_t>(std::max<size_t>(1, average / 2))),
          d_near(d_reach / 9), d_sum(2 * reach + 1), d_power(2 * reach + 1)
    {
        d_bases.fill(d_sum);
    }

    /*! \brief Learn from a pulse, and subtract it if the shape is known.
     *  \param origin sample x[0], counted from the first of all
     *  \param x     \p n samples around it
     *  \param first, last samples of it, as indices of \p x
     *  \param mean  power without it
     *  \returns what has to be erased around it; empty if the pulse is still there
     */
    std::optional<remainder>
    take_out(int64_t origin, T* x, int64_t n, int64_t first, int64_t last, float mean)
    {
        first = std::clamp<int64_t>(first, 0, n - 1);
        last = std::clamp<int64_t>(last, first, n - 1);
        if (d_count == 0) {
            start(x, n, first, last, mean);
            return std::nullopt;
        }
        const int64_t at = place(x, n, first, last);
        const auto apart = static_cast<double>(origin + at - d_last);
        d_apart += (std::min(apart, rare * static_cast<double>(d_reach)) - d_apart) /
                   static_cast<double>(min_pulses);
        d_last = origin + at;
        const fit f = fit_to(x, n, at);
        if (f.explained < min_explained) {
            if (++d_misses >= max_misses)
                d_count = 0;
            return std::nullopt;
        }
        d_misses -= d_misses > 0;
        const bool known =
            d_count >= min_pulses && d_apart < frequent * static_cast<double>(d_reach);
        std::optional<remainder> rest;
        if (known)
            rest = remainder_of(f, at, mean);
        const auto whole = at >= d_reach && at + d_reach < n;
        if (whole)
            learn(&x[at - d_reach], f, mean);
        if (known)
            subtract(x, n, at, f);
        return rest;
    }

private:
    static constexpr size_t min_pulses = 16;
    static constexpr float memory = 255 / 256.0f; // of a pulse, when the next one comes
    /* Distance of pulses, in reaches. From 16 on (14 per second), erasing whole ones takes an
     * eighth of the time at most, and leaves nothing of them for dense constellations. */
    static constexpr double frequent = 16, rare = 32;
    static constexpr float min_explained = 0.7f;
    static constexpr size_t max_misses = 8; // more than those that fitted
    // Power relative to the signal: taken from it, or left of the pulse, where the sample
    // is still of use.
    static constexpr float max_taken = 0.1f, max_left = 0.01f;

    static float conjugate(float x) { return x; }
    static std::complex<float> conjugate(std::complex<float> x) { return std::conj(x); }

    // Shape, slope and bend, orthogonal and of energy 1: a moved or spread shape is a sum of
    // them.
    static constexpr size_t bases = 3;

    struct fit {
        std::array<T, bases> levels{};
        float explained = 0; // share of the power near the middle
    };

    T fitted(const fit& f, size_t k, size_t from = 0) const
    {
        T sum{};
        for (size_t j = from; j < bases; ++j)
            sum += f.levels[j] * d_bases[j][k];
        return sum;
    }

    void start(const T* x, int64_t n, int64_t first, int64_t last, float mean)
    {
        int64_t at = first;
        float most = 0;
        for (int64_t i = first; i <= last; ++i) {
            float power = 0;
            for (int64_t j = std::max<int64_t>(0, i - d_half);
                 j <= std::min(n - 1, i + d_half);
                 ++j)
                power += std::norm(x[j]);
            if (power > most) {
                most = power;
                at = i;
            }
        }
        if (at < d_reach || at + d_reach >= n)
            return;
        std::fill(d_sum.begin(), d_sum.end(), T{});
        for (std::vector<T>& b : d_bases)
            std::fill(b.begin(), b.end(), T{});
        d_weight = d_noise = d_excess = d_removed = 0;
        d_misses = 0;
        d_apart = rare * static_cast<double>(d_reach);
        fit f;
        for (int64_t k = at - d_near; k <= at + d_near; ++k)
            f.levels[0] += std::norm(x[k]);
        f.levels[0] = std::sqrt(f.levels[0]);
        if (std::norm(f.levels[0]) > 0)
            learn(x + at - d_reach, f, mean);
    }

    // Middle of the pulse: where the middle of the shape has most of its power.
    int64_t place(const T* x, int64_t n, int64_t first, int64_t last) const
    {
        float most = -1;
        int64_t at = first;
        for (int64_t i = std::max(d_near, first - d_half);
             i <= std::min(n - 1 - d_near, last + d_half);
             ++i) {
            T sum{};
            for (int64_t k = -d_near; k <= d_near; ++k)
                sum += conjugate(d_bases[0][static_cast<size_t>(d_reach + k)]) * x[i + k];
            if (const float power = std::norm(sum); power > most) {
                most = power;
                at = i;
            }
        }
        return at;
    }

    // Least squares.
    fit fit_to(const T* x, int64_t n, int64_t at) const
    {
        fit f;
        for (int64_t k = -d_reach; k <= d_reach; ++k)
            if (const int64_t i = at + k; i >= 0 && i < n)
                for (size_t j = 0; j < bases; ++j)
                    f.levels[j] +=
                        conjugate(d_bases[j][static_cast<size_t>(d_reach + k)]) * x[i];
        float power = 0, rest = 0;
        for (int64_t k = -d_near; k <= d_near; ++k) {
            const int64_t i = at + k;
            if (i < 0 || i >= n)
                continue;
            power += std::norm(x[i]);
            rest += std::norm(x[i] - fitted(f, static_cast<size_t>(d_reach + k)));
        }
        f.explained = power > 0 ? 1 - rest / power : 0;
        return f;
    }

    //! True if sample \p k of the shape has twice the power of the noise in the average.
    bool significant(size_t k) const { return d_power[k] > 2 * d_shape_noise; }

    //! \p x starts d_reach samples before the middle.
    void learn(const T* x, const fit& f, float mean)
    {
        const float weight = std::norm(f.levels[0]);
        const T level = conjugate(f.levels[0]);
        d_weight = memory * d_weight + weight;
        d_noise = memory * memory * d_noise + weight * mean;
        d_shape_noise = d_noise / (d_weight * d_weight);
        d_excess *= memory;
        d_removed *= memory;
        for (size_t k = 0; k < d_sum.size(); ++k) {
            d_sum[k] = memory * d_sum[k] + level * (x[k] - fitted(f, k, 1));
            const auto off = std::abs(static_cast<int64_t>(k) - d_reach);
            if (d_count == 0 || off <= d_near || off > 3 * d_near)
                continue;
            const T out = fitted(f, k);
            d_excess += std::norm(x[k] - out) - mean;
            d_removed += std::norm(out);
        }
        make_bases();
        ++d_count;
    }

    void make_bases()
    {
        const size_t size = d_sum.size();
        std::vector<T>& shape = d_bases[0];
        for (size_t k = 0; k < size; ++k)
            shape[k] = d_sum[k] / d_weight;
        average(shape, d_power);
        for (size_t j = 1; j < bases; ++j)
            for (size_t k = 1; k + 1 < size; ++k)
                d_bases[j][k] = d_bases[j - 1][k + 1] - d_bases[j - 1][k - 1];
        for (size_t j = 0; j < bases; ++j) {
            std::vector<T>& b = d_bases[j];
            for (size_t k = 0; k < size; ++k)
                if (!significant(k) ||
                    (j > 0 && std::abs(static_cast<int64_t>(k) - d_reach) > 3 * d_near))
                    b[k] = 0;
            for (size_t i = 0; i < j; ++i) {
                T both{};
                for (size_t k = 0; k < size; ++k)
                    both += conjugate(d_bases[i][k]) * b[k];
                for (size_t k = 0; k < size; ++k)
                    b[k] -= both * d_bases[i][k];
            }
            float energy = 1e-30f;
            for (const T v : b)
                energy += std::norm(v);
            for (T& v : b)
                v /= std::sqrt(energy);
        }
    }

    // Powers of \p x, averaged.
    void average(const std::vector<T>& x, std::vector<float>& powers) const
    {
        const auto size = static_cast<int64_t>(x.size());
        for (int64_t k = 0; k < size; ++k) {
            const int64_t from = std::max<int64_t>(0, k - d_half),
                          to = std::min(size - 1, k + d_half);
            float sum = 0;
            for (int64_t j = from; j <= to; ++j)
                sum += std::norm(x[static_cast<size_t>(j)]);
            powers[static_cast<size_t>(k)] = sum / static_cast<float>(to - from + 1);
        }
    }

    /* The fit takes as much from the signal as the signal has where the shape is strongest,
     * and less elsewhere. Besides, pulses differ in shape. */
    remainder remainder_of(const fit& f, int64_t at, float mean) const
    {
        const float misfit = std::max(0.0f, d_excess) / (d_removed + 1e-30f);
        const float strongest = *std::max_element(d_power.begin(), d_power.end());
        remainder r{ at - d_reach, std::vector<bool>(d_power.size()) };
        std::vector<float> taken(d_power.size()), power(d_power.size());
        for (const std::vector<T>& b : d_bases) {
            average(b, power);
            for (size_t k = 0; k < taken.size(); ++k)
                taken[k] += power[k] / strongest;
        }
        for (size_t k = 0; k < taken.size(); ++k) {
            const float left = misfit * std::norm(f.levels[0]) * d_power[k];
            r.erased[k] =
                significant(k) && (taken[k] > max_taken || left > max_left * mean);
        }
        return r;
    }

    void subtract(T* x, int64_t n, int64_t at, const fit& f) const
    {
        for (int64_t k = -d_reach; k <= d_reach; ++k) {
            const auto place = static_cast<size_t>(d_reach + k);
            if (at + k >= 0 && at + k < n && significant(place))
                x[at + k] -= fitted(f, place);
        }
    }

    int64_t d_reach;
    int64_t d_half; // of the average
    int64_t d_near; // samples from the middle that hold most of a pulse
    size_t d_count = 0, d_misses = 0;
    int64_t d_last = 0;      // middle of the last pulse
    double d_apart = 0;      // mean distance of the latest
    float d_weight = 0;      // of the pulses in d_sum
    float d_noise = 0;       // power of the signals in d_sum
    float d_shape_noise = 0; // and in d_shape
    float d_excess = 0,
          d_removed = 0; // power that fits left, and took out, beside the middle
    std::vector<T> d_sum;
    std::array<std::vector<T>, bases> d_bases;
    std::vector<float> d_power; // of the shape, averaged
};

} // namespace gr::hf::kernel
