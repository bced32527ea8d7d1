/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiles the file HF_LOOPS for each kind of processor: in the namespace plain for any, in avx2 for
 * those with AVX2 and FMA. Included in the namespace that both are to be in, with
 *     HF_LOOPS   path of the file, which says what it holds for itself
 * which gets
 *     HF_LANES   floats side by side, 4 or 8
 * Then HF_FOR_THIS_PROCESSOR(NAME) is what the file calls NAME, in the quickest way that the
 * processor has. The target has to be set around the whole file: the compiler splits vectors that a
 * target does not have before it puts one function into another. */
#ifndef HF_HAS_AVX2_CODE
#define HF_FOR_THIS_PROCESSOR(name) plain::name
#else
#define HF_FOR_THIS_PROCESSOR(name)                                               \
    (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? avx2::name \
                                                                     : plain::name)
#endif

namespace plain {
#define HF_LANES 4
#include HF_LOOPS
#undef HF_LANES
} // namespace plain

#ifdef HF_HAS_AVX2_CODE
#pragma GCC push_options
#pragma GCC target("arch=haswell")
namespace avx2 {
#define HF_LANES 8
#include HF_LOOPS
#undef HF_LANES
} // namespace avx2
#pragma GCC pop_options
#endif
#undef HF_LOOPS
