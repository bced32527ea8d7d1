/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "channel/channel_spec.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace gr::hf::kernel {

/*! \brief The filter of a radio's receiver, for all of its input: signal, noise and
 *         impulses.
 *
 * fir: 6.8 ms long with linear phase, as in digital radios. butterworth: 6 poles.
 * elliptic: 6 poles, 1 dB of ripple, 60 dB of stop band; its delay varies most.
 */
class receiver_filter
{
public:
    //! \param spec a valid one; \param sample_rate samples/s, above twice the edges
    receiver_filter(const filter_spec& spec, double sample_rate);

    void process(std::complex<float>* x, size_t n, uint64_t first);

private:
    struct destroy {
        filter_kind kind;
        void operator()(void* filter) const;
    };
    double d_turns; // turns of the filter's middle per sample
    std::unique_ptr<void, destroy> d_filter;
};

} // namespace gr::hf::kernel
