/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/rate/block_errors.h"
#include "waveform/timing.h"

#include <hf/mode.h>
#include <hf/station_time.h>

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace gr::hf::sim {

/*! \brief Changes of a synthetic channel: slow swing, medium-term variation, fading.
 *
 * Levels are SNR in the mode's bandwidth. Two paths of equal mean power fade
 * independently with a Gaussian Doppler spectrum, as in the Watterson model; Poor is 1
 * Hz, Moderate 0.5 Hz (two sigma).
 */
struct trace_config {
    double mean_db = 15;      //!< mean SNR, without fading
    double swing_db = 0;      //!< amplitude of the day and night swing
    double period_s = 86400;  //!< period of the swing
    double slow_db = 0;       //!< standard deviation of the medium-term variation
    double slow_s = 300;      //!< correlation time of the medium-term variation
    double fading_hz = 0;     //!< two-sigma Doppler spread of each path; 0: no fading
    double duration_s = 3600; //!< after this the trace starts again; 1 to 1e6
    double step_s = 0.1;      //!< between samples
    uint64_t seed = 1;
    /*! \brief Mean power that the SNR refers to (kernel::mean_power()). 0: that of the
     *         mode in use. Modes that take turns on one channel differ by up to 2 dB at
     *         the same peak.
     */
    double signal_power = 0;

    //! \throws std::invalid_argument names the first bad value and what is allowed.
    void validate() const;
};

/*! \brief SNR over time, recorded or synthetic, and its effect on interleaver blocks.
 *
 * A block sees all values of its duration. Their effect is that of one value on a channel
 * without fading (fade_model). The error of a block there is in
 * measured_block_errors("awgn").
 */
class snr_trace
{
public:
    /*! \brief Recorded values in dB.
     *  \param step_s between values
     *  \param signal_power, fading_hz as in trace_config
     *  \throws std::invalid_argument if \p db is empty or \p step_s is not > 0
     */
    snr_trace(std::vector<float> db,
              double step_s,
              double signal_power = 0,
              double fading_hz = 0);
    //! \throws std::invalid_argument as trace_config::validate()
    static snr_trace make(const trace_config& c);

    //! Value at \p t in dB.
    double at(station_time t) const { return d_db[index(t)]; }
    //! Mean power over an interval in dB, of a transmission in mode \p m, as a receiver
    //! measures it.
    double mean_db(station_time from, station_time to, const mode& m) const;
    //! Effective SNR for a mode's decoder: fades count more than peaks.
    double effective_db(station_time from, station_time to, const mode& m) const;
    //! Errors of a block of mode \p m.
    s5066::block_error_point
    block(station_time from, station_time to, const mode& m) const;
    //! Whether a preamble in this interval is recognised.
    bool preamble_heard(station_time from, station_time to, const mode& m) const;
    /*! \brief Two-sigma Doppler spread that a receiver measures in a block. Empty: not
     *         known.
     *
     * A normal distribution around the true spread with the deviation of
     * s5066::doppler_error_hz(), never below 0.
     *  \param random source of the error
     */
    std::optional<double>
    doppler_hz(station_time from, station_time to, std::mt19937_64& random) const;
    double duration_s() const { return d_step * static_cast<double>(d_db.size()); }
    const std::vector<float>& values() const { return d_db; }

private:
    size_t index(station_time t) const;
    double power_db(const mode& m) const; // power of a transmission in m, relative to the
                                          // reference

    std::vector<float> d_db;
    double d_step;
    double d_signal_power;
    double d_fading_hz;
};

/*! \brief Goodput of a station that knows the best mode of each period.
 *  \param t the channel
 *  \param from,to interval to evaluate
 *  \param period length of a period
 *  \param modes to choose from
 *  \return user bit/s of bulk ARQ: the best segment length for the mode and period,
 *  D_PDUs that arrive, one turn for each transmission, which the window may shorten
 */
double oracle_goodput(const snr_trace& t,
                      station_time from,
                      station_time to,
                      station_time period,
                      const std::vector<mode>& modes);

} // namespace gr::hf::sim
