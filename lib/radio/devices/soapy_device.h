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

//! Settings for one direction of a device; see soapy_source::make().
struct soapy_settings {
    std::string args;
    double sample_rate, frequency_hz, lo_offset_hz, gain_db;
    std::string antenna;
    int channel;
    std::string clock_source, time_source;
    std::optional<atr_pin> atr = std::nullopt; // only for transmitters of UHD
};

/*! \brief One direction of a device of SoapySDR, or of UHD with "driver=uhd". It is
 *         opened and set up, or there is one clear error.
 *
 * Objects with the same arguments share the device; the last one closes it. If one of
 * them finds the device lost, all have to release it before any opens it again: while
 * one holds it, SoapySDR returns the lost device. lose() and stale() may be called from
 * any thread, all else from one at a time.
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
    //! The device reports and accepts the time of samples.
    bool timed() const { return d_timed; }

    /*! \brief Tune to another frequency, also when the device is opened again.
     *  \throws std::invalid_argument for a frequency that it does not have; the old one
     *        stays
     */
    void set_frequency(double hz);

    /*! \brief Let the device drive a pin while it transmits, also when it is opened
     *         again.
     *  \throws std::invalid_argument if it cannot
     */
    void set_atr(const atr_pin& pin);

    bool is_open() const { return d_device != nullptr; }
    //! Report the device lost, to all that share it.
    void lose();
    //! True if it is lost: call release().
    bool stale() const;
    //! Release it, in any state.
    void release() noexcept;
    //! Open it and its stream again. \returns true on success
    bool reopen();

    //! Set up and start. \throws std::runtime_error
    void open_stream();
    //! End it, in any state of the device.
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
    const std::string d_args; // as the user wrote them
    const std::shared_ptr<sharing> d_sharing;
    uint64_t d_generation = 0; // of the device, as in d_sharing
    bool d_timed = false;
    std::shared_ptr<SoapySDR::Device> d_device;
    SoapySDR::Stream* d_stream = nullptr;
};

//! Passes a frequency from any thread to the thread that uses a device.
class retuning
{
public:
    /*! \brief Tune the device; returns once it is done.
     *  \throws std::invalid_argument as soapy_device::set_frequency()
     *  \throws std::runtime_error if no thread serves
     */
    void ask(double hz);
    //! Carry out a pending request; from the thread that uses the device.
    void serve(soapy_device& device);

private:
    std::mutex d_mutex;
    std::condition_variable d_served;
    std::optional<double> d_hz;
    std::exception_ptr d_error;
};

} // namespace gr::hf
