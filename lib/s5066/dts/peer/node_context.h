/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/between/sis_upper.h"
#include "s5066/config/node_config.h"
#include "s5066/config/node_log.h"
#include "s5066/config/node_stats.h"
#include "s5066/dts/peer/peer.h"
#include "s5066/rate/rate_policy.h"

#include <cstdint>
#include <map>
#include <memory>
#include <random>

namespace gr::hf::s5066 {

//! Choice of the modes of transmissions.
struct mode_choice {
    std::unique_ptr<rate_policy> policy;
    gr::hf::mode data_mode; //!< the fastest one if the policy is adaptive
    bool adaptive = false;
    bool of_4539 = true;  //!< the policy has modes of STANAG 4539
    bool of_5069 = false; //!< the policy has modes of STANAG 5069
    bool robust = false;  //!< the policy has modes of our own robust family

    //! Modes that we receive in 3 kHz, where others know 4539 alone. Link control shows
    //! them.
    modes_read reads() const
    {
        return data_mode.bandwidth_hz == 3000 ? modes_read{ of_5069, robust }
                                              : modes_read{};
    }
};

//! C_PDU IDs of D_PDUs of types 7 and 8, counted modulo 4096 from a random start
//! (C.3.2.10).
class c_pdu_ids
{
public:
    explicit c_pdu_ids(std::mt19937_64& random)
        : d_non_arq(static_cast<uint16_t>(random() & mask)),
          d_expedited(static_cast<uint16_t>(random() & mask))
    {
    }
    uint16_t non_arq()
    {
        const uint16_t id = d_non_arq;
        d_non_arq = static_cast<uint16_t>((id + 1) & mask);
        return id;
    }
    uint16_t expedited()
    {
        return d_expedited = static_cast<uint16_t>((d_expedited + 1) & mask);
    }

private:
    static constexpr unsigned mask = 0xfff;

    uint16_t d_non_arq;
    uint16_t d_expedited;
};

/*! \brief Data shared by the sublayers of one node: settings, counters, log, peers. It
 *         decides nothing. Each sublayer keeps its own state and changes only its own
 *         part of a peer.
 */
struct node_context {
    //! \throws std::invalid_argument if the configuration is not valid
    node_context(const node_config& c, sis_upper& above)
        : config((c.validate(), c)), upper(above), random(c.seed), ids(random)
    {
    }

    node_config config;
    node_stats stats;
    node_log log{ config };
    sis_upper& upper;
    mode_choice modes;
    std::map<uint32_t, std::unique_ptr<peer>> peers; //!< by raw address
    std::mt19937_64 random;
    c_pdu_ids ids;

    //! nullptr if the address is unknown.
    peer* find_peer(address a) const
    {
        const auto it = peers.find(a.raw());
        return it == peers.end() ? nullptr : it->second.get();
    }
    //! Reports to the clients whether \p p answers.
    void report(station_time now, const peer& p)
    {
        link_report r;
        r.node = p.addr;
        r.unanswered = p.turn.silent;
        if (p.turn.heard_at)
            r.silent_for = now - *p.turn.heard_at;
        upper.on_report(r);
    }
    //! Gives up U_PDUs past their TTL. Those that may have arrived are not confirmed.
    void expired(const std::vector<outgoing_ptr>& list)
    {
        for (const auto& o : list) {
            ++stats.u_pdus_expired;
            upper.on_failed(*o,
                            o->known.in_doubt ? unidata_reject_reason::not_responding
                                              : unidata_reject_reason::ttl_expired);
        }
    }
};

} // namespace gr::hf::s5066
