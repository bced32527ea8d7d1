/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/detect/soft_symbols.h"

#include "modem/base/vector_code.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace gr::hf::kernel {

namespace {

constexpr size_t max_labels = 256;
constexpr float largest_ratio = 200; // limit of a soft bit: its exp() is a finite double

HF_VECTOR_CODE void square_distances(const float* points_re,
                                     const float* points_im,
                                     size_t n,
                                     float re,
                                     float im,
                                     float* out)
{
    for (size_t k = 0; k < n; ++k) {
        const float x = re - points_re[k];
        const float y = im - points_im[k];
        out[k] = x * x + y * y;
    }
}

inline float lesser(float a, float b) { return b < a ? b : a; }

inline float min_of_8(const float* v)
{
    float w[4];
    for (size_t k = 0; k < 4; ++k)
        w[k] = lesser(v[k], v[k + 4]);
    return lesser(lesser(w[0], w[2]), lesser(w[1], w[3]));
}

/* Least distances with first bit 0 and with first bit 1, the two halves. Then fold one
 * half onto the other for the next bit. */
HF_VECTOR_CODE void fold(float* d, size_t half, float* min_zero, float* min_one)
{
    for (; half >= 8; half /= 2) {
        float zero[8], one[8];
        for (size_t k = 0; k < 8; ++k) {
            zero[k] = d[k];
            one[k] = d[k + half];
        }
        for (size_t l = 8; l < half; l += 8)
            for (size_t k = 0; k < 8; ++k) {
                zero[k] = lesser(zero[k], d[l + k]);
                one[k] = lesser(one[k], d[l + k + half]);
            }
        for (size_t l = 0; l < half; ++l)
            d[l] = lesser(d[l], d[l + half]);
        *min_zero++ = min_of_8(zero);
        *min_one++ = min_of_8(one);
    }
    for (; half > 0; half /= 2) {
        float zero = d[0], one = d[half];
        for (size_t l = 0; l < half; ++l) {
            zero = lesser(zero, d[l]);
            one = lesser(one, d[l + half]);
            d[l] = lesser(d[l], d[l + half]);
        }
        *min_zero++ = zero;
        *min_one++ = one;
    }
}

// sum_l p[l] q[k] x[l][k] of three tables x, of \p first times \p later values
HF_VECTOR_CODE void weighted_sums(const float* p,
                                  const float* q,
                                  size_t first,
                                  size_t later,
                                  const float* const* x,
                                  float* out)
{
    constexpr size_t most = 16;
    for (size_t t = 0; t < 3; ++t) {
        float sum[most] = {};
        if (first == most)
            for (size_t l = 0; l < later; ++l)
                for (size_t k = 0; k < most; ++k)
                    sum[k] += p[l] * x[t][l * most + k];
        else
            for (size_t l = 0; l < later; ++l)
                for (size_t k = 0; k < first; ++k)
                    sum[k] += p[l] * x[t][l * first + k];
        out[t] = 0;
        for (size_t k = 0; k < first; ++k)
            out[t] += sum[k] * q[k];
    }
}

} // namespace

soft_symbols::soft_symbols(const constellation& alphabet)
    : d_alphabet(alphabet), d_labels(size_t{ 1 } << alphabet.bits),
      d_inverts(alphabet.rule == scrambling::exclusive_or && alphabet.bits >= 4),
      d_first(size_t{ 1 } << (alphabet.bits + 1) / 2), d_later(d_labels / d_first)
{
    for (const auto& x : alphabet.points) {
        d_re.push_back(x.real());
        d_im.push_back(x.imag());
    }
    for (size_t l = 0; d_inverts && l < d_later; ++l)
        for (size_t k = 0; k < d_first; ++k) {
            const auto x = alphabet.points[k * d_later + l];
            d_sums[0].push_back(x.real());
            d_sums[1].push_back(x.imag());
            d_sums[2].push_back(std::norm(x));
        }
}

// Whether scrambling inverts this bit of a label.
bool soft_symbols::is_inverted(uint8_t scrambling, unsigned bit) const
{
    return d_inverts && (scrambling >> (d_alphabet.bits - 1 - bit) & 1);
}

void soft_symbols::soft_bits(uint8_t scrambling,
                             const symbol_estimate& e,
                             float* llr) const
{
    constexpr std::array<float, 8> nothing{};
    soft_bits(scrambling, e, nothing.data(), llr);
}

void soft_symbols::soft_bits(uint8_t scrambling,
                             const symbol_estimate& e,
                             const float* prior,
                             float* llr) const
{
    const unsigned bits = d_alphabet.bits;
    std::array<float, max_labels> by_number, d;
    std::array<float, 8> zero, one, known;
    square_distances(d_re.data(),
                     d_im.data(),
                     d_re.size(),
                     e.value.real(),
                     e.value.imag(),
                     by_number.data());
    for (size_t l = 0; !d_inverts && l < d_labels; ++l)
        d[l] = by_number[d_alphabet.scramble(static_cast<uint8_t>(l), scrambling)];
    float* const cost = d_inverts ? by_number.data() : d.data();
    for (unsigned b = 0; b < bits; ++b)
        known[b] = is_inverted(scrambling, b) ? -prior[b] : prior[b];
    if (std::any_of(prior, prior + bits, [](float p) { return p != 0; })) {
        std::array<float, max_labels> of_ones; // cost of the bits that are 1
        of_ones[0] = 0;
        for (unsigned b = 0; b < bits; ++b)
            for (size_t k = size_t{ 1 } << b; k-- > 0;) {
                of_ones[2 * k + 1] = of_ones[k] + known[b] * e.error;
                of_ones[2 * k] = of_ones[k];
            }
        for (size_t l = 0; l < d_labels; ++l)
            cost[l] += of_ones[l];
    }
    fold(cost, d_labels / 2, zero.data(), one.data());
    const float scale = 1 / e.error;
    for (unsigned b = 0; b < bits; ++b) {
        const float ratio = (one[b] - zero[b]) * scale - known[b];
        llr[b] = std::clamp(
            is_inverted(scrambling, b) ? -ratio : ratio, -largest_ratio, largest_ratio);
    }
}

symbol_belief soft_symbols::belief_of(uint8_t scrambling, const float* llr) const
{
    const unsigned bits = d_alphabet.bits;
    // Joint probabilities of bits begin .. end - 1; the first is the most significant.
    const auto shares = [&](unsigned begin, unsigned end, float* p) {
        p[0] = 1;
        for (unsigned b = begin; b < end; ++b) {
            float zero = 1 / (1 + std::exp(-llr[b])), one = 1 - zero;
            if (is_inverted(scrambling, b))
                std::swap(zero, one);
            for (size_t k = size_t{ 1 } << (b - begin); k-- > 0;) {
                p[2 * k + 1] = p[k] * one;
                p[2 * k] = p[k] * zero;
            }
        }
    };
    if (d_inverts) {
        std::array<float, 16> first, later;
        const unsigned half = (bits + 1) / 2;
        shares(0, half, first.data());
        shares(half, bits, later.data());
        const float* const tables[] = { d_sums[0].data(),
                                        d_sums[1].data(),
                                        d_sums[2].data() };
        float sum[3];
        weighted_sums(later.data(), first.data(), d_first, d_later, tables, sum);
        return { { sum[0], sum[1] },
                 std::max(sum[2] - (sum[0] * sum[0] + sum[1] * sum[1]), 0.0f) };
    }
    std::array<float, max_labels> p;
    shares(0, bits, p.data());
    std::complex<float> mean = 0;
    float power = 0;
    for (size_t label = 0; label < d_labels; ++label) {
        const auto x = d_alphabet.point(static_cast<uint8_t>(label), scrambling);
        mean += p[label] * x;
        power += p[label] * std::norm(x);
    }
    return { mean, std::max(power - std::norm(mean), 0.0f) };
}

} // namespace gr::hf::kernel
