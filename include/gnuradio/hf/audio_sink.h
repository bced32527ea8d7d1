/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/sync_block.h>
#include <hf/api.h>

#include <cstdint>
#include <memory>
#include <string>

namespace gr::hf {

//! State and counters of a playback device.
struct audio_sink_state {
    bool open = true;     //!< the device is open
    uint64_t outages = 0; //!< times that the device was lost
    uint64_t underruns =
        0; //!< times that it ran empty, as the device reported or the clock shows
    double silent_ms = 0; //!< total length of all underruns, as far as the clock tells
    double held_ms = 0;   //!< written and not played yet, after the last write
    double wanted_ms = 0; //!< amount that it should hold to bridge the host's stalls
    double added_ms = 0;  //!< part of wanted_ms that is due to stalls of the last minute
    uint64_t taken = 0;   //!< samples that the device has accepted
    std::string trouble;  //!< why it was lost last
};

/*! \brief Samples to a sound device, which is opened again when it was lost.
 *  \ingroup hf
 *
 * Inputs: a stream of real samples for each channel, full scale 1. Playback begins when
 * \p buffer_s of samples have arrived, and again after each underrun. From then on
 * samples should arrive at the device's pace, so that the device always holds about the
 * same amount. It accepts up to a second more from a host that was busy and catches up.
 * After an underrun it should hold as much more as it lacked, for one minute, if that is
 * 0.5 s at most. Underruns are found by the host's clock as well, since not every sound
 * system reports them.
 *
 * Message port \c held (out): PDUs of type held for hf.to_audio, which keeps held_s near
 * wanted_s. Keys: held_s (written and not heard yet, s), host_s (time of the measurement
 * by the host's steady clock) and wanted_s (what should be held). Message port \c key
 * (out): a PDU of type key, down false, when the device is lost. While the device is
 * lost, samples are dropped at the host's pace.
 */
class HF_API audio_sink : virtual public gr::sync_block
{
public:
    typedef std::shared_ptr<audio_sink> sptr; //!< pointer type for flowgraphs
    /*! \param device ALSA name; empty: the default device
     *  \param audio_rate samples/s, 8000 to 192000
     *  \param buffer_s what the device should hold, s, 0.02 to 0.5
     *  \param channels 1 or 2, an input for each
     *  \throws std::invalid_argument
     *  \throws std::runtime_error if the device cannot be opened
     */
    static sptr make(const std::string& device = "",
                     int audio_rate = 48000,
                     double buffer_s = 0.1,
                     int channels = 1);

    //! A snapshot; may be called from any thread.
    virtual audio_sink_state state() const = 0;
};

} // namespace gr::hf
