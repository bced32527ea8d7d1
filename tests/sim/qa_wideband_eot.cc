/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// EOT and the length of transmissions where interleavers do not have the ratio 1:4:16:64.
// At 48 kHz they have 1:6:24:96 frames; those of waveform 0 have no such ratio.
#include "s5066/pdu/d_pdu.h"
#include "two_stations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

using namespace gr::hf;
using namespace gr::hf::sim;
using namespace gr::hf::s5066;

namespace {

constexpr double longest_s = 127.5, eot_s = 0.5;

/* Duration of a block by the published frames and symbols, not by our tables: 110D,
 * tables of the interleavers above 24 kHz.
 */
std::optional<double> block_s(const mode& m, bool waveform_0)
{
    switch (m.il) {
    case interleaver::ultra_short:
        return waveform_0 ? std::nullopt
                          : std::optional(m.bandwidth_hz == 48000 ? 0.08 : 0.12);
    case interleaver::short_:
        return waveform_0 ? 8 / 15.0 : 0.48;
    case interleaver::medium:
        return 1.92;
    case interleaver::long_:
        return 7.68;
    default:
        return std::nullopt;
    }
}

struct on_air {
    double begin_s = 0, end_s = 0;
    std::vector<uint8_t> eots; // of its D_PDUs, in order
};

// Transmissions in mode \p m that station a needs to move \p octets to b.
std::vector<on_air> transmissions(const mode& m, size_t octets)
{
    auto config = [&](int n) {
        auto c = test_config(n, m.to_string());
        c.tap = true;
        return c;
    };
    delivery_mode service;
    service.confirmation = delivery_confirmation::node;
    two_stations net(config(1), config(2), air_path(), 1, service);
    std::vector<on_air> all;
    std::vector<uint8_t> eots;
    net.a.on_tap = [&](const tap_record& t) {
        if (t.sent)
            eots.push_back(t.octets.at(4)); // C.3.1: sync, type and EOW before it
    };
    const auto a = net.a.modem().id();
    net.air.on_transmission = [&](const transmission_record& t) {
        if (t.station != a)
            return;
        // Its last block is complete when the modem has been served.
        net.s.at(t.end, [&, t] {
            if (t.m == m)
                all.push_back({ to_seconds(t.begin), to_seconds(t.end), eots });
            eots.clear();
        });
    };
    net.goodput(octets, 2042, 4000);
    net.s.run_until(net.s.now() + std::chrono::seconds(60));
    EXPECT_EQ(net.sink_b.octets(), octets) << m.to_string();
    EXPECT_EQ(net.sink_b.repeated() + net.sink_b.altered(), 0u) << m.to_string();
    EXPECT_EQ(net.a.node().stats().d_pdus_repeated, 0u) << m.to_string();
    return all;
}

void check(const mode& m, double block, double superframes)
{
    const auto octets = static_cast<size_t>(1.3 * longest_s * m.rate_bps / 8);
    double longest = 0;
    size_t seen = 0;
    for (const on_air& t : transmissions(m, octets)) {
        if (t.eots.empty())
            continue;
        // A super-frame takes 0.24 s, the probe after it at most 0.022 s.
        const double least = 0.24 * superframes;
        const double blocks = std::round((t.end_s - t.begin_s - least - 0.01) / block);
        const double data_s = blocks * block;
        const double preamble = t.end_s - t.begin_s - data_s;
        ASSERT_GT(preamble, least - 1e-4) << m.to_string();
        ASSERT_LT(preamble, least + 0.0221) << m.to_string();
        EXPECT_LE(data_s, longest_s + 1e-6) << m.to_string();
        EXPECT_EQ(t.eots.front(), std::ceil(data_s / eot_s - 1e-5)) << m.to_string();
        EXPECT_TRUE(std::is_sorted(t.eots.rbegin(), t.eots.rend())) << m.to_string();
        longest = std::max(longest, data_s);
        ++seen;
    }
    EXPECT_GE(seen, 2u) << m.to_string();
    // A block, or a longest D_PDU, that would not fit whole.
    const double d_pdu_s = 8.0 * (max_segment + 22) / m.rate_bps;
    EXPECT_GT(longest, longest_s - block - d_pdu_s) << m.to_string();
}

} // namespace

TEST(wideband_eot, tells_the_end_with_every_interleaver_above_24_khz)
{
    std::map<int, std::pair<int, int>> rates; // bandwidth: slowest and fastest
    for (const mode& m : mode::all())
        if (m.bandwidth_hz > 24000) {
            auto& r =
                rates.try_emplace(m.bandwidth_hz, m.rate_bps, m.rate_bps).first->second;
            r = { std::min(r.first, m.rate_bps), std::max(r.second, m.rate_bps) };
        }
    ASSERT_EQ(rates.size(), 4u); // 30, 36, 42, 48 kHz
    size_t checked = 0;
    for (const mode& m : mode::all()) {
        const auto r = rates.find(m.bandwidth_hz);
        if (r == rates.end() || m.constraint_length != 7)
            continue;
        const auto& [slowest, fastest] = r->second;
        if (m.rate_bps != slowest && m.rate_bps != fastest)
            continue;
        if (const auto block = block_s(m, m.rate_bps == slowest)) {
            check(m, *block, m.rate_bps == slowest ? 2 : 1); // waveform 0: two
            ++checked;
        }
    }
    EXPECT_EQ(checked, 4u * (3 + 4));
}
