/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/block.h>
#include <hf/api.h>

#include <cstdint>
#include <memory>

namespace gr::hf {

//! What has become of the samples for an SDR.
struct to_sdr_state {
    bool keyed = false;         //!< the transmitter is to be keyed
    uint64_t transmissions = 0; //!< since the start
    uint64_t damaged = 0;       //!< of them: late, with a hole, or not sent at all
    uint64_t late = 0;       //!< reports of the device: it came when its time had passed
    uint64_t underflows = 0; //!< reports of the device: samples did not come in time
    double delay_s =
        0; //!< from a received sample to the one transmitted opposite to it, s
};

/*! \brief Complex baseband of hf.modem to timed bursts for an SDR.
 *  \ingroup hf
 *
 * Input: complex baseband, one sample for each one that hf.from_sdr gave out, tagged tx_sob and
 * tx_eob as hf.modem does. Output: at the device's rate the transmissions alone, for a USRP Sink
 * or hf.soapy_sink, with tags tx_sob and tx_time at the first sample and tx_eob at the last one.
 * The time is that of the received sample opposite to it, and a fixed latency, and the lead.
 *
 * Message port \c time (in): that of hf.from_sdr; without it nothing is sent.
 * Message port \c reports (in): what the device tells of its transmissions: async_msgs of a USRP
 * Sink, reports of hf.soapy_sink.
 * Message port \c key (out): PDUs of type key (down: true or false), for a transmitter that is
 * not keyed by the SDR itself. The key goes up when so many samples were received that the
 * last one has left the device and \p tail_s have passed, or when the device is lost.
 * Message port \c events (out): PDUs of type tx_damaged (now, transmission, reason: late,
 * underflow, untimed or lost), for the port radio of hf.modem, and for displays.
 */
class HF_API to_sdr : virtual public gr::block
{
public:
    typedef std::shared_ptr<to_sdr> sptr; //!< how flowgraphs hold it
    /*! \param device_rate samples/s of the output, modem_rate to 2000000
     *  \param modem_rate samples/s of the input, 9600 (for 3 kHz) to 153600
     *  \param latency_s from a received sample to the one transmitted opposite to it, s, 0 to 2:
     *  what the way from the device to the modem and back takes; if it is too short, the device
     *  reports late bursts
     *  \param lead_s from the key to the first sample on the air, s, 0 to 2
     *  \param tail_s from the last sample on the air to the key's release, s, 0 to 2
     *  \param keyed_by_burst the device keys the transmitter as long as a burst lasts (ATR):
     *  lead and tail are sent as zeros
     *  \throws std::invalid_argument
     */
    static sptr make(double device_rate = 48000,
                     double modem_rate = 9600,
                     double latency_s = 0.04,
                     double lead_s = 0,
                     double tail_s = 0,
                     bool keyed_by_burst = false);

    //! A snapshot; may be called from any thread.
    virtual to_sdr_state state() const = 0;
};

} // namespace gr::hf
