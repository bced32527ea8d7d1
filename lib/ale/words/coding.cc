/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/words/coding.h"

#include "ale/words/golay.h"

#include <limits>

namespace gr::hf::ale {

namespace {

// A Gray code: neighbouring tones differ in one bit.
constexpr std::array<unsigned, tone_count> tone_bits{ 0, 1, 3, 2, 6, 7, 5, 4 };
constexpr uint32_t inverted = 0xfff; // check bits of the second half

// The halves of a word share their second character: two bits of it are in the first.
// A half of each sort is kept for each value of these bits.
constexpr size_t shared_values = 4;
constexpr size_t first_sorts = 3; // routing, CMD, DATA and REP

struct half {
    float score = -std::numeric_limits<float>::infinity();
    uint16_t data = 0;
};

size_t first_sort(preamble p) { return is_routing(p) ? 0 : p == preamble::cmd ? 1 : 2; }

// Place of a first half among the best: its sort, shared bits, whether it may be of an
// address.
size_t first_place(uint32_t data)
{
    const word w = word::of(data << 12);
    return (first_sort(w.kind) * shared_values + (data & 3)) * 2 + is_basic(w.text[0]);
}

// Places of a second half: with shared bits s it is in the entry s, as part of an address
// or not.
std::array<uint8_t, shared_values> second_places(uint32_t data)
{
    std::array<uint8_t, shared_values> places{};
    for (uint32_t s = 0; s < shared_values; ++s) {
        const word w = word::of(s << 12 | data);
        places[s] =
            static_cast<uint8_t>(2 * s + (is_basic(w.text[1]) && is_basic(w.text[2])));
    }
    return places;
}

struct place_tables {
    std::array<uint8_t, golay_words> first{};
    std::array<std::array<uint8_t, shared_values>, golay_words> second{};
};

const place_tables& places()
{
    static const auto tables = [] {
        place_tables t;
        for (uint32_t d = 0; d < golay_words; ++d) {
            t.first[d] = static_cast<uint8_t>(first_place(d));
            t.second[d] = second_places(d);
        }
        return t;
    }();
    return tables;
}

void keep(half& best, float score, size_t data)
{
    if (score > best.score)
        best = { score, static_cast<uint16_t>(data) };
}

// Both halves with the same shared bits; \p basic: those of addresses only.
word_match joined(const half* first, const half* second, bool basic)
{
    word_match best;
    best.score = -std::numeric_limits<float>::infinity();
    for (size_t s = 0; s < shared_values; ++s)
        for (size_t a = basic; a < 2; ++a)
            for (size_t b = basic; b < 2; ++b) {
                const half &x = first[2 * s + a], &y = second[2 * s + b];
                if (x.score + y.score > best.score)
                    best = { word::of(uint32_t(x.data) << 12 | y.data),
                             x.score + y.score };
            }
    return best;
}

} // namespace

coded_word encode(const word& w)
{
    const uint32_t bits = w.bits();
    const uint32_t first = golay_encode(bits >> 12);
    const uint32_t second = golay_encode(bits & 0xfff) ^ inverted;
    coded_word out{};
    for (size_t k = 0; k < 24; ++k) {
        out[2 * k] = first >> (23 - k) & 1;
        out[2 * k + 1] = second >> (23 - k) & 1;
    }
    return out;
}

float correlate(const coded_word& w, const std::array<float, bits_per_copy>& soft)
{
    float sum = 0;
    for (size_t k = 0; k < bits_per_copy; ++k)
        sum += w[k] ? soft[k] : -soft[k];
    return sum;
}

unsigned tone_of(unsigned bits)
{
    static_assert(tone_bits[4] == 6 && tone_bits[7] == 4);
    constexpr std::array<unsigned, tone_count> tones{ 0, 1, 3, 2, 7, 6, 4, 5 };
    return tones[bits & 7];
}

unsigned bits_of(unsigned tone) { return tone_bits[tone & 7]; }

std::array<uint8_t, tones_per_word> tones_of(const word& w)
{
    const coded_word bits = encode(w);
    std::array<uint8_t, tones_per_word> out{};
    for (size_t k = 0; k < tones_per_word; ++k) {
        unsigned b = 0;
        for (size_t j = 0; j < bits_per_tone; ++j)
            b = b << 1 | bits[(bits_per_tone * k + j) % bits_per_copy];
        out[k] = static_cast<uint8_t>(tone_of(b));
    }
    return out;
}

std::array<word_match, word_sets> best_words(const std::array<float, bits_per_copy>& soft)
{
    std::array<float, 24> a{}, b{};
    for (size_t k = 0; k < 24; ++k) {
        a[k] = soft[2 * k];
        b[k] = k < 12 ? soft[2 * k + 1] : -soft[2 * k + 1];
    }
    const auto& where = places();
    std::array<half, first_sorts * shared_values * 2> first;
    std::array<half, shared_values * 2> second;
    std::array<float, golay_words> fit;
    golay_correlate(a, fit);
    for (size_t d = 0; d < golay_words; ++d)
        keep(first[where.first[d]], fit[d], d);
    golay_correlate(b, fit);
    for (size_t d = 0; d < golay_words; ++d)
        for (const uint8_t place : where.second[d])
            keep(second[place], fit[d], d);
    const half* of = first.data();
    constexpr size_t sort = shared_values * 2;
    std::array<word_match, word_sets> found{ joined(of, second.data(), true),
                                             joined(of + sort, second.data(), false),
                                             joined(of + 2 * sort, second.data(), true),
                                             joined(
                                                 of + 2 * sort, second.data(), false) };
    for (auto& match : found)
        match.score -= soft[bits_per_copy - 1]; // the stuff bit
    return found;
}

} // namespace gr::hf::ale
