/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/decode/soft_decoder.h"

#include <algorithm>
#include <utility>

namespace gr::hf::kernel {

soft_decoder::soft_decoder(const code_plan& p)
    : d_steps(make_soft_steps(p)), d_wrap(128 * (p.constraint_length - 1) / 3)
{
    d_forward.resize(d_steps->states());
    d_backward.resize(d_steps->states());
}

soft_decoder::metrics soft_decoder::at_zero() const
{
    metrics m(d_steps->states(), -1e6f);
    m[0] = 0;
    return m;
}

/* Steps from .. to - 1. Forward metrics are kept for this window only. Backward metrics
 * start equal some way beyond it, round the ring or up to the end. */
void soft_decoder::backward_window(const float* pairs,
                                   size_t n,
                                   size_t from,
                                   size_t to,
                                   bool ring)
{
    d_alpha.resize((to - from) * d_steps->states());
    d_steps->forward(pairs + 2 * from, to - from, d_forward.data(), d_alpha.data());
    std::fill(d_backward.begin(), d_backward.end(), 0.0f);
    const size_t beyond = std::min(to + d_wrap, n);
    if (ring) {
        const size_t round = std::min(n, d_wrap - (beyond - to));
        d_steps->backward(pairs, round, d_backward.data());
    }
    d_steps->backward(pairs + 2 * to, beyond - to, d_backward.data());
    d_steps->combine(pairs + 2 * from,
                     to - from,
                     d_alpha.data(),
                     d_backward.data(),
                     d_out.data() + 2 * from);
}

void soft_decoder::decode_tail_biting(const float* pairs,
                                      size_t n,
                                      std::vector<float>& posterior)
{
    d_out.resize(2 * n);
    const size_t w = std::min(d_wrap, n);
    std::fill(d_forward.begin(), d_forward.end(), 0.0f);
    d_steps->forward(pairs + 2 * (n - w), w, d_forward.data(), nullptr);
    for (size_t from = 0; from < n; from += window)
        backward_window(pairs, n, from, std::min(n, from + window), true);
    posterior.assign(d_out.begin(), d_out.end());
}

soft_decoder::metrics soft_decoder::decode_running(const float* pairs,
                                                   size_t n,
                                                   const metrics& begin,
                                                   std::vector<float>& posterior)
{
    d_out.resize(2 * n);
    d_forward = begin;
    for (size_t from = 0; from < n; from += window)
        backward_window(pairs, n, from, std::min(n, from + window), false);
    posterior.assign(d_out.begin(), d_out.end());
    return d_forward;
}

} // namespace gr::hf::kernel
