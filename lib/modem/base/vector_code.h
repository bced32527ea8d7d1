/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*! \file
 *  Which code there is for processors with AVX2 and FMA, besides that for any: with GCC on x86-64
 *  there is some, elsewhere all this means nothing.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HF_HAS_AVX2_CODE
#endif

/*! \brief Marks a function that is compiled a second time for processors with AVX2 and
 *         FMA; which one runs is chosen when the program is loaded.
 *  \details For the few loops in which the receiver spends its time. Loops in the compiler's own
 *  vectors need more: vector_loops.h.
 */
#if defined(HF_HAS_AVX2_CODE) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define HF_VECTOR_CODE __attribute__((target_clones("arch=haswell", "default")))
#else
#define HF_VECTOR_CODE
#endif
