/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <hf/soapy_sink.h>
#include <hf/soapy_source.h>

#include <stdexcept>

/*! \file no_soapy.cc
 *  \brief Replaces the SoapySDR blocks where SoapySDR was missing at build time.
 */
namespace gr::hf {
namespace {

[[noreturn]] void refuse()
{
    throw std::runtime_error(
        "this build knows no SoapySDR: install its development files "
        "(Debian: libsoapysdr-dev) and build again");
}

} // namespace

soapy_source::sptr soapy_source::make(const std::string&,
                                      double,
                                      double,
                                      double,
                                      double,
                                      const std::string&,
                                      int,
                                      const std::string&,
                                      const std::string&)
{
    refuse();
}

soapy_sink::sptr soapy_sink::make(const std::string&,
                                  double,
                                  double,
                                  double,
                                  double,
                                  const std::string&,
                                  int,
                                  const std::string&,
                                  const std::string&)
{
    refuse();
}

std::vector<std::map<std::string, std::string>> soapy_source::devices(const std::string&)
{
    refuse();
}

} // namespace gr::hf
