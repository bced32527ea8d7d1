/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <algorithm>

namespace gr::hf::kernel {

/*! \brief Second-order loop over measured carrier offsets: no error while the offset drifts
 *         steadily (110C C.6.4 sweeps 3.5 Hz/s).
 */
class frequency_loop
{
public:
    explicit frequency_loop(double hz) : d_hz(hz) {}

    //! A measurement \p hz, \p seconds after the last one, worth \p weight, 0 to 1.
    void update(double hz, double seconds, double weight)
    {
        // rad/s: quick at first, then slow against 1 Hz fading
        const double omega = d_age < 0.8 ? 4 : 1.5;
        constexpr double damping = 0.9, largest_rate = 4.5;
        d_age += seconds;
        d_hz += d_rate * seconds;
        // Probes 0.12 s apart cannot tell an offset from one 8.3 Hz away: never jump.
        const double error = weight * std::clamp(hz - d_hz, -2.0, 2.0);
        d_hz += 2 * damping * omega * seconds * error;
        d_rate = std::clamp(
            d_rate + omega * omega * seconds * error, -largest_rate, largest_rate);
    }

    double hz() const { return d_hz; }
    //! Hz/s
    double rate() const { return d_rate; }

private:
    double d_hz, d_rate = 0, d_age = 0;
};

} // namespace gr::hf::kernel
