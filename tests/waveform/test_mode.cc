/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <hf/mode.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>
#include <tuple>

using namespace gr::hf;

namespace {

std::string complaint(const std::string& text)
{
    try {
        mode::parse(text);
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "";
}

bool contains(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

} // namespace

TEST(mode, string_form_makes_the_round_trip)
{
    std::set<std::string> names;
    for (const mode& m : mode::all()) {
        EXPECT_EQ(mode::parse(m.to_string()), m);
        names.insert(m.to_string());
    }
    // 18 + 2400V + 4800N, 30 + 12800N; 103 + 52 wideband waveforms with 608 blocks, two codes;
    // 10 of ours.
    EXPECT_EQ(names.size(), 51u + 2 * 608 + 10);
    EXPECT_EQ(mode::all().size(), names.size());
}

TEST(mode, wideband_names_say_bandwidth_and_code)
{
    const mode m = mode::parse("5069-48k-240000S"),
               k9 = mode::parse("5069-48k-240000S-k9");
    EXPECT_EQ(m.family, waveform_family::wideband);
    EXPECT_EQ(m.bandwidth_hz, 48000);
    EXPECT_EQ(m.rate_bps, 240000);
    EXPECT_EQ(m.constraint_length, 7);
    EXPECT_EQ(k9.constraint_length, 9);
    EXPECT_NE(m, k9);
    EXPECT_EQ(mode::parse("5069-3k-75L").bandwidth_hz, 3000);
    for (const char* bad : { "5069-48k-240000",
                             "5069-48k-240000S-k7",
                             "5069-48k-240000Sk9",
                             "5069-k-75S",
                             "5069-48k-1200US",
                             "5069-3k-75US",
                             "5069-9k-1600S",
                             "5069-5k-75S",
                             "5069-3k-3200VL" })
        EXPECT_NE(complaint(bad), "") << bad;
    EXPECT_TRUE(
        contains(complaint("5069-48k-57600S"),
                 "this bandwidth has 1200, 2400, 4800, 9600, 16000, 24000, 48000, "
                 "72000, 96000, 120000, 144000, 192000, 240000 bit/s;"));
    EXPECT_TRUE(
        contains(complaint("5069-3k-75US"), "75 bit/s has the interleavers S, M, L;"));
}

TEST(mode, order_is_standard_bandwidth_rate_interleaver_code)
{
    const auto& all = mode::all();
    const auto key = [](const mode& m) {
        return std::tuple(m.family == waveform_family::robust,
                          m.family == waveform_family::wideband,
                          m.bandwidth_hz,
                          m.rate_bps,
                          m.il,
                          m.constraint_length);
    };
    for (size_t i = 1; i < all.size(); ++i)
        EXPECT_LT(key(all[i - 1]), key(all[i])) << all[i].to_string();
}

TEST(mode, all_are_receivable)
{
    for (const mode& m : mode::all())
        EXPECT_TRUE(m.receivable()) << m.to_string();
    mode nowhere = mode::all().front();
    nowhere.bandwidth_hz = 5000;
    EXPECT_FALSE(nowhere.receivable());
}

TEST(mode, families)
{
    EXPECT_EQ(mode::parse("4539-4800N").family, waveform_family::serial_tone);
    EXPECT_EQ(mode::parse("4539-4800S").family, waveform_family::high_rate);
    EXPECT_EQ(mode::parse("4539-2400V").il, interleaver::voice);
    EXPECT_EQ(mode::parse("4539-75L").rate_bps, 75);
    EXPECT_EQ(mode{}, mode::parse("4539-600S"));
}

TEST(mode, bad_names_are_refused_with_a_reason)
{
    for (const char* bad : { "",
                             "600S",
                             "4539",
                             "4539-",
                             "4539-600",
                             "4539-600s",
                             "4539-600US",
                             "4539-601S",
                             "4539-600S ",
                             " 4539-600S",
                             "4539-0600S",
                             "4539-75V",
                             "4539-12800S",
                             "4539-2400N",
                             "4539-99999999999999999999S",
                             "5069-600S",
                             "4539-S",
                             "4539-600SS" }) {
        const std::string why = complaint(bad);
        EXPECT_TRUE(contains(why, std::string("\"") + bad + "\"")) << bad << ": " << why;
        EXPECT_TRUE(contains(why, "4539-<rate><interleaver>")) << why;
    }
    EXPECT_TRUE(
        contains(complaint("4539-600VL"), "600 bit/s has the interleavers Z, S, L;"));
    EXPECT_TRUE(contains(complaint("4539-4800"),
                         "4800 bit/s has the interleavers N, US, VS, S, M, L, VL;"));
    EXPECT_FALSE(contains(complaint("4539-601S"), "has the interleavers"));
    EXPECT_LT(complaint(std::string(1000000, 'x')).size(), 500u);
    EXPECT_FALSE(contains(complaint("4539-\n\x1b[2J"), "\x1b"));
}

TEST(mode, parse_survives_anything)
{
    std::mt19937 random(1);
    size_t good = 0, bad = 0;
    for (int i = 0; i < 50000; ++i) {
        std::string text;
        if (i % 2) { // noise
            text.resize(random() % 24);
            for (char& c : text)
                c = static_cast<char>(random());
        } else { // a mode with one thing changed
            text = mode::all()[random() % mode::all().size()].to_string();
            const size_t at = random() % text.size();
            switch (random() % 3) {
            case 0:
                text[at] = "0123456789SLZUVMN-"[random() % 18];
                break;
            case 1:
                text.erase(at, 1);
                break;
            default:
                text.insert(at, 1, static_cast<char>(random()));
            }
        }
        try {
            EXPECT_EQ(mode::parse(text).to_string(), text);
            ++good;
        } catch (const std::invalid_argument&) {
            ++bad;
        }
    }
    EXPECT_EQ(good + bad, 50000u);
    EXPECT_GT(good, 100u); // some changes lead to another mode
}
