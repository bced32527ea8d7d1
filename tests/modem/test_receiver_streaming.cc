/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/base/no_denormals.h"
#include "modem/loopback.h"
#include "waveform/description.h"
#include "waveform/families/serial_tone/serial_tone.h"
#include "waveform/timing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

using namespace gr::hf;
using namespace gr::hf::kernel;

namespace {

loopback::samples burst(const char* name, const std::vector<uint8_t>& octets)
{
    return loopback::transmit(mode::parse(name), octets);
}

void add(loopback::samples& x, const loopback::samples& y)
{
    x.insert(x.end(), y.begin(), y.end());
}

// All events and their values as one text.
std::string story(const loopback::samples& x, size_t chunk)
{
    burst_receiver rx;
    std::string s;
    std::mt19937 rng(1);
    for (size_t i = 0; i < x.size();) {
        const size_t n = std::min<size_t>(x.size() - i, chunk ? chunk : 1 + rng() % 3000);
        rx.push(&x[i], n);
        i += n;
        while (auto e = rx.poll()) {
            s += std::to_string(e->what.index()) + " " + std::to_string(e->sample) + " " +
                 std::to_string(e->raised_at);
            if (auto* b = std::get_if<rx_octets>(&e->what))
                s += " " + std::string(b->octets.begin(), b->octets.end());
            s += "\n";
        }
    }
    return s;
}

} // namespace

TEST(receiver_streaming, events_do_not_depend_on_the_chunks)
{
    loopback::samples x(5000);
    add(x, burst("4539-600S", loopback::random_octets(60, 1)));
    loopback::pause(x, 3000);
    add(x, burst("4539-4800VS", loopback::random_octets(900, 2)));
    loopback::pause(x, 4800);
    x = loopback::through(x, "poor snr=22 offset=10", 1, 1);
    const auto whole = story(x, x.size());
    EXPECT_GT(whole.size(), 900u);
    EXPECT_EQ(story(x, 1), whole);
    EXPECT_EQ(story(x, 480), whole);
    EXPECT_EQ(story(x, 0), whole);
}

TEST(receiver_streaming, two_transmissions_back_to_back)
{
    const auto a = loopback::random_octets(40, 1), b = loopback::random_octets(300, 2);
    for (const auto& [first, second] : { std::pair{ "4539-600S", "4539-3200S" },
                                         std::pair{ "4539-6400VS", "4539-150S" },
                                         std::pair{ "4539-75S", "4539-75S" },
                                         std::pair{ "4539-2400S", "4539-2400S" } }) {
        loopback::samples x(1000);
        add(x, burst(first, a));
        x.resize(x.size() - 80); // pulse tail and lead overlap: symbols touch
        auto next = burst(second, b);
        add(x, next);
        loopback::pause(x, 9600);
        burst_receiver rx;
        const auto got = loopback::receive(rx, loopback::through(x, "snr=25", 3, 1));
        ASSERT_EQ(got.size(), 2u) << first << " " << second;
        EXPECT_TRUE(got[0].octets == a) << first;
        EXPECT_TRUE(got[1].octets == b) << second;
        EXPECT_NEAR(static_cast<double>(got[1].start_sample - got[0].end_sample), 0, 90);
    }
}

TEST(receiver_streaming, joins_a_long_preamble_anywhere)
{
    const auto sent = loopback::random_octets(100, 4);
    const auto whole = burst("4539-600L", sent);
    for (const double join : { 0.3, 1.55, 3.1, 4.35 }) { // of 4.8 s
        const auto from = static_cast<size_t>(join * 9600);
        loopback::samples x(whole.begin() + static_cast<long>(from), whole.end());
        loopback::pause(x, 9600);
        burst_receiver rx;
        const auto got = loopback::receive(rx, loopback::through(x, "snr=15", 5, 1));
        ASSERT_EQ(got.size(), 1u) << join;
        EXPECT_TRUE(got[0].octets == sent) << join;
        const double seen = 4.8 - join - 0.2; // at most a segment is lost
        EXPECT_LT(static_cast<double>(got[0].start_sample) / 9600,
                  4.8 - join - seen + 0.21);
    }
}

TEST(receiver_streaming, joins_high_rates_at_a_reinserted_preamble)
{
    // 72 frames of 287 symbols and 72 more lie between the preambles
    constexpr size_t superframe = 4 * (72 * 287 + 72);
    for (const auto& [name, snr] : { std::pair{ "4539-3200S", 9 },
                                     std::pair{ "4539-6400L", 16 },
                                     std::pair{ "4539-9600VL", 21 } }) {
        const mode m = mode::parse(name);
        const size_t octets = timing_of(m).octets_in(72 / describe(m).frames_per_block);
        const auto sent = loopback::random_octets(2 * octets, 4);
        const auto whole = burst(name, sent);
        loopback::samples x(whole.begin() + 20000, whole.end());
        loopback::pause(x, 9600);
        burst_receiver rx;
        const auto got = loopback::receive(
            rx,
            loopback::through(
                x, "offset=-60 snr=" + std::to_string(snr), 5, mean_power(m)));
        ASSERT_EQ(got.size(), 1u) << name;
        EXPECT_EQ(got[0].start->m, m);
        EXPECT_NEAR(got[0].start->freq_offset_hz, -60, 1.5);
        // 31 symbols of the mini-probe before it are seen as well
        EXPECT_NEAR(static_cast<double>(got[0].start_sample),
                    40 + 4 * 184 + superframe - 20000.0,
                    4);
        const size_t missed =
            timing_of(m).bits_per_block / 8 * (72 / describe(m).frames_per_block);
        ASSERT_EQ(got[0].octets.size(), sent.size() - missed) << name;
        EXPECT_TRUE(std::equal(got[0].octets.begin(),
                               got[0].octets.end(),
                               sent.begin() + static_cast<long>(missed)))
            << name;
    }
}

TEST(receiver_streaming, a_new_preamble_takes_over)
{
    const auto first = loopback::random_octets(3500, 7),
               next = loopback::random_octets(60, 8);
    for (const char* name : { "4539-600L", "4539-3200L", "4539-2400S", "4539-75L" })
        for (const char* then : { "4539-600S", "4539-6400S" }) {
            loopback::samples x(2000);
            auto t = burst(name, name[5] == '7' ? next : first);
            const size_t cut = 9600 * 6;
            t.resize(cut); // no end-of-message mark: another begins at once, louder
            add(x, t);
            for (auto s : burst(then, next))
                x.push_back(1.5f * s);
            loopback::pause(x, 20000);
            burst_receiver rx;
            const auto got = loopback::receive(rx, loopback::through(x, "snr=20", 9, 1));
            ASSERT_EQ(got.size(), 2u) << name << then;
            ASSERT_TRUE(got[0].end);
            EXPECT_EQ(got[0].end->reason, rx_end_reason::preempted) << name << then;
            EXPECT_NEAR(static_cast<double>(got[0].end_sample), 2040.0 + cut, 100);
            EXPECT_TRUE(got[1].octets == next) << name << then;
            EXPECT_EQ(rx.counters().ends_preempted, 1u);
        }
}

TEST(receiver_streaming, a_preamble_of_somebody_weaker_does_not_disturb)
{
    const auto sent = loopback::random_octets(3000, 7);
    for (const char* name : { "4539-1200S", "4539-3200S" }) {
        loopback::samples x(2000);
        add(x, burst(name, sent));
        loopback::pause(x, 9600);
        const auto other = burst("4539-600S", loopback::random_octets(30, 8));
        for (size_t i = 0; i < other.size(); ++i)
            x[30000 + i] += 0.25f * other[i];
        burst_receiver rx;
        const auto got = loopback::receive(rx, loopback::through(x, "snr=20", 9, 1));
        ASSERT_GE(got.size(), 1u);
        ASSERT_TRUE(got[0].end);
        EXPECT_EQ(got[0].end->reason, rx_end_reason::eom) << name;
        EXPECT_TRUE(got[0].octets == sent) << name;
    }
}

TEST(receiver_streaming, a_fade_of_seconds_does_not_lose_the_count)
{
    struct row {
        const char* name;
        size_t octets;
        double fade_s;
        size_t lost; // octets at most
    };
    // blocks of 4.8 s; 0.6, 1.08, 8.64 and 4.8 s
    for (const row& r : { row{ "4539-600L", 2000, 8.0, 1080 },
                          row{ "4539-600S", 2000, 8.0, 720 },
                          row{ "4539-3200S", 10000, 8.0, 4320 },
                          row{ "4539-3200VL", 13000, 8.0, 6912 },
                          row{ "4539-75L", 260, 8.0, 135 } }) {
        const auto sent = loopback::random_octets(r.octets, 3);
        loopback::samples x(2000);
        add(x, burst(r.name, sent));
        loopback::pause(x, 9600);
        const auto begin = static_cast<size_t>(9.7 * 9600);
        for (size_t i = begin; i < begin + static_cast<size_t>(r.fade_s * 9600); ++i)
            x[i] *= 0.003f;
        burst_receiver rx;
        const auto got =
            loopback::receive(rx, loopback::through(x, "offset=30 snr=18", 4, 1));
        ASSERT_EQ(got.size(), 1u) << r.name;
        ASSERT_TRUE(got[0].end);
        EXPECT_EQ(got[0].end->reason, rx_end_reason::eom) << r.name;
        ASSERT_EQ(got[0].octets.size(), sent.size()) << r.name;
        size_t wrong = 0;
        for (size_t i = 0; i < sent.size(); ++i)
            wrong += sent[i] != got[0].octets[i];
        EXPECT_LE(wrong, r.lost) << r.name;
        EXPECT_TRUE(std::equal(sent.end() - 20, sent.end(), got[0].octets.end() - 20));
    }
}

TEST(receiver_streaming, does_not_lock_on_reserved_words)
{
    using namespace serial_tone;
    for (const unsigned d2 : { 6u, 7u }) {
        loopback::samples x(4000);
        std::vector<std::complex<float>> symbols;
        for (int count = 2; count >= 0; --count)
            for (const uint8_t s : preamble_segment(5, d2, static_cast<unsigned>(count)))
                symbols.push_back(psk8_points()[s]);
        for (const auto s : symbols) // square pulses will do
            x.insert(x.end(), 4, s);
        loopback::pause(x, 9600);
        burst_receiver rx;
        EXPECT_TRUE(loopback::receive(rx, loopback::through(x, "snr=20", 6, 1)).empty());
        EXPECT_GT(rx.counters().candidates, 0u);
    }
}

TEST(receiver_streaming, loses_a_signal_that_stops_and_finds_the_next)
{
    for (const char* name : { "4539-600L",
                              "4539-75L",
                              "4539-150L",
                              "4539-300L",
                              "4539-3200L",
                              "4539-2400S" })
        for (const bool noise : { false, true }) {
            const auto sent = loopback::random_octets(name[5] == '7'   ? 60
                                                      : name[5] == '1' ? 150
                                                                       : 1500,
                                                      7);
            const auto next = loopback::random_octets(50, 8);
            loopback::samples x(2000);
            auto t = burst(name, sent);
            const size_t kept = t.size() / 2 + 9600;
            t.resize(kept);
            add(x, t);
            loopback::pause(x, 4800);
            const size_t second = x.size();
            add(x, burst("4539-600S", next));
            loopback::pause(x, 40000);
            burst_receiver rx;
            const auto got =
                loopback::receive(rx, noise ? loopback::through(x, "snr=12", 9, 1) : x);
            ASSERT_EQ(got.size(), 2u) << name << noise;
            ASSERT_TRUE(got[0].end) << name << noise;
            EXPECT_EQ(got[0].end->reason, rx_end_reason::lost) << name;
            EXPECT_NEAR(static_cast<double>(got[0].end_sample),
                        static_cast<double>(2000 + kept),
                        noise ? 2500 : 11000) // an estimate; the next burst may blur it
                << name << noise;
            EXPECT_NEAR(static_cast<double>(got[1].start_sample),
                        static_cast<double>(second + 40),
                        4);
            EXPECT_TRUE(got[1].octets == next) << name << noise;
        }
}

TEST(receiver_streaming, a_signal_that_stops_may_be_in_a_fade_for_ten_seconds)
{
    for (const char* name : { "4539-75L",
                              "4539-300L",
                              "4539-2400S",
                              "4539-9600VL",
                              "5069-3k-75S",
                              "5069-3k-600L",
                              "5069-48k-240000S" }) {
        const mode m = mode::parse(name);
        const double rate = loopback::sample_rate(m);
        loopback::samples x(static_cast<size_t>(rate / 4));
        const auto sent = loopback::random_octets(timing_of(m).octets_in(4), 1);
        auto t = loopback::transmit(m, sent);
        t.resize(t.size() * 3 / 4);
        add(x, t);
        const auto stop = static_cast<double>(x.size());
        loopback::pause(x, static_cast<size_t>(12 * rate));
        const auto y = loopback::through(x, "snr=45", 1, mean_power(m), rate);
        const auto rx = loopback::receiver_of(m);
        const size_t chunk = 960;
        std::optional<rx_end> end;
        double on_air_s = 0, told_s = 0;
        std::vector<uint8_t> octets;
        for (size_t i = 0; i < y.size(); i += chunk) {
            rx->push(&y[i], std::min(chunk, y.size() - i));
            while (const auto e = rx->poll())
                if (const auto* data = std::get_if<rx_octets>(&e->what)) {
                    octets.insert(octets.end(), data->octets.begin(), data->octets.end());
                } else if (const auto* what = std::get_if<rx_end>(&e->what)) {
                    end = *what;
                    on_air_s = (static_cast<double>(e->sample) - stop) / rate;
                    told_s = (static_cast<double>(i + chunk) - stop) / rate;
                }
        }
        ASSERT_TRUE(end) << name;
        EXPECT_EQ(end->reason, rx_end_reason::lost) << name;
        EXPECT_NEAR(on_air_s, 0.1, 0.2) << name; // some frames tell
        EXPECT_NEAR(told_s, 10.3, 0.4) << name;
        // Two blocks and a part of the third; none of the noise after it.
        const size_t two = timing_of(m).octets_in(2);
        ASSERT_GE(octets.size(), two) << name;
        EXPECT_TRUE(std::equal(
            octets.begin(), octets.begin() + static_cast<long>(two), sent.begin()))
            << name;
        EXPECT_LE(octets.size(), sent.size() + 8) << name;
    }
}

TEST(receiver_streaming, stops_at_the_block_limit)
{
    rx_options o;
    o.max_blocks = 2;
    burst_receiver rx(o);
    loopback::samples x(1000);
    const mode m = mode::parse("4539-3200VS");
    add(x, loopback::transmit(m, loopback::random_octets(700, 1)));
    loopback::pause(x, 9600);
    const auto got = loopback::receive(rx, loopback::through(x, "snr=20", 2, 1));
    ASSERT_EQ(got.size(), 1u);
    ASSERT_TRUE(got[0].end);
    EXPECT_EQ(got[0].end->reason, rx_end_reason::limit);
    EXPECT_EQ(got[0].octets.size(), 2 * 144u);
    EXPECT_EQ(rx.counters().blocks, 2u);
}

TEST(receiver_streaming, high_rate_without_marker_ends_as_lost)
{
    const mode m = mode::parse("4539-3200VS");
    tx_options no_eom;
    no_eom.eom = false;
    loopback::samples x(1000);
    const auto sent = loopback::random_octets(288, 1); // two full blocks
    add(x, loopback::transmit(m, sent, no_eom));
    const size_t end = x.size();
    loopback::pause(x, 110000); // it may be a fade, for 10 s
    burst_receiver rx;
    const auto got = loopback::receive(rx, loopback::through(x, "snr=20", 2, 1));
    ASSERT_EQ(got.size(), 1u);
    ASSERT_TRUE(got[0].end);
    EXPECT_EQ(got[0].end->reason, rx_end_reason::lost);
    EXPECT_NEAR(static_cast<double>(got[0].end_sample), static_cast<double>(end), 2500);
    ASSERT_GE(got[0].octets.size(), sent.size());
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), got[0].octets.begin()));
}

TEST(receiver_streaming, agc_blocks_before_the_preamble_do_no_harm)
{
    tx_options o;
    o.agc_blocks = 7;
    const auto sent = loopback::random_octets(100, 1);
    loopback::samples x(1000);
    add(x, loopback::transmit(mode::parse("4539-4800VS"), sent, o));
    loopback::pause(x, 9600);
    burst_receiver rx;
    const auto got = loopback::receive(rx, loopback::through(x, "snr=20", 2, 1));
    ASSERT_EQ(got.size(), 1u);
    EXPECT_TRUE(got[0].octets == sent);
    EXPECT_NEAR(static_cast<double>(got[0].start_sample), 1040 + 7 * 184 * 4, 3);
}

TEST(receiver_streaming, reset_and_skip_keep_the_count)
{
    const auto sent = loopback::random_octets(30, 1);
    const auto t = burst("4539-600S", sent);
    burst_receiver rx;
    rx.push(t.data(), t.size() / 2);
    EXPECT_TRUE(rx.receiving());
    rx.reset();
    EXPECT_FALSE(rx.receiving());
    EXPECT_FALSE(rx.poll());
    rx.skip(12345);
    EXPECT_EQ(rx.counters().samples, t.size() / 2 + 12345);
    loopback::samples x = t;
    loopback::pause(x, 4800);
    const auto got = loopback::receive(rx, x);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_TRUE(got[0].octets == sent);
    EXPECT_NEAR(static_cast<double>(got[0].start_sample),
                static_cast<double>(t.size() / 2 + 12345 + 40),
                3);
}

TEST(receiver_streaming, reset_forgets_an_end_that_is_not_over_on_the_air)
{
    // With these lengths the marker is in a block, and its flush bits need another one.
    // So the receiver knows the end before it is over on the air.
    const mode m = mode::parse("4539-600S");
    const size_t two = timing_of(m).octets_in(2);
    size_t waiting = 0;
    for (size_t octets = two; octets < two + 20; ++octets) {
        auto x = loopback::transmit(m, loopback::random_octets(octets, 1));
        loopback::pause(x, 9600);
        burst_receiver rx;
        size_t got = 0;
        bool ended = false;
        for (size_t at = 0; got < octets && at + 48 <= x.size(); at += 48) {
            rx.push(&x[at], 48);
            while (const auto e = rx.poll()) {
                ended = ended || std::holds_alternative<rx_end>(e->what);
                if (const auto* o = std::get_if<rx_octets>(&e->what))
                    got += o->octets.size();
            }
        }
        ASSERT_EQ(got, octets);
        waiting += !ended && rx.receiving();
        rx.reset();
        EXPECT_FALSE(rx.receiving());
        EXPECT_TRUE(loopback::receive(rx, loopback::samples(19200)).empty()) << octets;
    }
    EXPECT_GT(waiting, 0u);
}

TEST(receiver_streaming, ten_minutes_of_noise_start_nothing)
{
    burst_receiver rx;
    const counter_random noise(77, 0);
    loopback::samples x(9600);
    uint64_t k = 0;
    for (int s = 0; s < 600; ++s) {
        for (auto& v : x)
            v = noise.gaussian(k++) * (s % 60 < 30 ? 1.0f : 1e-4f);
        rx.push(x.data(), x.size());
    }
    EXPECT_FALSE(rx.poll());
    EXPECT_EQ(rx.counters().starts, 0u);
    EXPECT_LT(rx.counters().candidates, 5u);
}

TEST(receiver_streaming, leaves_the_smallest_floats_to_its_caller)
{
    volatile float tiny = 1e-30f, product = 0;
    const auto of_tiny = [&] {
        product = tiny * 1e-12f;
        return static_cast<float>(product);
    };
    ASSERT_GT(of_tiny(), 0.0f);
#if defined(__SSE__)
    {
        const no_denormals fast;
        EXPECT_EQ(of_tiny(), 0.0f);
    }
#endif
    const auto x = burst("4539-9600S", { 1, 2, 3 });
    burst_receiver rx;
    rx.push(x.data(), x.size());
    EXPECT_GT(of_tiny(), 0.0f);
}

TEST(receiver_streaming, a_bad_sample_costs_no_octet)
{
    // One in the preamble, one in the middle of the data, one right before both.
    for (const float bad : { std::numeric_limits<float>::quiet_NaN(),
                             std::numeric_limits<float>::infinity(),
                             -3e38f })
        for (const char* name : { "4539-75S", "4539-600S", "4539-3200S" }) {
            const auto sent = loopback::random_octets(name[5] == '7' ? 30 : 200, 3);
            loopback::samples x(2000);
            add(x, burst(name, sent));
            loopback::pause(x, 9600);
            x = loopback::through(x, "snr=25", 1, 1);
            for (const size_t at : { size_t{ 1500 }, size_t{ 3000 }, x.size() / 2 })
                x[at] = { bad, 0.1f };
            burst_receiver rx;
            const auto got = loopback::receive(rx, x);
            ASSERT_EQ(got.size(), 1u) << name << " " << bad;
            EXPECT_TRUE(got[0].octets == sent) << name << " " << bad;
            ASSERT_TRUE(got[0].end);
            EXPECT_EQ(got[0].end->reason, rx_end_reason::eom) << name;
            EXPECT_EQ(rx.counters().bad_samples, 3u);
        }
}

TEST(receiver_streaming, garbage_never_hurts)
{
    std::mt19937 rng(5);
    const float nasty[] = { std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(),
                            3e38f,
                            1e12f,
                            -1e11f,
                            1e-40f,
                            0.0f };
    burst_receiver rx;
    // pure garbage
    loopback::samples x(96000);
    for (auto& v : x)
        v = { nasty[rng() % 8], nasty[rng() % 8] };
    EXPECT_TRUE(loopback::receive(rx, x).empty());
    EXPECT_GT(rx.counters().bad_samples, 10000u);
    // signals damaged in the middle, in every mode of reception
    for (const char* name : { "4539-75S", "4539-600S", "4539-4800N", "4539-9600VS" })
        for (int kind = 0; kind < 5; ++kind) {
            auto t = burst(name, loopback::random_octets(60, 3));
            for (size_t i = 0; i < t.size(); ++i) {
                const bool hit = kind == 0   ? rng() % 500 == 0
                                 : kind == 1 ? i > t.size() / 2
                                             : i / 1000 % 5 == 3;
                if (hit)
                    t[i] = kind == 2   ? std::complex<float>(1e11f)
                           : kind == 3 ? std::complex<float>(0)
                           : kind == 4 ? std::polar(1e3f, static_cast<float>(i % 7))
                                       : std::complex<float>(nasty[rng() % 8], 0);
            }
            for (const auto& r : loopback::receive(rx, t)) {
                if (!r.start)
                    continue; // the rest of the one before
                EXPECT_TRUE(std::isfinite(r.start->snr_db));
                EXPECT_LE(std::abs(r.start->freq_offset_hz), 90);
            }
        }
    // and after all that it still works
    loopback::samples quiet(110000); // the last one may be in a fade for 10 s
    loopback::receive(rx, quiet);
    const auto sent = loopback::random_octets(30, 9);
    auto good = burst("4539-600S", sent);
    loopback::pause(good, 4800);
    const auto got = loopback::receive(rx, good);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_TRUE(got[0].octets == sent);
}
