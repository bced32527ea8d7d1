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

//! State and counters of an SDR.
struct soapy_source_state {
    bool open = true;     //!< the device is open
    uint64_t outages = 0; //!< times that the device was lost
    std::string trouble;  //!< why it was lost last
};

/*! \brief Receiver of an SDR by SoapySDR or UHD, with the time of its samples.
 *  \ingroup hf
 *
 * Output: complex samples, full scale 1, with a tag rx_time (tuple of whole seconds and
 * the rest of a second, of the device's clock) at the first one and after each gap.
 *
 * Message port \c events (out): PDUs of type device (reason: overflow, lost or back). A
 * device that is lost, or gives nothing for four seconds, is opened again as soon as it
 * is back, with one attempt each second. Until its samples arrive, zeros come at the
 * host's pace, tagged \c erased (how many follow).
 */
class HF_API soapy_source : virtual public gr::sync_block
{
public:
    typedef std::shared_ptr<soapy_source> sptr; //!< pointer type for flowgraphs
    /*! \param args arguments of the device, "driver=NAME, ..."; hf.soapy_sink with the
     *         same arguments is the same device. "driver=uhd,..." uses UHD itself, with
     *         the rest as UHD's own arguments
     *  \param sample_rate samples/s, exactly: what the device cannot do is refused
     *  \param frequency_hz frequency on the air that becomes 0 Hz, within what the device
     *         can do
     *  \param lo_offset_hz offset of the device's local oscillator from frequency_hz,
     *         within what the device can do
     *  \param gain_db gain of all stages together, within what the device can do; the
     *         device's own gain control is switched off
     *  \param antenna by name; empty: the device's default
     *  \param channel channel of the device, from 0 on
     *  \param clock_source internal, external, ...; empty: the device's default
     *  \param time_source internal, external, ...; empty: the device's default
     *  \throws std::invalid_argument for values that the device does not have
     *  \throws std::runtime_error if the device cannot be opened
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

    //! The device reports the time of its samples. Without it nothing can be transmitted
    //! at a given time.
    virtual bool timed() const = 0;

    //! A snapshot; may be called from any thread.
    virtual soapy_source_state state() const = 0;

    /*! \brief Change the frequency while the flowgraph runs. Returns when the device has
     *         changed.
     *  \throws std::invalid_argument for one that the device does not have: the old one
     *         stays
     *  \throws std::runtime_error if the flowgraph does not run
     */
    virtual void set_frequency(double hz) = 0;

    /*! \brief Devices that SoapySDR finds, each as words of args with their values.
     *  \details Some drivers search the network.
     *  \param args words that a device must have, for example "driver=NAME"
     *  \throws std::runtime_error if SoapySDR is missing
     */
    static std::vector<std::map<std::string, std::string>>
    devices(const std::string& args = "");
};

} // namespace gr::hf
