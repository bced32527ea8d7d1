/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/devices/uhd_device.h"

#include <stdexcept>

/*! \file no_uhd.cc
 * \brief Replaces UHD if it was missing at build time.
 */
namespace gr::hf {

std::shared_ptr<SoapySDR::Device> open_uhd(const std::string&)
{
    throw std::runtime_error(
        "this build has no UHD: install its development files (Debian: "
        "libuhd-dev) and build again");
}

void set_atr_pin(SoapySDR::Device&, const atr_pin&)
{
    throw std::invalid_argument("ptt way = 'uhd': this build has no UHD");
}

} // namespace gr::hf
