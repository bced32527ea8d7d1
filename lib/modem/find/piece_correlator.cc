/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/find/piece_correlator.h"

#include "modem/base/vector_code.h"

#include <algorithm>

namespace gr::hf::kernel {

namespace {

using value = std::complex<float>;

HF_VECTOR_CODE void multiply(const value* a, const value* b, value* out, size_t n)
{
    const auto* x = reinterpret_cast<const float*>(a);
    const auto* y = reinterpret_cast<const float*>(b);
    auto* z = reinterpret_cast<float*>(out);
    for (size_t i = 0; i < n; ++i) {
        const float xr = x[2 * i], xi = x[2 * i + 1], yr = y[2 * i], yi = y[2 * i + 1];
        z[2 * i] = xr * yr - xi * yi;
        z[2 * i + 1] = xr * yi + xi * yr;
    }
}

} // namespace

piece_correlator::piece_correlator(size_t piece, size_t batch, size_t pieces)
    : d_piece(piece), d_batch(batch), d_pieces(pieces),
      d_transform(fourier::length_for(batch + piece - 1))
{
}

std::vector<piece_correlator::values> piece_correlator::spectra_of(const values& symbols)
{
    const size_t length = d_transform.size();
    value* x = d_transform.data();
    std::vector<values> spectra;
    for (size_t at = 0; at < symbols.size(); at += d_piece) {
        std::fill_n(x, length, value{});
        std::copy_n(symbols.begin() + static_cast<long>(at),
                    std::min(d_piece, symbols.size() - at),
                    x);
        d_transform.forward();
        spectra.emplace_back(length);
        for (size_t k = 0; k < length; ++k)
            spectra.back()[k] = std::conj(x[k]) / static_cast<float>(length);
    }
    return spectra;
}

// Transform of every second row.
piece_correlator::values piece_correlator::transformed(const value* rows)
{
    const size_t length = d_transform.size();
    for (size_t i = 0; i < length; ++i)
        d_transform.data()[i] = rows[2 * i];
    d_transform.forward();
    return values(d_transform.data(), d_transform.data() + length);
}

void piece_correlator::load(const value* rows, int64_t position)
{
    for (size_t parity = 0; parity < 2; ++parity) {
        auto& spectra = d_rows[parity];
        if (position == d_next)
            for (size_t k = 0; k < std::min(d_batch / d_piece, d_pieces); ++k)
                spectra.pop_front();
        else
            spectra.clear();
        while (spectra.size() < d_pieces)
            spectra.push_back(transformed(rows + parity + 2 * d_piece * spectra.size()));
    }
    d_next = position + static_cast<int64_t>(2 * d_batch);
}

void piece_correlator::correlate(const values& spectrum,
                                 size_t k,
                                 size_t parity,
                                 float* re,
                                 float* im)
{
    value* x = d_transform.data();
    multiply(d_rows[parity][k].data(), spectrum.data(), x, d_transform.size());
    d_transform.backward();
    for (size_t i = 0; i < d_batch; ++i) {
        re[i] = x[i].real();
        im[i] = x[i].imag();
    }
}

} // namespace gr::hf::kernel
