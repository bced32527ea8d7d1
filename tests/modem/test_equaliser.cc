/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/detect/equaliser.h"
#include "waveform/coding/constellation.h"

#include "waveform/description.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <memory>
#include <random>
#include <vector>

using namespace gr::hf::kernel;
using cf = std::complex<float>;

namespace {

// A static channel on the symbol grid: z = H^H (H a + n), A = H^H H.
struct block {
    frame_observation f;
    std::vector<cf> sent;
};

block make_block(const constellation& c,
                 const std::vector<cf>& h,
                 double noise,
                 unsigned seed)
{
    constexpr size_t n = 200;
    std::mt19937 rng(seed);
    std::normal_distribution<float> g(0, static_cast<float>(std::sqrt(noise / 2)));
    block b;
    b.f.alphabet = &c;
    b.f.noise = static_cast<float>(noise);
    b.f.symbol_power = static_cast<float>(c.mean_power());
    for (size_t i = 0; i < n; ++i) {
        b.f.scrambling.push_back(static_cast<uint8_t>(rng() % 8));
        b.sent.push_back(
            c.point(static_cast<uint8_t>(rng() % (1u << c.bits)), b.f.scrambling.back()));
    }
    std::vector<cf> y(n + h.size() - 1);
    for (size_t i = 0; i < n; ++i)
        for (size_t k = 0; k < h.size(); ++k)
            y[i + k] += h[k] * b.sent[i];
    for (auto& v : y)
        v += cf(g(rng), g(rng));
    b.f.z.assign(n, 0);
    b.f.a.resize(n, h.size() - 1);
    for (size_t i = 0; i < n; ++i)
        for (size_t k = 0; k < h.size(); ++k) {
            b.f.z[i] += std::conj(h[k]) * y[i + k];
            for (size_t l = 0; l <= k;
                 ++l) // lag k - l: A(i, i - d) = sum conj(h_l) h_{l+d}
                if (i >= k - l)
                    b.f.a.at(i, k - l) += std::conj(h[l]) * h[k];
        }
    return b;
}

// Mean squared error, and the equaliser's own estimate of it.
std::pair<double, double> error_of(equaliser& e, block& b)
{
    std::vector<symbol_estimate> out;
    e.equalise(b.f, out);
    double actual = 0, claimed = 0;
    for (size_t i = 0; i < out.size(); ++i) {
        actual += std::norm(out[i].value - b.sent[i]);
        claimed += out[i].error;
    }
    return { actual / static_cast<double>(out.size()),
             claimed / static_cast<double>(out.size()) };
}

} // namespace

TEST(equaliser, error_is_what_it_says)
{
    const auto qam16 = qam(4);
    const auto psk = serial_tone_psk(3);
    decision_feedback_equaliser dfe;
    linear_equaliser linear;
    double dfe_sum = 0, linear_sum = 0, dfe_claim = 0, linear_claim = 0;
    for (unsigned seed = 0; seed < 20; ++seed)
        for (const constellation* c : { &qam16, &psk }) {
            const std::vector<cf> h{ 0.8f, 0, cf(0.3f, 0.45f) };
            auto b = make_block(*c, h, 0.01, seed);
            auto d = error_of(dfe, b);
            dfe_sum += d.first;
            dfe_claim += d.second;
            b = make_block(*c, h, 0.01, seed);
            d = error_of(linear, b);
            linear_sum += d.first;
            linear_claim += d.second;
        }
    EXPECT_NEAR(dfe_sum / dfe_claim, 1, 0.1);
    EXPECT_NEAR(linear_sum / linear_claim, 1, 0.1);
    EXPECT_LT(dfe_sum, linear_sum);
}

TEST(equaliser, beliefs_take_interference_away)
{
    // Nearly certain beliefs leave what a lone symbol would have: noise / energy of h.
    const auto qam16 = qam(4);
    const std::vector<cf> h{ 0.8f, 0, cf(0.3f, 0.45f) };
    linear_equaliser linear;
    double nothing = 0, certain = 0, claim = 0;
    size_t n = 0;
    std::vector<symbol_estimate> out;
    for (unsigned seed = 0; seed < 20; ++seed) {
        auto b = make_block(qam16, h, 0.01, seed);
        nothing += error_of(linear, b).first;
        b = make_block(qam16, h, 0.01, seed);
        std::vector<symbol_belief> beliefs;
        for (const cf s : b.sent)
            beliefs.push_back({ s, 1e-9f });
        linear.equalise(b.f, beliefs.data(), out);
        for (size_t i = 0; i < out.size(); ++i, ++n) {
            certain += std::norm(out[i].value - b.sent[i]);
            claim += out[i].error;
        }
    }
    const double bound = 0.01 / (0.64 + 0.09 + 0.2025);
    EXPECT_NEAR(certain / static_cast<double>(n), bound, 0.1 * bound);
    EXPECT_NEAR(certain / claim, 1, 0.1);
    EXPECT_GT(nothing / 20, 1.3 * bound);
}

TEST(equaliser, feedback_survives_a_spectral_null)
{
    // Two equal paths: the linear equaliser loses, decision feedback pays 3 dB at most.
    const auto psk = serial_tone_psk(1);
    const float r = std::sqrt(0.5f);
    decision_feedback_equaliser dfe;
    linear_equaliser linear;
    double d = 0, l = 0;
    for (unsigned seed = 0; seed < 10; ++seed) {
        auto b = make_block(psk, { r, 0, 0, 0, r }, 0.01, seed);
        d += error_of(dfe, b).first;
        b = make_block(psk, { r, 0, 0, 0, r }, 0.01, seed);
        l += error_of(linear, b).first;
    }
    EXPECT_LT(d / 10, 0.025);
    EXPECT_GT(l, 2 * d);
}

TEST(equaliser, soft_bits_have_sign_and_scale)
{
    const auto c = serial_tone_psk(1); // label 0 at phase 0, label 1 at phase pi
    float llr = 0;
    soft_symbols(c).soft_bits(0, { cf(1), 0.5f }, &llr);
    EXPECT_NEAR(llr, 8, 1e-4); // (|1+1|^2 - 0) / 0.5
    soft_symbols(c).soft_bits(4, { cf(1), 0.5f }, &llr);
    EXPECT_NEAR(llr, -8, 1e-4);
}

TEST(equaliser, an_indefinite_matrix_gives_erasures_at_worst)
{
    // a cut channel matrix near a notch: its spectrum is negative there
    const auto m = gr::hf::mode::parse("4539-9600VL");
    const description& d = describe(m);
    frame_observation f;
    constexpr size_t n = 256;
    const auto make = [&] {
        f.alphabet = &d.alphabet;
        f.scrambling.assign(n, 0);
        f.noise = 1e-5f;
        f.symbol_power = 0.58f;
        f.z.assign(n, { 0.5f, -0.5f });
        f.a.resize(n, 2);
        for (size_t i = 0; i < n; ++i) {
            f.a.at(i, 0) = 1;
            if (i > 0)
                f.a.at(i, 1) = 0.6f;
        }
    };
    linear_equaliser linear;
    decision_feedback_equaliser feedback;
    for (equaliser* e :
         { static_cast<equaliser*>(&linear), static_cast<equaliser*>(&feedback) }) {
        make();
        std::vector<symbol_estimate> out;
        e->equalise(f, out);
        ASSERT_EQ(out.size(), n);
        for (const auto& s : out) {
            EXPECT_TRUE(std::isfinite(s.value.real()) && std::isfinite(s.value.imag()));
            EXPECT_TRUE(std::isfinite(s.error) && s.error > 0);
            EXPECT_LT(std::norm(s.value), 100 * (1 + s.error));
        }
    }
}
