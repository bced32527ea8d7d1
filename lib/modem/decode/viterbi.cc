/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/decode/viterbi.h"

#include "modem/base/vector_code.h"
#include "modem/decode/trellis.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel {

namespace {

template <unsigned K>
inline __attribute__((always_inline)) void add_compare_select(const float* pairs,
                                                              size_t n,
                                                              const trellis<K>& t,
                                                              float* metric,
                                                              uint64_t* decisions)
{
    constexpr size_t half = trellis<K>::half;
    float even[half], odd[half], next[2 * half];
    uint8_t taken[2 * half];
    for (size_t k = 0; k < n; ++k) {
        const float a = pairs[2 * k], b = pairs[2 * k + 1];
        for (size_t j = 0; j < half; ++j) {
            even[j] = metric[2 * j];
            odd[j] = metric[2 * j + 1];
        }
        for (size_t j = 0; j < half; ++j) {
            const float m = a * t.t1[j] + b * t.t2[j];
            const float e0 = even[j] + m, o0 = odd[j] - m;
            const float e1 = even[j] - m, o1 = odd[j] + m;
            // Of equal paths the one with ones: see decoded_block::bits.
            taken[j] = o0 >= e0;
            taken[j + half] = o1 >= e1;
            next[j] = o0 >= e0 ? o0 : e0;
            next[j + half] = o1 >= e1 ? o1 : e1;
        }
        for (size_t w = 0; w < 2 * half / 64; ++w) {
            uint64_t word = 0;
            for (size_t i = 0; i < 8; ++i) { // eight flags of 0 or 1 to eight bits
                uint64_t v;
                std::memcpy(&v, taken + 64 * w + 8 * i, 8);
                word |= ((v * 0x0102040810204080u) >> 56) << (8 * i);
            }
            *decisions++ = word;
        }
        std::memcpy(metric, next, sizeof next);
        if ((k & 15) == 15) { // keep metrics near zero, so that floats are exact enough
            float top = metric[0];
            for (size_t s = 1; s < 2 * half; ++s)
                top = std::max(top, metric[s]);
            for (size_t s = 0; s < 2 * half; ++s)
                metric[s] -= top;
        }
    }
}

// target_clones does not work on templates, hence one function for each code.
HF_VECTOR_CODE void
run(const float* pairs, size_t n, const trellis<7>& t, float* metric, uint64_t* decisions)
{
    add_compare_select<7>(pairs, n, t, metric, decisions);
}

HF_VECTOR_CODE void
run(const float* pairs, size_t n, const trellis<9>& t, float* metric, uint64_t* decisions)
{
    add_compare_select<9>(pairs, n, t, metric, decisions);
}

} // namespace

class viterbi_decoder::steps
{
public:
    virtual ~steps() = default;
    virtual void
    make(const float* pairs, size_t n, float* metric, uint64_t* decisions) const = 0;
};

template <unsigned K>
class viterbi_decoder::steps_of : public viterbi_decoder::steps
{
public:
    explicit steps_of(const code_plan& p) : d_trellis(p.t1, p.t2) {}
    void
    make(const float* pairs, size_t n, float* metric, uint64_t* decisions) const override
    {
        run(pairs, n, d_trellis, metric, decisions);
    }

private:
    trellis<K> d_trellis;
};

viterbi_decoder::viterbi_decoder(const code_plan& p)
    : d_memory(p.constraint_length - 1), d_delay(13 * p.constraint_length / 2),
      d_wrap(32 * d_memory)
{
    if (p.constraint_length == 7)
        d_steps = std::make_unique<steps_of<7>>(p);
    else if (p.constraint_length == 9)
        d_steps = std::make_unique<steps_of<9>>(p);
    else
        throw std::invalid_argument("Viterbi decoder: constraint length " +
                                    std::to_string(p.constraint_length) +
                                    ", allowed are 7 and 9");
    const size_t states = size_t{ 1 } << d_memory;
    d_words = states / 64;
    d_metric.resize(states);
    reset();
}

viterbi_decoder::~viterbi_decoder() = default;

void viterbi_decoder::reset()
{
    std::fill(d_metric.begin(), d_metric.end(), -1e6f);
    d_metric[0] = 0;
    d_decisions.clear();
}

void viterbi_decoder::advance(const float* pairs, size_t n)
{
    const size_t at = d_decisions.size();
    d_decisions.resize(at + n * d_words);
    d_steps->make(pairs, n, d_metric.data(), d_decisions.data() + at);
}

void viterbi_decoder::trace_back(size_t count, std::vector<uint8_t>& newest_first) const
{
    const unsigned mask = (1u << d_memory) - 1;
    unsigned s = static_cast<unsigned>(
        std::max_element(d_metric.begin(), d_metric.end()) - d_metric.begin());
    newest_first.resize(count);
    const uint64_t* step = d_decisions.data() + d_decisions.size();
    for (size_t i = 0; i < count; ++i) {
        step -= d_words;
        newest_first[i] = static_cast<uint8_t>(s >> (d_memory - 1));
        const auto odd = static_cast<unsigned>(step[s / 64] >> (s % 64) & 1);
        s = (s << 1 & mask) | odd;
    }
}

void viterbi_decoder::decode_running(const float* pairs,
                                     size_t n,
                                     std::vector<uint8_t>& bits)
{
    advance(pairs, n);
    const size_t kept = d_decisions.size() / d_words;
    if (kept <= d_delay)
        return;
    std::vector<uint8_t> path;
    trace_back(kept, path);
    for (size_t i = path.size(); i-- > d_delay;)
        bits.push_back(path[i]);
    d_decisions.erase(d_decisions.begin(),
                      d_decisions.end() - static_cast<std::ptrdiff_t>(d_delay * d_words));
}

void viterbi_decoder::decode_tail_biting(const float* pairs,
                                         size_t n,
                                         std::vector<uint8_t>& bits)
{
    const size_t w = std::min(d_wrap, n);
    std::fill(d_metric.begin(), d_metric.end(), 0.0f);
    d_decisions.clear();
    advance(pairs + 2 * (n - w), w);
    advance(pairs, n);
    advance(pairs, w);
    std::vector<uint8_t> path;
    trace_back(w + n, path);
    const size_t at = bits.size();
    bits.resize(at + n);
    for (size_t k = 0; k < n; ++k) // path[w + n - 1 - k] is the newest bit of pair k
        bits[at + (k + d_memory) % n] = path[w + n - 1 - k];
}

} // namespace gr::hf::kernel
