/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstdint>
#include <optional>

namespace gr::hf::kernel {

/*! \brief Finds by the host's clock what a device has lost of its samples.
 *
 * Station time is the count of received samples, and sound systems lose blocks without a word.
 * Samples arrive late by what buffers and a busy host make of it, but never early: the least
 * lateness of a window moves only as the device's clock drifts against the host's, and as much as
 * the host is never in time. A window in which even the least is higher by more than that means that
 * samples are missing for good; one in which it is lower, that more were put in than had been lost.
 *
 * How much more is needed is learnt from how the least of windows scatters: 0.2 ms over PulseAudio
 * on two cores with a load of 10 to 13, so that a loss of one block of a sound system stands out.
 * It is believed when the next window agrees; a loss above what any host was seen to be late, at once.
 */
class arrival_clock
{
public:
    static constexpr double window_s =
        2; //!< so long even a busy host is not late all the time
    /*! Most drift of a device against the host that is not taken for a loss, ppm: crystals of
     *  sound cards keep 100, the host's as well. */
    static constexpr double most_drift_ppm = 200;
    /*! Less than this is never taken for a loss, s: blocks of sound systems are longer, and what
     *  least latenesses scatter by is a tenth of it. */
    static constexpr double least_gap_s = 0.003;
    //! More than this is a loss without a second window, s: the coarsest steps of cards.
    static constexpr double sure_gap_s = 0.025;

    //! \param sample_rate of the device, nominal, samples/s, positive
    explicit arrival_clock(double sample_rate) : d_rate(sample_rate) {}

    /*! \brief So many samples have arrived in all, those put in for lost ones included.
     *  \param samples counted from the first one
     *  \param now of a steady clock of the host, s
     *  \returns samples to put in for lost ones; negative: so many too many were put in
     */
    int64_t arrived(uint64_t samples, double now);

    //! By how much the device's clock is faster than the host's, ppm; empty in the first minute.
    std::optional<double> drift_ppm() const;

private:
    int64_t judge(double least, double now);
    void keep(double least);

    // As if windows had scattered so far by what makes sure_gap_s needed.
    static constexpr double scatters = 8;

    double d_rate;
    std::optional<double> d_first; // time of the first arrival
    double d_window_begin = 0;
    std::optional<double> d_least;  // lateness in this window
    std::optional<double> d_before; // least lateness of the last window that was believed
    double d_before_begin = 0;      // of that window
    std::optional<double>
        d_suspected; // least lateness of a window that may follow a loss
    double d_scatter = sure_gap_s / scatters; // mean step from window to window, s
    double d_lost_s = 0;                      // put in so far
    std::optional<double> d_anchor,
        d_anchor_time; // least lateness long ago, for the drift
    double d_latest = 0, d_latest_time = 0;
};

} // namespace gr::hf::kernel
