/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>

namespace gr::hf::kernel {

/*! \brief Decides from a running score whether a signal is still there.
 *  \details Lost when the mean of the scores over the window is below the threshold; a
 *  fade shorter than that does not count.
 */
class presence
{
public:
    presence(size_t window, float threshold) : d_window(window), d_threshold(threshold) {}

    void add(float score, int64_t symbol)
    {
        // A strong past must not outweigh an empty present.
        d_scores.push_back(score < 2 * d_threshold ? score : 2 * d_threshold);
        if (d_scores.size() > d_window)
            d_scores.pop_front();
        // A single good score may be chance.
        const size_t recent = std::min(d_scores.size(), d_window / 8 + 1);
        if (std::accumulate(d_scores.end() - static_cast<long>(recent),
                            d_scores.end(),
                            0.0f) >= d_threshold * static_cast<float>(recent))
            d_last_good = symbol;
    }

    bool lost() const
    {
        return d_scores.size() >= d_window &&
               std::accumulate(d_scores.begin(), d_scores.end(), 0.0f) <
                   d_threshold * static_cast<float>(d_window);
    }

    int64_t last_good() const { return d_last_good; }

private:
    size_t d_window;
    float d_threshold;
    std::deque<float> d_scores;
    int64_t d_last_good = 0;
};

} // namespace gr::hf::kernel
