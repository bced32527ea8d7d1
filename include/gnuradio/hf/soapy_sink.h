/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/sync_block.h>
#include <hf/api.h>

#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Transmitter of an SDR by SoapySDR or UHD, in bursts at given times.
 *  \ingroup hf
 *
 * Input: complex samples, full scale 1, tagged tx_sob and tx_time (tuple of whole seconds
 * and the rest of a second, of the device's clock) at the first sample of a burst and
 * tx_eob at the last one, as hf.to_sdr gives them. Samples outside a burst are not sent.
 *
 * Message port \c reports (out): the device's reports about bursts for hf.to_sdr, in the
 * form of the port async_msgs of a USRP Sink: event_code (late: time_error, underflow,
 * device_lost), time_spec. A lost device is opened again, as by hf.soapy_source. Bursts
 * due meanwhile are dropped and reported.
 */
class HF_API soapy_sink : virtual public gr::sync_block
{
public:
    typedef std::shared_ptr<soapy_sink> sptr; //!< pointer type for flowgraphs
    /*! \param args arguments of the device, "driver=NAME, ..."; hf.soapy_source with the
     *         same arguments is the same device. "driver=uhd,..." uses UHD itself, with
     *         the rest as UHD's own arguments
     *  \param sample_rate samples/s, exactly: what the device cannot do is refused
     *  \param frequency_hz frequency on the air of 0 Hz, within what the device can do
     *  \param lo_offset_hz offset of the device's local oscillator from frequency_hz,
     *         within what the device can do
     *  \param gain_db gain of all stages together, within what the device can do
     *  \param antenna by name; empty: the device's default
     *  \param channel channel of the device, from 0 on
     *  \param clock_source internal, external, ...; empty: the device's default
     *  \param time_source internal, external, ...; empty: the device's default
     *  \throws std::invalid_argument for values that the device does not have
     *  \throws std::runtime_error if the device cannot be opened, or cannot send at a
     *         given time
     */
    static sptr make(const std::string& args = "driver=",
                     double sample_rate = 48000,
                     double frequency_hz = 7.1e6,
                     double lo_offset_hz = 0,
                     double gain_db = 0,
                     const std::string& antenna = "",
                     int channel = 0,
                     const std::string& clock_source = "",
                     const std::string& time_source = "");

    /*! \brief Change the frequency, between bursts.
     *  \throws std::invalid_argument for one that the device does not have: the old one
     *         stays
     */
    virtual void set_frequency(double hz) = 0;

    /*! \brief Let the device itself drive a pin while it transmits. Such a key cannot
     *         stick. UHD only.
     *  \param bank bank of pins, "FP0"
     *  \param pin pin of the bank, 1 to 32
     *  \param inverted low while it transmits
     *  \throws std::invalid_argument for what the device does not have
     */
    virtual void key_by_burst(const std::string& bank, int pin, bool inverted) = 0;
};

} // namespace gr::hf
