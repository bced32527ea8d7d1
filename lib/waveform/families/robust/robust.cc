/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/families/robust/robust.h"

#include "waveform/coding/scrambler.h"

#include <numeric>
#include <stdexcept>
#include <utility>

namespace gr::hf::kernel::robust {

namespace {

//! Words, code and blocks of a data rate.
struct rate_plan {
    int rate_bps;
    unsigned bits;                  // per word
    size_t repetitions;             // of the Walsh function in a word
    size_t num, den;                // code rate
    const char* mask;               // kept of T1 T2 T1 T2 ..., cyclic
    size_t words_short, words_long; // of an interleaver block
};

/* Longer words at a high code rate beat shorter ones at a low rate: the first round, which
 * has no phases, loses less. Masks of 4/5 and 2/3 are those of 110C table D-XLII for K = 7.
 * 8/15 leaves out one of 16. Short blocks last 2.56 s and have at least 384 bits; with 96
 * bits the rounds gain little. Long ones outlast a fade of 1 Hz. */
constexpr rate_plan rate_plans[] = {
    { 50, 6, 3, 2, 3, "1110", 96, 192 },
    { 75, 6, 2, 2, 3, "1110", 96, 192 },
    { 150, 6, 1, 2, 3, "1110", 96, 384 },
    { 200, 5, 1, 8, 15, "1111111111110111", 192, 768 },
    { 300, 5, 1, 4, 5, "11101010", 192, 768 },
};

// Share of the block between two coded bits that are fetched one after the other: the
// smaller part of the golden section, so that no stride comes near to itself again.
constexpr double golden = 0.381966;

const rate_plan& plan_of(const mode& m)
{
    if (m.family == waveform_family::robust)
        for (const rate_plan& p : rate_plans)
            if (p.rate_bps == m.rate_bps)
                return p;
    throw std::invalid_argument(m.to_string() + " is not a robust mode");
}

size_t number_of(const mode& m)
{
    size_t k = 0;
    while (k < modes().size() && !(modes()[k] == m))
        ++k;
    return k;
}

void fill_preamble(description& d)
{
    using content = preamble_section::content;
    for (size_t k = 0; k < fixed_periods; ++k)
        d.preamble.insert(
            d.preamble.end(), preamble_period().begin(), preamble_period().end());
    const auto name = mode_part(number_of(d.m));
    const size_t fixed = d.preamble.size();
    d.preamble.insert(d.preamble.end(), name.begin(), name.end());
    d.sections = { { content::fixed, 0, fixed },
                   { content::mode_word, fixed, name.size() } };
}

// Function \p number of 2^bits chips: bit by bit, as in Hadamard's matrix.
std::vector<uint8_t> walsh_word(unsigned number, unsigned bits, size_t repetitions)
{
    const size_t chips = size_t{ 1 } << bits;
    std::vector<uint8_t> word(chips * repetitions);
    for (size_t i = 0; i < word.size(); ++i)
        word[i] =
            __builtin_parity(number & static_cast<unsigned>(i % chips)) != 0 ? 4 : 0;
    return word;
}

void fill_words(description& d, const rate_plan& p)
{
    d.alphabet = { p.bits, scrambling::add_mod_8, psk8_points(), {} };
    for (unsigned w = 0; w < 1u << p.bits; ++w) {
        d.alphabet.label_to_number.push_back(static_cast<uint8_t>(w));
        d.words.push_back(walsh_word(w, p.bits, p.repetitions));
    }
    // No word is exceptional at the end of a block.
    const auto usual = d.words;
    d.words.insert(d.words.end(), usual.begin(), usual.end());
}

// A frame is a word; the scrambler starts again with each block.
void fill_frames(description& d)
{
    const auto scramble = frame_scrambler(3, d.frames_per_block * d.unknown);
    for (size_t f = 0; f < d.frames_per_block; ++f) {
        std::vector<cell> cells;
        for (size_t i = 0; i < d.unknown; ++i)
            cells.push_back({ symbol_kind::data, scramble[f * d.unknown + i] });
        d.add_frame(cells);
    }
}

code_plan code_of(const rate_plan& p)
{
    code_plan c;
    c.coded = true;
    c.tail_biting = true;
    for (const char* keep = p.mask; *keep != '\0'; ++keep)
        c.puncture.push_back(*keep == '1');
    return c;
}

} // namespace

const std::array<uint8_t, period_symbols>& preamble_period()
{
    // x^6 + x + 1 is primitive: the sequence resembles itself, shifted in time or in carrier
    // by whole lines, by at most sqrt(64) / 63.
    static const auto period = [] {
        std::array<uint8_t, period_symbols> p{};
        unsigned reg = 1;
        for (uint8_t& v : p) {
            v = (reg & 1) != 0 ? 4 : 0;
            reg = reg >> 1 | ((reg ^ reg >> 1) & 1) << 5;
        }
        return p;
    }();
    return period;
}

std::vector<uint8_t> mode_part(size_t mode)
{
    // Two scramblers of different periods, one of them later by 51 symbols from mode to
    // mode: no part is a shifted piece of another.
    constexpr size_t apart = 51, symbols = mode_periods * period_symbols;
    const auto& common = serial_tone_data_scrambler();
    const auto own = frame_scrambler(3, mode * apart + symbols);
    std::vector<uint8_t> part;
    for (size_t i = 0; i < symbols; ++i)
        part.push_back((common[i % common.size()] + own[mode * apart + i]) & 7);
    return part;
}

const std::vector<mode>& modes()
{
    static const std::vector<mode> all = [] {
        std::vector<mode> list;
        for (const rate_plan& p : rate_plans)
            for (const interleaver il : { interleaver::short_, interleaver::long_ })
                list.push_back({ waveform_family::robust, p.rate_bps, 3000, il, 7 });
        return list;
    }();
    return all;
}

description describe(const mode& m)
{
    const rate_plan& p = plan_of(m);
    description d;
    d.m = m;
    fill_preamble(d);
    fill_words(d, p);
    d.unknown = d.chips();
    d.frames_per_block = m.il == interleaver::long_ ? p.words_long : p.words_short;
    d.frames_per_cycle = d.frames_per_block;
    fill_frames(d);
    d.coded_bits = d.frames_per_block * p.bits;
    d.code = code_of(p);
    d.input_bits = d.coded_bits / p.den * p.num;
    auto step = static_cast<size_t>(golden * static_cast<double>(d.coded_bits));
    while (std::gcd(step, d.coded_bits) != 1)
        ++step;
    d.interleave = permutation(d.coded_bits, step);
    d.eom_optional = true;
    return d;
}

} // namespace gr::hf::kernel::robust
