/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstdint>
#include <optional>

namespace gr::hf::kernel {

/*! \brief Detects, by the host's clock, samples that a device has lost.
 *
 * Station time is the count of received samples, and sound systems lose blocks without a
 * report. Buffers and a busy host delay samples, but samples are never early. So the
 * least lateness of a window moves only by the device's drift against the host, and by
 * the delay of a host that is never in time. If even the least lateness has risen by
 * more, samples are missing for good. If it has fallen, too many were put in.
 *
 * The scatter between windows gives the limit: 0.2 ms over PulseAudio on two cores with
 * a load of 10 to 13, so a lost block of a sound system stands out. A loss counts when
 * the next window agrees. A loss above the lateness of any host seen counts at once.
 */
class arrival_clock
{
public:
    static constexpr double window_s =
        2; //!< long enough that even a busy host reads in time once
    /*! Largest drift of a device against the host that is no loss, ppm. Crystals of
     * sound cards and of hosts are within 100 each.
     */
    static constexpr double max_drift_ppm = 200;
    /*! Smallest loss, s. Blocks of sound systems are longer, and the scatter of the least
     * lateness is a tenth of it.
     */
    static constexpr double min_gap_s = 0.003;
    //! A loss above this counts without a second window, s. The coarsest steps of sound
    //! cards are this long.
    static constexpr double sure_gap_s = 0.025;

    //! \param sample_rate of the device, nominal, samples/s, positive
    explicit arrival_clock(double sample_rate) : d_rate(sample_rate) {}

    /*! \brief Samples have arrived.
     *  \param samples total since the first one, including those put in for lost ones
     *  \param now a steady clock of the host, s
     *  \returns samples to put in for lost ones; negative: samples to take out again
     */
    int64_t arrived(uint64_t samples, double now);

    //! How much faster the device's clock runs than the host's, ppm; empty in the first
    //! minute.
    std::optional<double> drift_ppm() const;

private:
    int64_t judge(double least, double now);
    void keep(double least);

    // Initial scatter between windows, so that sure_gap_s is the limit.
    static constexpr double scatters = 8;

    double d_rate;
    std::optional<double> d_first; // time of the first arrival
    double d_window_begin = 0;
    std::optional<double> d_least;  // least lateness in this window
    std::optional<double> d_before; // least lateness of the last trusted window
    double d_before_begin = 0;      // start of that window
    std::optional<double>
        d_suspected; // least lateness of a window that may follow a loss
    double d_scatter = sure_gap_s / scatters; // mean step between windows, s
    double d_lost_s = 0;                      // put in
    std::optional<double> d_anchor,
        d_anchor_time; // an earlier least lateness, to measure the drift
    double d_latest = 0, d_latest_time = 0;
};

} // namespace gr::hf::kernel
