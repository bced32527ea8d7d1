/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/frame_model.h"

#include "modem/pulse.h"

#include <algorithm>

namespace gr::hf::kernel {

namespace {

constexpr size_t sub_block = 16; // symbols over which the channel is taken as constant

} // namespace

/* The channel's matched filter and A(n, m) = sum_{k,l} conj(g_k(n)) g_l(m) p(2(n-m)+k-l),
 * the channel constant within sub-blocks. Known neighbours are subtracted. */
void frame_model::make(const channel_estimator& estimator,
                       const half_symbol_stream& stream,
                       int64_t begin,
                       size_t count,
                       const belief_function& belief,
                       frame_observation& f)
{
    const auto& taps = estimator.selected();
    const size_t s = taps.size();
    const int span = taps.back() - taps.front();
    const size_t band =
        std::min<size_t>(static_cast<size_t>(span + half_symbol_reach) / 2, count - 1);
    const auto reach = static_cast<int64_t>(band);

    // Sub-blocks cover the frame and the neighbours on both sides.
    const auto blocks_before =
        (reach + static_cast<int64_t>(sub_block) - 1) / static_cast<int64_t>(sub_block);
    const auto block_of = [blocks_before](int64_t i) { // i: symbol - begin
        return static_cast<size_t>((i + blocks_before * static_cast<int64_t>(sub_block)) /
                                   static_cast<int64_t>(sub_block));
    };
    const size_t blocks = block_of(static_cast<int64_t>(count) - 1 + reach) + 1;
    std::vector<channel_taps> g(blocks);
    // composite responses h(j), j = first .. last, with a margin that covers 2 band + span
    const int first = taps.front() - half_symbol_reach;
    const size_t length =
        2 * band + static_cast<size_t>(span + 2 * half_symbol_reach) + 4;
    std::vector<std::vector<std::complex<float>>> h(blocks);
    for (size_t b = 0; b < blocks; ++b) {
        const double n =
            static_cast<double>(begin) +
            (static_cast<double>(b) - static_cast<double>(blocks_before) + 0.5) *
                static_cast<double>(sub_block) -
            0.5;
        estimator.at(n, g[b]);
        h[b].assign(length, 0);
        for (size_t a = 0; a < s; ++a)
            for (int j = -half_symbol_reach; j <= half_symbol_reach; ++j)
                h[b][static_cast<size_t>(taps[a] + j - first)] +=
                    g[b][a] * half_symbol_pulse(j);
    }
    // r(u, v, d) = sum_k conj(g^u_k) h^v(2 d + k), made when first needed
    const size_t spread_blocks = (band + sub_block - 1) / sub_block + 1;
    d_correlation.assign(blocks * spread_blocks * (band + 1), {});
    d_correlation_made.assign(blocks * spread_blocks, 0);
    const auto correlation = [&](size_t u, size_t v) {
        const size_t at = u * spread_blocks + (u - v);
        auto* r = &d_correlation[at * (band + 1)];
        if (!d_correlation_made[at]) {
            d_correlation_made[at] = 1;
            for (size_t d = 0; d <= band; ++d) {
                std::complex<float> sum = 0;
                for (size_t a = 0; a < s; ++a)
                    sum += std::conj(g[u][a]) *
                           h[v][2 * d + static_cast<size_t>(taps[a] - first)];
                r[d] = sum;
            }
        }
        return r;
    };

    f.z.assign(count, 0);
    f.a.resize(count, band);
    for (size_t i = 0; i < count; ++i) {
        const auto n = static_cast<int64_t>(i);
        const size_t u = block_of(n);
        const int64_t row = 2 * (begin + n);
        const auto turn = estimator.reference(stream, static_cast<double>(row));
        std::complex<float> z = 0;
        const auto* y = stream.at(row);
        for (size_t a = 0; a < s; ++a)
            z += std::conj(g[u][a]) * y[taps[a]];
        z *= turn;
        for (int64_t d = 0; d <= reach; ++d) {
            const auto dd = static_cast<size_t>(d);
            const std::complex<float> left = correlation(u, block_of(n - d))[dd];
            if (n - d >= 0)
                f.a.at(i, dd) = left;
            else
                z -= left * belief(begin + n - d).mean;
            if (d > 0 && n + d >= static_cast<int64_t>(count)) {
                const size_t w = block_of(n + d);
                z -= std::conj(correlation(w, u)[dd]) * belief(begin + n + d).mean;
            }
        }
        f.z[i] = z;
    }
}

} // namespace gr::hf::kernel
