/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/sync_block.h>
#include <hf/api.h>

#include <cstdint>
#include <memory>
#include <string>

namespace gr::hf {

//! What a playback device has done.
struct audio_sink_state {
    bool open = true;     //!< the device is there
    uint64_t outages = 0; //!< times that it was gone
    uint64_t underruns =
        0; //!< times that it ran empty, as the device told or the clock shows
    double silent_ms = 0; //!< of all underruns together, as far as the clock tells
    double held_ms = 0;   //!< written and not heard yet, after the last write
    double wanted_ms = 0; //!< what it should hold to bridge the host's stalls
    double added_ms = 0;  //!< of that, for stalls of the last minute
    uint64_t taken = 0;   //!< samples that it has taken
    std::string trouble;  //!< why it was gone last
};

/*! \brief Samples to a sound device, which is opened again when it was lost.
 *  \ingroup hf
 *
 * Inputs: a stream of real samples for each channel, full scale 1. Playback begins when
 * \p buffer_s of them have come, and again so after it ran empty; the samples should come at the
 * pace of a device from then on, so that the device always holds about as much. It takes up to a
 * second more from a host that was busy and catches up. After it ran empty it should hold as much
 * more as it lacked for a minute, if that is 0.5 s at the most. That it ran empty is found by the host's clock as well, since not
 * every sound system tells.
 *
 * Message port \c held (out): PDUs of type held (held_s: written and not heard yet, s;
 * host_s: at this time of the host's steady clock; wanted_s: what should be held) for hf.to_audio,
 * which keeps the one near the other. Message port \c key (out): a PDU of type key, down false,
 * when the device is lost. While it is gone samples are dropped at the host's pace.
 */
class HF_API audio_sink : virtual public gr::sync_block
{
public:
    typedef std::shared_ptr<audio_sink> sptr; //!< how flowgraphs hold it
    /*! \param device name of ALSA; empty: the default device
     *  \param audio_rate samples/s, 8000 to 192000
     *  \param buffer_s what the device is to hold, s, 0.02 to 0.5
     *  \param channels 1 or 2, an input for each
     *  \throws std::invalid_argument
     *  \throws std::runtime_error if it cannot be opened
     */
    static sptr make(const std::string& device = "",
                     int audio_rate = 48000,
                     double buffer_s = 0.1,
                     int channels = 1);

    //! A snapshot; may be called from any thread.
    virtual audio_sink_state state() const = 0;
};

} // namespace gr::hf
