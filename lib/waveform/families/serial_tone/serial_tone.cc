/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/families/serial_tone/serial_tone.h"

#include "waveform/coding/scrambler.h"

#include <stdexcept>
#include <string>

namespace gr::hf::kernel::serial_tone {

namespace {

// Differences between the data rates (110C tables XI to XV).
struct rate_plan {
    int rate_bps;
    unsigned bits;       // per channel symbol
    unsigned repetition; // of each coded pair
    size_t unknown, known;
    size_t rows_short, cols_short, rows_long, cols_long; // interleaver; 0: not coded
    size_t row_step, col_step;
    mode_words words_short, words_long; // d1 = 0: the rate has no long interleaver
};

constexpr rate_plan rate_plans[] = {
    { 75, 2, 1, 32, 0, 10, 9, 20, 36, 7, 7, { 7, 5 }, { 5, 5 } },
    { 150, 1, 4, 20, 20, 40, 18, 40, 144, 9, 17, { 7, 4 }, { 5, 4 } },
    { 300, 1, 2, 20, 20, 40, 18, 40, 144, 9, 17, { 6, 7 }, { 4, 7 } },
    { 600, 1, 1, 20, 20, 40, 18, 40, 144, 9, 17, { 6, 6 }, { 4, 6 } },
    { 1200, 2, 1, 20, 20, 40, 36, 40, 288, 9, 17, { 6, 5 }, { 4, 5 } },
    { 2400, 3, 1, 32, 16, 40, 72, 40, 576, 9, 17, { 6, 4 }, { 4, 4 } },
    { 4800, 3, 1, 32, 16, 0, 0, 0, 0, 0, 0, { 7, 6 }, { 0, 0 } },
};
constexpr mode_words voice_words{ 7, 7 };

constexpr size_t short_block = 1440, long_block = 11520; // symbols

const rate_plan& plan_of(const mode& m)
{
    if (m.family == waveform_family::serial_tone)
        for (const auto& p : rate_plans)
            if (p.rate_bps == m.rate_bps)
                return p;
    throw std::invalid_argument(m.to_string() + " is not a serial-tone mode");
}

// A word of 8 chips, repeated to fill \p n chips.
std::vector<uint8_t> repeated(unsigned word, size_t n)
{
    const auto& w = walsh_word(word);
    std::vector<uint8_t> chips(n);
    for (size_t i = 0; i < n; ++i)
        chips[i] = w[i % w.size()];
    return chips;
}

std::vector<uint8_t> scrambled_groups(const std::array<uint8_t, 15>& words)
{
    const auto& scrambler = serial_tone_sync_scrambler();
    std::vector<uint8_t> symbols;
    symbols.reserve(segment_symbols);
    for (const uint8_t word : words)
        for (size_t i = 0; i < group_symbols; ++i)
            symbols.push_back((walsh_word(word)[i % 8] + scrambler[i]) & 7);
    return symbols;
}

void fill_preamble(description& d, mode_words w)
{
    using content = preamble_section::content;
    const size_t n = segments(d.m);
    for (size_t s = 0; s < n; ++s) {
        const auto segment =
            preamble_segment(w.d1, w.d2, static_cast<unsigned>(n - 1 - s));
        d.preamble.insert(d.preamble.end(), segment.begin(), segment.end());
        const size_t begin = s * segment_symbols;
        const auto group = [begin](size_t g) { return begin + g * group_symbols; };
        d.sections.push_back({ content::fixed, group(0), fixed_symbols });
        d.sections.push_back({ content::mode_word, group(d1_group), 2 * group_symbols });
        d.sections.push_back({ content::countdown, group(c1_group), 3 * group_symbols });
        d.sections.push_back({ content::fixed, group(14), group_symbols });
    }
}

/* Probes are all zero before scrambling, except for the last two of a block, which start
 * with D1 and D2 twice. So a receiver finds the end of a block. */
void fill_cycle(description& d, mode_words w)
{
    const auto& scrambler = serial_tone_data_scrambler();
    for (size_t f = 0; f < d.frames_per_block; ++f) {
        std::vector<uint8_t> probe(d.known, 0);
        const size_t left = d.frames_per_block - f;
        if (d.known > 0 && left <= 2) {
            const auto mark = repeated(left == 2 ? w.d1 : w.d2, 16);
            std::copy(mark.begin(), mark.end(), probe.begin());
        }
        std::vector<cell> cells;
        for (size_t i = 0; i < d.frame_symbols(); ++i) {
            const uint8_t s = scrambler[(f * d.frame_symbols() + i) % scrambler.size()];
            if (i < d.unknown)
                cells.push_back({ symbol_kind::data, s });
            else
                cells.push_back({ symbol_kind::probe,
                                  static_cast<uint8_t>((probe[i - d.unknown] + s) & 7) });
        }
        d.add_frame(cells);
    }
}

} // namespace

const std::array<uint8_t, 8>& walsh_word(unsigned word)
{
    static const std::array<uint8_t, 8> words[8] = {
        { 0, 0, 0, 0, 0, 0, 0, 0 }, { 0, 4, 0, 4, 0, 4, 0, 4 },
        { 0, 0, 4, 4, 0, 0, 4, 4 }, { 0, 4, 4, 0, 0, 4, 4, 0 },
        { 0, 0, 0, 0, 4, 4, 4, 4 }, { 0, 4, 0, 4, 4, 0, 4, 0 },
        { 0, 0, 4, 4, 4, 4, 0, 0 }, { 0, 4, 4, 0, 4, 0, 0, 4 }
    };
    return words[word & 7];
}

std::array<uint8_t, 15> segment_words(unsigned d1, unsigned d2, unsigned count)
{
    // The standard's table of the two-bit countdown values swaps 01 and 10. Its own
    // example, and recordings of another maker's transmitter, agree on 4 + value.
    const auto two_bits = [count](unsigned shift) {
        return static_cast<uint8_t>(4 + (count >> shift & 3));
    };
    return { 0,
             1,
             3,
             0,
             1,
             3,
             1,
             2,
             0,
             static_cast<uint8_t>(d1),
             static_cast<uint8_t>(d2),
             two_bits(4),
             two_bits(2),
             two_bits(0),
             0 };
}

std::vector<uint8_t> preamble_segment(unsigned d1, unsigned d2, unsigned count)
{
    return scrambled_groups(segment_words(d1, d2, count));
}

const std::vector<uint8_t>& fixed_preamble()
{
    static const std::vector<uint8_t> fixed = [] {
        auto segment = preamble_segment(0, 0, 0);
        segment.resize(fixed_symbols);
        return segment;
    }();
    return fixed;
}

mode_words words_of(const mode& m)
{
    const rate_plan& p = plan_of(m);
    if (m.il == interleaver::voice)
        return voice_words;
    return m.il == interleaver::long_ ? p.words_long : p.words_short;
}

std::optional<mode> mode_of(unsigned d1, unsigned d2, bool zero_for_short)
{
    for (const mode& m : modes()) {
        if (m.il == (zero_for_short ? interleaver::short_ : interleaver::zero))
            continue;
        const mode_words w = words_of(m);
        if (w.d1 == d1 && w.d2 == d2)
            return m;
    }
    return std::nullopt;
}

std::optional<unsigned> countdown_of(unsigned c1, unsigned c2, unsigned c3)
{
    for (const unsigned c : { c1, c2, c3 })
        if (c < 4 || c > 7)
            return std::nullopt;
    return (c1 - 4) << 4 | (c2 - 4) << 2 | (c3 - 4);
}

size_t segments(const mode& m)
{
    plan_of(m);
    return m.il == interleaver::long_ ? 24 : 3;
}

const std::vector<mode>& modes()
{
    static const std::vector<mode> all = [] {
        using il = interleaver;
        std::vector<mode> list;
        const auto add = [&list](int rate_bps, il i) {
            list.push_back({ waveform_family::serial_tone, rate_bps, 3000, i, 7 });
        };
        for (const rate_plan& p : rate_plans) {
            if (p.rows_short == 0) {
                add(p.rate_bps, il::none);
                continue;
            }
            for (const il i : { il::zero, il::short_, il::long_ })
                add(p.rate_bps, i);
        }
        add(2400, il::voice);
        return list;
    }();
    return all;
}

description describe(const mode& m)
{
    const rate_plan& p = plan_of(m);
    const bool is_long = m.il == interleaver::long_;
    const mode_words words = words_of(m);

    description d;
    d.m = m;
    fill_preamble(d, words);

    d.unknown = p.unknown;
    d.known = p.known;
    d.frames_per_block = (is_long ? long_block : short_block) / d.frame_symbols();
    d.frames_per_cycle = d.frames_per_block;
    fill_cycle(d, words);

    if (p.rate_bps == 75) {
        d.alphabet = serial_tone_walsh();
        for (unsigned w = 0; w < 8; ++w)
            d.words.push_back(repeated(w, d.unknown));
    } else {
        d.alphabet = serial_tone_psk(p.bits);
    }

    d.coded_bits = d.frames_per_block * d.unknown / d.chips() * d.alphabet.bits;
    if (p.rows_short == 0) {
        d.input_bits = d.coded_bits;
    } else {
        d.code = serial_tone_code(p.repetition);
        d.input_bits = d.coded_bits / (2 * p.repetition);
    }
    if (m.il == interleaver::none || m.il == interleaver::zero)
        d.interleave = no_interleaver(d.coded_bits);
    else
        // The standard gives no depth for voice (D1, D2 = 7, 7): the short one is our
        // choice.
        d.interleave = matrix_interleaver(is_long ? p.rows_long : p.rows_short,
                                          is_long ? p.cols_long : p.cols_short,
                                          p.row_step,
                                          p.col_step);
    d.flush_bits = 144;
    return d;
}

} // namespace gr::hf::kernel::serial_tone
