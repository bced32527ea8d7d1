/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/detect/soft_symbols.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <random>
#include <vector>

using namespace gr::hf::kernel;

namespace {

std::vector<constellation> alphabets()
{
    return { serial_tone_psk(1),
             serial_tone_psk(3),
             transcoded_psk(2),
             qam(4),
             qam(5),
             qam(6),
             qam(8) };
}

bool bit_of(size_t label, unsigned bits, unsigned b)
{
    return label >> (bits - 1 - b) & 1;
}

} // namespace

TEST(soft_symbols, soft_bits_compare_the_likeliest_points_of_either_bit)
{
    std::mt19937 rng(1);
    std::normal_distribution<float> gauss(0, 0.7f);
    for (const constellation& c : alphabets())
        for (int trial = 0; trial < 100; ++trial) {
            const size_t labels = size_t{ 1 } << c.bits;
            const auto scrambling = static_cast<uint8_t>(
                rng() % (c.rule == scrambling::add_mod_8 ? 8 : labels));
            const symbol_estimate e{ { gauss(rng), gauss(rng) }, 0.3f };
            std::array<float, 8> llr, prior{};
            const bool with_prior = trial % 2 == 1;
            if (with_prior) {
                for (float& p : prior)
                    p = 5 * gauss(rng);
                soft_symbols(c).soft_bits(scrambling, e, prior.data(), llr.data());
            } else
                soft_symbols(c).soft_bits(scrambling, e, llr.data());
            for (unsigned b = 0; b < c.bits; ++b) {
                float least[2] = { 1e9f,
                                   1e9f }; // minus log-likelihood, without the prior
                                           // of this bit
                for (size_t l = 0; l < labels; ++l) {
                    float cost = std::norm(e.value -
                                           c.point(static_cast<uint8_t>(l), scrambling)) /
                                 e.error;
                    for (unsigned k = 0; k < c.bits; ++k)
                        if (k != b && bit_of(l, c.bits, k))
                            cost += prior[k];
                    float& d = least[bit_of(l, c.bits, b)];
                    d = std::min(d, cost);
                }
                EXPECT_NEAR(llr[b], least[1] - least[0], 1e-3f) << c.bits << " " << b;
            }
        }
}

TEST(soft_symbols, a_belief_is_the_mean_over_all_labels)
{
    std::mt19937 rng(2);
    std::normal_distribution<float> gauss(0, 2);
    for (const constellation& c : alphabets())
        for (int trial = 0; trial < 50; ++trial) {
            const size_t labels = size_t{ 1 } << c.bits;
            const auto scrambling = static_cast<uint8_t>(
                rng() % (c.rule == scrambling::add_mod_8 ? 8 : labels));
            std::array<float, 8> llr;
            for (float& l : llr)
                l = gauss(rng);
            const symbol_belief got = soft_symbols(c).belief_of(scrambling, llr.data());
            std::complex<double> mean = 0;
            double power = 0;
            for (size_t l = 0; l < labels; ++l) {
                double p = 1;
                for (unsigned b = 0; b < c.bits; ++b)
                    p /= 1 + std::exp(bit_of(l, c.bits, b) ? llr[b] : -llr[b]);
                const std::complex<double> x =
                    c.point(static_cast<uint8_t>(l), scrambling);
                mean += p * x;
                power += p * std::norm(x);
            }
            EXPECT_NEAR(std::abs(mean - std::complex<double>(got.mean)), 0, 1e-5)
                << c.bits;
            EXPECT_NEAR(got.variance, power - std::norm(mean), 1e-5) << c.bits;
        }
}
