/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace gr::hf::kernel {

/*! \brief During its life, floats too small for their exponent (below 1.2e-38) count as
 *         zero in its thread.
 *  \details Certain knowledge gives probabilities and variances of that size. Each costs
 *  an x86 processor as much as a hundred other operations. On other processors it does
 *  nothing.
 */
class no_denormals
{
public:
#if defined(__SSE__)
    no_denormals() { _mm_setcsr(d_before | flush_to_zero | denormals_are_zero); }
    ~no_denormals() { _mm_setcsr(d_before); }
#else
    no_denormals() {}
    ~no_denormals() {}
#endif
    no_denormals(const no_denormals&) = delete;
    no_denormals& operator=(const no_denormals&) = delete;

private:
#if defined(__SSE__)
    static constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x40;
    const unsigned d_before = _mm_getcsr();
#endif
};

} // namespace gr::hf::kernel
