/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/track/sparse_equations.h"

#include "modem/base/vector_code.h"
#include "modem/detect/linear_algebra.h"

#include <algorithm>
#include <utility>

namespace gr::hf::kernel {

namespace {

using value = std::complex<float>;

// sum conj(a_i) w_i b_i
HF_VECTOR_CODE value weighted_product(const value* a,
                                      const value* b,
                                      const float* w,
                                      size_t n)
{
    const auto* x = reinterpret_cast<const float*>(a);
    const auto* y = reinterpret_cast<const float*>(b);
    float re = 0, im = 0;
    for (size_t i = 0; i < n; ++i) {
        const float r = w[i] * y[2 * i], m = w[i] * y[2 * i + 1];
        re += x[2 * i] * r + x[2 * i + 1] * m;
        im += x[2 * i] * m - x[2 * i + 1] * r;
    }
    return { re, im };
}

HF_VECTOR_CODE void subtract_scaled(value* to, const value* x, value g, size_t n)
{
    auto* t = reinterpret_cast<float*>(to);
    const auto* s = reinterpret_cast<const float*>(x);
    const float gr = g.real(), gi = g.imag();
    for (size_t i = 0; i < n; ++i) {
        t[2 * i] -= s[2 * i] * gr - s[2 * i + 1] * gi;
        t[2 * i + 1] -= s[2 * i] * gi + s[2 * i + 1] * gr;
    }
}

} // namespace

const value* sparse_equations::seen(const piece& p, size_t tap, size_t taps)
{
    const auto then = static_cast<size_t>(static_cast<int>(tap) + p.moved);
    return then > taps ? nullptr : p.signal.data() + (taps - then);
}

void sparse_equations::add(const values& signal,
                           int moved,
                           const value* y,
                           value turn,
                           std::vector<float> weight)
{
    const size_t n = weight.size();
    piece p{ n,
             moved,
             { signal.begin(), signal.begin() + static_cast<long>(n + d_taps) },
             { y, y + n },
             std::move(weight),
             fourier(fourier::length_for(n + d_taps)),
             {} };
    for (size_t i = 0; i < n; ++i) {
        p.y[i] *= turn;
        d_energy += p.weight[i] * std::norm(p.y[i]);
        d_weight += p.weight[i];
    }
    d_energy_left = d_energy;
    const size_t length = p.transform.size();
    value* x = p.transform.data();
    // own(a) = sum_i w(i) |u(i + taps - a)|^2
    std::fill_n(x, length, value{});
    for (size_t i = 0; i < p.signal.size(); ++i)
        x[i] = std::norm(p.signal[i]);
    p.transform.forward();
    values power(x, x + length);
    std::fill_n(x, length, value{});
    std::copy(p.weight.begin(), p.weight.end(), x);
    p.transform.forward();
    for (size_t k = 0; k < length; ++k)
        x[k] = std::conj(x[k]) * power[k];
    p.transform.backward();
    for (size_t a = 0; a < d_taps; ++a) {
        const auto then = static_cast<size_t>(static_cast<int>(a) + moved);
        if (then <= d_taps)
            d_own[a] +=
                std::max(x[d_taps - then].real() / static_cast<float>(length), 0.0f);
    }
    std::fill_n(x, length, value{});
    std::copy(p.signal.begin(), p.signal.end(), x);
    p.transform.forward();
    p.spectrum.assign(x, x + length);
    d_rows += n;
    d_pieces.push_back(std::move(p));
}

bool sparse_equations::is_active(size_t tap) const
{
    return std::find(d_active.begin(), d_active.end(), tap) != d_active.end();
}

void sparse_equations::activate(size_t tap)
{
    d_active.push_back(static_cast<uint16_t>(tap));
    d_gram.emplace_back(d_active.size());
    d_rhs.emplace_back();
    for (const piece& p : d_pieces) {
        const value* own = seen(p, tap, d_taps);
        if (!own)
            continue;
        d_rhs.back() += weighted_product(own, p.y.data(), p.weight.data(), p.rows);
        for (size_t b = 0; b < d_active.size(); ++b)
            if (const value* other = seen(p, d_active[b], d_taps))
                d_gram.back()[b] += weighted_product(own, other, p.weight.data(), p.rows);
    }
}

bool sparse_equations::solve(const std::vector<float>& load)
{
    const size_t s = d_active.size();
    hermitian_solver solver;
    solver.resize(s);
    for (size_t a = 0; a < s; ++a) {
        for (size_t b = 0; b <= a; ++b)
            solver.add(a, b, d_gram[a][b]);
        solver.add(a, a, load[a]);
        solver.rhs(a) = d_rhs[a];
    }
    if (!solver.solve())
        return false;
    d_solution.resize(s);
    float cross = 0, square = 0;
    for (size_t a = 0; a < s; ++a) {
        d_solution[a] = solver.rhs(a);
        cross += (std::conj(d_solution[a]) * d_rhs[a]).real();
        square += std::norm(d_solution[a]) * d_gram[a][a].real();
        for (size_t b = 0; b < a; ++b)
            square +=
                2 * (std::conj(d_solution[a]) * d_gram[a][b] * d_solution[b]).real();
    }
    d_energy_left = std::max(0.0f, d_energy - 2 * cross + square);
    return true;
}

const sparse_equations::values& sparse_equations::left()
{
    std::fill(d_left.begin(), d_left.end(), value{});
    for (piece& p : d_pieces) {
        value* x = p.transform.data();
        const size_t length = p.transform.size();
        std::copy(p.y.begin(), p.y.end(), x);
        std::fill(x + p.rows, x + length, value{});
        for (size_t a = 0; a < d_solution.size(); ++a)
            if (const value* own = seen(p, d_active[a], d_taps))
                subtract_scaled(x, own, d_solution[a], p.rows);
        for (size_t i = 0; i < p.rows; ++i)
            x[i] *= p.weight[i];
        p.transform.forward();
        // c(a) = sum_i conj(u(i + taps - a)) r(i): conjugate of a correlation of u with r
        for (size_t k = 0; k < length; ++k)
            x[k] = std::conj(x[k]) * p.spectrum[k];
        p.transform.backward();
        for (size_t a = 0; a < d_taps; ++a) {
            const auto then = static_cast<size_t>(static_cast<int>(a) + p.moved);
            if (then <= d_taps)
                d_left[a] += std::conj(x[d_taps - then]) / static_cast<float>(length);
        }
    }
    return d_left;
}

} // namespace gr::hf::kernel
