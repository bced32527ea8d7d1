/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "radio/devices/uhd_device.h"

#include <SoapySDR/Device.hpp>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace gr::hf {

//! What a direction of a device is set to; see soapy_source::make().
struct soapy_settings {
    std::string args;
    double sample_rate, frequency_hz, lo_offset_hz, gain_db;
    std::string antenna;
    int channel;
    std::string clock_source, time_source;
    std::optional<atr_pin> atr = std::nullopt; // transmitters of UHD alone
};

/*! \brief A device of SoapySDR, or by "driver=uhd" of UHD, one direction of it: opened and set, or
 *         one clear error.
 *
 * Objects with the same arguments share the device; the last one closes it. When one of them finds
 * that it is lost, all have to release it, and then each opens it again: as long as one holds it,
 * SoapySDR gives out the lost one. lose() and stale() may be called from any thread, all else by
 * one at a time.
 */
class soapy_device
{
public:
    /*! \param direction SOAPY_SDR_RX or SOAPY_SDR_TX
     *  \throws std::invalid_argument for values that the device does not have
     *  \throws std::runtime_error if it cannot be opened
     */
    soapy_device(int direction, const soapy_settings& settings);
    ~soapy_device();
    soapy_device(const soapy_device&) = delete;
    soapy_device& operator=(const soapy_device&) = delete;

    SoapySDR::Device* operator->() const { return d_device.get(); }
    double sample_rate() const { return d_settings.sample_rate; }
    //! The device tells the time of samples, and takes it.
    bool timed() const { return d_timed; }

    /*! \brief Go to another frequency; when the device is opened again, too.
     *  \throws std::invalid_argument for one that it does not have: it is as it was
     */
    void set_frequency(double hz);

    /*! \brief Have the device drive a pin as long as it transmits; when it is opened again, too.
     *  \throws std::invalid_argument if it cannot
     */
    void set_atr(const atr_pin& pin);

    bool is_open() const { return d_device != nullptr; }
    //! It is gone, for all that share it.
    void lose();
    //! It is gone: release() it.
    bool stale() const;
    //! Give it back, whatever state it is in.
    void release() noexcept;
    //! Open it again, and its stream. \returns whether it is there
    bool reopen();

    //! Set up and begin. \throws std::runtime_error
    void open_stream();
    //! End it, whatever state the device is in.
    void close_stream() noexcept;
    SoapySDR::Stream* stream() const { return d_stream; }

private:
    struct sharing;
    static std::shared_ptr<sharing> sharing_of(const std::string& args);

    std::shared_ptr<SoapySDR::Device> make() const;
    void open();
    void configure();
    void tune();
    [[noreturn]] void refuse(const std::string& value, const std::string& allowed) const;

    const int d_direction;
    soapy_settings d_settings;
    const bool d_uhd;
    const std::string d_args; // what a person wrote
    const std::shared_ptr<sharing> d_sharing;
    uint64_t d_generation = 0; // of the device, as in d_sharing
    bool d_timed = false;
    std::shared_ptr<SoapySDR::Device> d_device;
    SoapySDR::Stream* d_stream = nullptr;
};

//! Brings a frequency from any thread to the one that uses a device.
class retuning
{
public:
    /*! \brief Have the device go there; returns when it has.
     *  \throws std::invalid_argument as soapy_device::set_frequency()
     *  \throws std::runtime_error if nobody serves
     */
    void ask(double hz);
    //! What was asked for, if anything; from the thread that uses the device.
    void serve(soapy_device& device);

private:
    std::mutex d_mutex;
    std::condition_variable d_served;
    std::optional<double> d_hz;
    std::exception_ptr d_error;
};

} // namespace gr::hf
