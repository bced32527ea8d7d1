/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// The wideband family: its tables, preamble and probes as a receiver uses them.
#include "vector_file.h"

#include "waveform/families/wideband/preamble.h"
#include "waveform/families/wideband/wideband.h"
#include "waveform/transmitter.h"

#include <gtest/gtest.h>

#include <complex>
#include <map>
#include <stdexcept>
#include <string>

using namespace gr::hf;
using namespace gr::hf::kernel;
using test::read_csv;

namespace {

using points = std::vector<std::complex<float>>;

interleaver interleaver_of(const std::string& name)
{
    const std::map<std::string, interleaver> all{ { "US", interleaver::ultra_short },
                                                  { "S", interleaver::short_ },
                                                  { "M", interleaver::medium },
                                                  { "L", interleaver::long_ } };
    return all.at(name);
}

// Magnitude of the mean of a * conj(b).
double correlation(const points& a, const points& b)
{
    EXPECT_EQ(a.size(), b.size());
    std::complex<double> sum = 0;
    for (size_t i = 0; i < a.size(); ++i)
        sum += std::complex<double>(a[i]) * std::conj(std::complex<double>(b[i]));
    return std::abs(sum) / static_cast<double>(a.size());
}

points points_of(const std::vector<uint8_t>& numbers, const points& of)
{
    points p;
    for (const uint8_t n : numbers)
        p.push_back(of.at(n));
    return p;
}

unsigned long number(const std::string& text) { return std::stoul(text); }

} // namespace

TEST(wideband, blocks_have_the_printed_sizes)
{
    size_t blocks = 0;
    for (const auto& row : read_csv("wb_interleavers.csv")) {
        const unsigned wid = static_cast<unsigned>(number(row[1]));
        for (const int k : { 7, 9 }) {
            const auto m =
                wideband::mode_of(std::stoi(row[0]), { wid, interleaver_of(row[2]), k });
            ASSERT_TRUE(m);
            const description d = wideband::describe(*m);
            EXPECT_EQ(d.frames_per_block, number(row[3])) << m->to_string();
            EXPECT_EQ(d.coded_bits, number(row[4])) << m->to_string();
            EXPECT_EQ(d.input_bits, number(row[5])) << m->to_string();
            EXPECT_EQ(d.code.coded_bits(d.input_bits), d.coded_bits) << m->to_string();
            EXPECT_EQ(d.code.constraint_length, static_cast<unsigned>(k));
            // Coded bit 1 goes to where the increment says.
            EXPECT_EQ(d.interleave[number(row[6])], 1u) << m->to_string();
            EXPECT_EQ(d.frames_per_cycle % d.frames_per_block, 0u) << m->to_string();
            ++blocks;
        }
    }
    EXPECT_EQ(blocks, wideband::modes().size());
    EXPECT_EQ(blocks, 2 * 608u);
}

TEST(wideband, rates_and_powers_follow_from_the_description)
{
    size_t rows = 0;
    for (const auto& row : read_csv("wb_timing_power.csv")) {
        const unsigned wid = static_cast<unsigned>(number(row[1]));
        const auto m =
            wideband::mode_of(std::stoi(row[0]), { wid, interleaver::short_, 7 });
        ASSERT_TRUE(m);
        EXPECT_NEAR(mean_power(*m), std::stod(row[4]), 1e-6) << m->to_string();
        const description& d = describe(*m);
        EXPECT_NEAR(1000 * static_cast<double>(d.frame_symbols()) / d.symbol_rate_bd,
                    std::stod(row[2]),
                    1e-3)
            << m->to_string();
        const double block_s = static_cast<double>(d.block_symbols()) / d.symbol_rate_bd;
        EXPECT_NEAR(
            static_cast<double>(d.input_bits) / block_s, m->rate_bps, 1e-6 * m->rate_bps);
        ++rows;
    }
    EXPECT_EQ(rows, 155u);
}

TEST(wideband, the_256_points)
{
    size_t n = 0;
    const constellation c = qam(8);
    for (const auto& row : read_csv("wb_256qam.csv")) {
        EXPECT_NEAR(c.points.at(n).real(), std::stod(row[1]), 1e-6);
        EXPECT_NEAR(c.points.at(n).imag(), std::stod(row[2]), 1e-6);
        EXPECT_EQ(c.label_to_number.at(n), n);
        ++n;
    }
    EXPECT_EQ(n, 256u);
    EXPECT_NEAR(c.mean_power(), 0.519503, 1e-6);
}

TEST(wideband, waveform_words)
{
    size_t n = 0;
    for (const auto& row : read_csv("wb_wid_dibits.csv")) {
        const wideband::waveform_word w{ static_cast<unsigned>(number(row[0])),
                                         interleaver_of(row[1]),
                                         std::stoi(row[2]) };
        std::array<uint8_t, 5> want{};
        for (size_t i = 0; i < want.size(); ++i)
            want[i] = static_cast<uint8_t>(number(row[3 + i]));
        EXPECT_EQ(wideband::waveform_dibits(w), want);
        EXPECT_TRUE(wideband::waveform_of(want) == w);
        ++n;
    }
    EXPECT_EQ(n, wideband::waveform_codebook().size());
    // Every other word is refused.
    size_t valid = 0;
    for (unsigned x = 0; x < 1024; ++x) {
        std::array<uint8_t, 5> d{};
        for (size_t i = 0; i < d.size(); ++i)
            d[i] = x >> 2 * i & 3;
        valid += wideband::waveform_of(d).has_value();
    }
    EXPECT_EQ(valid, 110u);
    EXPECT_THROW(wideband::waveform_dibits({ 14, interleaver::long_, 7 }),
                 std::invalid_argument);
    EXPECT_THROW(wideband::waveform_dibits({ 0, interleaver::ultra_short, 7 }),
                 std::invalid_argument);
    EXPECT_THROW(wideband::waveform_dibits({ 1, interleaver::very_long, 7 }),
                 std::invalid_argument);
    EXPECT_THROW(wideband::waveform_dibits({ 1, interleaver::long_, 8 }),
                 std::invalid_argument);
}

TEST(wideband, words_and_modes_are_one_to_one)
{
    for (const mode& m : wideband::modes()) {
        const auto w = wideband::word_of(m);
        const auto back = wideband::mode_of(m.bandwidth_hz / 1000, w);
        ASSERT_TRUE(back);
        EXPECT_EQ(*back, m);
    }
    EXPECT_FALSE(wideband::mode_of(9, { 4, interleaver::long_, 7 }));
    EXPECT_FALSE(wideband::mode_of(6, { 13, interleaver::long_, 7 }));
    EXPECT_THROW(wideband::word_of(mode::parse("4539-600S")), std::invalid_argument);
}

TEST(wideband, downcounts)
{
    size_t n = 0;
    for (const auto& row : read_csv("wb_count_dibits.csv")) {
        std::array<uint8_t, 4> want{};
        for (size_t i = 0; i < want.size(); ++i)
            want[i] = static_cast<uint8_t>(number(row[1 + i]));
        const auto count = static_cast<unsigned>(number(row[0]));
        EXPECT_EQ(wideband::countdown_dibits(count), want);
        EXPECT_EQ(wideband::countdown_of(want), count);
        want[0] ^= 1; // a parity bit
        EXPECT_FALSE(wideband::countdown_of(want));
        ++n;
    }
    EXPECT_EQ(n, wideband::countdown_codebook().size());
    EXPECT_EQ(n, 32u);
    EXPECT_THROW(wideband::countdown_dibits(32), std::invalid_argument);
}

TEST(wideband, dibits_of_a_channel_symbol_are_orthogonal)
{
    using wideband::preamble_part;
    for (const int khz : wideband::bandwidths_khz)
        for (const auto part :
             { preamble_part::fixed, preamble_part::countdown, preamble_part::waveform })
            for (unsigned a = 0; a < 4; ++a)
                for (unsigned b = 0; b < 4; ++b) {
                    const auto x = wideband::channel_symbol_points(part, 2, a, khz);
                    ASSERT_EQ(x.size(), static_cast<size_t>(32 * khz / 3));
                    EXPECT_NEAR(
                        correlation(x, wideband::channel_symbol_points(part, 2, b, khz)),
                        a == b ? 1 : 0,
                        1e-5);
                }
    EXPECT_THROW(wideband::channel_symbol(preamble_part::fixed, 0, 4, 3),
                 std::invalid_argument);
    EXPECT_THROW(wideband::channel_symbol_chips(5), std::invalid_argument);
}

TEST(wideband, two_readings_of_the_scrambling)
{
    preamble_options running;
    running.scrambling = preamble_scrambling::running;
    for (const int khz : wideband::bandwidths_khz) {
        const auto chips = wideband::channel_symbol_chips(khz);
        for (size_t j = 0; j < wideband::fixed_dibits.size(); ++j) {
            const auto part = wideband::preamble_part::fixed;
            const double same =
                correlation(wideband::channel_symbol_points(part, j, 0, khz),
                            wideband::channel_symbol_points(part, j, 0, khz, running));
            // The sequence has 256 values: where a symbol begins is the same modulo that.
            const bool equal = j * chips % 256 == 0;
            EXPECT_EQ(same > 0.9999, equal) << khz << " " << j;
            EXPECT_TRUE(equal || same < 0.5) << khz << " " << j;
        }
        EXPECT_EQ(8 * chips % 256, 0u) << "the last of nine is the same in both";
    }
}

TEST(wideband, fixed_part_is_what_is_sent)
{
    for (const bool short_form : { false, true }) {
        preamble_options o;
        o.short_form = short_form;
        const mode m = mode::parse("5069-12k-19200S");
        const auto plan = wideband::preamble(m, o);
        const auto fixed = wideband::fixed_part_points(12, o);
        ASSERT_EQ(plan.sections.front().length, fixed.size());
        EXPECT_EQ(fixed.size(), (short_form ? 1 : 9) * 128u);
        EXPECT_NEAR(
            correlation(fixed,
                        points_of({ plan.symbols.begin(),
                                    plan.symbols.begin() +
                                        static_cast<std::ptrdiff_t>(fixed.size()) },
                                  psk8_points())),
            1,
            1e-5);
    }
}

TEST(wideband, probes)
{
    std::map<size_t, std::vector<unsigned>> bases;
    std::map<size_t, unsigned> orders;
    for (const auto& row : read_csv("wb_base_sequences.csv")) {
        bases[number(row[0])].push_back(static_cast<unsigned>(number(row[3])));
        orders[number(row[0])] = static_cast<unsigned>(number(row[2]));
    }
    for (const auto& row : read_csv("wb_probes.csv")) {
        const size_t length = number(row[0]);
        const auto p = wideband::mini_probe_of(length);
        EXPECT_EQ(p.base, number(row[1]));
        EXPECT_EQ(p.shift, number(row[2]));
        ASSERT_EQ(p.normal.size(), length);
        ASSERT_EQ(p.shifted.size(), length);
        const auto known = wideband::known_points(length);
        const auto x = points_of(p.normal, known), y = points_of(p.shifted, known);
        for (size_t i = 0; i < length; ++i) {
            const double m = orders.at(p.base);
            const auto point = [&](size_t k) {
                return std::polar(
                    1.0f,
                    static_cast<float>(-2 * M_PI * bases.at(p.base)[k % p.base] / m));
            };
            EXPECT_NEAR(std::abs(x[i] - point(i)), 0, 2e-6) << length << " " << i;
            EXPECT_NEAR(std::abs(y[i] - point(i + p.shift)), 0, 2e-6)
                << length << " " << i;
        }
        // Periodic autocorrelation off the peak: none for Frank sequences, so that a probe
        // shows the channel directly; the two phases of a probe are far apart.
        const bool frank = p.base != 13 && p.base != 19;
        for (size_t lag = 1; lag < p.base; ++lag) {
            points a, b;
            for (size_t i = 0; i < p.base; ++i) {
                a.push_back(x[i]);
                b.push_back(x[(i + lag) % p.base]);
            }
            EXPECT_LE(correlation(a, b), frank ? 1e-5 : 1.01 / 13) << p.base;
        }
        EXPECT_LT(correlation(x, y), 0.5) << length;
    }
    EXPECT_THROW(wideband::mini_probe_of(31), std::invalid_argument);
}

TEST(wideband, boundary_probes_mark_the_long_block)
{
    size_t waveforms = 0;
    for (const mode& m : wideband::modes()) {
        const auto& row = wideband::row_of(m);
        if (m.il != interleaver::short_ || m.constraint_length != 7 || row.wid == 0)
            continue;
        const description d = wideband::describe(m);
        const auto p = wideband::mini_probe_of(d.known);
        const size_t per_long = row.frames[3];
        frame_cursor cursor(d);
        for (size_t f = 0; f < 2 * per_long; ++f) {
            const frame at = cursor.next();
            const bool marked = f % per_long == per_long - 2;
            EXPECT_EQ(wideband::boundary_probe(row, f), marked);
            for (size_t i = 0; i < d.known; ++i)
                ASSERT_EQ(at.probe[i].value, (marked ? p.shifted : p.normal)[i])
                    << m.to_string() << " " << f;
        }
        ++waveforms;
    }
    EXPECT_EQ(waveforms, 155u - 12);
    EXPECT_TRUE(wideband::boundary_probe_of_block(4, 2));
    EXPECT_FALSE(wideband::boundary_probe_of_block(4, 3));
    EXPECT_TRUE(
        wideband::boundary_probe_of_block(1, 7)); // blocks of one frame: every probe
}

TEST(wideband, walsh_words_are_orthogonal)
{
    points words[8];
    for (unsigned w = 0; w < 8; ++w)
        words[w] = points_of(wideband::walsh_word(w % 4, w >= 4), psk8_points());
    for (size_t a = 0; a < 8; ++a)
        for (size_t b = 0; b < 8; ++b)
            EXPECT_NEAR(correlation(words[a], words[b]), a == b ? 1 : 0, 1e-6);
    EXPECT_THROW(wideband::walsh_word(4, false), std::invalid_argument);
    const auto& s = wideband::chip_scrambler();
    ASSERT_EQ(s.size(), 2048u);
    const uint8_t first[] = { 5, 6, 2, 1, 7, 3, 1, 1, 6, 0, 5, 4, 0, 7, 7, 0 };
    EXPECT_TRUE(std::equal(std::begin(first), std::end(first), s.begin()));
}

TEST(wideband, transmitter_options)
{
    const mode qam256 = mode::parse("5069-3k-16000US"),
               walsh = mode::parse("5069-3k-75S");
    tx_options o;
    o.agc_blocks = 255;
    EXPECT_NO_THROW(transmitter(qam256, o));
    o.agc_blocks = 256;
    EXPECT_THROW(transmitter(qam256, o), std::invalid_argument);
    o = {};
    o.eot = true;
    EXPECT_NO_THROW(transmitter(qam256, o));
    EXPECT_THROW(transmitter(walsh, o), std::invalid_argument);
    for (const int bad : { 0, -1, 33 }) {
        o = {};
        o.preamble.superframes = bad;
        EXPECT_THROW(transmitter(qam256, o), std::invalid_argument);
    }
    o = {};
    o.preamble.superframes = 2;
    o.preamble.short_form = true;
    EXPECT_THROW(transmitter(qam256, o), std::invalid_argument);
    o.preamble.superframes = 1;
    EXPECT_NO_THROW(transmitter(qam256, o));
    EXPECT_THROW(transmitter(mode::parse("4539-9600S"), o), std::invalid_argument);
}

// 110C table D-LI: 24 symbols of the 13-chip base, 32 more at the end of transmission.
TEST(wideband, end_of_transmission_goes_on_with_the_probe)
{
    for (const bool message : { true, false }) {
        tx_options o;
        o.eot = true;
        o.eom = message;
        transmitter tx(mode::parse("5069-3k-12000US"), o);
        std::vector<tx_symbol> s(20000);
        size_t made = tx.produce(s.data(), s.size());
        while (!tx.done()) {
            tx.give(nullptr, 0, true);
            made += tx.produce(s.data() + made, s.size() - made);
        }
        ASSERT_EQ(made, 18 * 32 + 24 + (message ? 360 + 24 : 0) + 32u);
        const auto base = wideband::mini_probe_of(24).normal;
        for (size_t i = 0; i < 56; ++i) {
            EXPECT_EQ(s[made - 56 + i].kind, symbol_kind::probe);
            EXPECT_EQ(s[made - 56 + i].number, base[i % 13]) << i;
        }
    }
}

TEST(wideband, other_modes_are_refused)
{
    EXPECT_THROW(wideband::describe(mode::parse("4539-600S")), std::invalid_argument);
    mode m = mode::parse("5069-3k-75S");
    m.il = interleaver::ultra_short;
    EXPECT_THROW(wideband::describe(m), std::invalid_argument);
    m = mode::parse("5069-3k-150S");
    m.constraint_length = 8;
    EXPECT_THROW(wideband::describe(m), std::invalid_argument);
    m.constraint_length = 7;
    m.bandwidth_hz = 5000;
    EXPECT_THROW(wideband::describe(m), std::invalid_argument);
    EXPECT_THROW(wideband::code_of(7, 8, 7), std::invalid_argument);
}
