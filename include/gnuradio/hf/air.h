/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/sync_block.h>
#include <hf/api.h>

#include <cstdint>
#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Simulated radio channel that joins the radios of several stations.
 *  \ingroup hf
 *
 * GNU Radio has no loops, so each station has a sink half (what it transmits) and a source
 * half (what it hears), and this object joins them: between every two stations lies a
 * channel model of its own, at every receiver there is noise, and a station does not hear
 * itself. Samples are released in lock step: what station A hears at time t needs what all
 * others sent until t - delay. With equal seeds two runs are equal sample by sample.
 */
class HF_API air
{
public:
    typedef std::shared_ptr<air> sptr; //!< how flowgraphs hold it

    /*! \brief Make an air for \p stations stations, numbered from 0.
     *  \param stations 2 to 64
     *  \param channel what lies between each two stations, for example "poor snr=20"; the
     *         words are explained at hf.channel. Noise (snr=, in the bandwidth) is added once at
     *         each receiver
     *  \param seed of all random processes, from 0 on: equal seeds, equal runs
     *  \param speed 1 is real time, 20 is twenty times as fast, 0 or above; 0: without limit
     *  \param signal_power mean power of a transmission to which snr= refers, above 0: 1 for
     *         PSK modes, mode.mean_power for others
     *  \param duration_s end of all streams after so many seconds of station time, 0 or above; 0:
     *         never
     *  \param delay_ms delay of each radio and the propagation, 10 to 1000 ms
     *  \param bandwidth of the stations' modems, kHz, as of hf.modem: samples/s are 3200 times as
     *         many, and snr= counts in it
     *  \throws std::invalid_argument
     */
    static sptr make(int stations,
                     const std::string& channel = "clear",
                     uint64_t seed = 1,
                     double speed = 0,
                     double signal_power = 1,
                     double duration_s = 0,
                     double delay_ms = 10,
                     int bandwidth = 3);

    virtual ~air() = default;

    //! What station \p station hears: a source of complex samples.
    virtual std::shared_ptr<gr::sync_block> source(int station) = 0;
    //! What station \p station transmits: a sink of complex samples.
    virtual std::shared_ptr<gr::sync_block> sink(int station) = 0;

    //! Change the pace while running.
    virtual void set_speed(double speed) = 0;
    //! End all streams as soon as possible.
    virtual void end() = 0;
    //! Station time released to the slowest station so far, s.
    virtual double now() const = 0;
};

} // namespace gr::hf
