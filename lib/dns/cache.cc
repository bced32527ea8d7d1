/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dns/cache.h"

#include <algorithm>

namespace gr::hf::dns {

void cache::put(station_time now, const question& q, known k)
{
    const bool negative = k.code != rcode::ok || (k.addresses.empty() && k.raw.empty());
    const uint32_t ttl =
        negative ? std::clamp(k.ttl, d_limits.negative_min_s, d_limits.negative_max_s)
                 : std::clamp(k.ttl, d_limits.ttl_min_s, d_limits.ttl_max_s);
    const auto fresh = d_entries.try_emplace(q);
    entry& e = fresh.first->second;
    if (!fresh.second)
        d_used.erase(e.used);
    d_used.push_front(q);
    e.used = d_used.begin();
    e.until = now + std::chrono::seconds(ttl);
    e.what = std::move(k);
    while (d_entries.size() > d_limits.entries) {
        d_entries.erase(d_used.back());
        d_used.pop_back();
    }
}

std::optional<cache::found> cache::find(station_time now, const question& q)
{
    const auto it = d_entries.find(q);
    if (it == d_entries.end())
        return std::nullopt;
    entry& e = it->second;
    if (e.until + std::chrono::seconds(d_limits.stale_s) <= now) {
        d_used.erase(e.used);
        d_entries.erase(it);
        return std::nullopt;
    }
    d_used.splice(d_used.begin(), d_used, e.used);
    found f;
    f.what = &e.what;
    f.stale = e.until <= now;
    if (!f.stale)
        f.ttl_s = static_cast<uint32_t>(
            std::chrono::duration_cast<std::chrono::seconds>(e.until - now).count());
    return f;
}

void cache::clear()
{
    d_entries.clear();
    d_used.clear();
}

} // namespace gr::hf::dns
