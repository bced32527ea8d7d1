/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <SoapySDR/Device.hpp>

#include <memory>
#include <string>

/*! \file uhd_device.h
 * \brief A UHD device with the interface of SoapySDR, so that both use the same blocks.
 *
 * UHD itself is used, not gr-uhd. When stopped, the USRP Source of gr-uhd waits until
 * the device confirms that it sends nothing. A lost device never does: it answers with
 * errors for ever.
 */
namespace gr::hf {

/*! \brief Pins that the device itself drives while it transmits (automatic
 *         transmit/receive switching). They cannot stick.
 */
struct atr_pin {
    std::string bank;      //!< of pins, "FP0"
    int pin = 1;           //!< of the bank, 1 to 32
    bool inverted = false; //!< low while it transmits
};

/*! \brief Open the device that UHD finds for these words. Never waits without a timeout.
 *
 * A failed device is not closed but kept to the end of the process: UHD ends the process
 * from within the destructor of a USB device that is gone (its issue 803).
 *  \param args as uhd_find_devices prints them
 *  \throws std::exception if there is no device, or if it cannot be opened
 */
std::shared_ptr<SoapySDR::Device> open_uhd(const std::string& args);

/*! \brief Let a device of open_uhd() drive a pin while it transmits.
 *  \throws std::invalid_argument for a bank that it does not have
 */
void set_atr_pin(SoapySDR::Device& device, const atr_pin& pin);

} // namespace gr::hf
