/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The wideband family through channels: requirements of its standard, and open choices. */
#include "modem/loopback.h"
#include "waveform/families/wideband/preamble.h"
#include "waveform/families/wideband/wideband.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <string>

using namespace gr::hf;
using namespace gr::hf::kernel;

namespace {

// 110C table D-LII: SNR in the mode's bandwidth by waveform, AWGN and Poor (0: no row).
constexpr double awgn_db[14] = { -6, -3, 0, 3, 5, 6, 9, 13, 16, 19, 21, 24, 30, 6 };
constexpr double poor_db[14] = { -1, 3, 5, 7, 10, 11, 14, 19, 23, 27, 31, 0, 0, 11 };

mode mode_of(int khz, unsigned wid, interleaver il = interleaver::short_, int k = 7)
{
    return wideband::mode_of(khz, { wid, il, k }).value();
}

struct setup {
    mode m;
    std::string channel;
    tx_options options = {};
    double seconds = 1.5; // of data
    uint64_t seed = 1;
    size_t later = 0; // samples
};

struct outcome {
    std::vector<uint8_t> sent;
    std::vector<loopback::reception> got;
    double first = 0; // sample of the first preamble symbol
};

size_t octets_for(const mode& m, double seconds)
{
    const auto t = timing_of(m);
    const double blocks =
        seconds * t.symbol_rate_bd / static_cast<double>(t.block_symbols);
    return std::max<size_t>(t.octets_in(static_cast<size_t>(std::max(1.0, blocks))), 4);
}

loopback::samples
send(const description& d, const std::vector<uint8_t>& octets, const tx_options& options)
{
    burst_modulator mod(4 * d.symbol_rate_bd);
    size_t at = 0;
    mod.start(
        d,
        [&](uint64_t, size_t max) {
            const size_t n = std::min(max, octets.size() - at);
            tx_octets t;
            t.octets.assign(octets.begin() + static_cast<long>(at),
                            octets.begin() + static_cast<long>(at + n));
            at += n;
            t.last = at == octets.size();
            return t;
        },
        options);
    loopback::samples all, piece(4096);
    while (mod.active()) {
        const size_t n = mod.produce(piece.data(), piece.size());
        all.insert(all.end(), piece.begin(), piece.begin() + static_cast<long>(n));
    }
    return all;
}

//! SNR in the mode's bandwidth, as a string for a channel of 3 kHz.
std::string snr(double db, const mode& m)
{
    return "snr=" + std::to_string(db) +
           " bandwidth=" + std::to_string(m.bandwidth_hz / 1000);
}

// \p change: change of the signal before the channel.
template <class Change>
outcome run(const setup& s, const description& d, Change change)
{
    outcome o;
    o.sent = loopback::random_octets(octets_for(s.m, s.seconds), s.seed);
    const double rate = loopback::sample_rate(s.m);
    loopback::samples x(static_cast<size_t>(0.3 * rate) + 17 * s.seed + s.later);
    o.first = static_cast<double>(x.size() + 40);
    auto t = send(d, o.sent, s.options);
    change(t, rate);
    x.insert(x.end(), t.begin(), t.end());
    loopback::pause(x, static_cast<size_t>(1.2 * rate));
    channel c(channel_spec::parse(s.channel), rate, s.seed, mean_power(d));
    o.first += static_cast<double>(c.latency());
    c.process(x.data(), x.data(), x.size());
    o.got = loopback::receive(*loopback::receiver_of(s.m), x, 4800);
    return o;
}

outcome run(const setup& s)
{
    return run(s, describe(s.m), [](loopback::samples&, double) {});
}

void expect_right(const outcome& o, const setup& s)
{
    const std::string what = s.m.to_string() + " " + s.channel;
    ASSERT_EQ(o.got.size(), 1u) << what;
    ASSERT_TRUE(o.got[0].start) << what;
    EXPECT_EQ(o.got[0].start->m, s.m) << what << " as " << o.got[0].start->m.to_string();
    EXPECT_TRUE(o.got[0].octets == o.sent) << what;
    ASSERT_TRUE(o.got[0].end) << what;
    EXPECT_EQ(o.got[0].end->reason, rx_end_reason::eom) << what;
}

// Loss of blocks of half a second against the code's averaging over the long interleaver:
// 2 dB.
constexpr double short_block_db = 2;

void receive_all(int khz, const std::vector<unsigned>& wids)
{
    uint64_t seed = static_cast<uint64_t>(khz);
    for (const unsigned wid : wids) {
        const mode m = mode_of(khz, wid, interleaver::short_, ++seed % 2 ? 9 : 7);
        const setup s{ m,
                       snr(awgn_db[wid] + short_block_db, m) +
                           (seed % 4 < 2 ? " offset=75" : " offset=-75") +
                           (seed % 3 == 0 ? " clock=100" : " clock=-100") + " gain=-30",
                       {},
                       1.1,
                       seed };
        const outcome o = run(s);
        expect_right(o, s);
        if (o.got.empty())
            continue;
        EXPECT_NEAR(o.got[0].start->freq_offset_hz, seed % 4 < 2 ? 75 : -75, 1)
            << m.to_string();
        EXPECT_NEAR(static_cast<double>(o.got[0].start_sample), o.first, 12)
            << m.to_string();
    }
}

} // namespace

TEST(wideband_receiver, every_waveform_in_3_khz_at_75_hz_and_100_ppm)
{
    receive_all(3, { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 });
}

TEST(wideband_receiver, a_spread_of_waveforms_in_6_9_and_12_khz)
{
    receive_all(6, { 0, 2, 12 });
    receive_all(9, { 1, 10 });
    receive_all(12, { 0, 6 });
}

TEST(wideband_receiver, every_interleaver_and_the_wider_bands)
{
    for (const auto il : { interleaver::ultra_short, interleaver::medium })
        for (const unsigned wid : { 2u, 7u }) {
            const setup s{
                mode_of(3, wid, il), snr(awgn_db[wid] + 5, mode_of(3, wid)), {}, 1, 3
            };
            expect_right(run(s), s);
        }
    const setup s{ mode_of(24, 6, interleaver::ultra_short),
                   snr(awgn_db[6] + 5, mode_of(24, 6)),
                   {},
                   0.2,
                   3 };
    expect_right(run(s), s);
}

TEST(wideband_receiver, poor_channel)
{
    for (const unsigned wid : { 1u, 6u, 10u }) {
        setup s{ mode_of(3, wid, interleaver::long_),
                 "poor " + snr(poor_db[wid], mode_of(3, wid)) + " offset=-60",
                 {},
                 1,
                 2 };
        s.options.preamble.superframes = 3;
        expect_right(run(s), s);
    }
    for (const unsigned wid : { 0u, 7u }) {
        setup s{ mode_of(6, wid, interleaver::medium),
                 "poor " + snr(poor_db[wid] + 2, mode_of(6, wid)),
                 {},
                 1,
                 4 };
        s.options.preamble.superframes = 3;
        expect_right(run(s), s);
    }
}

TEST(wideband_receiver, sweep)
{
    const mode m = mode_of(3, 10, interleaver::medium);
    const setup s{ m, snr(24, m) + " offset=10 sweep=3.5", {}, 8, 5 };
    expect_right(run(s), s);
}

/* One super-frame of a signal 3 dB weaker than the standard requires. The words that
 * identify the waveform are the weakest part. With two of them 20 apart in likelihood, a
 * deviation of 6 and three neighbours of each, 3 of 1000 are mistaken. Without phases
 * half of all were. */
TEST(wideband_receiver, finds_a_single_superframe_3_db_below_the_limit)
{
    const mode m = mode_of(3, 0);
    size_t found = 0;
    constexpr size_t all = 40;
    for (uint64_t seed = 1; seed <= all; ++seed) {
        const setup s{ m,
                       snr(awgn_db[0] - 3, m) + (seed % 2 ? " offset=61" : " offset=-17"),
                       {},
                       0.5,
                       seed };
        const outcome o = run(s);
        found += o.got.size() == 1 && o.got[0].start && o.got[0].start->m == m;
    }
    EXPECT_GE(found, all - 2);
}

TEST(wideband_receiver, every_form_of_the_preamble)
{
    for (const int khz : { 3, 9 })
        for (const auto scrambling :
             { preamble_scrambling::restart, preamble_scrambling::running })
            for (const int superframes : { 0, 1, 4 }) { // 0: the short form
                const mode m = mode_of(khz, 5);
                setup s{ m, snr(12, m) + " offset=33", {}, 0.3, 6 };
                s.options.preamble.scrambling = scrambling;
                s.options.preamble.short_form = superframes == 0;
                s.options.preamble.superframes = std::max(1, superframes);
                s.options.agc_blocks = superframes;
                const outcome o = run(s);
                expect_right(o, s);
                if (!o.got.empty()) {
                    const double tlc = superframes * 4.0 * 32 * khz / 3;
                    EXPECT_NEAR(
                        static_cast<double>(o.got[0].start_sample), o.first + tlc, 12)
                        << m.to_string() << superframes;
                }
            }
}

TEST(wideband_receiver, joins_within_a_preamble)
{
    setup s{ mode_of(3, 3), snr(10, mode_of(3, 3)), {}, 0.5, 7 };
    s.options.preamble.superframes = 5;
    // 2.4 super-frames are not heard.
    expect_right(run(s,
                     describe(s.m),
                     [](loopback::samples& x, double rate) {
                         std::fill_n(x.begin(), static_cast<long>(2.4 * 0.24 * rate), 0);
                     }),
                 s);
}

/* In 48 kHz the scrambling repeats within a channel symbol, and the first symbols of a
 * strong signal resemble the last of the short form. */
TEST(wideband_receiver, begins_where_a_strong_preamble_begins)
{
    const mode m = mode_of(48, 12, interleaver::ultra_short);
    setup s{ m, snr(30, m), {}, 0.1 };
    s.options.preamble.superframes = 20;
    // How well the search sees the start depends on its place in a batch.
    for (s.seed = 1; s.seed <= 8; ++s.seed) {
        s.later = 193 * s.seed;
        expect_right(run(s), s);
    }
}

// The reception starts late: most fixed symbols of the first super-frame are missed, or
// all but the last one, which the short form also starts with.
TEST(wideband_receiver, waits_for_a_super_frame_that_is_whole)
{
    for (const int khz : { 3, 48 }) {
        const mode m = mode_of(khz, 7, interleaver::ultra_short);
        setup s{ m, snr(25, m), {}, 0.5 };
        s.options.preamble.superframes = 20;
        for (const double missed : { 3.5, 5.9, 7.9 }) {
            const auto begin_missed = [missed](loopback::samples& x, double rate) {
                std::fill_n(x.begin(), static_cast<long>(missed / 75 * rate), 0);
            };
            for (s.seed = 1; s.seed <= 2; ++s.seed) {
                SCOPED_TRACE(missed);
                expect_right(run(s, describe(m), begin_missed), s);
            }
        }
    }
}

TEST(wideband_receiver, hears_which_reading_of_the_boundary_probes_is_sent)
{
    size_t readings = 0;
    for (const auto il :
         { interleaver::ultra_short, interleaver::short_, interleaver::long_ }) {
        const mode m = mode_of(3, 7, il);
        description d = describe(m);
        for (const auto& reading : describe(m).other_probes) {
            ++readings;
            d.frame_patterns = reading;
            const setup s{ m, "paths=0:0:0,2:-3:0 " + snr(20, m), {}, 2, 8 };
            expect_right(run(s, d, [](loopback::samples&, double) {}), s);
        }
    }
    EXPECT_EQ(readings, 5u);
}

TEST(wideband_receiver, hears_whether_the_last_walsh_word_is_another)
{
    for (const int khz : { 3, 6 }) {
        const mode m = mode_of(khz, 0);
        description d = describe(m);
        std::copy_n(d.words.begin(), 4, d.words.begin() + 4);
        const setup s{ m, snr(0, m), {}, 2, 9 };
        expect_right(run(s, d, [](loopback::samples&, double) {}), s);
    }
}

// Not only the last one: the residual of the words is their noise, for any position of
// rows on the pulse.
TEST(wideband_receiver, reads_the_first_of_many_superframes)
{
    const mode m = mode_of(3, 5);
    for (const double db : { 0, 3, 6, 9, 12 })
        for (uint64_t seed = 1; seed <= 6; ++seed) {
            setup s{ m, snr(db, m), {}, 0.5, seed };
            s.options.preamble.superframes = 8;
            const outcome o = run(s);
            ASSERT_EQ(o.got.size(), 1u) << s.channel << ", seed " << seed;
            ASSERT_TRUE(o.got[0].start);
            EXPECT_EQ(o.got[0].start->m, m);
            // It is heard in pieces of half a second.
            EXPECT_LT(static_cast<double>(o.got[0].told_after),
                      o.first + 4 * 0.24 * loopback::sample_rate(m))
                << s.channel << ", seed " << seed;
        }
}

/* The words are searched for at every delay, and a strong signal appears for a moment at
 * many of them. Not all of these may be followed through the block. */
TEST(wideband_receiver, follows_strong_walsh_words_at_the_cost_of_weak_ones)
{
    const mode m = mode_of(12, 0, interleaver::long_);
    const auto cost = [&](const std::string& channel) {
        setup s{ m, channel, {}, 10, 9 };
        s.options.preamble.superframes = 4;
        const std::clock_t begin = std::clock();
        expect_right(run(s), s);
        return static_cast<double>(std::clock() - begin);
    };
    const double weak = cost(snr(-8, m));
    EXPECT_LE(cost(snr(1, m)), 2 * weak);
    EXPECT_LE(cost("paths=0:0:1,2:0:1 " + snr(1, m)), 2 * weak);
}

TEST(wideband_receiver, ends_without_a_marker_when_the_signal_has_gone)
{
    setup s{ mode_of(3, 6), snr(15, mode_of(3, 6)), {}, 1, 10 };
    s.options.eom = false;
    s.options.eot = true;
    const auto o = run(s, describe(s.m), [](loopback::samples& x, double rate) {
        loopback::pause(x, static_cast<size_t>(12 * rate));
    });
    ASSERT_EQ(o.got.size(), 1u);
    ASSERT_TRUE(o.got[0].end);
    EXPECT_EQ(o.got[0].end->reason, rx_end_reason::lost);
    ASSERT_GE(o.got[0].octets.size(), o.sent.size());
    EXPECT_TRUE(std::equal(o.sent.begin(), o.sent.end(), o.got[0].octets.begin()));
}

// Ways in which receivers of this family have failed.

/* The window of delays is 12.5 ms long and starts 5.4 ms before the first path seen. If
 * that was weak and far before the others, or no path at all, the others were outside. */
TEST(wideband_receiver, a_weak_path_far_before_the_others_is_left_out)
{
    for (const int khz : { 3, 12, 48 })
        for (uint64_t seed = 1; seed <= 3; ++seed) {
            const mode m = mode_of(khz, 4);
            setup s{ m, "paths=0:-9:0,8:0:0,10:0:0 " + snr(10, m), {}, 1.5, seed };
            expect_right(run(s), s);
        }
}

namespace {

// Share of the octets that are right, from sample \p from of the transmission on.
double right_share(const outcome& o, double from)
{
    const auto begin = static_cast<size_t>(from * static_cast<double>(o.sent.size()));
    size_t right = 0;
    for (size_t i = begin; i < o.sent.size(); ++i)
        right += i < o.got[0].octets.size() && o.got[0].octets[i] == o.sent[i];
    return static_cast<double>(right) / static_cast<double>(o.sent.size() - begin);
}

} // namespace

// 110C table D-LIII: the spectrum of two equal paths has nulls, which a cut pulse turns
// negative.
TEST(wideband_mechanism, two_equal_paths_at_50_db)
{
    for (const int khz : { 3, 9, 12, 24 }) {
        const mode m = mode_of(khz, 12);
        const setup s{ m, "paths=0:0:0,1.5:0:0 " + snr(50, m), {}, 0.5, 15 };
        expect_right(run(s), s);
    }
}

// Probes 120 ms apart look the same on a carrier that is off by a whole turn between two
// of them.
TEST(wideband_mechanism, carrier_is_not_locked_one_cycle_per_frame_off_after_a_fade)
{
    for (const double cycles : { 1.0, -1.0 }) {
        const mode m = mode_of(3, 7);
        const setup s{ m, snr(20, m), {}, 12, 11 };
        const auto o = run(s, describe(m), [cycles](loopback::samples& x, double rate) {
            const auto from = static_cast<size_t>(4 * rate),
                       to = static_cast<size_t>(5.5 * rate);
            const double hz = cycles / 0.12;
            for (size_t i = from; i < x.size(); ++i)
                x[i] *= i < to
                            ? 0.0f
                            : std::polar(1.0f,
                                         static_cast<float>(std::fmod(
                                             2 * M_PI * hz * (i - to) / rate, 2 * M_PI)));
        });
        ASSERT_EQ(o.got.size(), 1u) << cycles;
        EXPECT_EQ(o.got[0].start->m, m);
        // The last third is long after.
        EXPECT_EQ(right_share(o, 0.67), 1) << cycles;
    }
}

TEST(wideband_mechanism, patience_is_counted_in_seconds_not_in_frames)
{
    for (const unsigned wid : { 1u, 7u }) {
        const mode m = mode_of(3, wid, interleaver::ultra_short);
        const setup s{ m, snr(awgn_db[wid] + 8, m), {}, 10, 12 };
        const auto o = run(s, describe(m), [](loopback::samples& x, double rate) {
            std::fill(x.begin() + static_cast<long>(4.5 * rate),
                      x.begin() + static_cast<long>(8 * rate),
                      0);
        });
        ASSERT_EQ(o.got.size(), 1u) << m.to_string();
        EXPECT_EQ(o.got[0].end->reason, rx_end_reason::eom) << m.to_string();
        EXPECT_EQ(right_share(o, 0.8), 1) << m.to_string();
    }
}

TEST(wideband_mechanism, a_faded_preamble_is_not_read_as_another_waveform)
{
    size_t found = 0, wrong = 0;
    for (uint64_t seed = 1; seed <= 24; ++seed) {
        const mode m = mode_of(3, 6);
        const setup s{ m, snr(12, m), {}, 0.5, seed };
        // The words that name the waveform fade to -12 dB of noise and below.
        const auto o = run(s, describe(m), [seed](loopback::samples& x, double rate) {
            const auto from = static_cast<size_t>((0.12 + 0.0133 * (seed % 5)) * rate);
            const float faded = 0.06f;
            for (size_t i = from; i < static_cast<size_t>(0.26 * rate); ++i)
                x[i] *= faded;
        });
        for (const auto& r : o.got) {
            ++found;
            wrong += r.start->m != m;
        }
    }
    EXPECT_EQ(wrong, 0u) << "of " << found;
    EXPECT_LE(found, 24u);
}

// The first path may be in a fade during the preamble, and return ahead of the path
// locked on. At 48 kHz the scrambling of 256 values repeats twice within a channel
// symbol. So a strong preamble looks like a short one somewhat earlier.
TEST(wideband_mechanism, a_side_peak_of_the_scrambling_is_not_taken_for_the_preamble)
{
    for (uint64_t seed = 1; seed <= 12; ++seed) {
        const mode m = mode_of(48, 10, interleaver::ultra_short);
        const setup s{ m, snr(30, m), {}, 0.05, seed };
        expect_right(run(s), s);
    }
}

TEST(wideband_mechanism, a_path_that_comes_back_early_is_taken_in)
{
    for (const unsigned wid : { 3u, 7u }) {
        const mode m = mode_of(3, wid);
        setup s{ m, snr(poor_db[wid] + 4, m), {}, 8, 13 };
        const auto o = run(s, describe(m), [](loopback::samples& x, double rate) {
            // A second path 4 ms after a first one, which vanishes for a second.
            const auto delay = static_cast<size_t>(0.004 * rate);
            loopback::samples both(x.size() + delay);
            for (size_t i = 0; i < x.size(); ++i) {
                const double t = static_cast<double>(i) / rate;
                const auto back = static_cast<float>(std::clamp((t - 1) / 1.5, 0.0, 1.0));
                both[i] += back * x[i];
                both[i + delay] += 0.7f * x[i];
            }
            x = both;
        });
        ASSERT_EQ(o.got.size(), 1u) << m.to_string();
        EXPECT_EQ(o.got[0].start->m, m);
        EXPECT_EQ(right_share(o, 0), 1) << m.to_string();
    }
}

// A probe is a repeated sequence. On half of it one path looks like two, a period apart.
TEST(wideband_mechanism, the_period_of_probes_is_not_taken_for_an_echo)
{
    for (const unsigned wid : { 7u, 12u }) { // periods of 6.7 and 5.4 ms
        const mode m = mode_of(3, wid);
        const setup s{ m, "paths=0:0:0.3 " + snr(awgn_db[wid] + 8, m), {}, 4, 14 };
        burst_receiver rx({}, receptions(3000));
        const double rate = 9600;
        auto x = send(describe(m), loopback::random_octets(octets_for(m, 4), 1), {});
        loopback::pause(x, 9600);
        x = loopback::through(x, s.channel, 3, mean_power(m), rate);
        size_t blocks = 0;
        for (size_t i = 0; i < x.size(); i += 960) {
            rx.push(&x[i], std::min<size_t>(960, x.size() - i));
            while (const auto e = rx.poll())
                if (!e->channel.profile.empty()) {
                    ++blocks;
                    EXPECT_LT(e->channel.delay_spread_ms, 1) << m.to_string();
                }
        }
        EXPECT_GE(blocks, 6u);
    }
}
