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
 *  \details Lost when nothing has been heard for so many scores; a shorter fade does not
 *  count.
 */
class presence
{
public:
    /*! \param patience scores without a signal until it is lost
     *  \param recent   scores that decide on last_good()
     *  \param threshold least mean score
     */
    presence(size_t patience, size_t recent, float threshold)
        : d_patience(patience), d_recent(recent), d_threshold(threshold)
    {
    }

    void add(float score, int64_t symbol)
    {
        // A strong past must not outweigh an empty present.
        d_scores.push_back(std::min(score, 2 * d_threshold));
        if (d_scores.size() > 2 * d_patience) // half of them full: just the threshold
            d_scores.pop_front();
        // A single good score may be chance.
        if (mean(std::min(d_scores.size(), d_recent)) >= d_threshold)
            d_last_good = symbol;
        d_last = symbol;
    }

    bool lost() const
    {
        return d_scores.size() >= d_patience && mean(d_scores.size()) < d_threshold;
    }

    int64_t last_good() const { return d_last_good; }

    //! Whether it was there when last looked at.
    bool now() const { return d_last_good == d_last; }

private:
    float mean(size_t last) const
    {
        return std::accumulate(
                   d_scores.end() - static_cast<long>(last), d_scores.end(), 0.0f) /
               static_cast<float>(last);
    }

    size_t d_patience, d_recent;
    float d_threshold;
    std::deque<float> d_scores;
    int64_t d_last_good = 0, d_last = 0;
};

} // namespace gr::hf::kernel
