/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/find/search_loops.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HF_HAS_AVX2
#endif

namespace gr::hf::kernel::search_loops {

namespace plain {
#define HF_LANES 4
#include "modem/find/search_loops_body.h"
#undef HF_LANES
} // namespace plain

#ifdef HF_HAS_AVX2
#pragma GCC push_options
#pragma GCC target("arch=haswell")
namespace avx2 {
#define HF_LANES 8
#include "modem/find/search_loops_body.h"
#undef HF_LANES
} // namespace avx2
#pragma GCC pop_options
#endif

namespace {

constexpr loops plain_loops = { plain::correlate_piece,
                                plain::best_offsets,
                                plain::any_exceeds };
#ifdef HF_HAS_AVX2
constexpr loops avx2_loops = { avx2::correlate_piece,
                               avx2::best_offsets,
                               avx2::any_exceeds };
#endif

} // namespace

const loops& for_any_processor() { return plain_loops; }

const loops& for_this_processor()
{
#ifdef HF_HAS_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return avx2_loops;
#endif
    return plain_loops;
}

} // namespace gr::hf::kernel::search_loops
