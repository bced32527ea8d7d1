/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/delay_window.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <deque>
#include <vector>

namespace gr::hf::kernel {

//! What a receiver found out about the channel during an interleaver block.
struct channel_report {
    double snr_db = 0;          //!< in 3 kHz
    double freq_offset_hz = 0;  //!< of the carrier, at the end of the block
    double doppler_hz = 0;      //!< two-sigma spread; steady channels read some tenths
    double delay_spread_ms = 0; //!< two standard deviations of the delay, by power
    double coded_ber = 0; //!< share of coded bits that the decoder corrected, 0 to 0.5
    /*! \brief Share of the power at each delay, steps of 1/4800 s from the beginning of the
     *  receiver's window; sums to 1.
     */
    std::vector<float> profile;
};

//! Normalise \p power to a report's profile and find its spread.
inline void describe_delays(const std::vector<float>& power, channel_report& r)
{
    constexpr double step_ms = 1000 / 4800.0;
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

/*! \brief Doppler spread from how the correlation of the taps falls with time.
 *  \details For the Gaussian spectrum it is exp(-(pi d t)^2 / 2). Correlations at two
 *  distances above 0 are compared, since noise adds to the power itself.
 */
class doppler_meter
{
public:
    //! \param seconds between two add()s
    explicit doppler_meter(double seconds) : d_seconds(seconds) {}

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
        if (d_taps.size() > lags.back())
            d_taps.pop_back();
    }

    //! Follow half_symbol_stream::move().
    void move(int rows)
    {
        for (auto& t : d_taps)
            move_taps(t, rows);
    }

    //! Two-sigma spread over what was added since the last call, Hz; 0 for too little.
    double spread_hz()
    {
        double hz = 0;
        if (d_count[0] > 0) {
            const double first =
                std::abs(d_correlation[0]) / static_cast<double>(d_count[0]) + 1e-30;
            // The widest distance over which it has not fallen into the noise.
            for (size_t l = 1; l < lags.size() && d_count[l] > 1; ++l) {
                const double r =
                    std::abs(d_correlation[l]) / static_cast<double>(d_count[l]) / first;
                if (l > 1 && r < 0.5)
                    break;
                const double n = static_cast<double>(lags[l]);
                hz = std::sqrt(2 * std::max(-std::log(std::max(r, 1e-3)), 0.0) /
                               (n * n - 1)) /
                     (M_PI * d_seconds);
            }
        }
        d_correlation = {};
        d_count = {};
        return hz;
    }

private:
    static constexpr std::array<size_t, 5> lags{ 1, 2, 4, 8, 16 };
    double d_seconds;
    std::deque<std::vector<std::complex<float>>> d_taps;
    std::array<std::complex<double>, lags.size()> d_correlation{};
    std::array<size_t, lags.size()> d_count{};
};

} // namespace gr::hf::kernel
