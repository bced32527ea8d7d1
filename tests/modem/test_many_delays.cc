/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The methods for many delays give the same results as dense equations. */
#include "modem/detect/equaliser.h"
#include "modem/find/piece_correlator.h"
#include "modem/front/pulse.h"
#include "modem/track/channel_equations.h"
#include "modem/track/sparse_equations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <random>
#include <vector>

using namespace gr::hf::kernel;
using value = std::complex<float>;
using values = std::vector<value>;

namespace {

values noise(size_t n, float power, std::mt19937& rng)
{
    std::normal_distribution<float> gauss(0, std::sqrt(power / 2));
    values v(n);
    for (value& x : v)
        x = { gauss(rng), gauss(rng) };
    return v;
}

// Two groups of paths 1.3 ms apart at 38400 Bd that change from block to block.
void set_channel(path_matrix& m, size_t count, std::mt19937& rng)
{
    const std::vector<uint16_t> taps{ 411, 412, 413, 512, 513, 515 };
    m.resize(count, 60, taps, 128);
    const values start = noise(taps.size(), 0.2f, rng);
    const values drift = noise(taps.size(), 2e-4f, rng);
    for (size_t b = 0; b < m.blocks(); ++b) {
        m.gains(b) = start;
        for (size_t a = 0; a < taps.size(); ++a)
            m.gains(b)[a] += static_cast<float>(b) * drift[a];
    }
    m.measure_energy();
}

value element(const path_matrix& m, int64_t i, int64_t j)
{
    value sum = 0;
    const auto &gi = m.gains(m.block_of(i)), &gj = m.gains(m.block_of(j));
    for (size_t k = 0; k < m.taps().size(); ++k)
        for (size_t l = 0; l < m.taps().size(); ++l)
            sum += std::conj(gi[k]) * gj[l] *
                   path_matrix::pulse(static_cast<int>(2 * (i - j)) + m.taps()[k] -
                                      m.taps()[l]);
    return sum;
}

} // namespace

TEST(many_delays, a_path_matrix_does_what_its_elements_say)
{
    std::mt19937 rng(1);
    path_matrix m;
    constexpr int64_t count = 300, around = 60;
    set_channel(m, count, rng);
    const values all = noise(count + 2 * around, 1, rng);
    values inside(all.begin() + around, all.end() - around);
    values product(count), rest(count);
    m.apply(inside.data(), product.data());
    // The reverse: with the symbols around, and nothing received.
    const values nothing(static_cast<size_t>(m.last_row() - m.first_row()));
    m.match(nothing.data(), all.data(), rest.data());
    for (int64_t i = 0; i < count; ++i) {
        value in = 0, whole = 0;
        for (int64_t j = -around; j < count + around; ++j) {
            const value x = element(m, i, j) * all[static_cast<size_t>(j + around)];
            whole += x;
            in += j >= 0 && j < count ? x : 0;
        }
        const auto at = static_cast<size_t>(i);
        EXPECT_NEAR(std::abs(product[at] - in), 0, 2e-4) << i;
        EXPECT_NEAR(std::abs(rest[at] + whole), 0, 2e-4) << i;
        EXPECT_NEAR(m.energy(at), element(m, i, i).real(), 1e-4) << i;
    }
}

TEST(many_delays, an_erased_sample_is_taken_out_of_a_path_matrix)
{
    std::mt19937 rng(2);
    path_matrix m;
    constexpr size_t count = 200;
    set_channel(m, count, rng);
    const values x = noise(count, 1, rng), h = noise(30, 0.1f, rng);
    values before(count), after(count);
    m.apply(x.data(), before.data());
    m.take_out(-10, h); // partly in front of the frame
    m.apply(x.data(), after.data());
    value sum = 0;
    for (size_t i = 10; i < h.size(); ++i)
        sum += h[i] * x[i - 10];
    for (size_t i = 0; i < count; ++i) {
        const value out = i + 10 < h.size() ? std::conj(h[i + 10]) * sum : 0;
        EXPECT_NEAR(std::abs(before[i] - out - after[i]), 0, 1e-4) << i;
    }
}

// At 22 dB without beliefs, and with half of the symbols more or less believed.
TEST(many_delays, gradients_find_what_factors_find)
{
    for (const bool beliefs_there : { false, true }) {
        std::mt19937 rng(3);
        constexpr size_t count = 1200;
        frame_observation sparse;
        sparse.sparse = true;
        set_channel(sparse.paths, count, rng);
        sparse.noise = 0.006f;
        const values sent = noise(count, 1, rng);
        sparse.z.resize(count);
        sparse.paths.apply(sent.data(), sparse.z.data());
        // noise of covariance A: rows of noise through the matched filter
        const auto rows =
            static_cast<size_t>(sparse.paths.last_row() - sparse.paths.first_row());
        values hiss = noise(count, 1, rng), coloured(count);
        sparse.paths.apply(hiss.data(), coloured.data());
        for (size_t i = 0; i < count; ++i) // nearly: |A|^2 where A is about 1
            sparse.z[i] += std::sqrt(sparse.noise) * coloured[i];
        ASSERT_GT(rows, count);

        frame_observation dense = sparse;
        dense.sparse = false;
        constexpr size_t band = 59;
        dense.a.resize(count, band);
        for (size_t i = 0; i < count; ++i)
            for (size_t d = 0; d <= std::min(i, band); ++d)
                dense.a.at(i, d) = element(
                    sparse.paths, static_cast<int64_t>(i), static_cast<int64_t>(i - d));
        std::vector<symbol_belief> beliefs(count, { 0, 1 });
        std::uniform_real_distribution<float> some(0.02f, 1);
        for (size_t i = 0; beliefs_there && i < count; ++i) {
            const float v = i % 2 ? 1 : some(rng);
            beliefs[i] = { sent[i] * (1 - v), v };
        }
        std::vector<symbol_estimate> by_factors, by_gradients;
        linear_equaliser equaliser;
        equaliser.equalise(sparse, beliefs.data(), by_gradients);
        equaliser.equalise(dense, beliefs.data(), by_factors);
        double difference = 0, error = 0, ratio = 0;
        for (size_t i = 0; i < count; ++i) {
            difference += std::norm(by_gradients[i].value - by_factors[i].value);
            error += by_factors[i].error;
            ratio += std::log10(by_gradients[i].error / by_factors[i].error);
        }
        EXPECT_LT(difference, 0.1 * error) << beliefs_there;
        EXPECT_NEAR(10 * ratio / count, 0, 0.3) << beliefs_there;
    }
}

TEST(many_delays, paths_are_found_one_by_one_and_leave_what_dense_equations_leave)
{
    std::mt19937 rng(4);
    constexpr size_t taps = 200, rows = 700;
    const values signal = noise(rows + taps, 1, rng);
    values y = noise(rows, 0.01f, rng);
    const std::pair<size_t, value> paths[] = { { 20, { 1, 0.3f } },
                                               { 21, { -0.4f, 0 } },
                                               { 170, { 0, 0.8f } } };
    const int moved = -3; // the window's begin has moved since
    for (const auto& [tap, g] : paths)
        for (size_t i = 0; i < rows; ++i)
            y[i] +=
                g * signal[i + taps - static_cast<size_t>(static_cast<int>(tap) + moved)];
    std::vector<float> weight(rows);
    for (float& w : weight)
        w = std::uniform_real_distribution<float>(0.2f, 1)(rng);
    sparse_equations e(taps);
    e.add(signal, moved, y.data(), 1, weight);
    const auto direct = [&](size_t tap, const values& r) {
        value sum = 0;
        const int then = static_cast<int>(tap) + moved;
        for (size_t i = 0; then >= 0 && i < rows; ++i)
            sum += std::conj(signal[i + taps - static_cast<size_t>(then)]) * weight[i] *
                   r[i];
        return sum;
    };
    for (const size_t tap :
         { size_t{ 0 }, size_t{ 2 }, size_t{ 3 }, size_t{ 60 }, taps - 1 })
        EXPECT_NEAR(std::abs(e.left()[tap] - direct(tap, y)), 0, 0.02) << tap;
    EXPECT_NEAR(e.own()[1], 0, 1e-6); // the window did not reach there
    for (size_t found = 0; found < 3; ++found) {
        const auto& left = e.left();
        size_t best = 0;
        for (size_t k = 0; k < taps; ++k)
            if (std::norm(left[k]) > std::norm(left[best]))
                best = k;
        EXPECT_FALSE(e.is_active(best));
        e.activate(best);
        ASSERT_TRUE(e.solve(std::vector<float>(found + 1, 1e-3f)));
    }
    for (size_t k = 0; k < 3; ++k) {
        const auto* path =
            std::find_if(std::begin(paths), std::end(paths), [&](const auto& p) {
                return p.first == e.active()[k];
            });
        ASSERT_NE(path, std::end(paths)) << e.active()[k];
        EXPECT_NEAR(std::abs(e.solution()[k] - path->second), 0, 0.03);
    }
    EXPECT_NEAR(e.energy_left() / e.weight(), 0.01, 0.002);
}

TEST(many_delays, pieces_are_correlated_in_frequency_as_in_time)
{
    std::mt19937 rng(5);
    constexpr size_t piece = 32, batch = 96, pieces = 5;
    const values symbols = noise(pieces * piece, 1, rng);
    piece_correlator c(piece, batch, pieces);
    const auto spectra = c.spectra_of(symbols);
    const values rows = noise(4 * batch + 2 * c.reach(), 1, rng);
    std::vector<float> re(batch), im(batch);
    // One batch after another, and one elsewhere.
    for (const size_t position : { size_t{ 0 }, 2 * batch, size_t{ 17 } }) {
        c.load(&rows[position], static_cast<int64_t>(position));
        for (const size_t k : { size_t{ 0 }, size_t{ 3 }, pieces - 1 })
            for (const size_t parity : { size_t{ 0 }, size_t{ 1 } }) {
                c.correlate(spectra[k], k, parity, re.data(), im.data());
                for (size_t q = 0; q < batch; q += 19) {
                    value sum = 0;
                    for (size_t s = 0; s < piece; ++s)
                        sum += std::conj(symbols[k * piece + s]) *
                               rows[position + parity + 2 * (q + k * piece + s)];
                    EXPECT_NEAR(std::abs(sum - value(re[q], im[q])), 0, 1e-3)
                        << position << " " << k << " " << parity << " " << q;
                }
            }
    }
}
