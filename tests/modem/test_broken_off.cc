/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transmissions that break off while others use the channel, and what follows them. */
#include "modem/interferers.h"
#include "modem/loopback.h"
#include "waveform/description.h"
#include "waveform/timing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

using namespace gr::hf;
using namespace gr::hf::kernel;
using loopback::samples;

namespace {

//! Adds others to what is on the air.
using company = std::function<void(samples&, uint64_t seed)>;

struct scene {
    const char* name;
    const char* first;  // mode that breaks off after 4.3 s
    const char* second; // mode of the next one, 7 s later
    const char* channel;
    company others;
};

void speech(samples& x, uint64_t seed)
{
    interferers::add(x, interferers::speech(x.size(), seed), -5);
}

const scene scenes[] = {
    { "speech", "4539-9600S", "4539-9600S", "snr=25", speech },
    { "speech", "4539-3200S", "4539-3200S", "snr=25", speech },
    { "speech, any kind", "4539-12800N", "4539-600S", "snr=25", speech },
    { "speech, any kind", "4539-2400S", "4539-600S", "snr=25", speech },
    { "speech, any kind", "4539-300S", "4539-600S", "snr=25", speech },
    { "speech, any kind", "4539-75S", "4539-600S", "snr=25", speech },
    { "speech, any kind", "5069-3k-1200S", "4539-600S", "snr=25", speech },
    { "teletype", "4539-3200S", "4539-600S", "snr=20 rtty=300:20", nullptr },
    { "lightning",
      "4539-3200S",
      "4539-600S",
      "snr=20",
      [](samples& x, uint64_t seed) {
          interferers::add(x, interferers::lightning(x.size(), seed), 10);
      } },
    { "sounder",
      "4539-3200S",
      "4539-600S",
      "snr=20",
      [](samples& x, uint64_t) {
          interferers::add(x, interferers::sounder(x.size()), 3);
      } },
    { "weaker 75S",
      "4539-3200S",
      "4539-3200S",
      "snr=25",
      [](samples& x, uint64_t seed) {
          // It begins within the first one and is 6 dB weaker.
          const auto weak = loopback::transmit(mode::parse("4539-75S"),
                                               loopback::random_octets(120, seed));
          interferers::add(x, weak, -6, 30000);
      } },
};

struct counts {
    int found = 0;
    double longest_s = 0; // of the first, after it broke off
};

counts count(const scene& s, int tries)
{
    const mode m = mode::parse(s.first), then = mode::parse(s.second);
    constexpr double rate = 9600;
    counts c;
    // Longer than that.
    const auto octets = timing_of(m).octets_in(
        2 + static_cast<size_t>(5 * timing_of(m).symbol_rate_bd /
                                static_cast<double>(timing_of(m).block_symbols)));
    for (int k = 0; k < tries; ++k) {
        const auto seed = static_cast<uint64_t>(k + 1);
        samples x(static_cast<size_t>(rate));
        const size_t begin = x.size();
        const auto kept = static_cast<size_t>(4.3 * rate);
        auto t = loopback::transmit(m, loopback::random_octets(octets, seed));
        t.resize(kept);
        x.insert(x.end(), t.begin(), t.end());
        // At any place in a frame of the first.
        loopback::pause(x, static_cast<size_t>(7 * rate) + 101 * static_cast<size_t>(k));
        const size_t second = x.size();
        const auto sent =
            loopback::random_octets(timing_of(then).octets_in(3), seed + 100);
        t = loopback::transmit(then, sent);
        x.insert(x.end(), t.begin(), t.end());
        loopback::pause(x, static_cast<size_t>(3 * rate));
        if (s.others)
            s.others(x, seed);
        burst_receiver rx;
        const auto got =
            loopback::receive(rx, loopback::through(x, s.channel, seed, mean_power(m)));
        for (const auto& r : got) {
            if (!r.start)
                continue;
            if (std::abs(r.start_sample - static_cast<int64_t>(second)) < 4800 &&
                r.start->m == then) {
                ++c.found;
            } else if (r.start_sample < static_cast<int64_t>(begin + kept)) {
                const int64_t end = r.end ? r.end_sample : static_cast<int64_t>(x.size());
                c.longest_s = std::max(
                    c.longest_s,
                    (static_cast<double>(end) - static_cast<double>(begin + kept)) /
                        rate);
            }
        }
    }
    return c;
}

void expect_found(const std::string& others, int tries, double longest_s = 0.5)
{
    for (const scene& s : scenes)
        if (s.name == others) {
            const counts c = count(s, tries);
            EXPECT_GE(c.found, tries - 1) << s.name << " " << s.first;
            EXPECT_LE(c.longest_s, longest_s) << s.name << " " << s.first;
        }
}

} // namespace

// Of 26 seeds. Without one that broke off before, speech and a sounder hide one of them, too.
TEST(broken_off, the_next_one_is_received_under_speech) { expect_found("speech", 26); }
TEST(broken_off, the_next_one_is_received_under_a_teletype)
{
    expect_found("teletype", 26);
}
TEST(broken_off, the_next_one_is_received_in_a_thunderstorm)
{
    expect_found("lightning", 26);
}
// Now and then its chirps match probes, and only the next preamble ends the first one.
TEST(broken_off, the_next_one_is_received_under_a_sounder)
{
    expect_found("sounder", 26, 8);
}
TEST(broken_off, the_next_one_is_received_under_a_weaker_one)
{
    expect_found("weaker 75S", 26);
}
// The same for other ways to follow a transmission.
TEST(broken_off, of_any_kind) { expect_found("speech, any kind", 13); }

// Cut anywhere, in noise alone (coded modes). Then at most one block of nonsense follows, and the end tells
// how many octets are sure.
TEST(broken_off, octets_end_where_the_data_end)
{
    struct row {
        const char* name;
        double snr;
    };
    for (const row& r : { row{ "4539-9600US", 30 },
                          row{ "4539-9600S", 30 },
                          row{ "4539-3200VS", 20 },
                          row{ "4539-6400M", 25 },
                          row{ "4539-2400S", 20 },
                          row{ "4539-600S", 10 },
                          row{ "4539-75S", 0 },
                          row{ "5069-3k-9600S", 30 } }) {
        const mode m = mode::parse(r.name);
        const auto timing = timing_of(m);
        const double block_s =
            static_cast<double>(timing.block_symbols) / timing.symbol_rate_bd;
        const auto blocks = static_cast<size_t>(3 + 1 / block_s);
        const size_t block_octets = timing.bits_per_block / 8 + 1;
        for (uint64_t seed = 1; seed <= 5; ++seed) {
            const auto sent = loopback::random_octets(timing.octets_in(blocks + 6), seed);
            auto t = loopback::transmit(m, sent);
            // From there on whole blocks and a part of one have been sent.
            const double part = static_cast<double>(seed - 1) / 5;
            const double left =
                (6 - part) * static_cast<double>(4 * timing.block_symbols);
            t.resize(t.size() - 40 - static_cast<size_t>(left));
            samples x(5000);
            x.insert(x.end(), t.begin(), t.end());
            loopback::pause(x, 150000);
            burst_receiver rx;
            const auto got = loopback::receive(
                rx,
                loopback::through(
                    x, "snr=" + std::to_string(r.snr), seed, mean_power(m)));
            ASSERT_EQ(got.size(), 1u) << r.name << seed;
            ASSERT_TRUE(got[0].end) << r.name << seed;
            EXPECT_EQ(got[0].end->reason, rx_end_reason::lost) << r.name << seed;
            const size_t whole = blocks * block_octets;
            EXPECT_LE(got[0].octets.size(), whole + block_octets + 4) << r.name << seed;
            ASSERT_GE(got[0].end->sure_octets, 0) << r.name;
            const auto sure = static_cast<uint64_t>(got[0].end->sure_octets);
            ASSERT_LE(sure, got[0].octets.size()) << r.name << seed;
            EXPECT_TRUE(std::equal(sent.begin(),
                                   sent.begin() + static_cast<long>(sure),
                                   got[0].octets.begin()))
                << r.name << seed << " " << sure;
            EXPECT_GE(sure + 2 * block_octets + 8, whole) << r.name << seed;
        }
    }
}
