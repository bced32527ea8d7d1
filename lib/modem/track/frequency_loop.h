/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>

namespace gr::hf::kernel {

/*! \brief Second-order loop over measured carrier offsets. It has no error while the
 *         offset drifts steadily (110C C.6.4 sweeps 3.5 Hz/s). See docs/receiver.md,
 *         "What each idea is worth".
 */
class frequency_loop
{
public:
    //! Longest time between two measurements that counts: the loop must not run away in a
    //! gap.
    static constexpr double longest_step_s = 0.2;

    explicit frequency_loop(double hz) : d_hz(hz) {}

    //! The offset expected \p seconds later.
    double predict(double seconds)
    {
        d_age += seconds;
        d_hz += d_rate * seconds;
        return d_hz;
    }

    //! Two-sigma Doppler spread. Fading turns phases by itself, so measurements weigh
    //! less.
    void set_spread(double hz) { d_spread = hz; }

    //! The offset was \p error Hz off the prediction; \p weight is 0 to 1.
    void update(double error, double seconds, double weight)
    {
        // rad/s: fast at first. Then as slow as a drift that reverses (7 Hz/s at once)
        // allows, against 1 Hz fading.
        const double omega =
            (d_age < 0.8 ? 4 : 2.5) * std::min(1.0, slow_fading / d_spread);
        constexpr double damping = 0.9;
        // Probes 0.12 s apart cannot tell an offset from one 8.3 Hz away, so never jump.
        error = weight * std::clamp(error, -2.0, 2.0);
        d_hz += 2 * damping * omega * seconds * error;
        d_rate = std::clamp(
            d_rate + omega * omega * seconds * error, -largest_rate, largest_rate);
    }

    /*! \brief Recover from a wrong lock. Probes cannot tell carriers apart that differ by
     *         whole turns between probes, but the phase turn within probes can. A line
     *         through the latest measurements within probes replaces a state that
     *         contradicts it.
     *  \param hz the offset by that measure
     *  \param information its weight, 1/Hz^2
     */
    void check(double hz, double information)
    {
        constexpr double memory_s = 0.9, enough = 8, of_ambiguity = 0.3;
        /* Probes 0.12 s apart cannot tell 8.3 Hz, probes 0.03 s apart 33 Hz. There is no
         * wrong lock at a small part of that distance, and phases turn by some hertz in a
         * fade. */
        const double too_far =
            of_ambiguity / std::clamp(d_age - d_checked, 1e-3, longest_probe_s);
        d_checked = d_age;
        // Fading turns the phase by itself: limit the weight of a probe.
        const double fades = std::min(1.0, slow_fading / d_spread);
        d_coarse.push_back({ d_age, hz, std::min(information, 2 * fades * fades) });
        while (d_coarse.front().time < d_age - memory_s)
            d_coarse.pop_front();
        double weight = 0, mean = 0, mean_time = 0, square = 1e-9, cross = 0;
        for (const coarse& c : d_coarse) {
            weight += c.information;
            mean += c.information * c.hz;
            mean_time += c.information * c.time;
        }
        if (weight < enough)
            return;
        mean /= weight;
        mean_time /= weight;
        for (const coarse& c : d_coarse) {
            const double t = c.time - mean_time;
            square += c.information * t * t;
            cross += c.information * t * (c.hz - mean);
        }
        const double rate = std::clamp(cross / square, -largest_rate, largest_rate);
        const double now = mean + rate * (d_age - mean_time);
        if (std::abs(now - d_hz) < too_far || std::abs(mean - d_hz) < too_far / 2)
            return;
        d_hz = now;
        d_rate = rate;
        d_coarse.clear();
    }

    double hz() const { return d_hz; }
    //! Hz/s
    double rate() const { return d_rate; }

private:
    static constexpr double largest_rate = 4.5; // Hz/s
    static constexpr double slow_fading = 3; // Hz; the loop is designed up to this spread
    static constexpr double longest_probe_s = 0.12; // between probes
    double d_hz, d_rate = 0, d_age = 0, d_spread = 1;
    double d_checked = -longest_probe_s; // age at the last check()
    struct coarse {
        double time, hz, information;
    };
    std::deque<coarse> d_coarse; // of check()
};

} // namespace gr::hf::kernel
