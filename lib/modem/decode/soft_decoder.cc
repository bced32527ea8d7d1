/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/decode/soft_decoder.h"

#include "modem/decode/trellis.h"
#include "modem/vector_code.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel {

namespace {

inline float larger(float a, float b) { return a > b ? a : b; }

// Bodies of the functions below, once for each constraint length.
#define HF_BODY inline __attribute__((always_inline))

template <size_t n>
HF_BODY void normalise(float* metric)
{
    float top = metric[0];
    for (size_t s = 1; s < n; ++s)
        top = larger(top, metric[s]);
    for (size_t s = 0; s < n; ++s)
        metric[s] -= top;
}

// Metrics over n steps forward; \p keep (may be null) gets those before each step.
template <unsigned K>
HF_BODY void forward_body(const float* pairs,
                          size_t n,
                          const trellis<K>& sg,
                          float* metric,
                          float* keep)
{
    constexpr size_t states = trellis<K>::states, half = trellis<K>::half;
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
            normalise<states>(metric);
    }
    normalise<states>(metric);
}

template <unsigned K>
HF_BODY void
backward_body(const float* pairs, size_t n, const trellis<K>& sg, float* metric)
{
    constexpr size_t states = trellis<K>::states, half = trellis<K>::half;
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
            normalise<states>(metric);
    }
}

template <size_t half>
HF_BODY float largest(const float* v)
{
    float w[half / 2];
    for (size_t i = 0; i < half / 2; ++i)
        w[i] = larger(v[i], v[i + half / 2]);
    for (size_t i = 0; i < half / 4; ++i)
        w[i] = larger(w[i], w[i + half / 4]);
    for (size_t i = 0; i < half / 8; ++i)
        w[i] = larger(w[i], w[i + half / 8]);
    float top = w[0];
    for (size_t i = 1; i < half / 8; ++i)
        top = larger(top, w[i]);
    return top;
}

// As run_backward(), with the a-posteriori ratios from the forward metrics in \p alpha.
template <unsigned K>
HF_BODY void combine_body(const float* pairs,
                          size_t n,
                          const trellis<K>& sg,
                          const float* alpha,
                          float* metric,
                          float* out)
{
    constexpr size_t states = trellis<K>::states, half = trellis<K>::half;
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
        out[2 * k] = largest<half>(best[0]) - largest<half>(best[1]);
        out[2 * k + 1] = largest<half>(best[2]) - largest<half>(best[3]);
        for (size_t j = 0; j < half; ++j) {
            metric[2 * j] = even[j];
            metric[2 * j + 1] = odd[j];
        }
        if ((k & 15) == 0)
            normalise<states>(metric);
    }
}

// A function template cannot be compiled for several processors, hence one function for each.
HF_VECTOR_CODE void
run_forward(const float* pairs, size_t n, const trellis<7>& t, float* metric, float* keep)
{
    forward_body(pairs, n, t, metric, keep);
}
HF_VECTOR_CODE void
run_forward(const float* pairs, size_t n, const trellis<9>& t, float* metric, float* keep)
{
    forward_body(pairs, n, t, metric, keep);
}
HF_VECTOR_CODE void
run_backward(const float* pairs, size_t n, const trellis<7>& t, float* metric)
{
    backward_body(pairs, n, t, metric);
}
HF_VECTOR_CODE void
run_backward(const float* pairs, size_t n, const trellis<9>& t, float* metric)
{
    backward_body(pairs, n, t, metric);
}
HF_VECTOR_CODE void combine(const float* pairs,
                            size_t n,
                            const trellis<7>& t,
                            const float* alpha,
                            float* metric,
                            float* out)
{
    combine_body(pairs, n, t, alpha, metric, out);
}
HF_VECTOR_CODE void combine(const float* pairs,
                            size_t n,
                            const trellis<9>& t,
                            const float* alpha,
                            float* metric,
                            float* out)
{
    combine_body(pairs, n, t, alpha, metric, out);
}

} // namespace

class soft_decoder::steps
{
public:
    virtual ~steps() = default;
    virtual size_t states() const = 0;
    virtual void
    forward(const float* pairs, size_t n, float* metric, float* keep) const = 0;
    virtual void backward(const float* pairs, size_t n, float* metric) const = 0;
    virtual void combined(const float* pairs,
                          size_t n,
                          const float* alpha,
                          float* metric,
                          float* out) const = 0;
};

template <unsigned K>
class soft_decoder::steps_of : public soft_decoder::steps
{
public:
    explicit steps_of(const code_plan& p) : d_trellis(p.t1, p.t2) {}
    size_t states() const override { return trellis<K>::states; }
    void forward(const float* pairs, size_t n, float* metric, float* keep) const override
    {
        run_forward(pairs, n, d_trellis, metric, keep);
    }
    void backward(const float* pairs, size_t n, float* metric) const override
    {
        run_backward(pairs, n, d_trellis, metric);
    }
    void combined(const float* pairs,
                  size_t n,
                  const float* alpha,
                  float* metric,
                  float* out) const override
    {
        combine(pairs, n, d_trellis, alpha, metric, out);
    }

private:
    trellis<K> d_trellis;
};

soft_decoder::soft_decoder(const code_plan& p)
    : d_wrap(128 * (p.constraint_length - 1) / 3)
{
    if (p.constraint_length == 7)
        d_steps = std::make_unique<steps_of<7>>(p);
    else if (p.constraint_length == 9)
        d_steps = std::make_unique<steps_of<9>>(p);
    else
        throw std::invalid_argument("soft decoder: constraint length " +
                                    std::to_string(p.constraint_length) +
                                    ", allowed are 7 and 9");
    d_forward.resize(d_steps->states());
    d_backward.resize(d_steps->states());
}

soft_decoder::~soft_decoder() = default;

soft_decoder::metrics soft_decoder::at_zero() const
{
    metrics m(d_steps->states(), -1e6f);
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
    d_alpha.resize((to - from) * d_steps->states());
    d_steps->forward(pairs + 2 * from, to - from, d_forward.data(), d_alpha.data());
    std::fill(d_backward.begin(), d_backward.end(), 0.0f);
    const size_t beyond = std::min(to + d_wrap, n);
    if (ring) {
        const size_t round = std::min(n, d_wrap - (beyond - to));
        d_steps->backward(pairs, round, d_backward.data());
    }
    d_steps->backward(pairs + 2 * to, beyond - to, d_backward.data());
    d_steps->combined(pairs + 2 * from,
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
