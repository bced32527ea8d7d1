/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/rate/block_errors.h"
#include "waveform/timing.h"

#include <hf/mode.h>
#include <hf/time.h>

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace gr::hf::sim {

/*! \brief How a synthetic channel changes: slow swing, medium-term variation, fading.
 *
 * Levels are SNR in the mode's bandwidth. Two paths of equal mean power fade independently with a Gaussian
 * Doppler spectrum, as in the Watterson model; Poor is 1 Hz, Moderate 0.5 Hz (two sigma).
 */
struct trace_config {
    double mean_db = 15;      //!< of the SNR, without fading
    double swing_db = 0;      //!< amplitude of the day and night swing
    double period_s = 86400;  //!< of the swing
    double slow_db = 0;       //!< standard deviation of the medium-term variation
    double slow_s = 300;      //!< its correlation time
    double fading_hz = 0;     //!< two-sigma Doppler spread of each path; 0: no fading
    double duration_s = 3600; //!< afterwards the trace begins again; 1 to 1e6
    double step_s = 0.1;      //!< between samples
    uint64_t seed = 1;
    /*! \brief Mean power to which the SNR refers (kernel::mean_power()); 0: that of whatever mode is
     *         sent. Modes that take turns on one channel differ by up to 2 dB at the same peak.
     */
    double signal_power = 0;

    //! \throws std::invalid_argument that names the first bad value and what is allowed.
    void validate() const;
};

/*! \brief SNR over time, recorded or made, and what it does to interleaver blocks.
 *
 * A block sees all values of its duration. Their effect is that of one value on a channel
 * without fading (fade_model); what a block does there is in measured_block_errors("awgn").
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
    //! Mean power over an interval in dB, of a transmission in mode \p m: what a receiver measures.
    double mean_db(station_time from, station_time to, const mode& m) const;
    //! The same for a mode's decoder: fades count more than peaks.
    double effective_db(station_time from, station_time to, const mode& m) const;
    //! What becomes of a block of mode \p m.
    s5066::block_error_point
    block(station_time from, station_time to, const mode& m) const;
    //! A preamble in this interval is recognised.
    bool preamble_heard(station_time from, station_time to, const mode& m) const;
    /*! \brief Two-sigma Doppler spread that a receiver reads of a block; empty: it is not known.
     *
     * A normal distribution around the true one with the deviation of s5066::doppler_error_hz(), none
     * below 0.
     *  \param random where the error is from
     */
    std::optional<double>
    doppler_hz(station_time from, station_time to, std::mt19937_64& random) const;
    double duration_s() const { return d_step * static_cast<double>(d_db.size()); }
    const std::vector<float>& values() const { return d_db; }

private:
    size_t index(station_time t) const;
    double power_db(const mode& m) const; // of a transmission in it, beside the reference

    std::vector<float> d_db;
    double d_step;
    double d_signal_power;
    double d_fading_hz;
};

/*! \brief Goodput of a station that knows the best mode of each period.
 *  \param t the channel
 *  \param from,to what is looked at
 *  \param period length of a period
 *  \param modes to choose from
 *  \return user bit/s of bulk ARQ: the best segment length for the mode and period, D_PDUs that
 *          arrive, one turn for each transmission, which the window may
 *          shorten
 */
double oracle_goodput(const snr_trace& t,
                      station_time from,
                      station_time to,
                      station_time period,
                      const std::vector<mode>& modes);

} // namespace gr::hf::sim
