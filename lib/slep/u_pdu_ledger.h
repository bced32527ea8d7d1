/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/words/address.h"
#include <hf/station_time.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief U_PDUs that SIS holds and will confirm or reject.
 *
 * The primitives identify a U_PDU only by destination and first octets (A.2.1). So those
 * are kept, with a \p Tag of the owner. Equal U_PDUs are settled in the order of
 * submission.
 */
template <typename Tag>
class u_pdu_ledger
{
public:
    struct entry {
        address dst;
        uint8_t sap = 0;
        std::vector<uint8_t> head;
        size_t size = 0;
        station_time since{};
        Tag tag{};
        //! Share of a queue: a small U_PDU costs its headers on the air as well.
        size_t cost() const { return size + 26; }
    };

    //! Returns the cost.
    size_t add(station_time now,
               const address& dst,
               uint8_t sap,
               const std::vector<uint8_t>& u_pdu,
               const Tag& tag)
    {
        entry e;
        e.dst = dst;
        e.sap = sap;
        const size_t n = std::min(u_pdu.size(), head_octets);
        e.head.assign(u_pdu.begin(), u_pdu.begin() + static_cast<long>(n));
        e.size = u_pdu.size();
        e.since = now;
        e.tag = tag;
        d_entries.push_back(std::move(e));
        return d_entries.back().cost();
    }

    //! Removes the U_PDU that \p returned octets belong to. Empty: none.
    std::optional<entry>
    settle(const address& dst, uint8_t sap, const std::vector<uint8_t>& returned)
    {
        for (auto it = d_entries.begin(); it != d_entries.end(); ++it) {
            if (it->dst != dst || it->sap != sap || returned.size() > it->size)
                continue;
            const size_t n = std::min(returned.size(), it->head.size());
            if (!std::equal(returned.begin(),
                            returned.begin() + static_cast<long>(n),
                            it->head.begin()))
                continue;
            entry e = std::move(*it);
            d_entries.erase(it);
            return e;
        }
        return std::nullopt;
    }

    //! Removes the oldest.
    std::optional<entry> pop()
    {
        if (d_entries.empty())
            return std::nullopt;
        entry e = std::move(d_entries.front());
        d_entries.pop_front();
        return e;
    }
    //! Submission time of the oldest.
    std::optional<station_time> oldest() const
    {
        if (d_entries.empty())
            return std::nullopt;
        return d_entries.front().since;
    }
    //! Calls \p f with every entry; it may change the tag.
    template <typename F>
    void for_each(F f)
    {
        for (entry& e : d_entries)
            f(e);
    }
    const std::deque<entry>& entries() const { return d_entries; }

private:
    static constexpr size_t head_octets = 32;
    std::deque<entry> d_entries;
};

} // namespace gr::hf::s5066
