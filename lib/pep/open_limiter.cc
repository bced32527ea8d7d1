/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pep/open_limiter.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace gr::hf::hfpep {
namespace {

constexpr size_t tidy_first = 64;
// While nothing can be removed, do not search again within this time.
constexpr station_time tidy_pause = std::chrono::seconds(1);

void require(bool ok, const char* name, double value, const char* allowed)
{
    if (!ok)
        throw std::invalid_argument(std::string(name) + " " + std::to_string(value) +
                                    ": expected " + allowed);
}

} // namespace

void open_limits::validate() const
{
    for (const double rate : { per_second, per_second_peer })
        require(rate >= 0.01 && rate <= 1e6, "opens per second", rate, "0.01 to 1e6");
    require(burst >= 1 && burst <= 100'000, "burst of opens", double(burst), "1 to 1e5");
    require(standing_peer >= 1 && standing_peer <= 4096,
            "connections per peer",
            double(standing_peer),
            "1 to 4096");
}

open_limiter::open_limiter(const open_limits& l)
    : d_limits(l), d_all{ double(l.burst), {} }, d_tidy_at(tidy_first)
{
    l.validate();
}

void open_limiter::fill(bucket& b, double per_second, station_time now) const
{
    // A clock that steps back adds no tokens.
    if (now > b.at)
        b.tokens = std::min(double(d_limits.burst),
                            b.tokens + per_second * to_seconds(now - b.at));
    b.at = now;
}

void open_limiter::forget_full(station_time now)
{
    for (auto it = d_peers.begin(); it != d_peers.end();) {
        fill(it->second, d_limits.per_second_peer, now);
        const bool full = it->second.tokens >= double(d_limits.burst);
        it = full ? d_peers.erase(it) : std::next(it);
    }
    d_tidied = now;
    d_tidy_at = std::max(tidy_first, 2 * d_peers.size());
}

bool open_limiter::take(station_time now, const s5066::address& peer)
{
    fill(d_all, d_limits.per_second, now);
    if (d_all.tokens < 1)
        return false;
    auto it = d_peers.find(peer);
    if (it == d_peers.end()) {
        if (d_peers.size() >= peers_max ? now >= d_tidied + tidy_pause
                                        : d_peers.size() >= d_tidy_at)
            forget_full(now);
        if (d_peers.size() >= peers_max)
            return false;
        it = d_peers.emplace(peer, bucket{ double(d_limits.burst), now }).first;
    }
    fill(it->second, d_limits.per_second_peer, now);
    if (it->second.tokens < 1)
        return false;
    it->second.tokens -= 1;
    d_all.tokens -= 1;
    return true;
}

} // namespace gr::hf::hfpep
