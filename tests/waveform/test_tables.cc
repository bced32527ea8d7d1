/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// The building blocks compared with the printed tables and numbers of the standard.
#include "vector_file.h"

#include "waveform/coding/scrambler.h"
#include "waveform/description.h"
#include "waveform/families/high_rate/high_rate.h"
#include "waveform/families/serial_tone/serial_tone.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

using namespace gr::hf;
using namespace gr::hf::kernel;
using test::read_csv;
using test::vector_file;

TEST(tables, serial_tone_scramblers)
{
    size_t n = 0;
    for (const auto& row : read_csv("st_data_scrambler.csv"))
        EXPECT_EQ(serial_tone_data_scrambler().at(n++), std::stoi(row[1]));
    EXPECT_EQ(n, 160u);
    n = 0;
    for (const auto& row : read_csv("st_sync_scrambler.csv"))
        EXPECT_EQ(serial_tone_sync_scrambler().at(n++), std::stoi(row[1]));
    EXPECT_EQ(n, 32u);
}

TEST(tables, high_rate_scrambler)
{
    std::vector<std::vector<uint8_t>> values;
    for (unsigned bits = 3; bits <= 6; ++bits)
        values.push_back(frame_scrambler(bits, 256));
    size_t n = 0;
    for (const auto& row : read_csv("hr_scrambler.csv")) {
        for (size_t c = 0; c < 4; ++c)
            EXPECT_EQ(values[c].at(n), std::stoi(row[c + 1]));
        ++n;
    }
    EXPECT_EQ(n, 256u);
    EXPECT_THROW(frame_scrambler(0, 1), std::invalid_argument);
    EXPECT_THROW(frame_scrambler(9, 1), std::invalid_argument);
}

TEST(tables, serial_tone_interleavers)
{
    const vector_file v("st_interleaver_permutations.vec");
    size_t n = 0, entries = 0;
    for (const auto& [name, want] : v.arrays) {
        const size_t rows = std::stoul(name), cols = std::stoul(name.substr(3));
        const bool walsh = rows < 40;
        const auto p = matrix_interleaver(rows, cols, walsh ? 7 : 9, walsh ? 7 : 17);
        ASSERT_EQ(p.size(), want.size()) << name;
        for (size_t i = 0; i < p.size(); ++i)
            ASSERT_EQ(p[i], want[i]) << name << " " << i;
        entries += p.size();
        ++n;
    }
    EXPECT_EQ(n, 8u);
    EXPECT_EQ(entries, 90u + 720 + 720 + 1440 + 2880 + 5760 + 11520 + 23040);
    EXPECT_EQ(matrix_interleaver(40, 576, 9, 17)[1], 22369u);
    EXPECT_THROW(matrix_interleaver(40, 0, 9, 17), std::invalid_argument);
    EXPECT_THROW(matrix_interleaver(40, 18, 8, 17), std::invalid_argument);
}

TEST(tables, high_rate_interleaver)
{
    // Bits 0, 1, 2, ... of 3200 US go to 0 97 194 291 388 485 70 167.
    const auto p = stride_interleaver(512, 97);
    const size_t location[] = { 0, 97, 194, 291, 388, 485, 70, 167 };
    for (uint32_t n = 0; n < 8; ++n)
        EXPECT_EQ(p[location[n]], n);
    EXPECT_THROW(stride_interleaver(512, 98), std::invalid_argument);
    EXPECT_THROW(stride_interleaver(0, 1), std::invalid_argument);
}

TEST(tables, every_interleaver_is_a_permutation)
{
    for (const mode& m : mode::all()) {
        if (m.constraint_length != 7)
            continue; // interleaved like the others
        const auto& d = describe(m);
        std::vector<bool> seen(d.coded_bits);
        ASSERT_EQ(d.interleave.size(), d.coded_bits);
        for (size_t n = 0; n < d.interleave.size(); ++n) {
            const uint32_t i = d.interleave[n];
            ASSERT_LT(i, d.coded_bits);
            ASSERT_FALSE(seen[i]);
            seen[i] = true;
        }
    }
}

TEST(tables, convolutional_code_example)
{
    // Section 3 of the serial tone: 1 and six zeros give 11 01 11 11 00 10 11.
    convolutional_encoder e(serial_tone_code(1));
    const uint8_t in[7] = { 1, 0, 0, 0, 0, 0, 0 };
    std::vector<uint8_t> out;
    e.encode(in, 3, out); // the register runs on from call to call
    e.encode(in + 3, 4, out);
    EXPECT_EQ(out, (std::vector<uint8_t>{ 1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 0, 1, 1 }));

    convolutional_encoder twice(serial_tone_code(2));
    out.clear();
    twice.encode(in, 2, out);
    EXPECT_EQ(out, (std::vector<uint8_t>{ 1, 1, 1, 1, 0, 1, 0, 1 }));
}

TEST(tables, tail_biting_begins_and_ends_in_the_same_state)
{
    // A block that repeats itself is coded into a block that repeats itself.
    code_plan p = high_rate_code();
    convolutional_encoder e(p);
    std::vector<uint8_t> in(48), out;
    for (size_t i = 0; i < in.size(); ++i)
        in[i] = i % 12 == 3 || i % 12 == 5;
    e.encode(in.data(), in.size(), out);
    ASSERT_EQ(out.size(), 64u);
    for (size_t i = 0; i < 48; ++i)
        EXPECT_EQ(out[i], out[i + 16]);
    EXPECT_EQ(p.coded_bits(48), 64u);
    EXPECT_EQ(p.coded_bits(4), 6u); // T1 T2 T1 - - T2 T1 T2
    EXPECT_THROW(e.encode(in.data(), 5, out), std::invalid_argument);
    p.constraint_length = 1;
    EXPECT_THROW(convolutional_encoder{ p }, std::invalid_argument);
}

TEST(tables, constellations)
{
    size_t n = 0;
    for (const auto& row : read_csv("hr_constellations.csv")) {
        const auto& points = row[0] == "8PSK"    ? psk8_points()
                             : row[0] == "16QAM" ? qam(4).points
                             : row[0] == "32QAM" ? qam(5).points
                                                 : qam(6).points;
        const auto p = points.at(std::stoul(row[1]));
        EXPECT_NEAR(p.real(), std::stod(row[3]), 1e-6) << row[0] << " " << row[1];
        EXPECT_NEAR(p.imag(), std::stod(row[4]), 1e-6) << row[0] << " " << row[1];
        ++n;
    }
    EXPECT_EQ(n, 8u + 16 + 32 + 64);
    EXPECT_THROW(qam(3), std::invalid_argument);
    EXPECT_THROW(serial_tone_psk(4), std::invalid_argument);
}

TEST(tables, labels)
{
    size_t n = 0;
    for (const auto& row : read_csv("hr_transcoding.csv")) {
        const auto c = row[0] == "QPSK" ? transcoded_psk(2) : transcoded_psk(3);
        EXPECT_EQ(c.label_to_number.at(std::stoul(row[1], nullptr, 2)),
                  std::stoi(row[2]));
        ++n;
    }
    EXPECT_EQ(n, 12u);
    n = 0;
    for (const auto& row : read_csv("st_mgd.csv")) {
        const auto c = serial_tone_psk(static_cast<unsigned>(std::stoul(row[0])));
        EXPECT_EQ(c.label_to_number.at(std::stoul(row[1], nullptr, 2)),
                  std::stoi(row[3]));
        ++n;
    }
    EXPECT_EQ(n, 14u);
    n = 0;
    const mode m = mode::parse("4539-75S");
    const auto& d = describe(m);
    for (const auto& row : read_csv("st_walsh75.csv")) {
        const size_t exceptional = row[0] == "exceptional" ? 4 : 0;
        const auto& word = d.words.at(exceptional + std::stoul(row[1]));
        for (size_t i = 0; i < 32; ++i)
            EXPECT_EQ(word.at(i), std::stoi(row[3 + i]));
        ++n;
    }
    EXPECT_EQ(n, 8u);
}

TEST(tables, mean_power)
{
    const auto power = [](const char* m) { return mean_power(mode::parse(m)); };
    EXPECT_NEAR(power("4539-75S"), 1.0, 1e-6);
    EXPECT_NEAR(power("4539-3200S"), 1.0, 1e-6);
    EXPECT_NEAR(power("4539-6400US"), 0.807550, 1e-5);
    EXPECT_NEAR(power("4539-8000VL"), 0.689213, 1e-5);
    EXPECT_NEAR(power("4539-9600S"), 0.627991, 1e-5);
    EXPECT_NEAR(power("4539-12800N"), 0.627991, 1e-5);
}

TEST(tables, serial_tone_preamble)
{
    size_t n = 0;
    for (const auto& row : read_csv("st_preamble_fixed288.csv"))
        EXPECT_EQ(serial_tone::fixed_preamble().at(n++), std::stoi(row[5]));
    EXPECT_EQ(n, 288u);

    n = 0;
    for (const auto& row : read_csv("st_preamble_segments.csv")) {
        const auto words =
            serial_tone::segment_words(6, 4, static_cast<unsigned>(std::stoul(row[0])));
        for (size_t g = 0; g < 15; ++g) {
            const std::string& want = row[1 + g];
            EXPECT_EQ(words[g], want == "D1" ? 6 : want == "D2" ? 4 : std::stoi(want));
        }
        EXPECT_EQ(serial_tone::countdown_of(words[11], words[12], words[13]),
                  std::stoul(row[0]));
        ++n;
    }
    EXPECT_EQ(n, 24u);
    EXPECT_FALSE(serial_tone::countdown_of(3, 4, 4));
    EXPECT_FALSE(serial_tone::countdown_of(4, 4, 8));
}

TEST(tables, serial_tone_modes)
{
    size_t n = 0;
    for (const auto& row : read_csv("st_modes.csv")) {
        const mode m = mode::parse("4539-" + row[0] + row[1]);
        const auto& d = describe(m);
        const auto column = [&row](size_t c) { return std::stoul(row[c]); };
        EXPECT_EQ(serial_tone::words_of(m).d1, column(2)) << m.to_string();
        EXPECT_EQ(serial_tone::words_of(m).d2, column(3));
        EXPECT_EQ(serial_tone::mode_of(serial_tone::words_of(m).d1,
                                       serial_tone::words_of(m).d2),
                  m);
        EXPECT_EQ(d.alphabet.bits, column(4));
        EXPECT_EQ(d.code.coded, row[5] != "none");
        EXPECT_EQ(d.code.repetition, row[6].empty() ? 1 : column(6));
        EXPECT_EQ(d.unknown, column(7));
        EXPECT_EQ(d.known, column(8));
        EXPECT_EQ(d.frames_per_block, column(10));
        EXPECT_EQ(d.block_symbols(), column(11));
        EXPECT_EQ(d.preamble.size(), column(14));
        EXPECT_EQ(d.coded_bits, column(19));
        EXPECT_EQ(d.input_bits, column(20));
        EXPECT_EQ(d.code.coded_bits(d.input_bits), d.coded_bits);
        ++n;
    }
    EXPECT_EQ(n, 14u);
}

TEST(tables, reserved_serial_tone_words_name_no_mode)
{
    size_t named = 0;
    for (unsigned d1 = 0; d1 < 10; ++d1)
        for (unsigned d2 = 0; d2 < 10; ++d2)
            named += serial_tone::mode_of(d1, d2).has_value();
    EXPECT_EQ(named, 14u);
    EXPECT_FALSE(serial_tone::mode_of(5, 6));
    EXPECT_FALSE(serial_tone::mode_of(5, 7));
    EXPECT_EQ(serial_tone::mode_of(6, 6, true), mode::parse("4539-600Z"));
    EXPECT_EQ(serial_tone::mode_of(4, 6, true), mode::parse("4539-600L"));
}

TEST(tables, high_rate_preamble)
{
    // The table is printed with the words named; compare the fixed places.
    const auto p = high_rate::preamble({ 1, 1 });
    ASSERT_EQ(p.size(), 287u);
    const mode m = mode::parse("4539-3200US");
    const auto& d = describe(m);
    EXPECT_EQ(d.preamble, p);
    size_t n = 0, agc = 0;
    for (const auto& row : read_csv("hr_preamble.csv")) {
        const size_t i = std::stoul(row[0]);
        if (!row[2].empty() && row[3].empty()) {
            EXPECT_EQ(p.at(i), std::stoi(row[2])) << i;
            ++n;
        }
        if (!row[4].empty()) {
            EXPECT_EQ(d.agc.at(i), std::stoi(row[4])) << i;
            ++agc;
        }
    }
    EXPECT_EQ(n, 287u - 39);
    EXPECT_EQ(agc, 184u);
    const auto r = high_rate::reinserted({ 1, 1 });
    EXPECT_TRUE(std::equal(r.begin(), r.end(), p.begin() + 215, p.end()));
}

TEST(tables, high_rate_modes)
{
    size_t n = 0;
    for (const auto& row : read_csv("hr_modes.csv")) {
        const mode m = mode::parse("4539-" + row[0] + (row[0] == "12800" ? "N" : row[1]));
        const auto& d = describe(m);
        const auto column = [&row](size_t c) { return std::stoul(row[c]); };
        EXPECT_EQ(d.frames_per_block, column(2)) << m.to_string();
        EXPECT_EQ(d.alphabet.bits, column(4));
        EXPECT_EQ(d.coded_bits, column(6));
        EXPECT_EQ(d.input_bits, column(8));
        EXPECT_EQ(d.code.coded_bits(d.input_bits), d.coded_bits);
        const auto codes = high_rate::codes_of(m);
        const auto words = high_rate::words_of(codes);
        for (size_t k = 0; k < 3; ++k)
            EXPECT_EQ(words[k], column(10 + k));
        const auto back = high_rate::codes_of_words(words);
        ASSERT_TRUE(back);
        EXPECT_EQ(high_rate::mode_of(*back), m);
        ++n;
    }
    EXPECT_EQ(n, 31u);
    for (const auto& bad : { high_rate::mode_codes{ 0, 1 },
                             high_rate::mode_codes{ 7, 1 },
                             high_rate::mode_codes{ 1, 0 },
                             high_rate::mode_codes{ 1, 7 },
                             high_rate::mode_codes{ 6, 2 } })
        EXPECT_FALSE(high_rate::mode_of(bad));
    EXPECT_FALSE(high_rate::codes_of_words({ 0, 1, 2 }));
    EXPECT_FALSE(high_rate::codes_of_words({ 0, 8, 2 }));
}

TEST(tables, high_rate_probe_signs)
{
    size_t n = 0;
    for (const auto& row : read_csv("hr_miniprobe_signs.csv")) {
        const mode m = mode::parse("4539-" + row[0] + (row[0] == "12800" ? "N" : row[1]));
        std::string signs;
        for (const uint8_t s : high_rate::probe_signs(high_rate::codes_of(m)))
            signs += s ? '-' : '+';
        EXPECT_EQ(signs, row[2]) << m.to_string();
        ++n;
    }
    EXPECT_EQ(n, 31u);
}

TEST(tables, families_refuse_each_others_modes)
{
    const mode serial = mode::parse("4539-600S"), high = mode::parse("4539-6400S");
    EXPECT_THROW(serial_tone::describe(high), std::invalid_argument);
    EXPECT_THROW(high_rate::describe(serial), std::invalid_argument);
    mode odd = serial;
    odd.il = interleaver::medium;
    EXPECT_THROW(describe(odd), std::invalid_argument);
    odd = high;
    odd.il = interleaver::very_long;
    odd.family = waveform_family::wideband;
    EXPECT_THROW(describe(odd), std::invalid_argument);
    odd = high;
    odd.il = interleaver::zero;
    EXPECT_THROW(high_rate::describe(odd), std::invalid_argument);
}

TEST(tables, frame_cursor_walks_the_cells_in_order)
{
    for (const char* name : { "4539-75S", "4539-2400L", "4539-6400S", "4539-3200VL" }) {
        const mode m = mode::parse(name);
        const auto& d = describe(m);
        frame_cursor cursor(d);
        uint64_t at = 0;
        for (size_t i = 0; i < 3 * d.frames_per_cycle; ++i) {
            const frame f = cursor.next();
            EXPECT_EQ(f.reinserted > 0, d.reinserted > 0 && i > 0 && i % 72 == 0);
            for (size_t k = 0; k < f.reinserted; ++k)
                EXPECT_EQ(f.reinserted_cells[k].kind, symbol_kind::preamble);
            at += f.reinserted;
            ASSERT_EQ(f.begin, at) << name;
            EXPECT_EQ(f.block, i / d.frames_per_block);
            EXPECT_EQ(f.last_of_block, i % d.frames_per_block == d.frames_per_block - 1);
            for (size_t k = 0; k < d.unknown; ++k)
                ASSERT_EQ(f.data[k].kind, symbol_kind::data);
            for (size_t k = 0; k < d.known; ++k)
                ASSERT_EQ(f.probe[k].kind, symbol_kind::probe);
            at += d.frame_symbols();
        }
        cursor.seek_block(2);
        EXPECT_EQ(cursor.next().begin, d.block_begin(2));
    }
}

TEST(tables, preamble_sections_cover_the_preamble)
{
    for (const mode& m : mode::all()) {
        const auto& d = describe(m);
        size_t at = 0;
        for (const auto& s : d.sections) {
            EXPECT_EQ(s.begin, at);
            at += s.length;
        }
        EXPECT_EQ(at, d.preamble.size());
    }
}
