/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several receivers of one transmission, combined by soft bits. */
#include "modem/loopback.h"
#include "modem/soft_combiner.h"
#include "modem/soft_receiver.h"
#include "waveform/timing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace gr::hf;
using namespace gr::hf::kernel;

namespace {

constexpr size_t receivers = 4;

// Receiver k begins to record k * 0.7 s earlier than the first, by a clock of its own.
std::vector<soft_transmission> heard_by(size_t k,
                                        const mode& m,
                                        const loopback::samples& on_air,
                                        const std::string& channel)
{
    loopback::samples x(4800 + 6720 * k);
    x.insert(x.end(), on_air.begin(), on_air.end());
    loopback::pause(x, 120000);
    const auto y = loopback::through(
        x, channel + " clock=" + std::to_string(k * 30 - 45.0), 1000 + k, mean_power(m));
    soft_receiver rx(rx_options{}, receptions(m.bandwidth_hz));
    rx.push(y.data(), y.size());
    return rx.take();
}

} // namespace

// One receiver alone loses nearly half of the blocks at this SNR. One of the four finds
// no transmission; the cause was not traced.
TEST(soft_combiner, four_receivers_lose_nothing_where_none_hears_all)
{
    const mode m = mode::parse("4539-3200S");
    const auto sent = loopback::random_octets(timing_of(m).octets_in(14), 1);
    const auto on_air = loopback::transmit(m, sent);
    soft_combiner combiner;
    size_t heard = 0;
    for (size_t k = 0; k < receivers; ++k) {
        soft_combiner alone;
        for (auto& t : heard_by(k, m, on_air, "poor snr=6")) {
            alone.add(k, t);
            combiner.add(k, std::move(t));
        }
        const auto got = alone.combine();
        heard += got.size();
        EXPECT_TRUE(got.empty() || got[0].octets != sent) << "receiver " << k;
    }
    const auto got = combiner.combine();
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].parts.size(), heard);
    EXPECT_GE(heard, receivers - 1);
    EXPECT_TRUE(got[0].complete);
    EXPECT_EQ(got[0].octets, sent);
}

TEST(soft_combiner, other_contents_stay_apart)
{
    const mode m = mode::parse("4539-3200S");
    soft_combiner combiner;
    for (size_t k = 0; k < 2; ++k) {
        const auto sent = loopback::random_octets(timing_of(m).octets_in(3), 5 + k);
        for (auto& t : heard_by(k, m, loopback::transmit(m, sent), "awgn snr=20"))
            combiner.add(k, std::move(t));
    }
    EXPECT_EQ(combiner.combine().size(), 2u);
}
