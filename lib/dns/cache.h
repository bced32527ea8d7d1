/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "dns/message.h"
#include <hf/station_time.h>

#include <list>
#include <map>

namespace gr::hf::dns {

//! Answer to a question.
struct known {
    rcode code = rcode::ok;
    std::vector<ip::address> addresses;
    octets raw; //!< whole response instead of addresses; empty: addresses
    uint32_t ttl = 0;
};

//! Limits of the time that answers are kept.
struct cache_limits {
    //! The least recently used makes room.
    static constexpr size_t entries = 4096;
    //! Lower limit, at most ttl_max_s: short TTLs are for load sharing, not for HF.
    uint32_t ttl_min_s = 300;
    static constexpr uint32_t ttl_max_s = 86400; //!< upper limit
    //! Limits for "no such name" and "no data".
    static constexpr uint32_t negative_min_s = 60, negative_max_s = 900;
    //! Kept after the end of the TTL, for the case that the link is down.
    static constexpr uint32_t stale_s = 86400;
};

//! Answers by question, each with an expiry time.
class cache
{
public:
    explicit cache(const cache_limits& limits) : d_limits(limits) {}

    //! \p k is the answer. Its TTL is limited by cache_limits.
    void put(station_time now, const question& q, known k);

    struct found {
        const known* what = nullptr; //!< valid until the next put()
        uint32_t ttl_s = 0;          //!< rest of the TTL; 0 when stale
        bool stale = false;
    };
    //! Empty: no answer, or none that may still be used.
    std::optional<found> find(station_time now, const question& q);
    size_t size() const { return d_entries.size(); }
    void clear();

private:
    struct entry {
        known what;
        station_time until{};
        std::list<question>::iterator used;
    };
    cache_limits d_limits;
    std::map<question, entry> d_entries;
    std::list<question> d_used; // most recent first
};

} // namespace gr::hf::dns
