/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/block.h>
#include <hf/api.h>

#include <cstdint>
#include <memory>

namespace gr::hf {

//! What a receiver's audio has been like, for meters.
struct from_audio_state {
    double peak_db = -200; //!< highest sample of the last second, dB below full scale
    double rms_db = -200;  //!< mean power of the last second, dB below full scale
    uint64_t clipped = 0;  //!< samples at full scale or above, since the start
    uint64_t lost = 0;     //!< samples that the device lost and that zeros stand for
    double silent_s = 0;   //!< so long nothing but one value has come: the device is deaf
    double drift_ppm =
        0; //!< the device's clock is faster than the host's; 0: not known yet
};

/*! \brief A receiver's audio to complex baseband for hf.modem or hf.rx.
 *  \ingroup hf
 *
 * Input: real samples, full scale 1, of a sound card for example. Output: complex baseband at
 * 3200 samples/s for each kHz of bandwidth, the subcarrier at 0 Hz.
 *
 * What a live device loses is found by the host's clock within some seconds, and zeros are put
 * in its place, so that the count of samples stays station time. Message port \c events (out):
 * PDUs of type gap (lost: samples of the input, negative when too many had been put in).
 */
class HF_API from_audio : virtual public gr::block
{
public:
    typedef std::shared_ptr<from_audio> sptr; //!< how flowgraphs hold it
    /*! \param audio_rate samples/s of the input, 8000 to 2000000
     *  \param subcarrier_hz middle of the channel in the audio
     *  \param modem_rate samples/s of the output, 9600 for 3 kHz
     *  \param live the samples come at the pace of a device: lost ones are put in
     *  \throws std::invalid_argument
     */
    static sptr make(double audio_rate = 48000,
                     double subcarrier_hz = 1800,
                     double modem_rate = 9600,
                     bool live = true);

    //! A snapshot; may be called from any thread.
    virtual from_audio_state state() const = 0;
};

} // namespace gr::hf
