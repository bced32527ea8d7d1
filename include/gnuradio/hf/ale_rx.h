/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/sync_block.h>
#include <hf/api.h>

#include <cstdint>
#include <memory>

namespace gr::hf {

/*! \brief Receiver of 2G ALE (MIL-STD-188-141 Appendix A): finds every call, answer, sound
 *         and message by itself.
 *  \ingroup hf
 *
 * Input: complex baseband at 9600 samples/s, 1800 Hz of audio at 0 Hz, as of hf.rx.
 * Frequency offsets of up to 100 Hz are found. Message ports (out):
 *
 *  - \c frames: a PDU for each frame when it has ended. Its octets are the text form, for
 *    example TO JOE AMD "HELLO" TIS SAM. Keys: type (call, close: ends a link or wants no
 *    answer, sound, cut: the sender was not read), snr_db (mean, in 3 kHz),
 *    freq_offset_hz, start_sample, end_sample.
 *  - \c words: a PDU for each word at once. Its octets are the word, for example TO:JOE.
 *    Keys: snr_db, freq_offset_hz, quality (share of the votes that are unanimous),
 *    start_sample, end_sample.
 */
class HF_API ale_rx : virtual public gr::sync_block
{
public:
    typedef std::shared_ptr<ale_rx> sptr; //!< pointer type for flowgraphs
    //! A receiver of one channel.
    static sptr make();

    //! Frames read since the start.
    virtual uint64_t frames() const = 0;
};

} // namespace gr::hf
