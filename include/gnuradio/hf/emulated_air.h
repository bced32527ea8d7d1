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
 * Its message ports \c modem and \c status are those of hf.modem. Preambles and
 * interleaver blocks take exactly as long as in each real mode, wideband ones included.
 * It answers in lock step.
 */
class HF_API emulated_modem : virtual public gr::block
{
public:
    typedef std::shared_ptr<emulated_modem> sptr; //!< pointer type for flowgraphs

    //! A snapshot; may be called from any thread.
    virtual modem_state state() const = 0;
};

/*! \brief Channel and modems of several stations without samples. Octets arrive when the
 *         waveform would have delivered them, with bit errors if you ask for them.
 *  \ingroup hf
 *
 * It takes hardly any processor time, so that real programs and kernel TCP can run for
 * hours at any data rate. Ticks of all stations come every 10 ms of station time.
 */
class HF_API emulated_air
{
public:
    typedef std::shared_ptr<emulated_air> sptr; //!< pointer type for flowgraphs

    /*! \brief Make an air for \p stations stations, numbered from 0.
     *  \param stations 2 to 64
     *  \param ber probability of a bit error, 0 to 0.5
     *  \param loss probability that a station misses a preamble, 0 to 1
     *  \param seed seed of all random processes, from 0 on: equal seeds give equal runs
     *  \param speed 1 is real time, 20 is twenty times as fast, 0 or above; 0: without
     *         limit
     *  \throws std::invalid_argument
     */
    static sptr make(int stations = 2,
                     double ber = 0,
                     double loss = 0,
                     uint64_t seed = 1,
                     double speed = 1);

    virtual ~emulated_air() = default;

    /*! \brief The modem of station \p station. Each modem can be taken once.
     *  \throws std::invalid_argument
     */
    virtual emulated_modem::sptr modem(int station) = 0;

    //! Change the pace while running.
    virtual void set_speed(double speed) = 0;
    /*! \brief Spoil everything on the air from now on for \p seconds of station time, for
     *         example to see how programs survive an outage.
     *  \throws std::invalid_argument if \p seconds is negative
     */
    virtual void disturb(double seconds) = 0;
    //! Station time, s.
    virtual double now() const = 0;
};

} // namespace gr::hf
