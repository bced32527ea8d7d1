/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

//! A run of samples that belongs to at most one transmission.
struct transmission_run {
    size_t at;                   //!< its first sample
    size_t count;                //!< samples, 1 or more
    std::optional<size_t> first; //!< sample that starts a transmission, from \ref at on
    std::optional<size_t> last;  //!< sample that ends it, from \ref at on
};

/*! \brief Cut samples after each end of a transmission, so that a run has at most one
 *         start.
 *
 * One transmission may follow another within one call of a block's work().
 *  \param n samples
 *  \param begins,ends samples below n that start and end transmissions, in any order; of
 *        several starts within a run the first one counts
 *  \returns the runs in order, which cover the n samples
 */
inline std::vector<transmission_run>
cut_transmissions(size_t n, std::vector<size_t> begins, std::vector<size_t> ends)
{
    std::sort(begins.begin(), begins.end());
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    std::vector<transmission_run> runs;
    size_t at = 0;
    const auto add = [&](size_t end, std::optional<size_t> last) {
        const auto begin = std::lower_bound(begins.begin(), begins.end(), at);
        const bool begun = begin != begins.end() && *begin < end;
        runs.push_back({ at,
                         end - at,
                         begun ? std::optional<size_t>(*begin - at) : std::nullopt,
                         last });
        at = end;
    };
    for (const size_t end : ends)
        add(end + 1, end - at);
    if (at < n)
        add(n, std::nullopt);
    return runs;
}

} // namespace gr::hf::kernel
