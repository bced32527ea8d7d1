/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/detect/frame_model.h"

#include "modem/front/pulse.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gr::hf::kernel {

namespace {

// Rows per update of the oscillator's phase relative to the carrier: it turns slowly.
constexpr int64_t turn_rows = 8;

} // namespace

/* Contributions of symbols to the erased samples. \p gains(n) are the channel's gains at
 * symbol n of the frame. */
template <class Gains>
std::vector<frame_model::erased_symbols>
frame_model::erased_symbols_of(const half_symbol_stream& stream,
                               int64_t begin,
                               size_t symbols,
                               size_t around,
                               const std::vector<uint16_t>& taps,
                               const Gains& gains) const
{
    constexpr int64_t reach = half_symbol_stream::half_span /
                              symbol_grid::samples_per_symbol; // of a pulse, symbols
    const auto count = static_cast<int64_t>(symbols);
    const auto band = static_cast<int64_t>(around);
    std::vector<erased_symbols> all;
    std::vector<float> pulse;
    for (const erasure& e : stream.erased()) {
        // in symbols from the start of the frame
        const double t =
            stream.row_at(static_cast<double>(e.sample)) / 2 - static_cast<double>(begin);
        const auto first = std::max(
            static_cast<int64_t>(std::ceil(t - taps.back() / 2.0)) - reach, -band);
        const auto last =
            std::min(static_cast<int64_t>(std::floor(t - taps.front() / 2.0)) + reach,
                     count - 1 + band);
        if (first >= count || last < 0)
            continue;
        // pulse[j] at t - (j + 2 first + taps.front()) / 2
        const auto length =
            static_cast<size_t>(2 * (last - first) + taps.back() - taps.front() + 1);
        pulse.resize(length);
        for (size_t j = 0; j < length; ++j) {
            const double at = t - static_cast<double>(first) -
                              (static_cast<double>(j) + taps.front()) / 2;
            pulse[j] = std::abs(at) <= static_cast<double>(reach)
                           ? static_cast<float>(root_raised_cosine(at))
                           : 0.0f;
        }
        // Contribution of symbol first + n to this sample; the pulse has energy 4 there.
        std::vector<std::complex<float>> h(static_cast<size_t>(last - first + 1));
        for (size_t n = 0; n < h.size(); ++n) {
            const auto& g = gains(first + static_cast<int64_t>(n));
            for (size_t a = 0; a < taps.size(); ++a)
                h[n] +=
                    g[a] *
                    (0.5f * pulse[2 * n + static_cast<size_t>(taps[a] - taps.front())]);
        }
        all.push_back({ first, e.share, std::move(h) });
    }
    return all;
}

void frame_model::make(const channel_view& channel,
                       const half_symbol_stream& stream,
                       int64_t begin,
                       size_t count,
                       const belief_function& belief,
                       frame_observation& f)
{
    f.sparse = d_sparse;
    if (d_sparse)
        make_sparse(channel, stream, begin, count, belief, f);
    else
        make_banded(channel, stream, begin, count, belief, f);
}

/* The channel's matched filter and A(n, m) = sum_{k,l} conj(g_k(n)) g_l(m) p(2(n-m)+k-l),
 * with the channel constant within sub-blocks. Known neighbours are subtracted. */
void frame_model::make_banded(const channel_view& channel,
                              const half_symbol_stream& stream,
                              int64_t begin,
                              size_t count,
                              const belief_function& belief,
                              frame_observation& f)
{
    const size_t sub_block = d_sub_block;
    const auto& taps = channel.selected();
    const size_t s = taps.size();
    const int span = taps.back() - taps.front();
    // Symbols that the channel joins to a symbol, on each side, and those of the frame.
    const int64_t reach = (span + half_symbol_reach) / 2;
    const size_t band = std::min(static_cast<size_t>(reach), count - 1);

    // Sub-blocks cover the frame and the neighbours on both sides.
    const auto blocks_before =
        (reach + static_cast<int64_t>(sub_block) - 1) / static_cast<int64_t>(sub_block);
    const auto block_of = [blocks_before, sub_block](int64_t i) { // i: symbol - begin
        return static_cast<size_t>((i + blocks_before * static_cast<int64_t>(sub_block)) /
                                   static_cast<int64_t>(sub_block));
    };
    const size_t blocks = block_of(static_cast<int64_t>(count) - 1 + reach) + 1;
    std::vector<channel_taps> g(blocks);
    // composite responses h(j), j = first .. last, with a margin for 2 reach + span
    const int first = taps.front() - half_symbol_reach;
    const size_t length =
        static_cast<size_t>(2 * reach + span + 2 * half_symbol_reach) + 4;
    std::vector<std::vector<std::complex<float>>> h(blocks);
    for (size_t b = 0; b < blocks; ++b) {
        const double n =
            static_cast<double>(begin) +
            (static_cast<double>(b) - static_cast<double>(blocks_before) + 0.5) *
                static_cast<double>(sub_block) -
            0.5;
        channel.at(n, g[b]);
        h[b].assign(length, 0);
        for (size_t a = 0; a < s; ++a)
            for (int j = -half_symbol_reach; j <= half_symbol_reach; ++j)
                h[b][static_cast<size_t>(taps[a] + j - first)] +=
                    g[b][a] * half_symbol_pulse(j);
    }
    // r(u, v, d) = sum_k conj(g^u_k) h^v(2 d + k), computed on first use
    const auto lags = static_cast<size_t>(reach) + 1;
    const size_t spread_blocks = (lags + sub_block - 2) / sub_block + 1;
    d_correlation.assign(blocks * spread_blocks * lags, {});
    d_correlation_made.assign(blocks * spread_blocks, 0);
    const auto correlation = [&](size_t u, size_t v) {
        const size_t at = u * spread_blocks + (u - v);
        auto* r = &d_correlation[at * lags];
        if (!d_correlation_made[at]) {
            d_correlation_made[at] = 1;
            for (size_t d = 0; d < lags; ++d) {
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
        const auto turn = channel.reference(stream, static_cast<double>(row));
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
    f.interference.clear();
    const int64_t first_row = 2 * begin,
                  last_row = 2 * (begin + static_cast<int64_t>(count));
    if (stream.interference_within(first_row, last_row + taps.back())) {
        // Power through the channel's matched filter, relative to the symbol's own
        // energy.
        f.interference.assign(count, 0);
        for (size_t i = 0; i < count; ++i) {
            const auto n = static_cast<int64_t>(i);
            float power = 0, energy = 1e-30f;
            for (size_t a = 0; a < s; ++a) {
                const float p = std::norm(g[block_of(n)][a]);
                power += p * stream.interference(first_row + 2 * n + taps[a]);
                energy += p;
            }
            f.interference[i] = power / (energy * energy);
        }
    }
    if (!stream.erased().empty())
        take_out_erased(channel, stream, begin, g, blocks_before, belief, f);
}

// The same with A as a path_matrix.
void frame_model::make_sparse(const channel_view& channel,
                              const half_symbol_stream& stream,
                              int64_t begin,
                              size_t count,
                              const belief_function& belief,
                              frame_observation& f)
{
    const auto& taps = channel.selected();
    path_matrix& a = f.paths;
    const auto span = static_cast<size_t>(taps.back() - taps.front());
    const size_t around = std::min((span + half_symbol_reach) / 2, count);
    a.resize(count, around, taps, d_sub_block);
    for (size_t b = 0; b < a.blocks(); ++b)
        channel.at(static_cast<double>(begin) + a.middle_of(b), a.gains(b));
    a.measure_energy();
    const int64_t first_of_band = -static_cast<int64_t>(around);
    const int64_t first_row = 2 * begin + a.first_row();
    if (!stream.erased().empty()) {
        const auto gains = [&a](int64_t n) -> const channel_taps& {
            return a.gains(a.block_of(n));
        };
        for (erased_symbols& e :
             erased_symbols_of(stream, begin, count, around, taps, gains)) {
            for (auto& h : e.h)
                h *= std::sqrt(e.share);
            a.take_out(e.first, std::move(e.h));
        }
    }

    // Rows reached by a symbol of the frame; others do not count.
    d_rows.assign(static_cast<size_t>(a.last_row() - a.first_row()), 0);
    const int64_t from = 2 * begin + taps.front();
    const int64_t to = 2 * (begin + static_cast<int64_t>(count)) + taps.back() - 1;
    std::complex<float> turn;
    for (int64_t row = from; row < to; ++row) {
        if ((row - from) % turn_rows == 0)
            turn = channel.reference(stream, static_cast<double>(row + turn_rows / 2));
        d_rows[static_cast<size_t>(row - first_row)] = turn * *stream.at(row);
    }
    d_means.assign(count + 2 * around, 0);
    for (int64_t n = first_of_band; n < 0; ++n) {
        d_means[static_cast<size_t>(n - first_of_band)] = belief(begin + n).mean;
        const int64_t behind = static_cast<int64_t>(count) - 1 - n;
        d_means[static_cast<size_t>(behind - first_of_band)] =
            belief(begin + behind).mean;
    }
    f.z.resize(count);
    a.match(d_rows.data(), d_means.data(), f.z.data());
    f.interference.clear();
    if (!stream.interference_within(2 * begin, to))
        return;
    f.interference.assign(count, 0);
    for (size_t i = 0; i < count; ++i) {
        const auto& g = a.gains(a.block_of(static_cast<int64_t>(i)));
        float power = 0, energy = 1e-30f;
        for (size_t k = 0; k < taps.size(); ++k) {
            power += std::norm(g[k]) *
                     stream.interference(2 * (begin + static_cast<int64_t>(i)) + taps[k]);
            energy += std::norm(g[k]);
        }
        f.interference[i] = power / (energy * energy);
    }
}

/* Erased samples carry no information. A is H^H H over the samples, so the contribution
 * of erased rows of H is subtracted. z never included them. */
void frame_model::take_out_erased(const channel_view& channel,
                                  const half_symbol_stream& stream,
                                  int64_t begin,
                                  const std::vector<channel_taps>& g,
                                  int64_t blocks_before,
                                  const belief_function& belief,
                                  frame_observation& f)
{
    const auto count = static_cast<int64_t>(f.z.size());
    const auto band = static_cast<int64_t>(f.a.band());
    const auto sub = static_cast<int64_t>(d_sub_block);
    const auto gains = [&](int64_t n) -> const channel_taps& {
        return g[static_cast<size_t>((n + blocks_before * sub) / sub)];
    };
    for (const erased_symbols& e : erased_symbols_of(
             stream, begin, f.z.size(), f.a.band(), channel.selected(), gains)) {
        const int64_t first = e.first;
        const int64_t last = first + static_cast<int64_t>(e.h.size()) - 1;
        for (int64_t n = std::max<int64_t>(first, 0); n <= std::min(last, count - 1);
             ++n) {
            const auto own = e.share * std::conj(e.h[static_cast<size_t>(n - first)]);
            for (int64_t m = std::max(first, n - band); m <= std::min(last, n + band);
                 ++m) {
                const auto product = own * e.h[static_cast<size_t>(m - first)];
                if (m < 0 || m >= count)
                    f.z[static_cast<size_t>(n)] += product * belief(begin + m).mean;
                else if (m <= n)
                    f.a.at(static_cast<size_t>(n), static_cast<size_t>(n - m)) -= product;
            }
        }
    }
}

} // namespace gr::hf::kernel
