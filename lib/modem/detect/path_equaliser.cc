/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/detect/equaliser.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::kernel {

namespace {

using value = std::complex<float>;

// Error of the solution, relative to the estimates' own error.
constexpr double accuracy = 0.02;
constexpr size_t max_steps = 40;
// Frequencies of a piece's spectrum per symbol of the longest delay, so that nulls show.
constexpr size_t resolution = 4, min_frequencies = 256;
// Least symbols that share one measure of the channel.
constexpr size_t min_piece = 64;
// Information about a symbol without any evidence.
constexpr float min_information = 1e-12f;

double product(const std::vector<value>& a, const std::vector<value>& b)
{
    const auto* x = reinterpret_cast<const float*>(a.data());
    const auto* y = reinterpret_cast<const float*>(b.data());
    double sum = 0;
    for (size_t i = 0; i < 2 * a.size();) {
        float part = 0; // so few that single precision is enough
        for (const size_t to = std::min(i + 512, 2 * a.size()); i < to; ++i)
            part += x[i] * y[i];
        sum += static_cast<double>(part);
    }
    return sum;
}

void add_scaled(std::vector<value>& to, const std::vector<value>& x, float scale)
{
    auto* t = reinterpret_cast<float*>(to.data());
    const auto* s = reinterpret_cast<const float*>(x.data());
    for (size_t i = 0; i < 2 * to.size(); ++i)
        t[i] += scale * s[i];
}

} // namespace

float path_equaliser::mean_energy(const frame_observation& f) const
{
    double sum = 0;
    for (size_t i = 0; i < f.z.size(); ++i)
        sum += f.energy(i);
    return static_cast<float>(sum / static_cast<double>(f.z.size()));
}

/* Information of the rows about a symbol, 1 / variance, piece by piece. With all beliefs
 * of variance v, the posterior variance is the mean over frequency of 1 / (S / noise + 1
 * / v). The symbol's own belief contributed 1 / v. The spectrum in the middle is the
 * preconditioner's. */
void path_equaliser::measure_information(const frame_observation& f, float noise)
{
    const path_matrix& a = f.paths;
    const size_t n = f.z.size();
    const size_t delay = a.taps().back() - a.taps().front() + size_t{ 1 };
    const size_t frequencies =
        fourier::length_for(std::max(min_frequencies, resolution * delay / 2));
    if (d_pieces.size() != frequencies)
        d_pieces = fourier(frequencies);
    const size_t whole = fourier::length_for(n + delay / 2 + 16);
    if (d_whole.size() != whole)
        d_whole = fourier(whole);
    d_information.resize(n);
    double gain = 0;
    for (size_t from = 0; from < n;) {
        const auto block = [&a](size_t i) { return a.block_of(static_cast<int64_t>(i)); };
        size_t to = std::min(from + min_piece, n); // and to the end of its block
        while (to < n && block(to) == block(to - 1))
            ++to;
        a.spectrum((block(from) + block(to - 1)) / 2, d_pieces, d_spectrum);
        double variance = 0;
        for (size_t i = from; i < to; ++i)
            variance += static_cast<double>(d_root[i]) * d_root[i];
        variance = variance / static_cast<double>(to - from) + 1e-30;
        const auto own = static_cast<float>(1 / variance);
        double posterior = 0;
        for (const float s : d_spectrum)
            posterior += static_cast<double>(1 / (s / noise + own));
        posterior /= static_cast<double>(d_spectrum.size());
        const double information =
            std::max(1 / posterior - 1 / variance, static_cast<double>(min_information));
        std::fill(d_information.begin() + static_cast<long>(from),
                  d_information.begin() + static_cast<long>(to),
                  static_cast<float>(information));
        gain += static_cast<double>(to - from) * information * variance /
                (1 + information * variance);
        from = to;
    }
    d_mean_gain = gain / static_cast<double>(n);
    if (a.erased())
        take_out_erased(a);
}

/* A partly erased symbol shows only in the samples left. They also hold its neighbours,
 * which are partly erased too. The part of them that the equaliser cannot remove is
 * noise. */
void path_equaliser::take_out_erased(const path_matrix& a)
{
    for (size_t i = 0; i < d_information.size(); ++i) {
        const float left = a.share_left(i);
        if (left == 1)
            continue;
        const float information = left * d_information[i];
        d_information[i] =
            std::max(information / (1 + (1 - left) * information * d_root[i] * d_root[i]),
                     min_information);
    }
}

/* Preconditioner of V^1/2 A V^1/2 / noise + 1: this matrix for the channel in the middle
 * of the frame and equal beliefs, with a corrected diagonal. */
void path_equaliser::precondition(const values& r, values& x)
{
    const size_t n = r.size();
    value* t = d_whole.data();
    for (size_t i = 0; i < n; ++i)
        t[i] = r[i] * d_balance[i];
    std::fill(t + n, t + d_whole.size(), value{});
    d_whole.forward();
    for (size_t k = 0; k < d_whole.size(); ++k)
        t[k] *= d_inverse[k];
    d_whole.backward();
    for (size_t i = 0; i < n; ++i)
        x[i] = t[i] * d_balance[i];
}

// Solve for d_x, given d_right. Returns the number of steps.
size_t path_equaliser::solve(path_matrix& a, float noise)
{
    const size_t n = d_right.size();
    d_x.assign(n, 0);
    d_z.resize(n);
    d_q.resize(n);
    d_product.resize(n);
    precondition(d_right, d_z);
    d_p = d_z;
    double power = product(d_right, d_z);
    const double enough = accuracy * d_mean_gain * static_cast<double>(n);
    size_t step = 0;
    for (; step < max_steps && power > enough; ++step) {
        for (size_t i = 0; i < n; ++i)
            d_product[i] = d_p[i] * d_root[i];
        a.apply(d_product.data(), d_q.data());
        for (size_t i = 0; i < n; ++i)
            d_q[i] = d_q[i] * (d_root[i] / noise) + d_p[i];
        const double curvature = product(d_p, d_q);
        if (!(curvature > 0))
            break;
        const auto length = static_cast<float>(power / curvature);
        add_scaled(d_x, d_p, length);
        add_scaled(d_right, d_q, -length);
        precondition(d_right, d_z);
        const double next = product(d_right, d_z);
        const auto ratio = static_cast<float>(next / power);
        for (size_t i = 0; i < n; ++i)
            d_p[i] = d_z[i] + ratio * d_p[i];
        power = next;
    }
    return step;
}

void path_equaliser::equalise(frame_observation& f,
                              const symbol_belief* beliefs,
                              std::vector<symbol_estimate>& out)
{
    const size_t n = f.z.size();
    out.assign(n, {});
    if (n == 0)
        return;
    const float energy = mean_energy(f) + 1e-30f;
    const float noise = f.noise + model_error * f.symbol_power * energy + 1e-30f;
    const float least = min_variance * noise / energy;
    d_means.resize(n);
    d_root.resize(n);
    double variance = 0;
    for (size_t i = 0; i < n; ++i) {
        const float v = std::max(beliefs[i].variance, least);
        d_means[i] = beliefs[i].mean;
        d_root[i] = std::sqrt(v);
        variance += static_cast<double>(v) / static_cast<double>(n);
    }
    measure_information(f, noise);

    f.paths.spectrum(f.paths.block_of(static_cast<int64_t>(n / 2)), d_whole, d_spectrum);
    d_inverse.resize(d_whole.size());
    const auto v = static_cast<float>(variance);
    for (size_t k = 0; k < d_whole.size(); ++k)
        d_inverse[k] =
            1 / ((1 + v * d_spectrum[k] / noise) * static_cast<float>(d_whole.size()));
    d_balance.resize(n);
    for (size_t i = 0; i < n; ++i)
        d_balance[i] = std::sqrt((1 + v * energy / noise) /
                                 (1 + d_root[i] * d_root[i] * energy / noise));

    d_right.resize(n);
    d_product.resize(n);
    f.paths.apply(d_means.data(), d_product.data());
    for (size_t i = 0; i < n; ++i)
        d_right[i] = (f.z[i] - d_product[i]) * (d_root[i] / noise);
    solve(f.paths, noise);
    for (size_t i = 0; i < n; ++i) {
        const float certain = d_information[i] * d_root[i] * d_root[i];
        const float gain = std::max(certain / (1 + certain), min_gain);
        out[i].value = beliefs[i].mean + d_x[i] * (d_root[i] / gain);
        out[i].error = std::max(1 / d_information[i], min_error);
        if (!f.interference.empty())
            out[i].error += f.interference[i];
        if (!(std::norm(out[i].value) < 1e6f)) // NaN, or as useless
            out[i] = { 0, f.symbol_power };
    }
}

} // namespace gr::hf::kernel
