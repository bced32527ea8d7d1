/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/modem.h>

#include <gnuradio/block.h>

#include <cstdint>
#include <memory>

namespace gr::hf {

/*! \brief Half-duplex modem without samples, one station of an hf.emulated_air.
 *  \ingroup hf
 *
 * Message ports \c modem and \c status as those of hf.modem. It has the exact times of the
 * preambles and interleaver blocks of each mode, wideband ones included, and
 * answers in lock step.
 */
class HF_API emulated_modem : virtual public gr::block
{
public:
    typedef std::shared_ptr<emulated_modem> sptr; //!< how flowgraphs hold it

    //! A snapshot; may be called from any thread.
    virtual modem_state state() const = 0;
};

/*! \brief Channel and modems of several stations without samples: octets arrive when the
 *         waveform would have delivered them, with bit errors if asked for.
 *  \ingroup hf
 *
 * Takes next to no processor time, so that real programs and kernel TCP can run for hours at
 * any data rate. Ticks of all stations come every 10 ms of station time.
 */
class HF_API emulated_air
{
public:
    typedef std::shared_ptr<emulated_air> sptr; //!< how flowgraphs hold it

    /*! \brief Make an air for \p stations stations, numbered from 0.
     *  \param stations 2 to 64
     *  \param ber probability of a bit error, 0 to 0.5
     *  \param loss probability that a station misses a preamble, 0 to 1
     *  \param seed of all random processes, from 0 on: equal seeds, equal runs
     *  \param speed 1 is real time, 20 is twenty times as fast, 0 or above; 0: without limit
     *  \throws std::invalid_argument
     */
    static sptr make(int stations = 2,
                     double ber = 0,
                     double loss = 0,
                     uint64_t seed = 1,
                     double speed = 1);

    virtual ~emulated_air() = default;

    /*! \brief The modem of station \p station; each can be had once.
     *  \throws std::invalid_argument
     */
    virtual emulated_modem::sptr modem(int station) = 0;

    //! Change the pace while running.
    virtual void set_speed(double speed) = 0;
    //! Station time, s.
    virtual double now() const = 0;
};

} // namespace gr::hf
