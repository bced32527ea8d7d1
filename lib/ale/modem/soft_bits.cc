/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/modem/soft_bits.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::ale {

namespace {

constexpr size_t lanes = 8; // offsets, and one that is not used

// Approximates ln I0(x), x^2 = 4 expected energy, with a square root: wrong by 0.3 at most.
float log_likelihood(float energy)
{
    return 2 * std::sqrt(1 + soft_bits::expected * energy) - 2;
}

} // namespace

soft_bits::soft_bits(size_t history_words)
    : d_kept((history_words + 1) * bits_per_word), d_room(d_kept + bits_per_word),
      d_streams(rows_per_tone * offset_count, std::vector<float>(d_room))
{
}

void soft_bits::push(const tone_rows::row& r)
{
    tone_rows::row likely;
    for (size_t b = 0; b < tone_rows::bins; ++b)
        likely[b] = log_likelihood(r[b]);
    std::array<std::array<float, lanes>, bits_per_tone> soft{};
    for (size_t bit = 0; bit < bits_per_tone; ++bit) {
        std::array<float, lanes> one{}, zero{}; // likelihoods are not negative
        for (unsigned tone = 0; tone < tone_count; ++tone) {
            auto& best = bits_of(tone) >> (bits_per_tone - 1 - bit) & 1 ? one : zero;
            for (size_t f = 0; f < lanes; ++f)
                best[f] = std::max(best[f], likely[tone * lanes + f]);
        }
        for (size_t f = 0; f < lanes; ++f)
            soft[bit][f] = one[f] - zero[f];
    }
    const auto phase = static_cast<size_t>(d_rows) % rows_per_tone;
    auto& used = d_used[phase];
    const bool full = used + bits_per_tone > d_room;
    for (size_t f = 0; f < offset_count; ++f) {
        auto& to = d_streams[phase * offset_count + f];
        if (full)
            std::copy(to.end() - static_cast<ptrdiff_t>(d_kept), to.end(), to.begin());
        for (size_t bit = 0; bit < bits_per_tone; ++bit)
            to[(full ? d_kept : used) + bit] = soft[bit][f];
    }
    used = (full ? d_kept : used) + bits_per_tone;
    ++d_rows;
}

const float* soft_bits::word_at(int64_t end, size_t offset) const
{
    const auto phase = static_cast<size_t>(end) % rows_per_tone;
    const int64_t newest =
        d_rows - 1 - ((d_rows - 1 - end) % static_cast<int64_t>(rows_per_tone));
    const auto back = static_cast<size_t>(newest - end) / rows_per_tone * bits_per_tone;
    const size_t used = d_used[phase];
    if (end < 0 || used < back + bits_per_word)
        return nullptr;
    return d_streams[phase * offset_count + offset].data() + used - back - bits_per_word;
}

soft_word soft_bits::at(int64_t end, size_t offset) const
{
    soft_word w;
    const float* x = word_at(end, offset);
    if (!x)
        return w;
    float squares = 0, sum = 0;
    for (size_t k = 0; k < bits_per_copy; ++k) {
        const float a = x[k], b = x[k + bits_per_copy], c = x[k + 2 * bits_per_copy];
        w.bits[k] = a + b + c;
        squares += a * a + b * b + c * c;
        sum += std::abs(w.bits[k]);
    }
    w.norm = std::sqrt(squares);
    w.strength = w.norm > 0 ? sum / w.norm : 0;
    return w;
}

int soft_bits::votes(int64_t end, size_t offset) const
{
    const float* x = word_at(end, offset);
    int unanimous = 0;
    for (size_t k = 0; x && k + 1 < bits_per_copy; ++k) {
        const int ones =
            (x[k] > 0) + (x[k + bits_per_copy] > 0) + (x[k + 2 * bits_per_copy] > 0);
        unanimous += ones == 0 || ones == 3;
    }
    return unanimous;
}

} // namespace gr::hf::ale
