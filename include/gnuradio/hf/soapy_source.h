/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/sync_block.h>
#include <hf/api.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gr::hf {

//! What has become of an SDR.
struct soapy_source_state {
    bool open = true;     //!< it is there
    uint64_t outages = 0; //!< times that it was lost
    std::string trouble;  //!< why, the last time
};

/*! \brief Receiver of an SDR by SoapySDR or UHD, with the time of its samples.
 *  \ingroup hf
 *
 * Output: complex samples, full scale 1, with a tag rx_time (tuple of whole seconds and the
 * rest of a second, of the device's clock) at the first one and behind each gap.
 *
 * Message port \c events (out): PDUs of type device (reason: overflow, lost or back). A device that
 * is lost, or gives nothing for four seconds, is opened again as soon as it is there, tried each
 * second; until its samples come there are zeros at the host's pace, tagged \c erased (how many
 * follow).
 */
class HF_API soapy_source : virtual public gr::sync_block
{
public:
    typedef std::shared_ptr<soapy_source> sptr; //!< how flowgraphs hold it
    /*! \param args of the device, "driver=NAME, ..."; hf.soapy_sink with the same ones is the
     *  same device. By "driver=uhd,..." UHD is used itself, with what follows as its own words
     *  \param sample_rate samples/s, exactly: what the device cannot do is refused
     *  \param frequency_hz what becomes 0 Hz, within what the device can
     *  \param lo_offset_hz so much beside it is the device's local oscillator, which must be within
     *         what the device can
     *  \param gain_db of all stages together, within what the device can; the device's own
     *         control is switched off
     *  \param antenna by name; empty: the device's default
     *  \param channel of the device, from 0 on
     *  \param clock_source internal, external, ...; empty: the device's default
     *  \param time_source internal, external, ...; empty: the device's default
     *  \throws std::invalid_argument for values that the device does not have
     *  \throws std::runtime_error if it cannot be opened
     */
    static sptr make(const std::string& args = "driver=",
                     double sample_rate = 48000,
                     double frequency_hz = 7.1e6,
                     double lo_offset_hz = 0,
                     double gain_db = 20,
                     const std::string& antenna = "",
                     int channel = 0,
                     const std::string& clock_source = "",
                     const std::string& time_source = "");

    //! The device tells the time of its samples: without it nothing can be transmitted at a time.
    virtual bool timed() const = 0;

    //! A snapshot; may be called from any thread.
    virtual soapy_source_state state() const = 0;

    /*! \brief Go to another frequency while the flowgraph runs; returns when the device has.
     *  \throws std::invalid_argument for one that it does not have: it is as it was
     *  \throws std::runtime_error if the flowgraph does not run
     */
    virtual void set_frequency(double hz) = 0;

    /*! \brief Devices that SoapySDR finds, each as words of args with what they say.
     *  \details Some drivers ask the network.
     *  \param args what they must have, for example "driver=NAME"
     *  \throws std::runtime_error if there is no SoapySDR
     */
    static std::vector<std::map<std::string, std::string>>
    devices(const std::string& args = "");
};

} // namespace gr::hf
