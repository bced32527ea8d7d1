/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <volk/volk_alloc.hh>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

//! Fraction close to \p x, with numerator and denominator up to \p largest.
struct fraction {
    uint64_t up, down;
    static fraction of(double x, uint64_t largest);
};

/*! \brief Polyphase filter bank that passes a band around a frequency and changes the
 *         sample rate by up / down. Streaming; output sample 0 is at the time of input
 *         sample 0.
 *
 * Real and imaginary parts are separate. So real input costs half, as does output of
 * real parts only.
 */
class resampler
{
public:
    /*! \param rate of the input, samples/s
     *  \param centre_hz middle of the band; the frequency does not change
     *  \param pass_hz, stop_hz edges of the band on either side of it
     *  \param gain in the band
     */
    resampler(double rate,
              fraction ratio,
              double centre_hz,
              double pass_hz,
              double stop_hz,
              float gain);

    void push(const float* x, size_t n);
    void push(const std::complex<float>* x, size_t n);
    //! Append silence up to the last output, ceil(input samples * up / down) in all.
    void finish();

    //! Output samples that can be taken now.
    size_t ready() const;
    //! Write the next ready() samples.
    void take(std::complex<float>* out);
    //! The same, real parts only.
    void take_real(float* out);

    //! Index of the next output sample.
    uint64_t next() const { return d_next; }

    /*! \brief Start again: the next sample pushed is number \p n of the input, and all
     *         before it were zero. The next output is the first one that may differ from
     *         zero.
     */
    void start_at(uint64_t n);
    //! Input samples that an output depends on.
    size_t span() const { return d_length; }

private:
    template <class F>
    void for_ready(F f);
    void forget();

    fraction d_ratio;
    size_t d_delay;                           // at rate * up
    size_t d_length;                          // of the filter of a phase, input samples
    volk::vector<float> d_taps_re, d_taps_im; // phase by phase, oldest sample first
    std::vector<float> d_re, d_im;            // history
    bool d_complex = false;                   // false: d_im is empty, all zero
    uint64_t d_begin = 0;                     // input sample of d_re[d_length - 1]
    uint64_t d_seen = 0, d_next = 0;
    bool d_finished = false;
};

} // namespace gr::hf::kernel
