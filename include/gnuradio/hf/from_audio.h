/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/block.h>
#include <hf/api.h>

#include <cstdint>
#include <memory>

namespace gr::hf {

//! Levels of a receiver's audio, for meters.
struct from_audio_state {
    double peak_db = -200; //!< highest sample of the last second, dB below full scale
    double rms_db = -200;  //!< mean power of the last second, dB below full scale
    uint64_t clipped = 0;  //!< samples at full scale or above, since the start
    double silent_s = 0;   //!< how long all samples have had one value: the receiver is
                           //!< deaf
};

/*! \brief A receiver's audio to complex baseband for hf.modem or hf.rx.
 *  \ingroup hf
 *
 * Input: real samples, full scale 1, for example of a sound card. Output: complex
 * baseband at 3200 samples/s for each kHz of bandwidth, the subcarrier at 0 Hz.
 *
 * A tag \c erased of hf.audio_source (its value: how many of the next samples replace
 * lost ones) is passed on, counted in samples of the output.
 */
class HF_API from_audio : virtual public gr::block
{
public:
    typedef std::shared_ptr<from_audio> sptr; //!< pointer type for flowgraphs
    /*! \param audio_rate samples/s of the input, 8000 to 2000000
     *  \param subcarrier_hz middle of the channel in the audio, 0 to half of
     *         \p audio_rate
     *  \param modem_rate samples/s of the output, 9600 (for 3 kHz) to 153600
     *  \throws std::invalid_argument
     */
    static sptr make(double audio_rate = 48000,
                     double subcarrier_hz = 1800,
                     double modem_rate = 9600);

    //! A snapshot; may be called from any thread.
    virtual from_audio_state state() const = 0;
};

} // namespace gr::hf
