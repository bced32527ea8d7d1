/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/soft_decoder.h"

#include "modem/vector_code.h"

#include <algorithm>
#include <cstring>

namespace gr::hf::kernel {

namespace {

constexpr size_t half = 32; // butterflies
constexpr size_t states = soft_decoder::states;

/* The butterflies are those of viterbi.cc: states 2j and 2j+1 lead to j (bit 0) and j + 32
 * (bit 1); 2j -> j and 2j+1 -> j+32 send (t1, t2)(j), the other two the complement. */
struct signs {
    float t1[half], t2[half]; // +1 if branch 2j -> j sends 0
    signs()
    {
        for (unsigned j = 0; j < half; ++j) {
            const unsigned reg = 2 * j;
            t1[j] = __builtin_parity(reg & 0133) ? -1.0f : 1.0f;
            t2[j] = __builtin_parity(reg & 0171) ? -1.0f : 1.0f;
        }
    }
};

const signs& branch_signs()
{
    static const signs s;
    return s;
}

inline float larger(float a, float b) { return a > b ? a : b; }

inline void normalise(float* metric)
{
    float top = metric[0];
    for (size_t s = 1; s < states; ++s)
        top = larger(top, metric[s]);
    for (size_t s = 0; s < states; ++s)
        metric[s] -= top;
}

// Metrics over n steps forward; \p keep (may be null) gets those before each step.
HF_VECTOR_CODE void
run_forward(const float* pairs, size_t n, const signs& sg, float* metric, float* keep)
{
    float even[half], odd[half];
    for (size_t k = 0; k < n; ++k) {
        const float a = pairs[2 * k] / 2, b = pairs[2 * k + 1] / 2;
        if (keep)
            std::memcpy(keep + k * states, metric, states * sizeof(float));
        for (size_t j = 0; j < half; ++j) {
            even[j] = metric[2 * j];
            odd[j] = metric[2 * j + 1];
        }
        for (size_t j = 0; j < half; ++j) {
            const float m = a * sg.t1[j] + b * sg.t2[j];
            metric[j] = larger(even[j] + m, odd[j] - m);
            metric[j + half] = larger(even[j] - m, odd[j] + m);
        }
        if ((k & 15) == 15)
            normalise(metric);
    }
    normalise(metric);
}

HF_VECTOR_CODE void
run_backward(const float* pairs, size_t n, const signs& sg, float* metric)
{
    float even[half], odd[half];
    for (size_t k = n; k-- > 0;) {
        const float a = pairs[2 * k] / 2, b = pairs[2 * k + 1] / 2;
        for (size_t j = 0; j < half; ++j) {
            const float m = a * sg.t1[j] + b * sg.t2[j];
            even[j] = larger(metric[j] + m, metric[j + half] - m);
            odd[j] = larger(metric[j] - m, metric[j + half] + m);
        }
        for (size_t j = 0; j < half; ++j) {
            metric[2 * j] = even[j];
            metric[2 * j + 1] = odd[j];
        }
        if ((k & 15) == 0)
            normalise(metric);
    }
}

inline float largest(const float* v) // of half
{
    float w[half / 2];
    for (size_t i = 0; i < half / 2; ++i)
        w[i] = larger(v[i], v[i + half / 2]);
    for (size_t i = 0; i < half / 4; ++i)
        w[i] = larger(w[i], w[i + half / 4]);
    for (size_t i = 0; i < half / 8; ++i)
        w[i] = larger(w[i], w[i + half / 8]);
    return larger(larger(w[0], w[1]), larger(w[2], w[3]));
}

// As run_backward(), with the a-posteriori ratios from the forward metrics in \p alpha.
HF_VECTOR_CODE void combine(const float* pairs,
                            size_t n,
                            const signs& sg,
                            const float* alpha,
                            float* metric,
                            float* out)
{
    float even[half], odd[half], best[4][half]; // T1 = 0, T1 = 1, T2 = 0, T2 = 1
    for (size_t k = n; k-- > 0;) {
        const float a = pairs[2 * k] / 2, b = pairs[2 * k + 1] / 2;
        const float* f = alpha + k * states;
        for (size_t j = 0; j < half; ++j) {
            even[j] = f[2 * j];
            odd[j] = f[2 * j + 1];
        }
        for (size_t j = 0; j < half; ++j) {
            const float m = a * sg.t1[j] + b * sg.t2[j];
            const float zero = metric[j], one = metric[j + half];
            const float same = larger(even[j] + zero, odd[j] + one) + m;
            const float other = larger(odd[j] + zero, even[j] + one) - m;
            const float t1 = sg.t1[j], t2 = sg.t2[j];
            best[0][j] = t1 > 0 ? same : other;
            best[1][j] = t1 > 0 ? other : same;
            best[2][j] = t2 > 0 ? same : other;
            best[3][j] = t2 > 0 ? other : same;
            even[j] = larger(zero + m, one - m);
            odd[j] = larger(zero - m, one + m);
        }
        out[2 * k] = largest(best[0]) - largest(best[1]);
        out[2 * k + 1] = largest(best[2]) - largest(best[3]);
        for (size_t j = 0; j < half; ++j) {
            metric[2 * j] = even[j];
            metric[2 * j + 1] = odd[j];
        }
        if ((k & 15) == 0)
            normalise(metric);
    }
}

} // namespace

soft_decoder::metrics soft_decoder::at_zero()
{
    metrics m;
    m.fill(-1e6f);
    m[0] = 0;
    return m;
}

/* Steps from .. to - 1: forward metrics are kept for this window only; the backward ones
 * begin with equal metrics some way beyond it, round the ring or up to the end. */
void soft_decoder::backward_window(const float* pairs,
                                   size_t n,
                                   size_t from,
                                   size_t to,
                                   bool ring)
{
    const signs& sg = branch_signs();
    d_alpha.resize((to - from) * states);
    run_forward(pairs + 2 * from, to - from, sg, d_forward.data(), d_alpha.data());
    d_backward.fill(0);
    const size_t beyond = std::min(to + wrap, n);
    if (ring) {
        const size_t round = std::min(n, wrap - (beyond - to));
        run_backward(pairs, round, sg, d_backward.data());
    }
    run_backward(pairs + 2 * to, beyond - to, sg, d_backward.data());
    combine(pairs + 2 * from,
            to - from,
            sg,
            d_alpha.data(),
            d_backward.data(),
            d_out.data() + 2 * from);
}

void soft_decoder::decode_tail_biting(const float* pairs,
                                      size_t n,
                                      std::vector<float>& posterior)
{
    d_out.resize(2 * n);
    const size_t w = std::min(wrap, n);
    d_forward.fill(0);
    run_forward(pairs + 2 * (n - w), w, branch_signs(), d_forward.data(), nullptr);
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
