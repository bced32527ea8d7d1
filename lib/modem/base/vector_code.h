/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*! \file
 *  Variants of code for processors with AVX2 and FMA. They exist with GCC on x86-64;
 *  elsewhere this file has no effect.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HF_HAS_AVX2_CODE
#endif

/*! \brief Marks a function that is also compiled for processors with AVX2 and FMA. The
 *         loader chooses the variant.
 *  \details For the few loops in which the receiver spends its time. Loops in the
 *  compiler's own vectors need vector_loops.h. The loader tests the features of
 *  x86-64-v3. With the name of a processor, such as haswell, it would choose the variant on
 *  that model alone.
 */
#if defined(HF_HAS_AVX2_CODE) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define HF_VECTOR_CODE __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define HF_VECTOR_CODE
#endif
