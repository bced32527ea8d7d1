/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <complex>
#include <vector>

namespace gr::hf::kernel {

/*! \brief A channel that is known because it is simulated: for the bound on what any estimate
 *         of it can reach. Never available on the air.
 */
class known_channel
{
public:
    struct path {
        double delay; //!< samples
        std::complex<double> gain;
    };
    virtual ~known_channel() = default;
    //! The paths at input sample \p sample; always the same number, in the same order.
    virtual void paths(double sample, std::vector<path>& p) const = 0;
    //! Phase of the carrier there, turns.
    virtual double carrier_turns(double sample) const = 0;
    //! Sample on which the first symbol after the preamble is centred, before any delay.
    virtual double first_symbol() const = 0;
    //! Noise power of a sample.
    virtual double noise_power() const = 0;
};

} // namespace gr::hf::kernel
