/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <SoapySDR/Device.hpp>

#include <memory>
#include <string>

/*! \file uhd_device.h
 *  \brief A device of UHD behind the interface of SoapySDR, so that both have the same blocks.
 *
 * UHD itself is used, not gr-uhd: its USRP Source waits, when it is stopped, until the device
 * answers that it gives nothing, and one that is lost answers with errors for ever.
 */
namespace gr::hf {

/*! \brief Pins that the device itself drives while it transmits (automatic transmit/receive
 *         switching), which cannot stick.
 */
struct atr_pin {
    std::string bank;      //!< of pins, "FP0"
    int pin = 1;           //!< of the bank, 1 to 32
    bool inverted = false; //!< low while it transmits
};

/*! \brief Open what UHD finds by these words; it waits for nothing without an end.
 *
 * One that has failed is not closed but kept to the end of the process: UHD ends the process from
 * within the destructor of a USB device that is gone (its issue 803).
 * \param args as uhd_find_devices prints them
 * \throws std::exception if there is none, or if it cannot be opened
 */
std::shared_ptr<SoapySDR::Device> open_uhd(const std::string& args);

/*! \brief Have a device of open_uhd() drive a pin as long as it transmits.
 *  \throws std::invalid_argument for a bank that it does not have
 */
void set_atr_pin(SoapySDR::Device& device, const atr_pin& pin);

} // namespace gr::hf
