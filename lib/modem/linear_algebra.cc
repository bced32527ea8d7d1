/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/linear_algebra.h"

#include "modem/vector_code.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::kernel {

namespace {

/* Right-looking Cholesky, A = L L^H, of column-major lower triangles: the innermost loop
 * runs down a column, which is contiguous. */
HF_VECTOR_CODE bool cholesky(size_t n, float* re, float* im)
{
    for (size_t k = 0; k < n; ++k) {
        float* kr = re + k * n;
        float* ki = im + k * n;
        const float pivot = kr[k];
        if (!(pivot > 1e-20f))
            return false;
        const float root = std::sqrt(pivot), inv = 1 / root;
        kr[k] = root;
        ki[k] = 0;
        for (size_t i = k + 1; i < n; ++i) {
            kr[i] *= inv;
            ki[i] *= inv;
        }
        for (size_t j = k + 1; j < n; ++j) {
            const float cr = kr[j], ci = ki[j]; // minus L_ik conj(L_jk)
            float* jr = re + j * n;
            float* ji = im + j * n;
            for (size_t i = j; i < n; ++i) {
                jr[i] -= kr[i] * cr + ki[i] * ci;
                ji[i] -= ki[i] * cr - kr[i] * ci;
            }
        }
    }
    return true;
}

} // namespace

void hermitian_solver::resize(size_t n)
{
    d_n = n;
    d_re.assign(n * n, 0);
    d_im.assign(n * n, 0);
    d_x.assign(n, 0);
}

bool hermitian_solver::solve()
{
    if (!cholesky(d_n, d_re.data(), d_im.data())) {
        std::fill(d_x.begin(), d_x.end(), value{});
        return false;
    }
    for (size_t k = 0; k < d_n; ++k) {
        const float* kr = &d_re[k * d_n];
        const float* ki = &d_im[k * d_n];
        d_x[k] /= kr[k];
        for (size_t i = k + 1; i < d_n; ++i)
            d_x[i] -= value(kr[i], ki[i]) * d_x[k];
    }
    for (size_t k = d_n; k-- > 0;) {
        const float* kr = &d_re[k * d_n];
        const float* ki = &d_im[k * d_n];
        value sum = d_x[k];
        for (size_t i = k + 1; i < d_n; ++i)
            sum -= value(kr[i], -ki[i]) * d_x[i];
        d_x[k] = sum / kr[k];
    }
    return true;
}

void banded_factors::resize(size_t n, size_t band)
{
    d_n = n;
    d_band = band;
    d_a.assign(n * (band + 1), 0);
}

void banded_factors::factor(float floor)
{
    for (size_t n = 0; n < d_n; ++n) {
        const size_t reach = std::min(n, d_band);
        // c_d = L(n, n-d) D(n-d), from the far end of the row
        for (size_t d = reach; d > 0; --d) {
            const size_t m = n - d;
            value c = at(n, d);
            for (size_t e = d + 1; e <= std::min(reach, d + d_band); ++e)
                c -= at(n, e) * std::conj(at(m, e - d)); // at(n, e) holds c_e
            at(n, d) = c;
        }
        const float diagonal = at(n, 0).real();
        float pivot = diagonal;
        for (size_t d = reach; d > 0; --d) {
            const value c = at(n, d);
            const value l = c / at(n - d, 0).real();
            pivot -= std::norm(c) / at(n - d, 0).real();
            at(n, d) = l;
        }
        at(n, 0) = pivot > floor * diagonal ? pivot : floor * diagonal + 1e-30f;
    }
}

void banded_factors::forward(value* x) const
{
    for (size_t n = 0; n < d_n; ++n) {
        value sum = x[n];
        for (size_t d = 1; d <= std::min(n, d_band); ++d)
            sum -= at(n, d) * x[n - d];
        x[n] = sum;
    }
}

void banded_factors::backward(value* x) const
{
    for (size_t n = d_n; n-- > 0;)
        for (size_t d = 1; d <= std::min(d_band, d_n - 1 - n); ++d)
            x[n] -= std::conj(at(n + d, d)) * x[n + d];
}

void banded_factors::inverse_diagonal(std::vector<float>& diagonal) const
{
    /* Z = A^-1 within the band, from the last row up: Z = D^-1 L^-1 + (I - L^H) Z gives
     * Z(i, j) = - sum_{k > i} conj(L(k, i)) Z(k, j) for j > i. */
    banded_factors z;
    z.resize(d_n, d_band);
    const auto get = [&z](size_t r, size_t c) {
        return r >= c ? z.at(r, r - c) : std::conj(z.at(c, c - r));
    };
    diagonal.assign(d_n, 0);
    for (size_t i = d_n; i-- > 0;) {
        const size_t reach = std::min(d_band, d_n - 1 - i);
        for (size_t dj = reach; dj > 0; --dj) {
            value sum = 0;
            for (size_t dk = 1; dk <= reach; ++dk)
                sum -= std::conj(at(i + dk, dk)) * get(i + dk, i + dj);
            z.at(i + dj, dj) = std::conj(sum);
        }
        float sum = 1 / at(i, 0).real();
        for (size_t dk = 1; dk <= reach; ++dk)
            sum -= (std::conj(at(i + dk, dk)) * get(i + dk, i)).real();
        z.at(i, 0) = sum;
        diagonal[i] = sum;
    }
}

} // namespace gr::hf::kernel
