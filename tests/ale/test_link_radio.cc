/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Stations with real samples: every channel is the sum of what others send, and noise.
#include "ale/link_pair.h"
#include "ale/speech.h"
#include "ale/station/link_radio.h"
#include "modem/burst_modulator.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

namespace gr::hf::test {
namespace {

constexpr size_t piece = 96; // 10 ms

// Two stations on channels with noise.
class samples_pair
{
public:
    samples_pair(const link_settings& s, double snr_db)
        : d_channels(s.channels), d_noise_sd(std::sqrt(0.5 * std::pow(10, -snr_db / 10) *
                                                       link_radio::rate / 3000))
    {
        auto caller = book("SAM");
        if (s.wide)
            caller.scanned["JOE"] = 0;
        d_stations.emplace_back(s, caller, s.channels, 1);
        d_stations.emplace_back(s, book("JOE"), s.channels, 2);
        for (auto& a : d_air)
            a.assign(d_channels, std::vector<link_radio::sample>(piece));
    }
    link_radio& at(size_t k) { return d_stations[k]; }
    // A data modem that never ends on a channel, as strong as the stations. Empty: none.
    void disturb(std::optional<size_t> channel)
    {
        d_disturbed = channel;
        d_modem.start(mode::parse("4539-2400S"), [this](uint64_t, size_t most) {
            tx_octets o;
            for (size_t k = 0; k < most; ++k)
                o.octets.push_back(static_cast<uint8_t>(d_random()));
            return o;
        });
    }
    // Speech on a channel, as strong as the stations. Empty: none.
    void speak(std::optional<size_t> channel)
    {
        d_spoken = channel;
        d_speech = speech(1, 120).make(20);
    }
    // One piece. The stations hear what was sent in the piece before.
    void step()
    {
        auto heard = d_air;
        if (d_disturbed) {
            std::vector<link_radio::sample> other(piece);
            d_modem.produce(other.data(), piece);
            for (auto& station : heard)
                for (size_t i = 0; i < piece; ++i)
                    station[*d_disturbed][i] += other[i];
        }
        if (d_spoken) {
            const size_t at = d_speech_at % d_speech.size();
            for (auto& station : heard)
                for (size_t i = 0; i < piece; ++i)
                    station[*d_spoken][i] += d_speech[at + i];
            d_speech_at += piece;
        }
        for (auto& station : heard)
            for (auto& x : station)
                for (auto& v : x)
                    v += link_radio::sample(noise(), noise());
        std::vector<link_radio::sample> modem(piece), quiet(piece);
        for (size_t k = 0; k < 2; ++k) {
            std::vector<const link_radio::sample*> in;
            std::vector<link_radio::sample*> out;
            for (size_t c = 0; c < d_channels; ++c) {
                in.push_back(heard[1 - k][c].data());
                out.push_back(d_air[k][c].data());
            }
            d_stations[k].receive(in, piece, modem.data());
            d_stations[k].transmit(quiet.data(), piece, out);
            while (const auto a = d_stations[k].poll())
                d_last[k] = a->what;
        }
    }
    bool run_until(link_state wanted, double limit_s)
    {
        for (int n = 0; n < static_cast<int>(100 * limit_s); ++n) {
            step();
            if (d_stations[0].link().state() == wanted &&
                d_stations[1].link().state() == wanted)
                return true;
        }
        return false;
    }

private:
    float noise() { return d_noise_sd * d_normal(d_random); }

    std::optional<size_t> d_disturbed, d_spoken;
    std::vector<link_radio::sample> d_speech;
    size_t d_speech_at = 0;
    kernel::burst_modulator d_modem{ link_radio::rate };
    size_t d_channels;
    float d_noise_sd;
    std::mt19937 d_random{ 3 };
    std::normal_distribution<float> d_normal;
    std::deque<link_radio> d_stations;
    std::array<std::vector<std::vector<link_radio::sample>>, 2> d_air;
    std::array<kind, 2> d_last{};
};

TEST(link_radio, scanning_stations_link_and_part)
{
    auto s = scanning(10);
    s.dwell = link_settings{}.dwell;
    for (int phase = 0; phase < 8; ++phase) { // of the called station's scan
        samples_pair p(s, 0);
        p.run_until(link_state::linked, 3 + 0.45 * phase);
        p.at(sam).keeper().update({ "JOE" }, p.at(sam).now());
        ASSERT_TRUE(p.run_until(link_state::linked, 15.4)) << phase;
        EXPECT_EQ(p.at(sam).link().channel(), 0u); // the first try
        EXPECT_EQ(p.at(joe).link().channel(), 0u);
        EXPECT_TRUE(p.at(joe).link().quality().score("SAM", 0, p.at(joe).now()));
        p.at(sam).link().end(p.at(sam).now());
        EXPECT_TRUE(p.run_until(link_state::scanning, 5));
    }
}

// The first channel to try is used by a data modem of other stations.
TEST(link_radio, a_call_avoids_a_channel_with_another_modem)
{
    for (const bool all : { false, true }) {
        auto s = all ? wide(3) : scanning(3);
        samples_pair p(s, 10);
        p.run_until(link_state::linked, 3);
        p.disturb(0);
        p.run_until(link_state::linked, 2);
        p.at(sam).link().call("JOE", "", p.at(sam).now(), 0);
        ASSERT_TRUE(p.run_until(link_state::linked, 20)) << all;
        EXPECT_NE(p.at(sam).link().channel(), 0u);
        // The channel counts as free again once that signal has ended.
        p.disturb({});
        p.at(sam).link().end(p.at(sam).now());
        ASSERT_TRUE(p.run_until(link_state::scanning, 5));
        p.at(sam).link().call("JOE", "", p.at(sam).now(), 0);
        ASSERT_TRUE(p.run_until(link_state::linked, 20)) << all;
        EXPECT_EQ(p.at(sam).link().channel(), 0u);
    }
}

TEST(link_radio, a_call_avoids_a_channel_with_speech)
{
    for (const bool all : { false, true }) {
        auto s = all ? wide(3) : scanning(3);
        samples_pair p(s, 10);
        p.run_until(link_state::linked, 3);
        p.speak(0);
        p.run_until(link_state::linked, 3);
        p.at(sam).link().call("JOE", "", p.at(sam).now(), 0);
        ASSERT_TRUE(p.run_until(link_state::linked, 20)) << all;
        EXPECT_NE(p.at(sam).link().channel(), 0u);
        // The channel counts as free again once the speech has ended.
        p.speak({});
        p.at(sam).link().end(p.at(sam).now());
        ASSERT_TRUE(p.run_until(link_state::scanning, 5));
        p.run_until(link_state::linked, 3);
        p.at(sam).link().call("JOE", "", p.at(sam).now(), 0);
        ASSERT_TRUE(p.run_until(link_state::linked, 20)) << all;
        EXPECT_EQ(p.at(sam).link().channel(), 0u);
    }
}

TEST(link_radio, wide_stations_link_at_once)
{
    samples_pair p(wide(4), 0);
    p.run_until(link_state::linked, 3);
    p.at(sam).link().call("JOE", "", p.at(sam).now());
    EXPECT_TRUE(p.run_until(link_state::linked, 5.5));
}

TEST(link_radio, the_keeper_calls_again_and_parts_for_another_peer)
{
    link_machine m(scanning(1), book("SAM"), 1);
    link_keeper k(m, scanning(1));
    m.advance(0s);
    const auto calls = [&](station_time until, const std::string& wanted) {
        int n = 0;
        for (station_time t = m.next_deadline().value_or(0s); t < until; t += 100ms) {
            k.update({ wanted }, t);
            m.advance(t);
            while (const auto a = m.poll()) {
                k.on_action(*a, t);
                if (a->what == kind::transmit) {
                    ++n;
                    m.transmitted(t);
                }
            }
        }
        return n;
    };
    // Two rounds, then a minute of rest, then again.
    EXPECT_EQ(calls(60s, "JOE"), 2);
    EXPECT_EQ(calls(130s, "JOE"), 2);
    EXPECT_EQ(calls(400s, ""), 0);
}

TEST(link_radio, needs_a_stream_for_each_channel)
{
    EXPECT_THROW(link_radio(wide(3), book("SAM"), 1, 1), std::invalid_argument);
    EXPECT_THROW(link_radio(scanning(3), book("SAM"), 2, 1), std::invalid_argument);
}

} // namespace
} // namespace gr::hf::test
