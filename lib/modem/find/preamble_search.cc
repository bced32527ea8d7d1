/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/find/preamble_search.h"

#include "modem/find/search_loops.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace gr::hf::kernel {

namespace {

using search_loops::width;
// Pieces per batch of one parity, if pieces are long. Transforms are then a third longer.
constexpr size_t pieces_at_once = 3;

/* Limit of the first look, relative to the threshold. An offset between two of the first
 * look costs at most 0.9 dB, half a turn over a stretch. Noise in one stretch may cost
 * more. */
constexpr float of_threshold = 0.7f;

} // namespace

preamble_search::preamble_search(const symbol_grid& grid,
                                 const listened_families& families,
                                 double max_offset_hz)
    : d_grid(grid), d_stream(grid, 0, 0, 0)
{
    for (size_t f = 0; f < families.size(); ++f)
        for (size_t k = 0; k < families[f]->patterns.size(); ++k)
            add(f, *families[f], k, max_offset_hz);
    d_batch = width;
    d_block_top.resize(width);
    d_block_offset.resize(width);
    const bool alike =
        std::all_of(d_patterns.begin(), d_patterns.end(), [this](const pattern& p) {
            return p.piece == d_patterns.front().piece;
        });
    if (const size_t piece = d_patterns.empty() ? 0 : d_patterns.front().piece;
        alike && piece >= piece_correlator::min_piece) {
        d_correlator.emplace(piece, pieces_at_once * piece, d_longest / piece);
        d_batch = 2 * pieces_at_once * piece;
        for (pattern& p : d_patterns)
            p.spectra = d_correlator->spectra_of(p.symbols);
    }
    restart(0);
}

void preamble_search::add(size_t family,
                          const family_reception& f,
                          size_t number,
                          double max_offset_hz)
{
    const search_pattern& sought = f.patterns[number];
    pattern p;
    p.family = family;
    p.number = number;
    auto symbols = sought.symbols;
    p.known = static_cast<size_t>(
        std::count_if(symbols.begin(), symbols.end(), [](auto s) { return s != 0.0f; }));
    p.piece = static_cast<size_t>(d_grid.symbols(f.synchroniser.piece_s));
    for (size_t i = 0; i < symbols.size(); ++i)
        if (symbols[i] != 0.0f) {
            if (i == 0 || symbols[i - 1] == 0.0f)
                p.stretches.push_back({ i, i });
            p.stretches.back().second = i + 1;
        }
    symbols.resize((symbols.size() + p.piece - 1) / p.piece * p.piece);
    p.threshold = sought.threshold;
    p.hold = 2 * static_cast<int64_t>(sought.hold);
    p.step_hz = sought.step_hz;
    p.contest = sought.contest;
    p.place = 2 * static_cast<int64_t>(sought.place);
    p.offsets = static_cast<size_t>(std::ceil(max_offset_hz / p.step_hz)) + 1;
    for (const auto& [begin, end] : p.stretches)
        for (size_t k = begin / p.piece; k * p.piece < end; ++k)
            if (p.pieces.empty() || k > p.pieces.back())
                p.pieces.push_back(k);
    for (size_t o = 0; o < p.offsets; ++o)
        for (const size_t k : p.pieces) {
            const double phase = 2 * M_PI * static_cast<double>(o) * p.step_hz *
                                 static_cast<double>(k * p.piece) /
                                 d_grid.symbol_rate_bd();
            p.cosine.push_back(static_cast<float>(std::cos(phase)));
            p.sine.push_back(static_cast<float>(std::sin(phase)));
        }
    d_longest = std::max(d_longest, symbols.size());
    p.symbols = std::move(symbols);
    prepare_first_look(p, sought.first_look_s, max_offset_hz);
    d_patterns.push_back(std::move(p));
}

/* Pieces per stretch, at most \p most. A stretch has consecutive pieces only, so between
 * gaps there is a whole number of stretches. */
size_t preamble_search::stretch_of(const std::vector<size_t>& pieces, size_t most)
{
    size_t common = 0, group = 1; // common divisor of the lengths of all groups
    for (size_t k = 1; k < pieces.size(); ++k, ++group)
        if (pieces[k] != pieces[k - 1] + 1) {
            common = std::gcd(common, group);
            group = 0;
        }
    if (common == 0)
        return most;
    common = std::gcd(common, group);
    most = std::min(most, common);
    while (most > 0 && common % most != 0)
        --most;
    return most;
}

void preamble_search::prepare_first_look(pattern& p,
                                         double seconds,
                                         double max_offset_hz) const
{
    const double piece_s = static_cast<double>(p.piece) / d_grid.symbol_rate_bd();
    p.stretch = stretch_of(p.pieces, static_cast<size_t>(std::lround(seconds / piece_s)));
    if (p.stretch == 0)
        return;
    const double step_hz = 0.5 / (static_cast<double>(p.stretch) * piece_s);
    p.coarse_offsets = static_cast<size_t>(std::ceil(max_offset_hz / step_hz)) + 1;
    for (size_t o = 0; o < p.coarse_offsets; ++o) {
        const double from = (static_cast<double>(o) - 1) * step_hz / p.step_hz,
                     to = (static_cast<double>(o) + 1) * step_hz / p.step_hz;
        const auto end = static_cast<size_t>(std::floor(to)) + 1;
        p.near_coarse.emplace_back(static_cast<size_t>(std::ceil(std::max(0.0, from))),
                                   std::min(end, p.offsets));
        for (size_t k = 0; k < p.stretch; ++k) {
            const double phase = 2 * M_PI * static_cast<double>(o) * step_hz *
                                 static_cast<double>(k) * piece_s;
            p.coarse_cosine.push_back(static_cast<float>(std::cos(phase)));
            p.coarse_sine.push_back(static_cast<float>(std::sin(phase)));
        }
    }
}

void preamble_search::restart(int64_t from)
{
    constexpr int row = symbol_grid::samples_per_row;
    d_position = from >= 0 ? (from + row - 1) / row : 0;
    d_stream = half_symbol_stream(d_grid, 0, d_position, 0);
    for (pattern& p : d_patterns)
        p.pending = false;
}

// Compute d_top and d_offset of \p p at all positions of the batch.
void preamble_search::correlate(const pattern& p, float least)
{
    d_piece_re.resize(p.pieces.size() * width);
    d_piece_im.resize(p.pieces.size() * width);
    for (size_t k = 0; k < p.pieces.size(); ++k)
        d_loops->correlate_piece(&d_re[2 * p.piece * p.pieces[k]],
                                 &d_im[2 * p.piece * p.pieces[k]],
                                 &p.symbols[p.piece * p.pieces[k]],
                                 p.piece,
                                 &d_piece_re[k * width],
                                 &d_piece_im[k * width]);
    best_offsets(p, d_piece_re.data(), d_piece_im.data(), width, least);
    d_top = d_block_top;
    d_offset = d_block_offset;
}

// The same with the rows of d_correlator.
void preamble_search::correlate_long(const pattern& p, float least)
{
    const size_t pieces = p.pieces.size(), batch = d_batch / 2;
    const size_t stride = (batch + width - 1) / width * width;
    d_piece_re.assign(pieces * stride, 0);
    d_piece_im.assign(pieces * stride, 0);
    for (size_t parity = 0; parity < 2; ++parity) {
        for (size_t k = 0; k < pieces; ++k)
            d_correlator->correlate(p.spectra[p.pieces[k]],
                                    p.pieces[k],
                                    parity,
                                    &d_piece_re[k * stride],
                                    &d_piece_im[k * stride]);
        for (size_t at = 0; at < batch; at += width) {
            best_offsets(p, &d_piece_re[at], &d_piece_im[at], stride, least);
            for (size_t q = 0; q < std::min(width, batch - at); ++q) {
                d_top[2 * (at + q) + parity] = d_block_top[q];
                d_offset[2 * (at + q) + parity] = d_block_offset[q];
            }
        }
    }
}

/* Fill d_block_top and d_block_offset for a block of \ref width positions. Pieces are
 * \p stride values apart. Power below \p least needs no second look. */
void preamble_search::best_offsets(const pattern& p,
                                   const float* re,
                                   const float* im,
                                   size_t stride,
                                   float least)
{
    d_block_top.assign(width, 0);
    d_block_offset.assign(width, 0);
    for (size_t q = 0; q < width; q += search_loops::part) {
        const search_loops::piece_rows rows{ re + q, im + q, stride, p.pieces.size() };
        if (!first_look(p, rows, std::sqrt(least)))
            continue;
        d_loops->best_offsets(rows,
                              { p.cosine.data(), p.sine.data(), p.offsets, rows.pieces },
                              d_wanted.data(),
                              &d_block_top[q],
                              &d_block_offset[q]);
    }
}

/* Set d_wanted to the offsets near which the amplitudes of the stretches reach \p least.
 * False if there are none. */
bool preamble_search::first_look(const pattern& p,
                                 const search_loops::piece_rows& rows,
                                 float least)
{
    d_wanted.assign(p.offsets, p.stretch == 0);
    if (p.stretch == 0)
        return true;
    d_exceeds.resize(p.coarse_offsets);
    const search_loops::offset_turns turns{
        p.coarse_cosine.data(), p.coarse_sine.data(), p.coarse_offsets, p.stretch
    };
    if (!d_loops->any_exceeds(rows, turns, least, d_exceeds.data()))
        return false;
    for (size_t o = 0; o < p.coarse_offsets; ++o)
        if (d_exceeds[o] != 0)
            for (size_t k = p.near_coarse[o].first; k < p.near_coarse[o].second; ++k)
                d_wanted[k] = 1;
    return true;
}

/* Mean power of the window that starts at position \p q of the batch, or that of its known
 * symbols if that is greater. Otherwise a signal that ends within the window, on some known
 * symbols, would look stronger than it is. */
double preamble_search::mean_power(const pattern& p, size_t q) const
{
    const size_t n = p.symbols.size();
    const double all = (d_energy[q + 2 * n] - d_energy[q]) / static_cast<double>(2 * n);
    if (p.stretches.size() < 2)
        return all;
    double sum = 0;
    for (const auto& [begin, end] : p.stretches)
        sum += d_energy[q + 2 * end] - d_energy[q + 2 * begin];
    return std::max(all, sum / static_cast<double>(2 * p.known));
}

void preamble_search::score(pattern& p, int64_t position)
{
    const size_t n = p.symbols.size();
    d_top.resize(d_batch);
    d_offset.resize(d_batch);
    const auto least =
        static_cast<float>(of_threshold * p.threshold * static_cast<double>(p.known) *
                           d_energy[2 * n] / static_cast<double>(2 * n));
    if (d_correlator)
        correlate_long(p, least);
    else
        correlate(p, least);
    for (size_t q = 0; q < d_batch; ++q) {
        if (!(d_top[q] > 0)) // the first look excludes most positions
            continue;
        const double mean = mean_power(p, q);
        const auto s =
            mean > 1e-30
                ? static_cast<float>(d_top[q] / (static_cast<double>(p.known) * mean))
                : 0.0f;
        if (s > p.threshold && (!p.pending || s > p.best.score)) {
            p.pending = true;
            p.best_position = position + static_cast<int64_t>(q);
            p.best = { p.family,
                       p.number,
                       symbol_grid::samples_per_row * p.best_position,
                       d_offset[q] * p.step_hz,
                       s };
        }
    }
}

std::optional<preamble_candidate> preamble_search::advance(const sample_buffer& in,
                                                           int64_t limit)
{
    while (position() < limit) {
        const auto needed = static_cast<int64_t>(std::max(
            2 * d_longest + d_batch, d_correlator ? 2 * d_correlator->reach() : 0));
        d_stream.run(in, d_position + needed);
        if (d_stream.end() < d_position + needed)
            return std::nullopt;
        d_re.resize(static_cast<size_t>(needed));
        d_im.resize(static_cast<size_t>(needed));
        const auto* y = d_stream.at(d_position);
        for (size_t i = 0; i < static_cast<size_t>(needed); ++i) {
            d_re[i] = y[i].real();
            d_im[i] = y[i].imag();
        }
        if (d_correlator)
            d_correlator->load(y, d_position);
        d_energy.resize(d_re.size() + 1);
        for (size_t i = 0; i < d_re.size(); ++i)
            d_energy[i + 1] = d_energy[i] + static_cast<double>(d_re[i]) * d_re[i] +
                              static_cast<double>(d_im[i]) * d_im[i];
        for (pattern& p : d_patterns)
            score(p, d_position);
        d_position += static_cast<int64_t>(d_batch);
        d_stream.drop_before(d_position);
        for (pattern& p : d_patterns)
            if (p.pending && d_position - p.best_position > p.hold)
                return best_of_contest(p);
    }
    for (pattern& p : d_patterns)
        if (p.pending)
            return best_of_contest(p);
    return std::nullopt;
}

// The best of the readings seen in the same place as this one.
preamble_candidate preamble_search::best_of_contest(pattern& due)
{
    pattern* best = &due;
    due.pending = false;
    if (due.contest != 0)
        for (pattern& p : d_patterns)
            if (p.pending && p.family == due.family && p.contest == due.contest &&
                std::abs(p.best_position + p.place - due.best_position - due.place) <=
                    due.hold) {
                p.pending = false;
                if (p.best.score > best->best.score)
                    best = &p;
            }
    return best->best;
}

} // namespace gr::hf::kernel
