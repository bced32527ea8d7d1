/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/decode/soft_steps.h"

#include "modem/decode/trellis.h"

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HF_HAS_AVX2
#endif

namespace gr::hf::kernel {

namespace plain {
#define HF_LANES 4
#include "modem/decode/soft_steps_body.h"
#undef HF_LANES
} // namespace plain

#ifdef HF_HAS_AVX2
#pragma GCC push_options
#pragma GCC target("arch=haswell")
namespace avx2 {
#define HF_LANES 8
#include "modem/decode/soft_steps_body.h"
#undef HF_LANES
} // namespace avx2
#pragma GCC pop_options
#endif

std::unique_ptr<soft_steps> make_plain_soft_steps(const code_plan& p)
{
    return plain::make(p);
}

std::unique_ptr<soft_steps> make_soft_steps(const code_plan& p)
{
#ifdef HF_HAS_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return avx2::make(p);
#endif
    return plain::make(p);
}

} // namespace gr::hf::kernel
