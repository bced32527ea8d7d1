/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>

namespace gr::hf::kernel {

/*! \brief Decides by a running score whether a signal is still present.
 *  \details Lost after \p patience scores in a row without a signal. Shorter fades never
 *  count.
 */
class presence
{
public:
    /*! \param patience scores without a signal until it is lost
     *  \param recent   scores, a single one of which may be chance
     *  \param threshold least mean of the recent ones with a signal
     *  \param begin    symbol at which it is there
     */
    presence(size_t patience, size_t recent, float threshold, int64_t begin = 0)
        : d_patience(patience), d_recent(recent), d_threshold(threshold),
          d_last_good(begin)
    {
    }

    void add(float score, int64_t symbol)
    {
        // A strong past must not outweigh an empty present.
        d_scores.push_back(std::min(score, 2 * d_threshold));
        if (d_scores.size() > d_recent)
            d_scores.pop_front();
        const float mean = std::accumulate(d_scores.begin(), d_scores.end(), 0.0f) /
                           static_cast<float>(d_scores.size());
        d_empty = mean >= d_threshold ? 0 : d_empty + 1;
        // The mean falls some scores after the signal has ended.
        if (now() && score >= d_threshold)
            d_last_good = symbol;
    }

    bool lost() const { return d_empty >= d_patience; }

    int64_t last_good() const { return d_last_good; }

    //! True if the signal was present at the last score.
    bool now() const { return d_empty == 0; }

    //! Data of the transmission were heard: until then, its preamble may be a likeness.
    void confirm() { d_confirmed = true; }
    bool confirmed() const { return d_confirmed; }

private:
    size_t d_patience, d_recent, d_empty = 0;
    float d_threshold;
    std::deque<float> d_scores; // the recent ones
    int64_t d_last_good;
    bool d_confirmed = false;
};

} // namespace gr::hf::kernel
