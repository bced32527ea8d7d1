/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/detect/linear_algebra.h"

#include "modem/base/vector_code.h"

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

/* L D L^H of a banded matrix; its columns, diagonal first, are band + 1 apart. Also
 * right-looking. */
HF_VECTOR_CODE void
factor_banded(size_t n, size_t band, float* re, float* im, float floor)
{
    const size_t stride = band + 1;
    std::vector<float> diagonal(n);
    for (size_t k = 0; k < n; ++k)
        diagonal[k] = re[k * stride];
    for (size_t k = 0; k < n; ++k) {
        float* kr = re + k * stride;
        float* ki = im + k * stride;
        const float least = floor * diagonal[k];
        kr[0] = kr[0] > least ? kr[0] : least + 1e-30f;
        ki[0] = 0;
        const size_t reach = std::min(band, n - 1 - k);
        const float inv = 1 / kr[0];
        for (size_t j = 1; j <= reach; ++j) {
            // minus L_ik D_k conj(L_jk)
            const float cr = kr[j] * inv, ci = ki[j] * inv;
            float* jr = re + (k + j) * stride;
            float* ji = im + (k + j) * stride;
            const float *pr = kr + j, *pi = ki + j;
            for (size_t i = 0; i <= reach - j; ++i) {
                jr[i] -= pr[i] * cr + pi[i] * ci;
                ji[i] -= pi[i] * cr - pr[i] * ci;
            }
        }
        for (size_t j = 1; j <= reach; ++j) {
            kr[j] *= inv;
            ki[j] *= inv;
        }
    }
}

/* Z = A^-1 within the band, from the last column back: Z = D^-1 L^-1 + (I - L^H) Z gives
 * Z(j, i) = - sum_{k > i} Z(j, k) L(k, i) for j > i. Stored as the factors are. */
HF_VECTOR_CODE void invert_banded(size_t n,
                                  size_t band,
                                  const float* re,
                                  const float* im,
                                  float* zr,
                                  float* zi)
{
    const size_t stride = band + 1;
    std::vector<float> tr(stride), ti(stride);
    for (size_t i = n; i-- > 0;) {
        const size_t reach = std::min(band, n - 1 - i);
        const float *lr = re + i * stride, *li = im + i * stride;
        std::fill(tr.begin(), tr.end(), 0.0f);
        std::fill(ti.begin(), ti.end(), 0.0f);
        for (size_t c = 1; c <= reach; ++c) {
            // Column i + c of Z: below the diagonal, and as a row of the upper half.
            const float* cr = zr + (i + c) * stride;
            const float* ci = zi + (i + c) * stride;
            const float br = lr[c], bi = li[c];
            const float *pr = lr + c, *pi = li + c;
            float *ur = tr.data() + c, *ui = ti.data() + c;
            float sr = cr[0] * br, si = cr[0] * bi;
            for (size_t k = 1; k <= reach - c; ++k) {
                ur[k] += cr[k] * br - ci[k] * bi;
                ui[k] += cr[k] * bi + ci[k] * br;
                sr += cr[k] * pr[k] + ci[k] * pi[k];
                si += cr[k] * pi[k] - ci[k] * pr[k];
            }
            ur[0] += sr;
            ui[0] += si;
        }
        float* out_r = zr + i * stride;
        float* out_i = zi + i * stride;
        float sum = 1 / lr[0];
        for (size_t j = 1; j <= reach; ++j) {
            out_r[j] = -tr[j];
            out_i[j] = -ti[j];
            sum += lr[j] * tr[j] + li[j] * ti[j];
        }
        out_r[0] = sum;
        out_i[0] = 0;
    }
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
    std::vector<float> re(d_a.size()), im(d_a.size());
    for (size_t i = 0; i < d_a.size(); ++i) {
        re[i] = d_a[i].real();
        im[i] = d_a[i].imag();
    }
    factor_banded(d_n, d_band, re.data(), im.data(), floor);
    for (size_t i = 0; i < d_a.size(); ++i)
        d_a[i] = { re[i], im[i] };
}

void banded_factors::forward(value* x) const
{
    for (size_t n = 0; n < d_n; ++n) {
        const value* column = &d_a[n * (d_band + 1)];
        for (size_t d = 1; d <= std::min(d_band, d_n - 1 - n); ++d)
            x[n + d] -= column[d] * x[n];
    }
}

void banded_factors::backward(value* x) const
{
    for (size_t n = d_n; n-- > 0;) {
        const value* column = &d_a[n * (d_band + 1)];
        value sum = x[n];
        for (size_t d = 1; d <= std::min(d_band, d_n - 1 - n); ++d)
            sum -= std::conj(column[d]) * x[n + d];
        x[n] = sum;
    }
}

void banded_factors::inverse_diagonal(std::vector<float>& diagonal) const
{
    std::vector<float> re(d_a.size()), im(d_a.size()), zr(d_a.size()), zi(d_a.size());
    for (size_t i = 0; i < d_a.size(); ++i) {
        re[i] = d_a[i].real();
        im[i] = d_a[i].imag();
    }
    invert_banded(d_n, d_band, re.data(), im.data(), zr.data(), zi.data());
    diagonal.resize(d_n);
    for (size_t i = 0; i < d_n; ++i)
        diagonal[i] = zr[i * (d_band + 1)];
}

} // namespace gr::hf::kernel
