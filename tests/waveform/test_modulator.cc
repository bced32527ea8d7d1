/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/burst_modulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>
#include <stdexcept>

using namespace gr::hf;
using namespace gr::hf::kernel;

namespace {

using samples = std::vector<std::complex<float>>;

// A source of n random octets.
struct source {
    explicit source(size_t n) : octets(n)
    {
        std::mt19937 random(3);
        for (auto& b : octets)
            b = static_cast<uint8_t>(random());
    }
    tx_octets operator()(uint64_t at, size_t most)
    {
        asked_at.push_back(at);
        const size_t n = std::min(most, octets.size() - given);
        tx_octets t;
        const auto begin = octets.begin() + static_cast<std::ptrdiff_t>(given);
        t.octets.assign(begin, begin + static_cast<std::ptrdiff_t>(n));
        given += n;
        t.last = given == octets.size();
        return t;
    }
    std::vector<uint8_t> octets;
    size_t given = 0;
    std::vector<uint64_t> asked_at;
};

samples modulate(burst_modulator& mod, const char* m, source& s, size_t chunk = 4096)
{
    mod.start(mode::parse(m), std::ref(s));
    samples all, part(chunk);
    while (mod.active()) {
        const size_t n = mod.produce(part.data(), chunk);
        EXPECT_TRUE(n == chunk || !mod.active());
        all.insert(
            all.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(n));
    }
    EXPECT_EQ(mod.produced(), all.size());
    return all;
}

std::vector<tx_symbol> symbols_of(const char* m, source& s)
{
    transmitter tx(mode::parse(m));
    std::vector<tx_symbol> all;
    tx_symbol one;
    while (!tx.done()) {
        if (const size_t wanted = tx.octets_wanted()) {
            const auto t = s(0, wanted);
            tx.give(t.octets.data(), t.octets.size(), t.last);
        }
        if (tx.produce(&one, 1))
            all.push_back(one);
    }
    return all;
}

// Root raised cosine of roll-off 0.35, t in symbols: the receiver's half of the filter.
double pulse(double t)
{
    const double b = 0.35, pi = std::acos(-1.0);
    if (std::abs(t) < 1e-9)
        return 1 - b + 4 * b / pi;
    if (std::abs(std::abs(4 * b * t) - 1) < 1e-9)
        return b / std::sqrt(2.) *
               ((1 + 2 / pi) * std::sin(pi / 4 / b) +
                (1 - 2 / pi) * std::cos(pi / 4 / b));
    return (std::sin(pi * t * (1 - b)) + 4 * b * t * std::cos(pi * t * (1 + b))) /
           (pi * t * (1 - 16 * b * b * t * t));
}

double power(const samples& x)
{
    double sum = 0;
    for (const auto& v : x)
        sum += std::norm(v);
    return sum / static_cast<double>(x.size());
}

} // namespace

TEST(modulator, matched_filter_gives_the_symbols_back_at_the_stated_samples)
{
    for (const double rate : { 4800.0, 9600.0, 48000.0 }) {
        burst_modulator mod(rate);
        source s(300), again(300);
        const auto x = modulate(mod, "4539-6400US", s);
        const auto symbols = symbols_of("4539-6400US", again);
        const size_t sps = mod.samples_per_symbol(), span = mod.span();
        ASSERT_EQ(x.size(), (symbols.size() + 2 * span - 1) * sps + 1);
        double error = 0;
        size_t n = 0;
        for (size_t i = span; i + span < symbols.size(); i += 3, ++n) {
            std::complex<double> y = 0;
            const auto centre = static_cast<long>(mod.sample_of_symbol(i));
            const auto half = static_cast<long>(span * sps);
            for (long k = -half; k <= half; ++k)
                y += std::complex<double>(x[static_cast<size_t>(centre + k)]) *
                     pulse(static_cast<double>(k) / static_cast<double>(sps)) /
                     static_cast<double>(sps);
            error += std::norm(y - std::complex<double>(symbols[i].value));
        }
        EXPECT_LT(10 * std::log10(error / static_cast<double>(n)), -50) << rate;
    }
}

TEST(modulator, mean_power_is_that_of_the_symbols)
{
    for (const char* m : { "4539-600S", "4539-2400S", "4539-6400S", "4539-9600S" }) {
        burst_modulator mod(9600);
        source s(20000);
        const auto x = modulate(mod, m, s);
        EXPECT_NEAR(power(x), mean_power(mode::parse(m)), 0.01) << m;
    }
}

TEST(modulator, ninety_nine_percent_of_the_power_is_within_3_kHz)
{
    burst_modulator mod(9600);
    source s(4000);
    const auto x = modulate(mod, "4539-9600US", s);
    const size_t n = 1024;
    double inside = 0, all = 0;
    for (size_t at = 0; at + n <= x.size(); at += 8 * n) {
        for (size_t k = 0; k < n; ++k) { // one bin after the other: slow, short, clear
            std::complex<double> bin = 0;
            for (size_t i = 0; i < n; ++i) {
                const double window =
                    std::sin(std::acos(-1.0) * (static_cast<double>(i) + 0.5) / n);
                bin +=
                    std::complex<double>(x[at + i]) * window *
                    std::polar(1.0,
                               -2 * std::acos(-1.0) * static_cast<double>(k * i % n) / n);
            }
            const double f =
                (k < n / 2 ? static_cast<double>(k) : static_cast<double>(k) - n) * 9600 /
                n;
            all += std::norm(bin);
            inside += std::abs(f) <= 1500 ? std::norm(bin) : 0;
        }
    }
    EXPECT_GT(inside / all, 0.99);
}

TEST(modulator, asks_before_each_block_with_its_place_on_the_air)
{
    burst_modulator mod(9600);
    source s(72 * 48 + 10);
    const auto x = modulate(mod, "4539-3200US", s);
    ASSERT_EQ(s.asked_at.size(), 73u);
    for (size_t k = 0; k < 73; ++k)
        EXPECT_EQ(s.asked_at[k],
                  mod.sample_of_symbol(287 + 287 * k + (k == 72 ? 72 : 0)));

    // Not earlier than necessary: at most the pulse's lead before the block.
    source late(1000);
    mod.start(mode::parse("4539-600S"), std::ref(late));
    std::complex<float> one;
    while (late.asked_at.empty())
        mod.produce(&one, 1);
    EXPECT_EQ(mod.produced() - 1 + mod.span() * mod.samples_per_symbol(),
              late.asked_at.front());
}

TEST(modulator, chunks_do_not_matter)
{
    burst_modulator mod(9600);
    source a(200), b(200), c(200);
    const auto whole = modulate(mod, "4539-1200S", a, 1 << 20);
    EXPECT_EQ(modulate(mod, "4539-1200S", b, 1), whole);
    EXPECT_EQ(modulate(mod, "4539-1200S", c, 333), whole);
}

TEST(modulator, start_abort_and_nothing_to_send)
{
    burst_modulator mod(9600);
    std::complex<float> buffer[100];
    EXPECT_FALSE(mod.active());
    EXPECT_EQ(mod.produce(buffer, 100), 0u);
    mod.start(mode::parse("4539-600S"), {}); // no source: an empty message
    EXPECT_EQ(mod.produce(buffer, 100), 100u);
    mod.abort();
    EXPECT_FALSE(mod.active());
    EXPECT_EQ(mod.produce(buffer, 100), 0u);
    source s(10), again(10);
    const auto first = modulate(mod, "4539-600S", s);
    EXPECT_EQ(modulate(mod, "4539-600S", again),
              first); // nothing is left of the last one
}

TEST(modulator, arguments_are_checked)
{
    EXPECT_THROW(burst_modulator(2400), std::invalid_argument);
    EXPECT_THROW(burst_modulator(std::nan("")), std::invalid_argument);
    EXPECT_THROW(burst_modulator(9600, 1), std::invalid_argument);
    EXPECT_THROW(burst_modulator(9600, 33), std::invalid_argument);
    burst_modulator odd(8000);
    EXPECT_THROW(odd.start(mode::parse("4539-600S"), {}), std::invalid_argument);
    burst_modulator mod(9600);
    EXPECT_THROW(mod.start(mode::parse("4539-600S"), {}, { 1, true }),
                 std::invalid_argument);
    EXPECT_FALSE(mod.active());
}
