/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/loopback.h"
#include "waveform/timing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

using namespace gr::hf;
using namespace gr::hf::kernel;

namespace {

// SNR that the standard requires on AWGN (110C Tables XVI and C-XVII). Where it gives
// none, 5 dB above an ideal receiver.
double standard_snr(const mode& m)
{
    static const std::map<std::pair<waveform_family, int>, double> table{
        { { waveform_family::serial_tone, 75 }, -6 },
        { { waveform_family::serial_tone, 150 }, -1 },
        { { waveform_family::serial_tone, 300 }, 2 },
        { { waveform_family::serial_tone, 600 }, 5 },
        { { waveform_family::serial_tone, 1200 }, 8 },
        { { waveform_family::serial_tone, 2400 }, 10 },
        { { waveform_family::serial_tone, 4800 }, 17 },
        { { waveform_family::high_rate, 3200 }, 9 },
        { { waveform_family::high_rate, 4800 }, 13 },
        { { waveform_family::high_rate, 6400 }, 16 },
        { { waveform_family::high_rate, 8000 }, 19 },
        { { waveform_family::high_rate, 9600 }, 21 },
        { { waveform_family::high_rate, 12800 }, 27 },
        // Our own: 1 dB above 10 % bad blocks, docs/receiver.md.
        { { waveform_family::robust, 50 }, -14.6 },
        { { waveform_family::robust, 75 }, -13.3 },
        { { waveform_family::robust, 150 }, -10.4 },
        { { waveform_family::robust, 200 }, -9.3 },
        { { waveform_family::robust, 300 }, -7.2 },
    };
    return table.at({ m.family, m.rate_bps });
}

// Octets that fill about two blocks, but not more than 3 s beyond the first.
size_t message_size(const mode& m)
{
    const auto t = timing_of(m);
    const size_t fit = std::max(t.octets_in(2), t.octets_in(5));
    return std::min<size_t>(std::max<size_t>(fit, 10),
                            static_cast<size_t>(m.rate_bps) * 5 / 8);
}

struct result {
    loopback::reception r;
    std::vector<uint8_t> sent;
    double first = 0, last = 0; // input samples: first symbol's centre, end of the last
    size_t receptions = 0;
};

result run(const mode& m, const std::string& channel, uint64_t seed, double delay = 0)
{
    result out;
    out.sent = loopback::random_octets(message_size(m), seed);
    const size_t lead = 2000 + 13 * seed % 997;
    loopback::samples x(lead);
    const auto t = loopback::transmit(m, out.sent);
    x.insert(x.end(), t.begin(), t.end());
    loopback::pause(x, 9600);
    x = loopback::through(x, channel, seed, mean_power(m));
    rx_options o;
    o.zero_interleaver = m.il == interleaver::zero;
    burst_receiver rx(o);
    const auto got = loopback::receive(rx, x);
    out.receptions = got.size();
    if (!got.empty())
        out.r = got.front();
    out.first = static_cast<double>(lead) + 40 + delay;
    out.last = out.first + static_cast<double>(t.size() - 81) + 2;
    return out;
}

void expect_perfect(const result& x, const mode& m)
{
    ASSERT_EQ(x.receptions, 1u) << m.to_string();
    EXPECT_EQ(x.r.start->m, m) << m.to_string() << " as " << x.r.start->m.to_string();
    EXPECT_TRUE(x.r.octets == x.sent) << m.to_string();
    ASSERT_TRUE(x.r.end) << m.to_string();
    EXPECT_EQ(x.r.end->reason, rx_end_reason::eom) << m.to_string();
    EXPECT_NEAR(static_cast<double>(x.r.start_sample), x.first, 3) << m.to_string();
    EXPECT_NEAR(static_cast<double>(x.r.end_sample), x.last, 3) << m.to_string();
    EXPECT_NEAR(to_seconds(x.r.end->air_end) * 9600, x.last, 3) << m.to_string();
}

std::vector<mode> narrow_band_modes()
{
    std::vector<mode> v;
    for (const mode& m : mode::all())
        if (m.family != waveform_family::wideband)
            v.push_back(m);
    return v;
}

} // namespace

TEST(receiver, decodes_every_mode_on_a_clean_channel)
{
    size_t modes = 0;
    for (const mode& m : narrow_band_modes()) {
        const auto x = run(m, "clear", ++modes);
        expect_perfect(x, m);
        EXPECT_NEAR(x.r.start->freq_offset_hz, 0, 0.3);
    }
    EXPECT_GE(modes, 51u);
}

TEST(receiver, decodes_every_mode_at_the_standard_snr_with_offset_and_odd_timing)
{
    uint64_t seed = 100;
    for (const mode& m : narrow_band_modes()) {
        // Short blocks lose the code's averaging: 1 dB, and without look-ahead another.
        const bool short_block = timing_of(m).block_symbols < 1400;
        const double snr = standard_snr(m) + (short_block ? 2 : 1);
        const double offset = ++seed % 2 ? 75 : -75;
        const double delay = 20 + 0.37 * static_cast<double>(seed % 11);
        const std::string channel = "paths=" + std::to_string(delay / 9.6) +
                                    ":0:0 snr=" + std::to_string(snr) +
                                    " offset=" + std::to_string(offset) + " gain=-30";
        const auto x = run(m, channel, seed, delay);
        expect_perfect(x, m);
        if (x.receptions == 1) {
            EXPECT_NEAR(x.r.start->freq_offset_hz, offset, 2) << m.to_string();
            EXPECT_NEAR(x.r.start->snr_db, snr, 3) << m.to_string();
        }
    }
}

TEST(receiver, gives_octets_block_by_block)
{
    const mode m = mode::parse("4539-75S"); // 45 bits per block: octets carry over
    const auto x = run(m, "snr=20", 5);
    expect_perfect(x, m);
    ASSERT_GE(x.r.blocks.size(), 3u);
    for (const auto& b : x.r.blocks) {
        EXPECT_LE(b.octets.size(), 6u);
        EXPECT_GT(b.quality, 0.9);
    }
    const mode h = mode::parse("4539-6400M");
    const auto y = run(h, "snr=25", 6);
    expect_perfect(y, h);
    EXPECT_NEAR(y.r.blocks.front().snr_db, 25, 1.5);
}

TEST(receiver, empty_message_ends_at_once)
{
    for (const char* name : { "4539-600S", "4539-3200US", "4539-4800N" }) {
        const mode m = mode::parse(name);
        loopback::samples x(1000);
        const auto t = loopback::transmit(m, {});
        x.insert(x.end(), t.begin(), t.end());
        loopback::pause(x, 9600);
        burst_receiver rx;
        const auto got = loopback::receive(rx, loopback::through(x, "snr=30", 1, 1));
        ASSERT_EQ(got.size(), 1u) << name;
        EXPECT_TRUE(got[0].octets.empty());
        ASSERT_TRUE(got[0].end);
        EXPECT_EQ(got[0].end->reason, rx_end_reason::eom);
    }
}

// The probes of its preamble resemble themselves 300 Hz off, and fit any mode words there.
TEST(receiver, a_signal_beyond_the_range_is_no_other_mode)
{
    uint64_t seed = 0;
    for (const char* name : { "4539-3200S", "4539-9600S" })
        for (const int offset : { -300, -270, -240, 240, 270, 300 }) {
            loopback::samples x(4800);
            const auto t = loopback::transmit(mode::parse(name),
                                              loopback::random_octets(500, ++seed));
            x.insert(x.end(), t.begin(), t.end());
            loopback::pause(x, 4800);
            burst_receiver rx;
            const auto got = loopback::receive(
                rx,
                loopback::through(x, "snr=30 offset=" + std::to_string(offset), seed, 1));
            EXPECT_TRUE(got.empty()) << name << " " << offset;
        }
}

TEST(receiver, refuses_bad_options)
{
    rx_options o;
    o.max_freq_offset_hz = 101;
    EXPECT_THROW(burst_receiver{ o }, std::invalid_argument);
    o = {};
    o.lost_after_s = 0;
    EXPECT_THROW(burst_receiver{ o }, std::invalid_argument);
}
