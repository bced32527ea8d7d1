/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/families/wideband/wideband.h"

#include "waveform/coding/scrambler.h"
#include "waveform/families/wideband/preamble.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel::wideband {

namespace {

constexpr interleaver interleavers[4] = { interleaver::ultra_short,
                                          interleaver::short_,
                                          interleaver::medium,
                                          interleaver::long_ };

[[noreturn]] void not_ours(const mode& m)
{
    throw std::invalid_argument(m.to_string() + " is not a wideband mode");
}

const probe_row& probe_row_of(size_t length)
{
    for (const probe_row& p : probes)
        if (p.length == length)
            return p;
    throw std::invalid_argument("mini-probe of " + std::to_string(length) +
                                " symbols: no waveform has it");
}

/* Sequences other than Frank sequences (110C tables D-XXII, D-XXIV): 1 is a minus
 * sign. */
constexpr uint8_t barker_13[13] = { 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0 };
constexpr uint8_t signs_19[19] = {
    0, 1, 0, 0, 1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 1, 1, 0
};

// Order of the roots of unity in a base sequence. 0: signs only.
size_t order_of(size_t base)
{
    const auto m = static_cast<size_t>(std::lround(std::sqrt(static_cast<double>(base))));
    return m * m == base ? m : 0;
}

// Numbers in known_points(): after the eight of 8PSK follows root k with phase -2*pi*k/m.
std::vector<uint8_t> base_sequence(size_t base)
{
    std::vector<uint8_t> b;
    if (base == 13)
        for (const uint8_t minus : barker_13)
            b.push_back(minus ? 4 : 0);
    else if (base == 19)
        for (const uint8_t minus : signs_19)
            b.push_back(minus ? 4 : 0);
    const size_t m = order_of(base);
    for (size_t r = 0; r < m; ++r)
        for (size_t c = 0; c < m; ++c)
            b.push_back(static_cast<uint8_t>(8 + r * c % m));
    return b;
}

// Keep-mask over T1 T2 T1 T2 ... from the two printed rows; empty if everything is kept.
std::vector<uint8_t> mask_of(const code_row& row, size_t k)
{
    std::vector<uint8_t> mask;
    for (size_t i = 0; row.t1[k][i] != '\0'; ++i) {
        mask.push_back(row.t1[k][i] == '1');
        mask.push_back(row.t2[k][i] == '1');
    }
    const bool all = std::find(mask.begin(), mask.end(), 0) == mask.end();
    return all ? std::vector<uint8_t>{} : mask;
}

bool reversed(const description& d) { return d.m.reading == waveform_reading::reversed; }

void fill_frames(description& d, const waveform_row& row)
{
    const auto scramble =
        frame_scrambler(row.bits <= 3 ? 3 : row.bits,
                        row.unknown,
                        reversed(d) ? register_shift::left : register_shift::right);
    const mini_probe probe = mini_probe_of(row.known);
    d.frames_per_cycle = row.frames[column_of(interleaver::long_)];
    d.probe_period = probe.base;
    for (size_t f = 0; f < d.frames_per_cycle; ++f) {
        std::vector<cell> cells;
        for (const uint8_t s : scramble)
            cells.push_back({ symbol_kind::data, s });
        const bool boundary = reversed(d) ? boundary_probe_of_block(d.frames_per_block, f)
                                          : boundary_probe(row, f);
        for (const uint8_t p : boundary ? probe.shifted : probe.normal)
            cells.push_back({ symbol_kind::probe, p });
        d.add_frame(cells);
    }
    if (reversed(d))
        return;
    // Other readings found on the air: by the block in use, and no shifted probe.
    const uint16_t normal = d.frame_patterns.front();
    const uint16_t shifted = d.frame_patterns[d.frames_per_cycle - 2];
    std::vector<uint16_t> none(d.frames_per_cycle, normal), of_block = none;
    for (size_t f = 0; f < d.frames_per_cycle; ++f)
        if (boundary_probe_of_block(d.frames_per_block, f))
            of_block[f] = shifted;
    if (of_block != d.frame_patterns)
        d.other_probes.push_back(std::move(of_block));
    d.other_probes.push_back(std::move(none));
}

// Waveform 0: a frame is a channel symbol; the chip scrambler restarts with each block.
void fill_chips(description& d)
{
    const auto& scramble = chip_scrambler();
    d.frames_per_cycle = d.frames_per_block;
    for (size_t f = 0; f < d.frames_per_block; ++f) {
        std::vector<cell> cells;
        for (size_t i = 0; i < d.unknown; ++i)
            cells.push_back(
                { symbol_kind::data, scramble[(f * d.unknown + i) % scramble.size()] });
        d.add_frame(cells);
    }
    d.alphabet = { 2, scrambling::add_mod_8, psk8_points(), { 0, 1, 2, 3 } };
    for (const bool last : { false, true })
        for (unsigned dibit = 0; dibit < 4; ++dibit)
            d.words.push_back(walsh_word(dibit, last && !reversed(d)));
}

} // namespace

const std::vector<mode>& modes()
{
    static const std::vector<mode> all = [] {
        std::vector<mode> list;
        for (const waveform_row& row : waveforms)
            for (const interleaver il : interleavers)
                for (const int k : { 7, 9 })
                    if (row.frames[column_of(il)] > 0)
                        list.push_back({ waveform_family::wideband,
                                         row.rate_bps,
                                         1000 * row.bandwidth_khz,
                                         il,
                                         k });
        return list;
    }();
    return all;
}

size_t column_of(interleaver il)
{
    const auto found = std::find(std::begin(interleavers), std::end(interleavers), il);
    if (found == std::end(interleavers))
        throw std::invalid_argument(std::string("interleaver ") + to_string(il) +
                                    ": wideband modes have US, S, M and L");
    return static_cast<size_t>(found - std::begin(interleavers));
}

const waveform_row& row_of(const mode& m)
{
    if (m.family == waveform_family::wideband)
        for (const waveform_row& row : waveforms)
            if (1000 * row.bandwidth_khz == m.bandwidth_hz && row.rate_bps == m.rate_bps)
                return row;
    not_ours(m);
}

code_plan code_of(unsigned num, unsigned den, int constraint_length)
{
    const auto found = std::find_if(codes.begin(), codes.end(), [&](const code_row& row) {
        return row.rate_num == num && row.rate_den == den;
    });
    if (found == codes.end() || (constraint_length != 7 && constraint_length != 9))
        throw std::invalid_argument("wideband code of rate " + std::to_string(num) + "/" +
                                    std::to_string(den) + ", constraint length " +
                                    std::to_string(constraint_length));
    code_plan p;
    p.coded = true;
    p.tail_biting = true;
    p.repetition = found->repetition;
    p.puncture = mask_of(*found, constraint_length == 9);
    if (constraint_length == 9) {
        p.constraint_length = 9;
        p.t1 = 0561; // x^8+x^6+x^5+x^4+1 (110C D.5.3.2)
        p.t2 = 0753; // x^8+x^7+x^6+x^5+x^3+x+1
    }
    return p;
}

mini_probe mini_probe_of(size_t length)
{
    const probe_row& row = probe_row_of(length);
    const auto base = base_sequence(row.base);
    mini_probe p{ row.base, row.shift, {}, {} };
    for (size_t i = 0; i < length; ++i) {
        p.normal.push_back(base[i % row.base]);
        p.shifted.push_back(base[(i + row.shift) % row.base]);
    }
    return p;
}

std::vector<std::complex<float>> known_points(size_t length)
{
    std::vector<std::complex<float>> points = psk8_points();
    const size_t m = order_of(probe_row_of(length).base);
    for (size_t k = 0; k < m; ++k) {
        const double phase =
            -2 * std::acos(-1.0) * static_cast<double>(k) / static_cast<double>(m);
        points.emplace_back(static_cast<float>(std::cos(phase)),
                            static_cast<float>(std::sin(phase)));
    }
    return points;
}

bool boundary_probe(const waveform_row& w, uint64_t frame)
{
    return w.known > 0 &&
           boundary_probe_of_block(w.frames[column_of(interleaver::long_)], frame);
}

bool boundary_probe_of_block(size_t frames_per_block, uint64_t frame)
{
    return (frame + 2) % frames_per_block == 0;
}

std::vector<uint8_t> walsh_word(unsigned dibit, bool alternate)
{
    // 110C D.5.1.4: one row per di-bit, repeated to 32 chips.
    static constexpr uint8_t normal[4][4] = {
        { 0, 0, 0, 0 }, { 0, 4, 0, 4 }, { 0, 0, 4, 4 }, { 0, 4, 4, 0 }
    };
    static constexpr uint8_t last[4][8] = { { 0, 0, 0, 0, 4, 4, 4, 4 },
                                            { 0, 4, 0, 4, 4, 0, 4, 0 },
                                            { 0, 0, 4, 4, 4, 4, 0, 0 },
                                            { 0, 4, 4, 0, 4, 0, 0, 4 } };
    if (dibit > 3)
        throw std::invalid_argument("Walsh word of di-bit " + std::to_string(dibit) +
                                    ", allowed are 0 to 3");
    std::vector<uint8_t> chips(32);
    for (size_t i = 0; i < chips.size(); ++i)
        chips[i] = alternate ? last[dibit][i % 8] : normal[dibit][i % 4];
    return chips;
}

const std::vector<uint8_t>& chip_scrambler()
{
    static const std::vector<uint8_t> values = [] {
        constexpr size_t tap = 31, shifts_per_value = 16, count = 2048;
        std::array<uint8_t, 159> b = chip_scrambler_preset;
        std::vector<uint8_t> v(count);
        for (uint8_t& value : v) {
            for (size_t shift = 0; shift < shifts_per_value; ++shift) {
                const uint8_t in = b.back() ^ b[tap];
                std::copy_backward(b.begin(), b.end() - 1, b.end());
                b[0] = in;
            }
            value = static_cast<uint8_t>(4 * b[2] + 2 * b[1] + b[0]);
        }
        return v;
    }();
    return values;
}

std::vector<waveform_reading> other_readings(const mode& m)
{
    if (m.bandwidth_hz == 3000)
        return { waveform_reading::reversed };
    return {};
}

description describe(const mode& m)
{
    const waveform_row& row = row_of(m);
    const size_t column = column_of(m.il);
    if (row.frames[column] == 0)
        not_ours(m);

    description d;
    d.m = m;
    // 110C D.5.1: 800 symbols/s per kHz.
    d.symbol_rate_bd = 800.0 * row.bandwidth_khz;
    d.max_agc_blocks = 255;
    d.set_preamble(preamble(m));
    d.unknown = row.unknown;
    d.known = row.known;
    d.frames_per_block = row.frames[column];
    if (row.wid == 0) {
        fill_chips(d);
        d.coded_bits = 2 * d.frames_per_block;
    } else {
        d.known_points = known_points(row.known);
        fill_frames(d, row);
        d.alphabet = row.bits <= 3 ? transcoded_psk(row.bits) : qam(row.bits);
        d.coded_bits = d.frames_per_block * d.unknown * row.bits;
        // 110C D.5.4: 13.333 ms more of the last probe.
        d.eot_symbols = static_cast<size_t>(32 * row.bandwidth_khz / 3);
    }
    d.code = code_of(row.rate_num, row.rate_den, m.constraint_length);
    d.most_significant_first = reversed(d);
    if (reversed(d))
        d.code = d.code.reversed();
    else
        for (const waveform_reading r : other_readings(m)) {
            d.also_read_as.push_back(m);
            d.also_read_as.back().reading = r;
        }
    d.input_bits = d.coded_bits / row.rate_den * row.rate_num;
    d.interleave = stride_interleaver(d.coded_bits, row.increments[column]);
    d.eom_optional = true;
    return d;
}

} // namespace gr::hf::kernel::wideband
