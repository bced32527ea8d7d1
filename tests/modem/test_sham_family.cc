/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The receiver knows no family. This one is not in use, and has another symbol rate,
 * probes, preamble, constellations and code. The receiver receives it all the same. */
#include "channel/channel.h"
#include "modem/loopback.h"
#include "waveform/coding/scrambler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>

using namespace gr::hf;
using namespace gr::hf::kernel;

namespace {

using value = std::complex<float>;

constexpr size_t fixed_words = 7; // known ones, the first of a superframe
constexpr size_t count_words = 2; // superframes that are left, two bits each
constexpr size_t mode_words = 3;  // which mode, its complement, the sum of both counts
constexpr size_t all_words = fixed_words + count_words + mode_words;
constexpr size_t superframes = 3;
constexpr size_t lead = 7001; // samples before a transmission

// Four orthogonal words of four chips.
constexpr uint8_t walsh[4][4] = { { 0, 0, 0, 0 },
                                  { 0, 4, 0, 4 },
                                  { 0, 0, 4, 4 },
                                  { 0, 4, 4, 0 } };

std::vector<value> points_of(const std::vector<uint8_t>& numbers)
{
    std::vector<value> p;
    for (const uint8_t n : numbers)
        p.push_back(psk8_points()[n]);
    return p;
}

std::array<unsigned, all_words> words_of(unsigned mode_number, unsigned left)
{
    const unsigned hi = left >> 2 & 3, lo = left & 3;
    return { 0, 2, 1, 3, 0, 1, 2, hi, lo, mode_number, 3 - mode_number, (hi + lo) & 3 };
}

// 16 x 16 points, the outermost on the unit circle.
constellation square_256()
{
    constellation c{ 8, scrambling::exclusive_or, {}, {} };
    for (unsigned n = 0; n < 256; ++n) {
        const auto gray = [](unsigned v) { // of 4 bits, back
            for (unsigned s = v >> 1; s; s >>= 1)
                v ^= s;
            return static_cast<float>(v);
        };
        c.points.push_back(value(2 * gray(n >> 4) - 15, 2 * gray(n & 15) - 15) /
                           (15 * std::sqrt(2.0f)));
        c.label_to_number.push_back(static_cast<uint8_t>(n));
    }
    return c;
}

code_plan code(unsigned k)
{
    code_plan p;
    p.coded = true;
    p.tail_biting = true;
    if (k == 9) {
        p.constraint_length = 9;
        p.t1 = 0561;
        p.t2 = 0753;
    }
    return p;
}

// The family in a bandwidth of \p scale times 6 kHz.
template <size_t scale>
struct sham {
    static constexpr double symbol_rate_bd = 4800 * scale;
    static constexpr size_t chips = 64 * scale; // of a preamble word, 13.3 ms
    static constexpr size_t superframe = all_words * chips;
    static constexpr unsigned phases =
        5 + 2 * (scale - 1); // of the probe's Frank sequence
    static constexpr size_t base = phases * phases;
    static constexpr size_t probe_symbols = 40 * scale, data_symbols = 300 * scale;

    // Word \p w at place \p at of a superframe, 8PSK numbers.
    static std::vector<uint8_t> word(size_t at, unsigned w)
    {
        static const auto pn = loopback::random_octets(superframe, 77);
        std::vector<uint8_t> numbers(chips);
        for (size_t i = 0; i < chips; ++i)
            numbers[i] = (walsh[w][i % 4] + pn[at * chips + i]) & 7;
        return numbers;
    }

    /* Mode 0: QPSK with K = 9, mode 1: 256 points with K = 7; both at rate 1/2. A Frank sequence, some
     * of whose phases 8PSK lacks, is the probe. */
    static description make(unsigned number)
    {
        description d;
        d.m = { waveform_family::wideband,
                static_cast<int>((number == 0 ? 4235 : 16941) * scale),
                static_cast<int>(6000 * scale),
                interleaver::short_,
                number == 0 ? 9 : 7 };
        d.symbol_rate_bd = symbol_rate_bd;
        for (unsigned k = 0; k < phases; ++k)
            d.known_points.push_back(std::polar(
                1.0f, -2 * static_cast<float>(M_PI) * static_cast<float>(k) / phases));
        std::vector<uint8_t> probe(probe_symbols);
        for (size_t i = 0; i < probe_symbols; ++i)
            probe[i] = static_cast<uint8_t>(8 + i % base / phases * (i % base % phases) %
                                                    phases);
        for (unsigned s = 0; s < superframes; ++s) {
            const auto words = words_of(number, superframes - 1 - s);
            for (size_t w = 0; w < all_words; ++w)
                for (const uint8_t n : word(w, words[w]))
                    d.preamble.push_back(n);
        }
        d.preamble.insert(d.preamble.end(), probe.begin(), probe.end());
        d.unknown = data_symbols;
        d.known = probe_symbols;
        d.frames_per_block = 8;
        d.frames_per_cycle = 8;
        d.alphabet = number == 0 ? transcoded_psk(2) : square_256();
        const auto scramble = frame_scrambler(number == 0 ? 3 : 8, data_symbols);
        std::vector<cell> cells;
        for (const uint8_t s : scramble)
            cells.push_back({ symbol_kind::data, s });
        for (const uint8_t p : probe)
            cells.push_back({ symbol_kind::probe, p });
        for (size_t f = 0; f < d.frames_per_cycle; ++f)
            d.add_frame(cells);
        d.coded_bits = d.frames_per_block * d.unknown * d.alphabet.bits;
        d.code = code(number == 0 ? 9 : 7);
        d.input_bits = d.coded_bits / 2;
        d.interleave = stride_interleaver(d.coded_bits, 1291);
        return d;
    }

    static const description& waveform(unsigned number)
    {
        static const description both[] = { make(0), make(1) };
        return both[number];
    }

    static reception_plan make_plan()
    {
        reception_plan p;
        p.presence = 0.35f;
        p.paces.front().pace = { 1, 6, 0.3, 20, 64 };
        p.finds_paths = true;
        p.follows_level = true;
        p.look_ahead = 3;
        return p;
    }

    class reader : public preamble_reader
    {
    public:
        const preamble_stretch& stretch() const override
        {
            static const preamble_stretch s = [] {
                preamble_stretch t;
                t.symbols = superframe;
                const auto words = words_of(0, 0);
                for (size_t w = 0; w < fixed_words; ++w)
                    for (const value& p : points_of(word(w, words[w])))
                        t.fixed.push_back(p);
                for (size_t w = fixed_words; w < all_words; ++w) {
                    t.words.push_back({ w * chips, {} });
                    for (unsigned v = 0; v < 4; ++v)
                        t.words.back().alternatives.push_back(points_of(word(w, v)));
                }
                return t;
            }();
            return s;
        }
        verdict read(const preamble_evidence& e) override
        {
            float best = 0;
            unsigned mode_number = 0, left = 0;
            for (unsigned m = 0; m < 2; ++m)
                for (unsigned l = 0; l < superframes; ++l) {
                    const auto words = words_of(m, l);
                    float power = 0;
                    for (size_t w = 0; w < e.match.size(); ++w)
                        power += std::norm(e.match[w][words[fixed_words + w]]);
                    if (power > best) {
                        best = power;
                        mode_number = m;
                        left = l;
                    }
                }
            // Noise explains 1 for each word.
            if (best < 20 * static_cast<float>(chips) * e.noise * e.gain)
                return verdict::rejected;
            static const reception_plan plan = make_plan();
            d_meaning = { &waveform(mode_number),
                          &plan,
                          (left + 1) * superframe + probe_symbols,
                          (left + 1) * superframe + probe_symbols };
            return verdict::found;
        }
        preamble_meaning meaning() const override { return d_meaning; }

    private:
        preamble_meaning d_meaning;
    };

    static const family_reception& family()
    {
        static const family_reception f = [] {
            family_reception r;
            r.symbol_rate_bd = symbol_rate_bd;
            std::vector<value> fixed;
            const auto words = words_of(0, 0);
            for (size_t w = 0; w < fixed_words; ++w)
                for (const value& p : points_of(word(w, words[w])))
                    fixed.push_back(p);
            r.patterns = { { fixed, 25, 32 * scale, 6, superframe, false } };
            r.reader = [](size_t, const reading_options&) {
                return std::make_unique<reader>();
            };
            return r;
        }();
        return f;
    }

    static loopback::samples transmit(const description& d,
                                      const std::vector<uint8_t>& octets)
    {
        burst_modulator mod(symbol_grid(d.symbol_rate_bd).sample_rate());
        size_t at = 0;
        mod.start(d, [&](uint64_t, size_t max) {
            const size_t n = std::min(max, octets.size() - at);
            tx_octets t;
            t.octets.assign(octets.begin() + static_cast<long>(at),
                            octets.begin() + static_cast<long>(at + n));
            at += n;
            t.last = at == octets.size();
            return t;
        });
        loopback::samples x(30000);
        const size_t n = mod.produce(x.data(), x.size());
        x.resize(n);
        while (mod.active()) {
            loopback::samples piece(4096);
            piece.resize(mod.produce(piece.data(), piece.size()));
            x.insert(x.end(), piece.begin(), piece.end());
        }
        return x;
    }

    static std::vector<loopback::reception> through(const description& d,
                                                    const std::vector<uint8_t>& octets,
                                                    const std::string& spec)
    {
        loopback::samples x(lead);
        const auto t = transmit(d, octets);
        x.insert(x.end(), t.begin(), t.end());
        loopback::pause(x, 40000 * scale);
        channel c(channel_spec::parse(spec), 4 * symbol_rate_bd, 5, mean_power(d));
        for (size_t i = 0; i < x.size(); i += 4096)
            c.process(&x[i], &x[i], std::min<size_t>(4096, x.size() - i));
        burst_receiver rx({}, { &family() });
        return loopback::receive(rx, x, 1000);
    }

    // On four channels; the SNR in its own band is the same in each bandwidth.
    static void is_received()
    {
        struct {
            unsigned mode;
            double snr_db;
            const char* spec;
        } const cases[] = { { 0, 13, "" },
                            { 0, 17, " paths=0:0:1,2:0:1 offset=-61" },
                            { 1, 36, " paths=0:0:0,1:-6:0 offset=40" },
                            { 1, 45, " paths=0:0:0.2,0.7:0:0.2 offset=70" } };
        for (const auto& c : cases) {
            const double in_3_khz =
                c.snr_db + 10 * std::log10(static_cast<double>(scale));
            const std::string spec = "snr=" + std::to_string(in_3_khz) + c.spec;
            const description& d = waveform(c.mode);
            const auto octets = loopback::random_octets(2500 * scale, 3);
            const auto got = through(d, octets, spec);
            ASSERT_EQ(got.size(), 1u) << c.mode << spec;
            EXPECT_EQ(got[0].start->m, d.m) << spec;
            EXPECT_TRUE(got[0].octets == octets) << c.mode << spec;
            ASSERT_TRUE(got[0].end) << spec;
            EXPECT_EQ(got[0].end->reason, rx_end_reason::eom) << spec;
            // The first symbol is centred after the pulse's lead of 10 symbols.
            EXPECT_NEAR(static_cast<double>(got[0].start_sample), lead + 40, 16) << spec;
            const auto samples = got[0].end_sample - got[0].start_sample;
            const size_t blocks =
                (8 * octets.size() + eom_bits + d.input_bits - 1) / d.input_bits;
            const size_t symbols = d.preamble.size() + blocks * d.block_symbols();
            EXPECT_NEAR(
                static_cast<double>(samples) / 4, static_cast<double>(symbols) - 0.5, 5)
                << spec;
        }
    }
};

} // namespace

TEST(sham_family, is_received_through_fading_paths_with_a_carrier_offset)
{
    sham<1>::is_received();
}

TEST(sham_family, is_received_in_twice_the_bandwidth) { sham<2>::is_received(); }

// 768 taps of delay and 153600 samples/s: uses the sparse methods.
TEST(sham_family, is_received_in_eight_times_the_bandwidth) { sham<8>::is_received(); }

TEST(sham_family, is_not_heard_in_noise)
{
    loopback::samples x(19200 * 20);
    channel c(channel_spec::parse("snr=0"), 19200, 6, 1);
    c.process(x.data(), x.data(), x.size());
    burst_receiver rx({}, { &sham<1>::family() });
    EXPECT_TRUE(loopback::receive(rx, x).empty());
    EXPECT_EQ(rx.grid().tick_samples(), 192u);
}

TEST(sham_family, cannot_be_listened_for_together_with_another_symbol_rate)
{
    EXPECT_THROW(burst_receiver({}, { &sham<1>::family(), &sham<2>::family() }),
                 std::invalid_argument);
    EXPECT_THROW(burst_receiver({}, {}), std::invalid_argument);
}
