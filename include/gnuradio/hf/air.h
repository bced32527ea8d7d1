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
 * Each station has a sink (what it transmits) and a source (what it hears), because GNU
 * Radio has no loops. This object joins them. Each pair of stations has its own channel
 * model, and each receiver has its own noise. A station does not hear itself. Samples are
 * released in lock step: what station A hears at time t needs what all others sent until
 * t - delay. With equal seeds two runs are equal sample by sample.
 */
class HF_API air
{
public:
    typedef std::shared_ptr<air> sptr; //!< pointer type for flowgraphs

    /*! \brief Make an air for \p stations stations, numbered from 0.
     *  \param stations 2 to 64
     *  \param channel model between each two stations, for example "poor snr=20";
     *         hf.channel explains the words. Noise (snr=, in the bandwidth) is added once
     *         at each receiver
     *  \param seed seed of all random processes, from 0 on: equal seeds give equal runs
     *  \param speed 1 is real time, 20 is twenty times as fast, 0 or above; 0: without
     *         limit
     *  \param signal_power mean power of a transmission, the reference of snr=, above 0:
     *         1 for PSK modes, mode.mean_power for others
     *  \param duration_s station time after which all streams end, s, 0 or above; 0:
     *         never
     *  \param delay_ms delay of each radio and the propagation, 10 to 1000 ms
     *  \param bandwidth bandwidth of the stations' modems, kHz, as of hf.modem. The
     *         sample rate is 3200 samples/s for each kHz. snr= refers to this bandwidth
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

    //! Source of complex samples: what station \p station hears.
    virtual std::shared_ptr<gr::sync_block> source(int station) = 0;
    //! Sink for complex samples: what station \p station transmits.
    virtual std::shared_ptr<gr::sync_block> sink(int station) = 0;

    //! Change the pace while running.
    virtual void set_speed(double speed) = 0;
    /*! \brief Another channel while running, from its seed on.
     *  \throws std::invalid_argument as make()
     */
    virtual void set_channel(const std::string& channel) = 0;
    //! End all streams as soon as possible.
    virtual void end() = 0;
    //! Station time released to the slowest station, s.
    virtual double now() const = 0;
};

} // namespace gr::hf
