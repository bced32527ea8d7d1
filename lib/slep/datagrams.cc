/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/datagrams.h"

#include <algorithm>

namespace gr::hf::slep {

namespace {
// Numbers remembered per source to detect repeats.
constexpr size_t remembered = 64;
constexpr size_t part_allowance = 64;
} // namespace

datagram_assembler::result datagram_assembler::put(station_time now, reliable_datagram d)
{
    result r;
    if (std::find(d_seen.begin(), d_seen.end(), d.number) != d_seen.end()) {
        r.duplicate = true;
        return r;
    }
    if (!d.seg) {
        remember(d.number);
        r.whole = std::move(d.data);
        return r;
    }
    const auto fresh = d_partial.try_emplace(d.number);
    partial& p = fresh.first->second;
    if (fresh.second)
        p.since = now;
    if (d.seg->last)
        p.last = d.seg->index;
    const size_t cost = d.data.size() + part_allowance;
    if (!p.segments.emplace(d.seg->index, std::move(d.data)).second) {
        r.duplicate = true;
        return r;
    }
    p.size += cost;
    d_size += cost;
    if (p.last && p.segments.size() == size_t(*p.last) + 1 &&
        p.segments.rbegin()->first == *p.last) {
        octets whole;
        for (const auto& s : p.segments)
            whole.insert(whole.end(), s.second.begin(), s.second.end());
        d_size -= p.size;
        d_partial.erase(fresh.first);
        remember(d.number);
        r.whole = std::move(whole);
    }
    while (d_size > d_limit) {
        const auto old = oldest_partial();
        d_size -= old->second.size;
        d_partial.erase(old);
        ++r.lost;
    }
    return r;
}

size_t datagram_assembler::drop_older(station_time before)
{
    size_t n = 0;
    for (auto it = d_partial.begin(); it != d_partial.end();) {
        if (it->second.since > before) {
            ++it;
            continue;
        }
        d_size -= it->second.size;
        it = d_partial.erase(it);
        ++n;
    }
    return n;
}

std::map<uint16_t, datagram_assembler::partial>::iterator
datagram_assembler::oldest_partial()
{
    return std::min_element(
        d_partial.begin(),
        d_partial.end(),
        [](const auto& a, const auto& b) { return a.second.since < b.second.since; });
}

std::optional<station_time> datagram_assembler::oldest() const
{
    std::optional<station_time> t;
    for (const auto& p : d_partial)
        if (!t || p.second.since < *t)
            t = p.second.since;
    return t;
}

void datagram_assembler::clear()
{
    d_partial.clear();
    d_seen.clear();
    d_size = 0;
}

void datagram_assembler::remember(uint16_t number)
{
    d_seen.push_back(number);
    if (d_seen.size() > remembered)
        d_seen.pop_front();
}

} // namespace gr::hf::slep
