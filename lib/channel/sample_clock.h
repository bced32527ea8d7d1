/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <complex>
#include <cstddef>
#include <deque>
#include <memory>

namespace gr::hf::kernel {

/*! \brief The sender's sample clock relative to the receiver's: resamples a stream in
 *         place.
 *
 * A stream keeps its number of samples, so the delay through this object drifts during a
 * transmission. It is reset in the silence after the transmission, once all buffered
 * samples are exactly zero. A signal without such a gap may last longest_s; then it
 * slips.
 */
class sample_clock
{
public:
    static constexpr double longest_s = 300; //!< of a signal without a gap

    /*! \param sample_rate samples/s
     *  \param ppm how much faster the sender's clock runs, -1000 to 1000; not 0
     *  \throws std::invalid_argument
     */
    sample_clock(double sample_rate, double ppm);

    //! \p out may be \p in.
    void process(const std::complex<float>* in, std::complex<float>* out, size_t n);

    //! Delay of the first sample after a silence, samples.
    size_t latency() const { return half_length + d_reserve; }

private:
    static constexpr unsigned half_length = 16; // of the interpolating filter
    struct destroy {
        void operator()(void* resampler) const;
    };

    void restart();

    size_t d_reserve; // samples that the fastest clock uses up in longest_s
    std::unique_ptr<void, destroy> d_resampler;
    std::deque<std::complex<float>> d_ready;
    size_t d_zeros = 0; // zero inputs in a row
};

} // namespace gr::hf::kernel
