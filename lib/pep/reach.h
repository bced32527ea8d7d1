/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ip/address.h"
#include "pep/codec.h"
#include "s5066/words/address.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gr::hf::hfpep {

//! "HOST:PORT" split at the last colon. The host of an IPv6 address is in brackets.
std::pair<std::string, std::string> split_host_port(const std::string& text);
//! 0 to 65535. Empty: not a number in that range.
std::optional<uint16_t> parse_port(const std::string& text);

/*! \brief One destination that peers may connect to at this side.
 *
 *     10.66.0.2:8000          one address, one port
 *     10.66.0.0/24:80-90      a prefix, a range of ports
 *     [fd00::/8]:*            IPv6 in brackets; * is every port
 *     example.org:443         a name and its sub-domains, resolved here
 *     *:22                    every address and every name
 *     internet:443            every public address that is not in a network of this
 *                             station, and names that lead to one
 *     shop.example:80=127.0.0.1:8080   a name, and the server here that has it
 *     10.66.0.2:8000 from 1.2.0.1, 1.2.0.3   for these nodes only
 */
struct reach {
    //! Empty: names, or every destination with \c suffix ".".
    std::optional<ip::prefix> prefix;
    bool internet = false; //!< with \c suffix ".": public addresses only
    std::string suffix;    //!< suffix of names, as route::name_suffix
    uint16_t port_first = 0, port_last = 65535;
    //! Of a name: connections to it go to this server, and the name is not looked up.
    std::optional<endpoint_address> server;
    //! Nodes that the entry is for. Empty: every node.
    std::vector<s5066::address> peers;

    //! \throws std::invalid_argument names \p text and what is allowed.
    static reach parse(const std::string& text);
    bool permits(const destination& to) const;
    //! It permits every address, private networks included.
    bool is_for_all() const;
};

//! Where an address leads, seen from this host.
enum class nearness {
    far,  //!< through a router
    link, //!< to a network that an interface is in
    own   //!< to this host itself
};

//! The entries that are for a node.
std::vector<reach> for_peer(const std::vector<reach>& list, const s5066::address& node);

/*! \brief Whether any entry permits it. An empty list permits nothing.
 *  \details Addresses of this host or of its links (loopback, unspecified, link-local)
 *  must be named: only a prefix within their range permits them, not * and no wider
 *  prefix. IPv4-mapped addresses count as IPv4.
 */
bool permits(const std::vector<reach>& list, const destination& to);
/*! \brief Whether a connection requested as \p to may be made to the address \p at.
 *  \param where at leads to. Of this host's own addresses only an entry with that very
 *         address permits one. "internet" permits only what is far.
 *  \details A permitted name permits every address except those that must be named.
 *  "localhost", if it is listed itself, permits the loopback.
 */
bool permits_at(const std::vector<reach>& list,
                const destination& to,
                const ip::address& at,
                nearness where);
/*! \brief Whether a peer may ask for \p to: an address that is permitted, or a name that
 *         may be looked up.
 *  \details A name may be if it is permitted, or if some address at that port is. Its
 *  addresses are checked after the look-up.
 */
bool may_ask(const std::vector<reach>& list, const destination& to);
//! Server that the first entry which permits \p to names. Empty: it names none.
std::optional<endpoint_address> server_of(const std::vector<reach>& list,
                                          const destination& to);

} // namespace gr::hf::hfpep
