/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gr::hf::kernel {

/*! \brief How far to move the window of delays so that the paths stay inside.
 *
 * The sender's sample clock differs from ours: in two minutes 100 parts per million move
 * all paths by 12 ms. The window moves if a path is close to one end and none is close
 * to the other.
 *
 *  \param power power of each delay tap
 *  \param margin taps at either end that should stay empty
 *  \return taps; above 0 to later delays
 */
inline int window_error(const std::vector<float>& power, size_t margin)
{
    constexpr float significant = 0.05f; // of the strongest
    const float least = significant * *std::max_element(power.begin(), power.end());
    if (!(least > 0) || power.size() <= 2 * margin)
        return 0;
    const auto strong = [least](float p) { return p >= least; };
    const auto first = static_cast<int>(std::find_if(power.begin(), power.end(), strong) -
                                        power.begin());
    const auto after = static_cast<int>(
        std::find_if(power.rbegin(), power.rend(), strong) - power.rbegin());
    const int room = static_cast<int>(margin);
    if (first < room && after > room)
        return -std::min(room - first, after - room);
    if (after < room && first > room)
        return std::min(room - after, first - room);
    return 0;
}

//! Element k + \p by becomes element k. New elements are 0.
template <class T>
void move_taps(std::vector<T>& taps, int by)
{
    const auto n = static_cast<int>(taps.size());
    std::vector<T> moved(taps.size(), T{});
    for (int k = std::max(0, -by); k < n && k + by < n; ++k)
        moved[static_cast<size_t>(k)] = taps[static_cast<size_t>(k + by)];
    taps = std::move(moved);
}

} // namespace gr::hf::kernel
