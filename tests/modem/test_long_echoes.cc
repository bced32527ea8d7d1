/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Echoes later than the usual window of delays. */
#include "modem/loopback.h"
#include "waveform/families/high_rate/reception.h"
#include "waveform/timing.h"

#include <gtest/gtest.h>

#include <string>

using namespace gr::hf;
using namespace gr::hf::kernel;
using loopback::samples;

namespace {

struct sent {
    std::vector<uint8_t> octets;
    samples on_air; // after the channel
};

// \p seconds of \p m after a pause, through \p words.
sent made(const mode& m, double seconds, const std::string& words, uint64_t seed)
{
    const auto timing = timing_of(m);
    const auto blocks = static_cast<size_t>(seconds * timing.symbol_rate_bd /
                                            static_cast<double>(timing.block_symbols));
    sent s{ loopback::random_octets(timing.octets_in(blocks), seed), samples(4874) };
    const samples t = loopback::transmit(m, s.octets);
    s.on_air.insert(s.on_air.end(), t.begin(), t.end());
    loopback::pause(s.on_air, 24000);
    s.on_air = loopback::through(s.on_air, words, seed, mean_power(m));
    return s;
}

struct echo_row {
    const char *mode, *channel;
};

//! The name of a test, which otherwise has the octets of its pointers.
std::ostream& operator<<(std::ostream& to, const echo_row& r)
{
    return to << r.mode << ' ' << r.channel;
}

} // namespace

class long_echo : public testing::TestWithParam<echo_row>
{
};

TEST_P(long_echo, loses_no_octet)
{
    const mode m = mode::parse(GetParam().mode);
    for (const uint64_t seed : { 5000, 5001, 5002, 5003 }) {
        const sent s = made(m, 6, GetParam().channel, seed);
        burst_receiver rx;
        const auto got = loopback::receive(rx, s.on_air);
        ASSERT_EQ(got.size(), 1u) << "seed " << seed;
        EXPECT_EQ(got[0].octets, s.octets) << "seed " << seed;
        ASSERT_TRUE(got[0].end);
        EXPECT_EQ(got[0].end->reason, rx_end_reason::eom);
    }
}

INSTANTIATE_TEST_SUITE_P(
    receiver,
    long_echo,
    testing::Values(echo_row{ "4539-3200S", "paths=0:0:0,8:0:0 snr=25" },
                    echo_row{ "4539-3200S", "paths=0:0:0.2,8:0:0.2 snr=25" },
                    echo_row{ "4539-3200S", "paths=0:0:0.2,12:-6:0.2 snr=25" },
                    // The echo is the stronger path, and found first.
                    echo_row{ "4539-3200S", "paths=0:-6:0,8:0:0 snr=25" },
                    echo_row{ "4539-3200S", "paths=0:-6:0,12:0:0 snr=25" },
                    // Further than the 20 data symbols of a frame.
                    echo_row{ "4539-1200S", "paths=0:0:0,12:0:0 snr=25" },
                    echo_row{ "4539-9600S", "paths=0:0:0,8:-6:0 snr=25" },
                    echo_row{ "4539-9600S", "paths=0:0:0,12:-6:0 snr=25" }));

/* With probes that repeat after 6.7 ms, each of two paths that are farther apart than the
 * window looks like the other's continuation after a hole. The receiver went from one to
 * the other and back for ever, over the same samples. */
TEST(long_echoes, end_even_without_a_wider_window)
{
    family_reception narrow = *high_rate::reception(3000);
    narrow.synchroniser.wide_window_s = 0;
    const mode m = mode::parse("4539-3200S");
    const sent s = made(m, 8, "paths=0:0:0.2,8:0:0.2 snr=25", 5002);
    burst_receiver rx({}, { &narrow });
    const auto got = loopback::receive(rx, s.on_air);
    ASSERT_FALSE(got.empty());
    EXPECT_EQ(got[0].start->m, m);
    // Each frame is read again at most once.
    const auto blocks = s.octets.size() / timing_of(m).octets_in(1);
    EXPECT_LE(rx.counters().blocks, 10 * blocks);
}
