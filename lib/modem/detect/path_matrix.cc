/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/detect/path_matrix.h"

#include "modem/base/vector_code.h"
#include "modem/front/pulse.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace gr::hf::kernel {

namespace {

using value = std::complex<float>;

/* At whole symbols the pulse is zero except at 0, so rows only see rows of the other
 * parity. odd_reach: symbols to either side. It exceeds half_symbol_reach, as conjugate
 * gradients fail if a matrix is not positive. Two equal paths null the spectrum, and the
 * cut may take as much as the noise there. At 50 dB, 12 symbols were too few and 20 are
 * enough. */
constexpr int odd_reach = 20;
constexpr size_t margin = odd_reach + 1; // of the planes

std::array<float, 2 * odd_reach> odd_pulse()
{
    std::array<float, 2 * odd_reach> p;
    for (int c = -odd_reach; c < odd_reach; ++c)
        p[static_cast<size_t>(c + odd_reach)] =
            static_cast<float>(raised_cosine(c + 0.5));
    return p;
}

// to += g x, split complex
HF_VECTOR_CODE void add_path(float* to_re,
                             float* to_im,
                             const float* re,
                             const float* im,
                             float g_re,
                             float g_im,
                             size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        to_re[i] += re[i] * g_re - im[i] * g_im;
        to_im[i] += re[i] * g_im + im[i] * g_re;
    }
}

// to(i) += sum_c p[c] from(i - c), c = -odd_reach .. odd_reach - 1
HF_VECTOR_CODE void add_filtered(float* to, const float* from, const float* p, size_t n)
{
    constexpr size_t width = 32;
    for (size_t at = 0; at < n; at += width) {
        float sum[width];
        const size_t w = std::min(width, n - at);
        if (w == width) {
            for (size_t i = 0; i < width; ++i)
                sum[i] = to[at + i];
            for (int c = -odd_reach; c < odd_reach; ++c) {
                const float f = p[c + odd_reach];
                const float* x = from + static_cast<long>(at) - c;
                for (size_t i = 0; i < width; ++i)
                    sum[i] += f * x[i];
            }
            for (size_t i = 0; i < width; ++i)
                to[at + i] = sum[i];
            continue;
        }
        for (size_t i = 0; i < w; ++i)
            for (int c = -odd_reach; c < odd_reach; ++c)
                to[at + i] += p[c + odd_reach] * from[static_cast<long>(at + i) - c];
    }
}

} // namespace

float path_matrix::pulse(int rows)
{
    static const auto odd = odd_pulse();
    if (rows % 2 == 0)
        return rows == 0 ? 1.0f : 0.0f;
    const int c = (rows - 1) / 2;
    return c >= -odd_reach && c < odd_reach ? odd[static_cast<size_t>(c + odd_reach)]
                                            : 0.0f;
}

void path_matrix::planes::clear(size_t n)
{
    for (auto& parity : part)
        for (auto& p : parity)
            p.assign(n, 0);
}

void path_matrix::resize(size_t count,
                         size_t around,
                         std::vector<uint16_t> taps,
                         size_t sub_block)
{
    d_count = count;
    d_around = around;
    d_taps = std::move(taps);
    d_sub = sub_block;
    d_before = (around + sub_block - 1) / sub_block * sub_block;
    d_blocks.resize((d_before + count + around + sub_block - 1) / sub_block);
    d_taken_out.clear();
    d_lost.clear();
}

double path_matrix::middle_of(size_t b) const
{
    return (static_cast<double>(b) + 0.5) * static_cast<double>(d_sub) -
           static_cast<double>(d_before) - 0.5;
}

size_t path_matrix::block_of(int64_t n) const
{
    return static_cast<size_t>(n + static_cast<int64_t>(d_before)) / d_sub;
}

int64_t path_matrix::first_row() const
{
    return (d_taps.front() & ~1) - 2 * static_cast<int64_t>(d_around);
}

int64_t path_matrix::last_row() const
{
    return d_taps.back() + 2 + 2 * static_cast<int64_t>(d_count + d_around);
}

// Symbols begin .. end - 1 through the paths, into d_sent. \p x starts at begin.
void path_matrix::spread(const value* x, int64_t begin, int64_t end)
{
    const auto rows = static_cast<size_t>(last_row() - first_row());
    d_sent.clear(rows / 2 + 1 + 2 * margin);
    const auto n = static_cast<size_t>(end - begin);
    d_re.resize(n);
    d_im.resize(n);
    for (size_t i = 0; i < n; ++i) {
        d_re[i] = x[i].real();
        d_im[i] = x[i].imag();
    }
    const int base = d_taps.front() & ~1;
    for (size_t b = block_of(begin); b <= block_of(end - 1); ++b) {
        const auto block =
            static_cast<int64_t>(b * d_sub) - static_cast<int64_t>(d_before);
        const int64_t from = std::max(begin, block);
        const int64_t to = std::min(end, block + static_cast<int64_t>(d_sub));
        for (size_t a = 0; a < d_taps.size(); ++a) {
            const int delay = d_taps[a] - base;
            auto& plane = d_sent.part[delay & 1];
            const auto at =
                static_cast<size_t>(from + static_cast<int64_t>(d_around) + delay / 2) +
                margin;
            add_path(&plane[0][at],
                     &plane[1][at],
                     &d_re[static_cast<size_t>(from - begin)],
                     &d_im[static_cast<size_t>(from - begin)],
                     d_blocks[b][a].real(),
                     d_blocks[b][a].imag(),
                     static_cast<size_t>(to - from));
        }
    }
}

// Through the pulse: d_seen from d_sent.
void path_matrix::filter()
{
    // Row 2 i + 1 sees row 2 (i - c) through p(2 c + 1). Row 2 i sees row 2 (i - 1 - c) +
    // 1.
    static const auto odd = odd_pulse();
    d_seen = d_sent;
    const size_t n = d_sent.part[0][0].size() - 2 * margin;
    for (size_t k = 0; k < 2; ++k) {
        add_filtered(
            &d_seen.part[1][k][margin], &d_sent.part[0][k][margin], odd.data(), n);
        add_filtered(
            &d_seen.part[0][k][margin], &d_sent.part[1][k][margin - 1], odd.data(), n);
    }
}

// Through the channel's matched filter, to symbols of the frame.
void path_matrix::gather(const planes& from, value* out) const
{
    const int base = d_taps.front() & ~1;
    const auto count = static_cast<int64_t>(d_count);
    std::vector<float> re(d_count, 0), im(d_count, 0);
    for (size_t b = block_of(0); b <= block_of(count - 1); ++b) {
        const auto block =
            static_cast<int64_t>(b * d_sub) - static_cast<int64_t>(d_before);
        const int64_t first = std::max<int64_t>(0, block);
        const int64_t last = std::min(count, block + static_cast<int64_t>(d_sub));
        for (size_t a = 0; a < d_taps.size(); ++a) {
            const int delay = d_taps[a] - base;
            const auto& plane = from.part[delay & 1];
            const auto at =
                static_cast<size_t>(first + static_cast<int64_t>(d_around) + delay / 2) +
                margin;
            add_path(&re[static_cast<size_t>(first)],
                     &im[static_cast<size_t>(first)],
                     &plane[0][at],
                     &plane[1][at],
                     d_blocks[b][a].real(),
                     -d_blocks[b][a].imag(),
                     static_cast<size_t>(last - first));
        }
    }
    for (size_t i = 0; i < d_count; ++i)
        out[i] = { re[i], im[i] };
}

void path_matrix::match(const value* y, const value* x, value* z)
{
    const auto around = static_cast<int64_t>(d_around);
    spread(x, -around, static_cast<int64_t>(d_count) + around);
    filter();
    const auto rows = static_cast<size_t>(last_row() - first_row());
    for (size_t j = 0; j < rows; ++j)
        for (size_t k = 0; k < 2; ++k) {
            float& seen = d_seen.part[j & 1][k][j / 2 + margin];
            seen = (k == 0 ? y[j].real() : y[j].imag()) - seen;
        }
    gather(d_seen, z);
    for (const outer_product& e : d_taken_out) {
        value sum = 0;
        for (size_t i = 0; i < e.h.size(); ++i)
            if (const int64_t n = e.first + static_cast<int64_t>(i);
                n >= -around && n < static_cast<int64_t>(d_count) + around)
                sum += e.h[i] * x[n + around];
        for (size_t i = 0; i < e.h.size(); ++i)
            if (const int64_t n = e.first + static_cast<int64_t>(i);
                n >= 0 && n < static_cast<int64_t>(d_count))
                z[n] += std::conj(e.h[i]) * sum;
    }
}

void path_matrix::apply(const value* x, value* out)
{
    spread(x, 0, static_cast<int64_t>(d_count));
    filter();
    gather(d_seen, out);
    for (const outer_product& e : d_taken_out) {
        const auto begin = static_cast<size_t>(std::max<int64_t>(0, -e.first));
        const auto end = static_cast<size_t>(
            std::clamp<int64_t>(static_cast<int64_t>(d_count) - e.first,
                                static_cast<int64_t>(begin),
                                static_cast<int64_t>(e.h.size())));
        value sum = 0;
        for (size_t i = begin; i < end; ++i)
            sum += e.h[i] * x[e.first + static_cast<int64_t>(i)];
        for (size_t i = begin; i < end; ++i)
            out[e.first + static_cast<int64_t>(i)] -= std::conj(e.h[i]) * sum;
    }
}

void path_matrix::measure_energy()
{
    d_energy.assign(d_blocks.size(), 0);
    for (size_t b = 0; b < d_blocks.size(); ++b)
        for (size_t k = 0; k < d_taps.size(); ++k)
            for (size_t l = 0; l < d_taps.size(); ++l)
                d_energy[b] += (std::conj(d_blocks[b][k]) * d_blocks[b][l]).real() *
                               pulse(d_taps[k] - d_taps[l]);
}

void path_matrix::take_out(int64_t first, values h)
{
    d_lost.resize(d_count, 0);
    for (size_t i = 0; i < h.size(); ++i)
        if (const int64_t n = first + static_cast<int64_t>(i);
            n >= 0 && n < static_cast<int64_t>(d_count))
            d_lost[static_cast<size_t>(n)] += std::norm(h[i]);
    d_taken_out.push_back({ first, std::move(h) });
}

float path_matrix::share_left(size_t n) const
{
    if (d_lost.empty() || d_lost[n] == 0)
        return 1;
    return std::clamp(1 - d_lost[n] / (energy(n) + 1e-30f), 0.0f, 1.0f);
}

void path_matrix::spectrum(size_t b, fourier& f, std::vector<float>& out) const
{
    const size_t n = f.size();
    const int base = d_taps.front() & ~1;
    values parity[2];
    for (int odd = 0; odd < 2; ++odd) {
        std::fill_n(f.data(), n, value{});
        for (size_t a = 0; a < d_taps.size(); ++a)
            if (const int delay = d_taps[a] - base; (delay & 1) == odd)
                f.data()[static_cast<size_t>(delay / 2) % n] += d_blocks[b][a];
        f.forward();
        parity[odd].assign(f.data(), f.data() + n);
    }
    // Odd rows see even ones through p(2 c + 1).
    std::fill_n(f.data(), n, value{});
    for (int c = -odd_reach; c < odd_reach; ++c)
        f.data()[static_cast<size_t>(c + static_cast<int>(n)) % n] += pulse(2 * c + 1);
    f.forward();
    out.resize(n);
    for (size_t k = 0; k < n; ++k)
        out[k] = std::max(
            std::norm(parity[0][k]) + std::norm(parity[1][k]) +
                2 * (std::conj(parity[1][k]) * f.data()[k] * parity[0][k]).real(),
            0.0f);
}

} // namespace gr::hf::kernel
