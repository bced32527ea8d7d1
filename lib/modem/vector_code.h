/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*! \brief Marks a function that is compiled a second time for processors with AVX2 and
 *         FMA; which one runs is chosen when the program is loaded.
 *  \details For the few loops in which the receiver spends its time. Elsewhere than x86-64
 *  with GCC it means nothing.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HF_VECTOR_CODE __attribute__((target_clones("arch=haswell", "default")))
#else
#define HF_VECTOR_CODE
#endif
