/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/modem/frame_search.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::ale {

namespace {

constexpr int64_t rows_per_word = tones_per_word * rows_per_tone;

} // namespace

void frame_search::start(const std::vector<expected_words::sequence>& frames)
{
    d_frames = frames;
    d_patterns.clear();
    d_words.clear();
    d_first.reset();
    d_best.reset();
    d_rows = 1;
    for (const auto& frame : frames) {
        pattern p;
        size_t known = 0;
        for (const auto& w : frame) {
            p.words.push_back(any);
            if (!w)
                continue;
            const auto code = encode(*w);
            const auto same = std::find(d_words.begin(), d_words.end(), code);
            p.words.back() = static_cast<size_t>(same - d_words.begin());
            if (same == d_words.end())
                d_words.push_back(code);
            ++known;
        }
        p.root = std::sqrt(static_cast<float>(std::max<size_t>(known, 1)));
        d_rows = std::max(d_rows,
                          (static_cast<int64_t>(frame.size()) - 1) * rows_per_word + 1);
        d_patterns.push_back(std::move(p));
    }
    d_scores.assign(static_cast<size_t>(d_rows) * offset_count * d_words.size(), 0);
}

size_t frame_search::place(int64_t row, size_t offset, size_t word) const
{
    const auto r = static_cast<size_t>(row % d_rows);
    return (r * offset_count + offset) * d_words.size() + word;
}

float frame_search::score(const pattern& p, int64_t end, size_t offset) const
{
    float sum = 0;
    int64_t row = end;
    for (auto w = p.words.rbegin(); w != p.words.rend(); ++w, row -= rows_per_word)
        if (*w != any)
            sum += d_scores[place(row, offset, *w)];
    return sum / p.root;
}

std::optional<frame_search::match>
frame_search::push(const soft_bits& bits, float least, int64_t settled)
{
    if (!active())
        return std::nullopt;
    const int64_t now = bits.rows() - 1;
    if (!d_first)
        d_first = now;
    for (size_t f = 0; f < offset_count; ++f) {
        const soft_word w = bits.at(now, f);
        for (size_t k = 0; k < d_words.size(); ++k)
            d_scores[place(now, f, k)] =
                w.norm > 0 ? correlate(d_words[k], w.bits) / w.norm : 0;
        for (size_t k = 0; k < d_patterns.size(); ++k) {
            const auto& p = d_patterns[k];
            if (now - (static_cast<int64_t>(p.words.size()) - 1) * rows_per_word <
                *d_first)
                continue;
            const float sum = score(p, now, f);
            if (sum >= least && (!d_best || sum > d_best->score))
                d_best = match{ k, now, f, sum };
        }
    }
    if (!d_best || now - d_best->end < settled)
        return std::nullopt;
    const auto found = d_best;
    d_best.reset();
    return found;
}

} // namespace gr::hf::ale
