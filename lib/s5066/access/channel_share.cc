/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/access/channel_share.h"

#include <algorithm>
#include <iterator>

namespace gr::hf::s5066 {

namespace {
constexpr size_t max_stations = 64;
} // namespace

void channel_share::served(address a, station_time begin)
{
    if (a.is_group())
        return;
    const auto it = d_served.find(a.raw());
    if (it != d_served.end())
        it->second = { begin, it->second.last, false, false };
    else if (d_served.size() < max_stations)
        d_served[a.raw()] = { begin, begin, true, false };
}

void channel_share::unserved(address a)
{
    const auto it = d_served.find(a.raw());
    if (it == d_served.end())
        return;
    if (it->second.once)
        d_served.erase(it);
    else
        it->second.last = it->second.before;
}

void channel_share::began_first(address a)
{
    if (!has(a))
        return;
    const station_time t = d_served.at(a.raw()).last;
    for (auto& [raw, s] : d_served)
        s.left = s.left || s.last < t;
}

bool channel_share::has(address a) const
{
    const auto it = d_served.find(a.raw());
    return it != d_served.end() && !it->second.left;
}

size_t channel_share::stations() const
{
    return static_cast<size_t>(std::count_if(
        d_served.begin(), d_served.end(), [](const auto& e) { return !e.second.left; }));
}

unsigned channel_share::ahead_of(address a) const
{
    if (!has(a))
        return 0;
    const station_time t = d_served.at(a.raw()).last;
    return static_cast<unsigned>(
        std::count_if(d_served.begin(), d_served.end(), [t](const auto& e) {
            return !e.second.left && e.second.last < t;
        }));
}

bool channel_share::is_ahead(address a, address b) const
{
    return has(a) && has(b) && d_served.at(a.raw()).last < d_served.at(b.raw()).last;
}

void channel_share::forget_before(station_time t, station_time recent)
{
    for (auto it = d_served.begin(); it != d_served.end();) {
        const auto& s = it->second;
        it = s.last < (s.left ? recent : t) ? d_served.erase(it) : std::next(it);
    }
}

} // namespace gr::hf::s5066
