/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/viterbi.h"

#include "modem/vector_code.h"

#include <algorithm>
#include <cstring>

namespace gr::hf::kernel {

namespace {

constexpr size_t half = 32; // butterflies

/* Register of 7 bits, newest at bit 6; a state is its upper six, so the step to bit b goes
 * from state s to (s >> 1) | (b << 5). States 2j and 2j+1 lead to j (b = 0) and j + 32
 * (b = 1). Both polynomials have their first and last coefficient set, so the four branches
 * of a butterfly differ in sign only: what 2j -> j sends is the complement of 2j+1 -> j and
 * of 2j -> j+32. */
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

HF_VECTOR_CODE void add_compare_select(const float* pairs,
                                       size_t n,
                                       const signs& sg,
                                       float* metric,
                                       uint64_t* decisions)
{
    float even[half], odd[half], next[2 * half];
    uint8_t taken[2 * half];
    for (size_t k = 0; k < n; ++k) {
        const float a = pairs[2 * k], b = pairs[2 * k + 1];
        for (size_t j = 0; j < half; ++j) {
            even[j] = metric[2 * j];
            odd[j] = metric[2 * j + 1];
        }
        for (size_t j = 0; j < half; ++j) {
            const float m = a * sg.t1[j] + b * sg.t2[j];
            const float e0 = even[j] + m, o0 = odd[j] - m;
            const float e1 = even[j] - m, o1 = odd[j] + m;
            taken[j] = o0 > e0;
            taken[j + half] = o1 > e1;
            next[j] = o0 > e0 ? o0 : e0;
            next[j + half] = o1 > e1 ? o1 : e1;
        }
        uint64_t word = 0;
        for (size_t i = 0; i < 8; ++i) { // eight flags of 0 or 1 to eight bits
            uint64_t v;
            std::memcpy(&v, taken + 8 * i, 8);
            word |= ((v * 0x0102040810204080u) >> 56) << (8 * i);
        }
        decisions[k] = word;
        std::memcpy(metric, next, sizeof next);
        if ((k & 15) == 15) { // keep the metrics near zero, floats exact enough
            float top = metric[0];
            for (size_t s = 1; s < 2 * half; ++s)
                top = std::max(top, metric[s]);
            for (size_t s = 0; s < 2 * half; ++s)
                metric[s] -= top;
        }
    }
}

} // namespace

void viterbi_decoder::reset()
{
    d_metric.fill(-1e6f);
    d_metric[0] = 0;
    d_decisions.clear();
}

void viterbi_decoder::steps(const float* pairs, size_t n)
{
    static const signs sg;
    const size_t at = d_decisions.size();
    d_decisions.resize(at + n);
    add_compare_select(pairs, n, sg, d_metric.data(), d_decisions.data() + at);
}

void viterbi_decoder::trace_back(size_t count, std::vector<uint8_t>& newest_first) const
{
    unsigned s = static_cast<unsigned>(
        std::max_element(d_metric.begin(), d_metric.end()) - d_metric.begin());
    newest_first.resize(count);
    for (size_t i = 0; i < count; ++i) {
        newest_first[i] = static_cast<uint8_t>(s >> 5);
        const auto odd =
            static_cast<unsigned>(d_decisions[d_decisions.size() - 1 - i] >> s & 1);
        s = (s << 1 & 63) | odd;
    }
}

void viterbi_decoder::decode_running(const float* pairs,
                                     size_t n,
                                     std::vector<uint8_t>& bits)
{
    steps(pairs, n);
    if (d_decisions.size() <= decision_delay)
        return;
    std::vector<uint8_t> path;
    trace_back(d_decisions.size(), path);
    for (size_t i = path.size(); i-- > decision_delay;)
        bits.push_back(path[i]);
    d_decisions.erase(d_decisions.begin(), d_decisions.end() - decision_delay);
}

void viterbi_decoder::decode_tail_biting(const float* pairs,
                                         size_t n,
                                         std::vector<uint8_t>& bits)
{
    const size_t w = std::min(wrap, n);
    d_metric.fill(0);
    d_decisions.clear();
    steps(pairs + 2 * (n - w), w);
    steps(pairs, n);
    steps(pairs, w);
    std::vector<uint8_t> path;
    trace_back(w + n, path);
    const size_t at = bits.size();
    bits.resize(at + n);
    for (size_t k = 0; k < n; ++k) // path[w + n - 1 - k] is the newest bit of pair k
        bits[at + (k + 6) % n] = path[w + n - 1 - k];
}

} // namespace gr::hf::kernel
