/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/detect/channel_view.h"

#include <array>
#include <cstddef>

namespace gr::hf::kernel {

/*! \brief Measures how much slower the sender's sample clock runs than ours, by the
 *         common drift of all paths to later delays.
 *
 * Compares each channel estimate with the last one: the shift at which the two are most
 * alike. Phases do not count, so fading does no harm while some likeness is left.
 * Method: Kalman filter of position and drift over the shifts; docs/receiver.md, "What
 * each idea is worth". Errors of the shifts cancel in the position, as each estimate is
 * compared with both neighbours.
 */
class clock_meter
{
public:
    //! \param half_symbol_rate rows/s
    explicit clock_meter(double half_symbol_rate);

    /*! \brief Add a channel estimate from known symbols within a short time.
     *  \param taps all delays; phases may be any
     *  \param time_s time of the estimate, later than the last one
     *  \param followed clock difference that the rows already follow, see
     *        half_symbol_stream::set_clock()
     */
    void add(const channel_taps& taps, double time_s, double followed);

    //! Follow half_symbol_stream::move().
    void move(int rows);

    //! Time of the last estimate; before the first, long ago.
    double last_s() const { return d_time; }
    //! Difference of the clocks, 1e-6 for 1 ppm: above 0 the sender's is slower.
    double difference() const { return d_drift / d_rate; }
    //! Standard deviation of difference().
    double deviation() const;

    //! Shift from \p a to \p b, half symbols, and their likeness after the shift, 0 to 1.
    struct shift {
        double rows = 0;
        double alike = 0;
    };
    static shift shift_of(const channel_taps& a, const channel_taps& b);

private:
    double d_rate;
    channel_taps d_last;
    double d_time = -1e9;
    double d_seen = 0;                  // position, as the sum of shifts, rows
    double d_position = 0, d_drift = 0; // estimates; rows, rows/s
    double d_pp = 0, d_pv = 0, d_vv;    // their covariance
};

} // namespace gr::hf::kernel
