/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports of the receiver on the channel, against the simulated channel. The table over
 * all modes is `hf-lab ber snr-report`. */
#include "modem/loopback.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

using namespace gr::hf;
using namespace gr::hf::kernel;

namespace {

struct report {
    double snr_error_db = 0, doppler_hz = 0, delay_ms = 0; // means over blocks
    size_t blocks = 0;
};

// Power of the paths over some samples, relative to its long-term mean.
double fading(const channel& c, double begin, double end)
{
    double power = 0, count = 0;
    for (double t = begin; t < end; t += 48, ++count)
        for (const auto& p : c.paths())
            power += std::norm(p.gain(t));
    return power / count;
}

report reported(const char* name,
                const std::string& spec,
                double snr_db,
                size_t octets,
                double lead_s,
                uint64_t seed)
{
    const mode m = mode::parse(name);
    loopback::samples x(static_cast<size_t>(9600 * lead_s));
    const auto t = loopback::transmit(m, loopback::random_octets(octets, seed));
    x.insert(x.end(), t.begin(), t.end());
    loopback::pause(x, 9600);
    channel c(channel_spec::parse(spec + " snr=" + std::to_string(snr_db)),
              9600,
              seed,
              mean_power(m));
    c.process(x.data(), x.data(), x.size());
    burst_receiver rx;
    report r;
    const auto block = 4 * static_cast<double>(describe(m).block_symbols());
    for (size_t i = 0; i < x.size(); i += 960) {
        rx.push(&x[i], std::min<size_t>(960, x.size() - i));
        while (const auto e = rx.poll()) {
            if (e->channel.profile.empty())
                continue;
            const auto begin = static_cast<double>(e->sample);
            const double truth =
                snr_db + 10 * std::log10(fading(c, begin, begin + block));
            r.snr_error_db += e->channel.snr_db - truth;
            r.doppler_hz += e->channel.doppler_hz;
            r.delay_ms += e->channel.delay_spread_ms;
            ++r.blocks;
        }
    }
    const auto n = static_cast<double>(std::max<size_t>(r.blocks, 1));
    return { r.snr_error_db / n, r.doppler_hz / n, r.delay_ms / n, r.blocks };
}

} // namespace

// A preamble consists of lines, and so does the fill of a short message. After a second
// of noise they were removed as carriers, and 30 dB read 19.
TEST(receiver_report, ratio_after_seconds_of_listening)
{
    for (const char* name : { "4539-600S", "4539-2400S", "4539-600L" })
        for (const size_t octets : { 18, 150 })
            for (const double lead : { 0.2, 1.5, 5.1 })
                for (const double snr : { 10.0, 30.0, 40.0 }) {
                    const auto r = reported(name, "awgn", snr, octets, lead, 1);
                    ASSERT_GT(r.blocks, 0u) << name;
                    EXPECT_NEAR(r.snr_error_db, 0, snr > 25 ? 2.2 : 1)
                        << name << " " << octets << " octets, " << lead << " s, " << snr;
                }
}

TEST(receiver_report, ratio_and_delays_at_75_bits)
{
    struct row {
        const char* paths;
        double delay_ms;
    };
    for (const row& r : { row{ "awgn", 0 },
                          row{ "paths=0:0:0,2:0:0:0:77", 2 },
                          row{ "paths=0:0:1,2:0:1", 2 } })
        for (const double snr : { 0.0, 10.0, 20.0, 30.0 }) {
            double error = 0, delay = 0;
            constexpr uint64_t seeds = 4;
            for (uint64_t seed = 1; seed <= seeds; ++seed) {
                const auto one = reported("4539-75S", r.paths, snr, 20, 1.5, seed);
                ASSERT_GT(one.blocks, 1u) << r.paths << " " << snr;
                error += one.snr_error_db / seeds;
                delay += one.delay_ms / seeds;
            }
            EXPECT_NEAR(error, 0, snr > 25 ? 2 : 1) << r.paths << " " << snr;
            if (snr >= 10) {
                EXPECT_NEAR(delay, r.delay_ms, 0.5) << r.paths << " " << snr;
            }
        }
}

// Noise is the residual of the channel estimate. An estimate that could not follow left
// 2 dB of ratio at any SNR, and half of the Doppler spread.
TEST(receiver_report, ratio_and_doppler_where_fading_is_fast)
{
    for (const char* name : { "4539-600L", "4539-2400L" })
        for (const double snr : { 10.0, 20.0 }) {
            const auto r = reported(name, "paths=0:0:10,3:0:10", snr, 700, 0.5, 1);
            ASSERT_GT(r.blocks, 0u) << name;
            EXPECT_NEAR(r.snr_error_db, 0, 1.5) << name << " " << snr;
            EXPECT_NEAR(r.doppler_hz, 10, 2) << name << " " << snr;
        }
    const auto faster = reported("4539-300L", "paths=0:0:30,7:0:30", 15, 300, 0.5, 1);
    EXPECT_GT(faster.doppler_hz, 15); // known symbols 17 ms apart cannot tell much more
}

// The short block of 5069 has 8 frames, too few to tell the spread by themselves.
TEST(receiver_report, doppler_where_a_block_has_few_frames)
{
    for (const char* name : { "5069-3k-600S-k9", "5069-3k-2400S-k9" })
        for (const double hz : { 0.5, 1.0 }) {
            const auto f = std::to_string(hz);
            double sum = 0;
            for (uint64_t seed = 1; seed <= 2; ++seed)
                sum += reported(name,
                                "paths=0:0:" + f + ",2:0:" + f,
                                15,
                                static_cast<size_t>(mode::parse(name).rate_bps * 60 / 8),
                                0.5,
                                seed)
                           .doppler_hz;
            EXPECT_NEAR(sum / 2, hz, 0.15 * hz) << name;
        }
}

TEST(receiver_report, the_newest_4096_events_wait_for_a_reader)
{
    const mode m = mode::parse("4539-3200US"); // 48 octets in 0.12 s
    auto x = loopback::transmit(m, loopback::random_octets(4200 * 48, 1));
    loopback::pause(x, 9600);
    rx_options o;
    o.effort = 0;
    burst_receiver rx(o);
    rx.push(x.data(), x.size());
    std::vector<rx_event> waiting;
    while (auto e = rx.poll())
        waiting.push_back(std::move(*e));
    ASSERT_EQ(waiting.size(), 4096u);
    EXPECT_TRUE(std::holds_alternative<rx_octets>(waiting.front().what));
    EXPECT_TRUE(std::holds_alternative<rx_end>(waiting.back().what));
    EXPECT_GT(rx.counters().blocks, 4200u);
}
