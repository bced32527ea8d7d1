/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/track/channel_estimator.h"
#include "modem/track/frequency_loop.h"

#include <algorithm>
#include <cstddef>
#include <deque>

namespace gr::hf::kernel {

/*! \brief The carrier of a transmission from one solve() of its channel to the next.
 *
 * In a fade the phase turns quickly at random, so a measurement weighs as much as the
 * channel's power relative to its mean.
 */
class carrier_follower
{
public:
    /*! \param hz       offset at first
     *  \param doubtful measurements that certain_hz() goes back, at least 1
     */
    carrier_follower(double hz, double symbol_rate_bd, size_t doubtful)
        : d_loop(hz), d_symbol_rate_bd(symbol_rate_bd), d_good_hz{ hz },
          d_doubtful(doubtful)
    {
    }

    //! The next time counts from symbol \p centre on.
    void restart(double centre) { d_centre = centre; }

    //! Offset expected at symbol \p centre, Hz.
    double predict(double centre)
    {
        d_step_s = std::clamp(
            (centre - d_centre) / d_symbol_rate_bd, 0.0, frequency_loop::longest_step_s);
        d_centre = centre;
        return d_expected = d_loop.predict(d_step_s);
    }

    //! The channel was solved there. \p present: the signal was heard.
    void update(const channel_estimator& e, bool present)
    {
        const double power = e.power();
        if (d_mean_power <= 0)
            d_mean_power = power;
        else if (present)
            d_mean_power += d_step_s * (power - d_mean_power);
        const double weight =
            present ? std::min(1.0, power / std::max(d_mean_power, 1e-30)) : 0;
        d_loop.update(e.frequency(), d_step_s, weight);
        const auto turning = e.turning_within();
        d_loop.check(d_expected + turning.hz, turning.information);
    }

    //! A frame is over. \p present: its signal was heard.
    void end_frame(bool present)
    {
        if (present)
            d_good_hz.push_back(d_loop.hz());
        if (d_good_hz.size() > d_doubtful)
            d_good_hz.pop_front();
    }

    double hz() const { return d_loop.hz(); }
    //! Hz/s
    double rate() const { return d_loop.rate(); }
    //! Expected offset at another symbol, Hz.
    double hz_at(double symbol) const
    {
        return hz() + rate() * ((symbol - d_centre) / d_symbol_rate_bd);
    }
    //! Offset some frames ago, Hz: the newest may be by what came after the signal.
    double certain_hz() const { return d_good_hz.front(); }
    //! See frequency_loop::set_spread().
    void set_spread(double hz) { d_loop.set_spread(hz); }

private:
    frequency_loop d_loop;
    double d_symbol_rate_bd;
    double d_centre = 0, d_step_s = 0, d_expected = 0; // of the last predict()
    double d_mean_power = 0;                           // of the channel
    std::deque<double> d_good_hz;
    size_t d_doubtful;
};

} // namespace gr::hf::kernel
