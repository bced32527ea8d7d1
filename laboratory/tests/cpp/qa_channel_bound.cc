/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// The bound of a known channel, beside formulas for uncoded 8PSK.
#include "trials/channel_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

using namespace gr::hf;
using namespace gr::hf::sim;

namespace {

constexpr double snr = 10;                  // in 3 kHz, as a ratio
constexpr double es_n0 = snr * 3000 / 2400; // 2400 symbols/s

double tail(double x) { return std::erfc(x / std::sqrt(2.0)) / 2; }

// 8PSK with Gray labels in noise: J. Lee 1986.
double ber_8psk(double es_n0_now)
{
    const double near = tail(std::sqrt(2 * es_n0_now) * std::sin(M_PI / 8)),
                 far = tail(std::sqrt(2 * es_n0_now) * std::sin(3 * M_PI / 8));
    return 2.0 / 3 * (near + far * (1 - near));
}

// Its mean over independent Rayleigh paths of equal power, 1 or 2.
double faded(int paths)
{
    const double mean = es_n0 / paths, step = 0.001;
    double sum = 0;
    for (double g = step / 2; g < 30; g += step) // sum of the paths' powers
        sum += (paths == 1 ? 1 : g) * std::exp(-g) * ber_8psk(mean * g) * step;
    return sum;
}

double measured_ber(const std::string& mode_text, const std::string& channel, double s)
{
    const auto r = channel_bound(mode::parse(mode_text), channel, s, 1);
    return static_cast<double>(r.errors) / static_cast<double>(r.bits);
}

} // namespace

TEST(channel_bound, uncoded_8psk_in_noise_is_as_in_the_books)
{
    const double expected = ber_8psk(es_n0);
    EXPECT_NEAR(
        measured_ber("4539-4800N", "awgn snr=10", 120), expected, 0.03 * expected);
}

TEST(channel_bound, a_fading_path_is_as_in_the_books)
{
    const double expected = faded(1);
    EXPECT_NEAR(measured_ber("4539-4800N", "paths=0:0:50 snr=10", 120),
                expected,
                0.05 * expected);
}

TEST(channel_bound, collects_the_energy_of_both_paths)
{
    const double expected = faded(2);
    EXPECT_NEAR(measured_ber("4539-4800N", "paths=0:0:50,2:0:50 snr=10", 120),
                expected,
                0.05 * expected);
}

// The row P02 of MIL-STD-188-110C: 0.5 Hz. 120 s hold 60 fades, too few for 5 %.
TEST(channel_bound, slow_fading_is_as_in_the_books_for_every_seed)
{
    const double expected = faded(2);
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        const auto r = channel_bound(
            mode::parse("4539-4800N"), "paths=0:0:0.5,2:0:0.5 snr=10", 120, seed);
        EXPECT_NEAR(static_cast<double>(r.errors) / static_cast<double>(r.bits),
                    expected,
                    0.05 * expected)
            << "seed " << seed;
    }
}

TEST(channel_bound, every_kind_of_mode_falls_from_errors_to_none)
{
    struct {
        const char* name;
        double bad_db, good_db;
    } const rows[] = { { "4539-75S", -14, -3 },    { "4539-600S", -4, 4 },
                       { "4539-2400L", 3, 10 },    { "4539-9600S", 12, 20 },
                       { "5069-3k-75L", -16, -3 }, { "5069-3k-6400S", 8, 20 } };
    for (const auto& row : rows) {
        const std::string awgn = "awgn snr=";
        EXPECT_GT(measured_ber(row.name, awgn + std::to_string(row.bad_db), 20), 0.01)
            << row.name;
        EXPECT_EQ(measured_ber(row.name, awgn + std::to_string(row.good_db), 20), 0)
            << row.name;
    }
}

TEST(channel_bound, equal_seeds_give_equal_counts)
{
    const auto m = mode::parse("4539-3200S");
    const auto a = channel_bound(m, "poor snr=6", 20, 1),
               b = channel_bound(m, "poor snr=6", 20, 1),
               other = channel_bound(m, "poor snr=6", 20, 2);
    EXPECT_GT(a.errors, 0u);
    EXPECT_EQ(a.errors, b.errors);
    EXPECT_NE(a.errors, other.errors);
    EXPECT_GE(a.bad_blocks, 1u);
    EXPECT_LE(a.bad_blocks, a.blocks);
}

TEST(channel_bound, refuses_channels_without_a_bound)
{
    const auto m = mode::parse("4539-600S");
    for (const char* bad : { "poor", "poor snr=5 clock=10", "awgn snr=5 morse=100:3" })
        EXPECT_THROW(channel_bound(m, bad, 1, 1), std::invalid_argument) << bad;
}
