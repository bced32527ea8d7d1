/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/block.h>
#include <hf/api.h>

#include <cstdint>
#include <memory>

namespace gr::hf {

//! State and counters of an SDR's transmissions.
struct to_sdr_state {
    bool keyed = false;         //!< the transmitter must be keyed
    uint64_t transmissions = 0; //!< since the start
    uint64_t damaged = 0;       //!< transmissions that were late, had a hole, or were not
                                //!< sent at all
    uint64_t late = 0;          //!< device reports of a burst that arrived after its time
    uint64_t underflows = 0;    //!< device reports of samples that did not arrive in time
    double delay_s = 0;         //!< from a received sample to its transmit sample, s
};

/*! \brief Complex baseband of hf.modem to timed bursts for an SDR.
 *  \ingroup hf
 *
 * Input: complex baseband, one sample for each sample that hf.from_sdr gave out, tagged
 * tx_sob and tx_eob as hf.modem does. Output: only the transmissions, at the device's
 * rate, for a USRP Sink or hf.soapy_sink, with tags tx_sob and tx_time at the first
 * sample and tx_eob at the last one. tx_time is the time of the received sample with the
 * same count, plus a fixed latency, plus the lead.
 *
 * Message port \c time (in): from hf.from_sdr. Without it nothing is sent. Message port
 * \c reports (in): the device's reports about transmissions: async_msgs of a USRP Sink,
 * reports of hf.soapy_sink. Message port \c key (out): PDUs of type key (down: true or
 * false), for a transmitter that is not keyed by the SDR itself. The key goes up when the
 * last sample has left the device and \p tail_s have passed, by the count of received
 * samples, or when the device is lost. Message port \c events (out): PDUs of type
 * tx_damaged (now, transmission, reason: late, underflow, untimed or lost), for the port
 * radio of hf.modem, and for displays.
 */
class HF_API to_sdr : virtual public gr::block
{
public:
    typedef std::shared_ptr<to_sdr> sptr; //!< pointer type for flowgraphs
    /*! \param device_rate samples/s of the output, modem_rate to 2000000
     *  \param modem_rate samples/s of the input, 9600 (for 3 kHz) to 153600
     *  \param latency_s from a received sample to its transmit sample, s, 0 to 2: the
     *         longest time from the device to the modem and back. If it is too short, the
     *         device reports late bursts
     *  \param lead_s from the key to the first sample on the air, s, 0 to 2
     *  \param tail_s from the last sample on the air to the key's release, s, 0 to 2
     *  \param keyed_by_burst the device keys the transmitter as long as a burst lasts
     *         (ATR): lead and tail are sent as zeros
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
