/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ip/packet.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gr::hf::ip {

//! Action for a packet.
enum class verdict {
    send,            //!< send over HF
    drop,            //!< drop silently
    port_unreachable //!< dropped, and ICMP notifies the sender
};

//! Which packet is kept when equal ones wait.
enum class dedup {
    none,
    echo_newest, //!< ICMP echo: one per identifier, the newest
    payload      //!< same flow and same transport payload (DNS): the first
};

//! One rule of the filter. An empty field matches everything. The first match counts.
struct filter_rule {
    std::string name; //!< name in the counters, need not be unique
    // conditions
    std::optional<int> version;      //!< 4 or 6
    std::optional<uint8_t> protocol; //!< number in IP; ICMPv6 is 58
    uint16_t port_first = 0;         //!< source or destination port of TCP or UDP
    uint16_t port_last = 0;          //!< 0 in both: any port
    std::optional<prefix> from;
    std::optional<prefix> to;
    int icmp_first = -1; //!< ICMP type; -1: any
    int icmp_last = -1;
    size_t length_max = 0; //!< octets of the whole packet; 0: any
    // effects
    verdict what = verdict::send;
    std::optional<bool> arq;         //!< empty: unicast with ARQ, multicast without
    std::optional<uint8_t> priority; //!< 0 to 15; empty: from the DSCP
    uint8_t repeats = 0;             //!< non-ARQ: sent 1 + n times, 0 to 15
    bool in_order = false;           //!< with ARQ: deliver in order of submission
    bool interactive = false;        //!< is served first and expires earlier
    dedup duplicates = dedup::none;

    //! \throws std::invalid_argument names the value and what is allowed.
    void validate() const;
    bool matches(const packet_view& p) const;
};

/*! \brief The default list. It drops what a host sends unasked (neighbour discovery,
 *         IGMP, name and service discovery, NTP, DHCP, routing protocols, link-local),
 *         rejects QUIC, and serves DNS and echo first.
 */
std::vector<filter_rule> default_filter();

//! STANAG 5066 priority for each DSCP.
using dscp_table = std::array<uint8_t, 64>;
//! 2 x the three upper bits of DSCP or TOS (Annex F.12.4).
dscp_table default_dscp();

/*! \brief A rule from words, in any order and all optional:
 *
 *     name=WORD                      for the counters
 *     version=4|6  proto=tcp|udp|icmp|icmp6|NUMBER
 *     port=53  port=67-68            source or destination
 *     from=PREFIX  to=PREFIX
 *     icmp=8  icmp=133-137           type
 *     length_max=600                 octets of the whole packet
 *     action=send|drop|reject        reject: ICMP port unreachable
 *     mode=arq|non-arq  order=in|any
 *     priority=0...15  repeats=0...15
 *     class=interactive|ordinary     interactive is served first and expires earlier
 *     dedup=none|echo|payload
 *
 *  \throws std::invalid_argument names the word and what is allowed.
 */
filter_rule parse_filter_rule(const std::string& words);

} // namespace gr::hf::ip
