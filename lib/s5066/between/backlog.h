/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/between/outgoing.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace gr::hf::s5066 {

/*! \brief Octets of C_PDUs that wait to be sent for the first time, counted by the SAP of
 *         their client.
 *  \details Counted by SAP, not by connection: a client that reconnects inherits what
 *         still waits, so the sum stays bounded. C_PDUs of the node itself count only in
 *         the total.
 */
class backlog
{
public:
    void add(const outgoing& o, size_t octets) { d_octets[place(o)] += octets; }
    void remove(const outgoing& o, size_t octets) { d_octets[place(o)] -= octets; }
    void clear() { d_octets.fill(0); }

    size_t total() const
    {
        return std::accumulate(d_octets.begin(), d_octets.end(), size_t{ 0 });
    }
    size_t of_sap(uint8_t sap) const { return d_octets[sap & 15]; }
    //! Number of SAPs with waiting C_PDUs.
    size_t saps() const
    {
        return static_cast<size_t>(std::count_if(
            d_octets.begin(), d_octets.end() - 1, [](size_t n) { return n > 0; }));
    }

    backlog& operator+=(const backlog& other)
    {
        for (size_t i = 0; i < d_octets.size(); ++i)
            d_octets[i] += other.d_octets[i];
        return *this;
    }

private:
    static size_t place(const outgoing& o) { return o.client ? o.src_sap & 15u : 16u; }

    std::array<size_t, 17> d_octets{};
};

/*! \brief Order of C_PDUs within one priority: clients take turns by octets, and each
 *         client's C_PDUs stay in order.
 *
 * Start-time fair queueing (Goyal, Vin and Cheng, 1996) with equal shares. A client that
 * has not sent for a while goes next, whatever others have queued before it.
 */
class fair_turns
{
public:
    //! Assigns \p o its turn; the smallest turn goes first.
    void take(outgoing& o)
    {
        uint64_t& end = d_ends[o.client ? o.src_sap & 15u : 16u];
        o.turn = std::max(end, d_now);
        end = o.turn + o.c_pdu.size();
    }
    //! Notes that \p o is being sent.
    void serve(const outgoing& o) { d_now = std::max(d_now, o.turn); }

private:
    std::array<uint64_t, 17> d_ends{};
    uint64_t d_now = 0;
};

} // namespace gr::hf::s5066
