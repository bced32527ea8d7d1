/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <complex>
#include <vector>

namespace gr::hf::kernel {

/*! \brief The true channel of a simulation, for the bound that no channel estimate can
 *         beat. Never available on the air.
 */
class known_channel
{
public:
    struct path {
        double delay; //!< samples
        std::complex<double> gain;
    };
    virtual ~known_channel() = default;
    //! The paths at input sample \p sample. Number and order are always the same.
    virtual void paths(double sample, std::vector<path>& p) const = 0;
    //! Phase of the carrier at that sample, turns.
    virtual double carrier_turns(double sample) const = 0;
    //! Sample on which the first symbol after the preamble is centred, before any delay.
    virtual double first_symbol() const = 0;
    //! Noise power of a sample.
    virtual double noise_power() const = 0;
};

} // namespace gr::hf::kernel
