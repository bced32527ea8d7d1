/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/sync_block.h>
#include <hf/api.h>

#include <cstdint>
#include <memory>

namespace gr::hf {

/*! \brief Transmitter of 2G ALE (MIL-STD-188-141 Appendix A): one frame for each PDU.
 *  \ingroup hf
 *
 * Message port \c frames (in): a PDU whose octets are the text form of a frame, as of
 * hf.ale_rx: TO JOE AMD "HELLO" TIS SAM is a call with a message, TIS SAM a sound. Output:
 * complex baseband at 9600 samples/s, 1800 Hz of audio at 0 Hz, tagged tx_sob and tx_eob.
 * There is no output while no PDU waits, unless \p continuous. At most 64 PDUs wait.
 * Further ones are dropped and counted.
 */
class HF_API ale_tx : virtual public gr::sync_block
{
public:
    typedef std::shared_ptr<ale_tx> sptr; //!< pointer type for flowgraphs
    /*! \param channels number of channels that the called stations scan, 0 to 100; calls
     *         start with two words for each
     *  \param sounds number of times that a sound sends the address, 1 to 1000
     *  \param gap_ms silence before each transmission and after the last one, 0 to 60000
     *  \param continuous zeros while no PDU waits. A later block must limit the pace
     *  \param level magnitude of the samples, 0.001 to 10; full scale of sound cards and
     *         radios is 1
     *  \throws std::invalid_argument
     */
    static sptr make(int channels = 0,
                     int sounds = 2,
                     double gap_ms = 500,
                     bool continuous = false,
                     double level = 1);

    //! Transmissions completed.
    virtual uint64_t transmissions() const = 0;
    //! PDUs dropped: not a PDU, not a frame, too many waiting.
    virtual uint64_t dropped() const = 0;
    //! Highest magnitude of the samples from now on, as \p level of make(). Any thread may
    //! call it. \throws std::invalid_argument
    virtual void set_level(double level) = 0;
};

} // namespace gr::hf
