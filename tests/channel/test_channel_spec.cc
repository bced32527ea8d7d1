/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "channel/channel_spec.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <string>

using gr::hf::kernel::channel_spec;

TEST(channel_spec, reads_names_and_numbers)
{
    const auto poor = channel_spec::parse("poor");
    ASSERT_EQ(poor.paths.size(), 2u);
    EXPECT_EQ(poor.paths[1].delay_ms, 2);
    EXPECT_EQ(poor.paths[1].spread_hz, 1);
    EXPECT_FALSE(poor.snr_db);
    EXPECT_EQ(poor, channel_spec::parse("paths=0:0:1,2:0:1"));
    EXPECT_EQ(channel_spec::parse("moderate").paths[1].delay_ms, 1);
    EXPECT_EQ(channel_spec::parse("good").paths[0].spread_hz, 0.1);
    EXPECT_EQ(channel_spec::parse("clear"), channel_spec{});

    const auto all = channel_spec::parse(
        "paths=0:0:0,5:-3:0:2.5:90;snr=12.5 offset=-75 drift=0.5 gain=-20");
    EXPECT_EQ(all.paths[1].shift_hz, 2.5);
    EXPECT_EQ(all.paths[1].phase_deg, 90);
    EXPECT_EQ(all.snr_db, 12.5);
    EXPECT_EQ(all.offset_hz, -75);
    EXPECT_EQ(all.drift_hz_per_s, 0.5);
    EXPECT_EQ(all.gain_db, -20);
    EXPECT_EQ(channel_spec::parse(all.to_string()), all);

    const auto rough =
        channel_spec::parse("nvis clock=-50 impulses=5:20 carriers=300:-10,-900:3:-50 "
                            "morse=700:-10:25 rtty=-500:10:75:850 "
                            "filter=elliptic:-1450:850 step=-12:2.5 agc=0.5");
    EXPECT_EQ(rough.paths[1].delay_ms, 7);
    EXPECT_EQ(rough.clock_ppm, -50);
    EXPECT_EQ(rough.impulses->level_db, 20);
    EXPECT_EQ(rough.impulses->length_ms, 1);
    EXPECT_EQ(rough.carriers[1].frequency_hz, -900);
    EXPECT_EQ(rough.carriers[1].hz_per_s, -50);
    EXPECT_EQ(rough.rtty->baud, 75);
    EXPECT_EQ(rough.rtty->shift_hz, 850);
    EXPECT_EQ(rough.step->every_s, 2.5);
    EXPECT_EQ(rough.agc_s, 0.5);
    EXPECT_EQ(channel_spec::parse(rough.to_string()), rough);
    for (const std::string& name : channel_spec::names())
        EXPECT_NO_THROW(channel_spec::parse(name)) << name;
}

TEST(channel_spec, errors_name_the_item)
{
    for (const char* bad : { "bad",
                             "paths=",
                             "paths=1",
                             "paths=0:0:0:0:0:0",
                             "snr=x",
                             "snr=nan",
                             "snr=1e9",
                             "offset=",
                             "paths=-1:0:0",
                             "paths=0:0:1000",
                             "speed=3",
                             "clock=2000",
                             "impulses=5",
                             "impulses=0:10",
                             "impulses=1:10:0",
                             "carriers=9000:0",
                             "morse=1",
                             "morse=0:0:500",
                             "filter=ssb",
                             "filter=bessel:-1500:1500",
                             "filter=fir:-1500",
                             "filter=fir:1500:-1500",
                             "carriers=1:2:3:4",
                             "carriers=1:2:2000",
                             "rtty=0",
                             "rtty=0:0:5",
                             "rtty=0:0:45:1",
                             "step=3",
                             "step=3:0",
                             "agc=-1",
                             "mid",
                             "gain=1e99" }) {
        try {
            channel_spec::parse(bad);
            ADD_FAILURE() << bad << " was accepted";
        } catch (const std::invalid_argument& e) {
            EXPECT_NE(std::string(e.what()).find("channel"), std::string::npos);
        }
    }
    try {
        channel_spec::parse("poor snr=1O");
        ADD_FAILURE();
    } catch (const std::invalid_argument& e) {
        EXPECT_NE(std::string(e.what()).find("1O"), std::string::npos) << e.what();
    }
}

TEST(channel_spec, survives_random_text)
{
    std::mt19937 rng(1);
    const std::string alphabet = "paths=:,;. 0123456789-e+snroffetgidwxclkmu";
    const std::string good =
        "paths=0:0:1,2:0:1 snr=10 offset=5 drift=1 clock=9 impulses=1:2 "
        "carriers=5:6 step=7:8 agc=1";
    int accepted = 0;
    for (int i = 0; i < 50000; ++i) {
        std::string t = i & 1 ? good : std::string(rng() % 30, ' ');
        const size_t changes = i & 1 ? 1 + rng() % 4 : t.size();
        for (size_t k = 0; k < changes; ++k)
            t[i & 1 ? rng() % t.size() : k] = alphabet[rng() % alphabet.size()];
        try {
            const auto s = channel_spec::parse(t);
            EXPECT_EQ(channel_spec::parse(s.to_string()), s) << t;
            ++accepted;
        } catch (const std::invalid_argument&) {
        }
    }
    EXPECT_GT(accepted, 1000);
}
