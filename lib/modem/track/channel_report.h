/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/base/grid.h"
#include "modem/track/delay_window.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <deque>
#include <vector>

namespace gr::hf::kernel {

//! Measurements of the channel during one interleaver block.
struct channel_report {
    double snr_db = 0;          //!< in the waveform's bandwidth
    double freq_offset_hz = 0;  //!< of the carrier, at the end of the block
    double doppler_hz = 0;      //!< two-sigma spread; a steady channel reads some tenths
    double delay_spread_ms = 0; //!< two standard deviations of the delay, by power
    double coded_ber = 0; //!< share of coded bits that the decoder corrected, 0 to 0.5
    /*! \brief Share of the power at each delay, in steps of half a symbol from the start
     *         of the receiver's window. Sums to 1.
     */
    std::vector<float> profile;
};

//! Normalise \p power to a report's profile and find its spread.
inline void describe_delays(const std::vector<float>& power,
                            const symbol_grid& grid,
                            channel_report& r)
{
    const double step_ms = 1000 / grid.half_symbol_rate();
    // Estimates of empty delays are not zero.
    const float least = 0.01f * *std::max_element(power.begin(), power.end());
    r.profile.resize(power.size());
    double total = 1e-30, mean = 0, square = 0;
    for (size_t k = 0; k < power.size(); ++k) {
        r.profile[k] = power[k] > least ? power[k] : 0;
        const double t = step_ms * static_cast<double>(k);
        total += r.profile[k];
        mean += t * r.profile[k];
        square += t * t * r.profile[k];
    }
    mean /= total;
    r.delay_spread_ms = 2 * std::sqrt(std::max(square / total - mean * mean, 0.0));
    for (float& p : r.profile)
        p = static_cast<float>(p / total);
}

/*! \brief Measures the Doppler spread by the fall of the taps' correlation over time.
 *  \details Gaussian spectrum (ITU-R F.1487): correlation exp(-(pi d t)^2 / 2). Compares
 *  two distances above 0, as noise adds to the power itself. See docs/receiver.md, "What
 *  each idea is worth".
 */
class doppler_meter
{
public:
    /*! \param seconds time between two add()s
     *  \param clean true: the taps hold little noise. Then their power can be compared
     *        if fading leaves no correlation over two add()s
     */
    explicit doppler_meter(double seconds, bool clean = false)
        : d_seconds(seconds), d_clean(clean)
    {
    }

    //! Taps at the next instant, all delays, referred to one carrier.
    void add(std::vector<std::complex<float>> taps)
    {
        d_taps.push_front(std::move(taps));
        for (size_t l = 0; l < lags.size() && lags[l] < d_taps.size(); ++l) {
            const auto &a = d_taps.front(), &b = d_taps[lags[l]];
            for (size_t k = 0; k < a.size() && k < b.size(); ++k)
                d_correlation[l] += a[k] * std::conj(b[k]);
            ++d_count[l];
        }
        for (const auto& g : d_taps.front())
            d_power += std::norm(g);
        ++d_added;
        if (d_taps.size() > lags.back())
            d_taps.pop_back();
    }

    //! Follow half_symbol_stream::move().
    void move(int rows)
    {
        for (auto& t : d_taps)
            move_taps(t, rows);
    }

    /*! \brief Spread since the last call, or over somewhat more: with fewer add()s than
     *         \ref enough, earlier ones count by a weight that makes up for them.
     */
    double take_spread_hz()
    {
        const double hz = spread_hz();
        const double fresh = d_added - d_kept;
        forget(std::max(1 - fresh / enough, 0.0));
        d_kept = d_added;
        return hz;
    }

    //! add()s that tell the spread. The 8 frames in a short block of 5069 read 0.57 Hz on
    //! a channel of 1 Hz, the 30 of a short block of 4539 0.93.
    static constexpr double enough = 32;

    //! Scale the weight of everything added up to now by \p share.
    void forget(double share)
    {
        for (auto& c : d_correlation)
            c *= share;
        for (auto& c : d_count)
            c *= share;
        d_power *= share;
        d_added *= share;
        d_kept *= share;
    }

    //! Weighted number of add()s.
    double added() const { return d_added; }

    //! Two-sigma spread of all taps added, Hz; 0 if there are too few.
    double spread_hz() const
    {
        constexpr double least = 0.1; // correlation with the next; below it all is noise
        /* Limit of the correlation over two steps relative to one. Below it chance
         * dominates, and comparing with the power, noise included, does less harm. */
        constexpr double lost = 0.45;
        double hz = 0;
        if (d_count[0] > 0) {
            const double first = std::abs(d_correlation[0]) / d_count[0] + 1e-30;
            if (first < least * d_power / d_added)
                return 0;
            // Use the widest distance whose correlation still exceeds the noise.
            for (size_t l = 1; l < lags.size() && d_count[l] > 1; ++l) {
                const double r = std::abs(d_correlation[l]) / d_count[l] / first;
                if (l > 1 && r < 0.5)
                    break;
                if (d_clean && l == 1 && r < lost)
                    return std::sqrt(-2 *
                                     std::log(std::min(first * d_added / d_power, 1.0))) /
                           (M_PI * d_seconds);
                const double n = static_cast<double>(lags[l]);
                hz = std::sqrt(2 * std::max(-std::log(std::max(r, 1e-3)), 0.0) /
                               (n * n - 1)) /
                     (M_PI * d_seconds);
            }
        }
        return hz;
    }

private:
    static constexpr std::array<size_t, 5> lags{ 1, 2, 4, 8, 16 };
    double d_seconds;
    bool d_clean;
    std::deque<std::vector<std::complex<float>>> d_taps;
    std::array<std::complex<double>, lags.size()> d_correlation{};
    std::array<double, lags.size()> d_count{};
    double d_power = 0, d_added = 0;
    double d_kept = 0; // of d_added, from before the last take_spread_hz()
};

} // namespace gr::hf::kernel
