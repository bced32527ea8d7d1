/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/front/tone_sums.h"

#include "modem/base/vector_code.h"

namespace gr::hf::kernel {

namespace {

#define HF_LOOPS "modem/front/tone_sums_body.h"
#include "modem/base/vector_loops.h"

} // namespace

double largest_difference(const double* a, const double* b, size_t n)
{
    static const auto fastest = HF_FOR_THIS_PROCESSOR(largest);
    return fastest(a, b, n);
}

double plain_largest_difference(const double* a, const double* b, size_t n)
{
    return plain::largest(a, b, n);
}

} // namespace gr::hf::kernel
