/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/block.h>
#include <hf/api.h>

#include <cstdint>
#include <memory>

namespace gr::hf {

//! State and counters of a transmitter's audio.
struct to_audio_state {
    bool keyed = false; //!< the transmitter must be keyed
    uint64_t added =
        0; //!< zeros added between transmissions, baseband samples. All later samples go
           //!< out later by added minus left_out
    uint64_t left_out = 0;  //!< zeros left out between transmissions, baseband samples
    uint64_t key_downs = 0; //!< since the start
    uint64_t damaged = 0;   //!< transmissions in which the device ran empty or was lost
};

/*! \brief Complex baseband of hf.modem or hf.tx to audio for a transmitter, with its
 *         keying.
 *  \ingroup hf
 *
 * Input: complex baseband, tagged tx_sob and tx_eob as hf.modem does. Output: real
 * samples around the subcarrier with the peak level of the baseband, without a pause,
 * zeros between transmissions.
 *
 * Message port \c key (out): PDUs of type key (down: true or false). The key goes down
 * \p lead_s before the first sample is on the air. It goes up when the last sample has
 * left the device and \p tail_s have passed, by count of samples.
 *
 * Message port \c events (out): PDUs of type tx_damaged (transmission: its number;
 * reason: underflow or lost) when the device ran empty or was lost while the key was
 * down, for port \c radio of hf.modem.
 *
 * With \p tone_hz there is a second output for the second channel of the same device: a
 * tone while the transmitter must be keyed, silence at other times. Lead and tail then
 * count in these streams, whatever the device holds.
 *
 * Message port \c held (in): what the device holds, from hf.audio_sink. Zeros are added
 * or left out between transmissions, never inside one, to keep it near
 * \p device_buffer_s. The key goes up only after these samples. What the device holds
 * when a transmission begins is a part of the lead.
 */
class HF_API to_audio : virtual public gr::block
{
public:
    typedef std::shared_ptr<to_audio> sptr; //!< pointer type for flowgraphs
    /*! \param audio_rate samples/s of the output, 8000 to 2000000
     *  \param subcarrier_hz middle of the channel in the audio, so that it fits: 1650 to
     *         22350 in 3 kHz at 48000 samples/s
     *  \param modem_rate samples/s of the input, 9600 (for 3 kHz) to 153600
     *  \param lead_s from the key to the first sample on the air, s, 0 to 2
     *  \param tail_s from the last sample on the air to the key's release, s, 0 to 2
     *  \param device_delay_s least time from here to the air, s, 0 to 2; a part of the
     *         lead as long as the device does not report what it holds
     *  \param device_buffer_s what the device should hold, s, device_delay_s to 4
     *  \param latency_s from the device to the air, s, 0 to 2
     *  \param tone_hz tone of the second output, Hz, 0 to half of \p audio_rate; 0: no
     *         second output
     *  \throws std::invalid_argument
     */
    static sptr make(double audio_rate = 48000,
                     double subcarrier_hz = 1800,
                     double modem_rate = 9600,
                     double lead_s = 0,
                     double tail_s = 0,
                     double device_delay_s = 0,
                     double device_buffer_s = 0.1,
                     double latency_s = 0,
                     double tone_hz = 0);

    //! A snapshot; may be called from any thread.
    virtual to_audio_state state() const = 0;
};

} // namespace gr::hf
