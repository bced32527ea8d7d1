/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiles the file HF_LOOPS for each kind of processor: in namespace plain for any, in
 * avx2 for AVX2 and FMA. Include it in the parent namespace of both, with
 *  HF_LOOPS   path of the file
 * The file gets
 *  HF_LANES   floats side by side, 4 or 8
 * HF_FOR_THIS_PROCESSOR(NAME) is then the file's NAME in the fastest variant for this
 * processor. The target applies to the whole file: the compiler splits vectors that a
 * target lacks before it inlines functions. */
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
