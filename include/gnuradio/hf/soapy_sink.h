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
 * Input: complex samples, full scale 1, tagged tx_sob and tx_time (tuple of whole seconds and the
 * rest of a second, of the device's clock) at the first sample of a burst and tx_eob at the
 * last one, as hf.to_sdr gives them. What is not in a burst is not sent.
 *
 * Message port \c reports (out): what the device tells of bursts, in the form of the port
 * async_msgs of a USRP Sink: event_code (late: time_error, underflow, device_lost), time_spec; for
 * hf.to_sdr. A device that is lost is opened again, as by hf.soapy_source; what is to be
 * transmitted meanwhile is dropped and reported.
 */
class HF_API soapy_sink : virtual public gr::sync_block
{
public:
    typedef std::shared_ptr<soapy_sink> sptr; //!< how flowgraphs hold it
    /*! \param args of the device, "driver=NAME, ..."; hf.soapy_source with the same ones is
     *  the same device. By "driver=uhd,..." UHD is used itself, with what follows as its own words
     *  \param sample_rate samples/s, exactly: what the device cannot do is refused
     *  \param frequency_hz what 0 Hz becomes, within what the device can
     *  \param lo_offset_hz so much beside it is the device's local oscillator, which must be within
     *         what the device can
     *  \param gain_db of all stages together, within what the device can
     *  \param antenna by name; empty: the device's default
     *  \param channel of the device, from 0 on
     *  \param clock_source internal, external, ...; empty: the device's default
     *  \param time_source internal, external, ...; empty: the device's default
     *  \throws std::invalid_argument for values that the device does not have
     *  \throws std::runtime_error if it cannot be opened, or cannot send at a time
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

    /*! \brief Go to another frequency, between bursts.
     *  \throws std::invalid_argument for one that the device does not have: it is as it was
     */
    virtual void set_frequency(double hz) = 0;

    /*! \brief Have the device itself drive a pin as long as it transmits, which cannot stick; of
     *         UHD alone.
     *  \param bank of pins, "FP0"
     *  \param pin of the bank, 1 to 32
     *  \param inverted low while it transmits
     *  \throws std::invalid_argument for what the device does not have
     */
    virtual void key_by_burst(const std::string& bank, int pin, bool inverted) = 0;
};

} // namespace gr::hf
