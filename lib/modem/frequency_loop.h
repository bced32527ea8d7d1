/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

namespace gr::hf::kernel {

/*! \brief Second-order loop over measured carrier offsets: no error while the offset drifts
 *         steadily (110C C.6.4 sweeps 3.5 Hz/s).
 */
class frequency_loop
{
public:
    explicit frequency_loop(double hz) : d_hz(hz) {}

    //! A measurement \p hz, \p seconds after the last one.
    void update(double hz, double seconds)
    {
        constexpr double omega = 1.5, damping = 0.9; // rad/s: slow against 1 Hz fading
        d_hz += d_rate * seconds;
        const double error = hz - d_hz;
        d_hz += 2 * damping * omega * seconds * error;
        d_rate += omega * omega * seconds * error;
    }

    double hz() const { return d_hz; }
    double rate() const { return d_rate; }

private:
    double d_hz, d_rate = 0;
};

} // namespace gr::hf::kernel
