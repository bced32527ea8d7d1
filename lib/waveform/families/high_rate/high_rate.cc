/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/families/high_rate/high_rate.h"

#include "waveform/coding/scrambler.h"

#include <algorithm>
#include <stdexcept>

namespace gr::hf::kernel::high_rate {

namespace {

// Differences between the data rates (110C tables C-I, C-XI, C-XII).
struct rate_plan {
    int rate_bps;
    uint8_t code;
    unsigned bits;            // per data symbol
    unsigned scrambling_bits; // per data symbol
    size_t increments[6];     // of the interleavers US, VS, S, M, L, VL
};

constexpr rate_plan rate_plans[] = {
    { 3200, 1, 2, 3, { 97, 229, 805, 1393, 3281, 6985 } },
    { 4800, 2, 3, 3, { 145, 361, 1045, 2089, 5137, 10273 } },
    { 6400, 3, 4, 4, { 189, 481, 1393, 3281, 6985, 11141 } },
    { 8000, 4, 5, 5, { 201, 601, 1741, 3481, 8561, 14441 } },
    { 9600, 5, 6, 6, { 229, 805, 2089, 5137, 10273, 17329 } },
    { 12800, 6, 6, 6, {} },
};

constexpr interleaver interleavers[6] = {
    interleaver::ultra_short, interleaver::very_short, interleaver::short_,
    interleaver::medium,      interleaver::long_,      interleaver::very_long
};
constexpr size_t block_frames[6] = { 1, 3, 9, 18, 36, 72 };

const rate_plan& plan_of(const mode& m)
{
    if (m.family == waveform_family::high_rate)
        for (const auto& p : rate_plans)
            if (p.rate_bps == m.rate_bps)
                return p;
    throw std::invalid_argument(m.to_string() + " is not a high-rate mode");
}

// Position in the list of interleavers; 12800 has none and uses the code of the first.
size_t interleaver_index(const mode& m)
{
    const auto found = std::find(std::begin(interleavers), std::end(interleavers), m.il);
    if (found != std::end(interleavers))
        return static_cast<size_t>(found - std::begin(interleavers));
    if (m.il == interleaver::none && m.rate_bps == 12800)
        return 0;
    throw std::invalid_argument(m.to_string() + " is not a high-rate mode");
}

// \p symbols with \p offset added modulo 8.
template <class Symbols>
void append(std::vector<uint8_t>& out, const Symbols& symbols, unsigned offset = 0)
{
    for (const uint8_t s : symbols)
        out.push_back((s + offset) & 7);
}

// QPSK transcoding of a dibit, and back: the same mapping as the data symbols of 3200.
constexpr uint8_t dibit_to_symbol[4] = { 0, 2, 6, 4 };
constexpr uint8_t symbol_to_dibit[4] = { 0, 1, 3, 2 };

void fill_cycle(description& d, mode_codes codes, unsigned scrambling_bits)
{
    const auto scramble = frame_scrambler(scrambling_bits, data_symbols);
    const auto signs = probe_signs(codes);
    for (const uint8_t minus : signs) {
        std::vector<cell> cells;
        for (const uint8_t s : scramble)
            cells.push_back({ symbol_kind::data, s });
        for (const uint8_t p : mini_probe())
            cells.push_back(
                { symbol_kind::probe, static_cast<uint8_t>((p + (minus ? 4 : 0)) & 7) });
        d.add_frame(cells);
    }
    for (const uint8_t p : reinserted(codes))
        d.reinserted_cells.push_back({ symbol_kind::preamble, p });
}

} // namespace

const std::vector<uint8_t>& sync()
{
    static const std::vector<uint8_t> symbols{
        1, 5, 1, 3, 6, 1, 3, 1, 1, 6, 3, 7, 7, 3, 5, 4, 3, 6, 6, 4, 5, 4, 0, //
        2, 2, 2, 6, 0, 7, 5, 7, 4, 0, 7, 5, 7, 1, 6, 1, 0, 5, 2, 2, 6, 2, 3, //
        6, 0, 0, 5, 1, 4, 2, 2, 2, 3, 4, 0, 6, 2, 7, 4, 3, 3, 7, 2, 0, 2, 6, //
        4, 4, 1, 7, 6, 2, 0, 6, 2, 3, 6, 7, 4, 3, 6, 1, 3, 7, 4, 6, 5, 7, 2, //
        0, 1, 1, 1, 4, 4, 0, 0, 5, 7, 7, 4, 7, 3, 5, 4, 1, 6, 5, 6, 6, 4, 6, //
        3, 4, 3, 0, 7, 1, 3, 4, 7, 0, 1, 4, 3, 3, 3, 5, 1, 1, 1, 4, 6, 1, 0, //
        6, 0, 1, 3, 1, 4, 1, 7, 7, 6, 3, 0, 0, 7, 2, 7, 2, 0, 2, 6, 1, 1, 1, //
        2, 7, 7, 5, 3, 3, 6, 0, 5, 3, 3, 1, 0, 7, 1, 1, 0, 3, 0, 4, 0, 7, 3
    };
    return symbols;
}

const std::vector<uint8_t>& mini_probe()
{
    // A Frank-Heimiller code of 16 symbols, and its first 15 again.
    static const std::vector<uint8_t> symbols{ 0, 0, 0, 0, 0, 2, 4, 6, 0, 4, 0,
                                               4, 0, 6, 4, 2, 0, 0, 0, 0, 0, 2,
                                               4, 6, 0, 4, 0, 4, 0, 6, 4 };
    return symbols;
}

const std::array<uint8_t, 13>& barker()
{
    static const std::array<uint8_t, 13> chips{ 0, 4, 0, 4, 0, 0, 4, 4, 0, 0, 0, 0, 0 };
    return chips;
}

mode_codes codes_of(const mode& m)
{
    return { plan_of(m).code, static_cast<uint8_t>(interleaver_index(m) + 1) };
}

std::optional<mode> mode_of(mode_codes c)
{
    for (const mode& m : modes()) {
        const mode_codes mine = codes_of(m);
        if (mine.rate == c.rate && mine.interleaver == c.interleaver)
            return m;
    }
    return std::nullopt;
}

std::array<uint8_t, 3> words_of(mode_codes c)
{
    std::array<uint8_t, 3> d{};
    for (int k = 0; k < 3; ++k)
        d[k] = dibit_to_symbol[(c.rate >> (2 - k) & 1) << 1 |
                               (c.interleaver >> (2 - k) & 1)];
    return d;
}

std::optional<mode_codes> codes_of_words(const std::array<uint8_t, 3>& d)
{
    mode_codes c;
    for (const uint8_t symbol : d) {
        if (symbol > 7 || symbol % 2)
            return std::nullopt;
        const uint8_t dibit = symbol_to_dibit[symbol / 2];
        c.rate = static_cast<uint8_t>(c.rate << 1 | dibit >> 1);
        c.interleaver = static_cast<uint8_t>(c.interleaver << 1 | (dibit & 1));
    }
    return c;
}

std::vector<uint8_t> preamble(mode_codes c)
{
    std::vector<uint8_t> p;
    append(p, sync());
    append(p, mini_probe());
    p.push_back(2);
    for (const uint8_t word : words_of(c))
        append(p, barker(), word);
    p.push_back(6);
    append(p, mini_probe(), 4);
    return p;
}

std::vector<uint8_t> reinserted(mode_codes c)
{
    const auto p = preamble(c);
    return { p.end() - reinserted_symbols, p.end() };
}

std::vector<std::complex<float>> preamble_tail()
{
    const auto numbers = preamble({ 1, 1 });
    std::vector<std::complex<float>> tail;
    for (size_t i = probe_plus_begin; i < preamble_symbols; ++i) {
        const bool word = i >= words_begin && i < probe_minus_begin - 1;
        tail.push_back(word ? 0.0f : psk8_points()[numbers[i]]);
    }
    return tail;
}

std::array<uint8_t, superframe_frames> probe_signs(mode_codes c)
{
    std::array<uint8_t, superframe_frames> signs{};
    auto out = signs.begin();
    const auto three_bits = [&out](unsigned value) {
        for (int shift = 2; shift >= 0; --shift)
            *out++ = value >> shift & 1;
    };
    for (unsigned set = 1; set <= superframe_frames / set_probes; ++set) {
        out = std::fill_n(out, 7, uint8_t{ 1 });
        *out++ = 0;
        three_bits(c.rate);
        three_bits(c.interleaver);
        three_bits(set);
        *out++ = 0;
    }
    return signs;
}

const std::vector<mode>& modes()
{
    static const std::vector<mode> all = [] {
        std::vector<mode> list;
        const auto add = [&list](int rate_bps, interleaver il) {
            list.push_back({ waveform_family::high_rate, rate_bps, 3000, il, 7 });
        };
        for (const rate_plan& p : rate_plans) {
            if (p.increments[0] == 0) {
                add(p.rate_bps, interleaver::none);
                continue;
            }
            for (const interleaver il : interleavers)
                add(p.rate_bps, il);
        }
        return list;
    }();
    return all;
}

description describe(const mode& m)
{
    using content = preamble_section::content;
    const rate_plan& p = plan_of(m);
    const size_t il = interleaver_index(m);
    const mode_codes codes = codes_of(m);

    description d;
    d.m = m;
    // The AGC block is the conjugate of the fixed section (110C C.5.2.1.1).
    for (const uint8_t s : sync())
        d.agc.push_back((8 - s) & 7);
    d.max_agc_blocks = 7;
    d.preamble = preamble(codes);
    d.sections = { { content::fixed, 0, words_begin },
                   { content::mode_word, words_begin, 3 * barker().size() },
                   { content::fixed, 255, preamble_symbols - 255 } };

    d.unknown = data_symbols;
    d.known = probe_symbols;
    d.frames_per_block = block_frames[il];
    d.frames_per_cycle = superframe_frames;
    d.reinserted = reinserted_symbols;
    fill_cycle(d, codes, p.scrambling_bits);

    d.alphabet = p.bits <= 3 ? transcoded_psk(p.bits) : qam(p.bits);
    d.coded_bits = d.frames_per_block * d.unknown * p.bits;
    if (m.il == interleaver::none) {
        // The standard names no block for 12800: one frame is our choice.
        d.input_bits = d.coded_bits;
        d.interleave = no_interleaver(d.coded_bits);
    } else {
        d.code = high_rate_code();
        d.input_bits = d.coded_bits / 4 * 3;
        d.interleave = stride_interleaver(d.coded_bits, p.increments[il]);
    }
    d.eom_optional = true;
    return d;
}

} // namespace gr::hf::kernel::high_rate
