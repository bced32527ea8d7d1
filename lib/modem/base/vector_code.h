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
 *  compiler's own vectors need vector_loops.h.
 */
#if defined(HF_HAS_AVX2_CODE) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define HF_VECTOR_CODE __attribute__((target_clones("arch=haswell", "default")))
#else
#define HF_VECTOR_CODE
#endif
