/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ip/address.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/*! \file Connect request and answer of HF-PEP (STANAG 5066 Edition 5 Annex X): the
 *  open-data of a SLEP stream. The octet layout is our choice. It is known only to this
 *  module.
 */
namespace gr::hf::hfpep {

using octets = std::vector<uint8_t>;

//! Outcome of a connect request. 1 to 8 equal the codes of SOCKS5 (RFC 1928).
enum class status : uint8_t {
    connected = 0,
    general_failure = 1,
    forbidden = 2,
    network_unreachable = 3,
    host_unreachable = 4,
    refused = 5,
    timed_out = 6,
    kind_not_supported = 7,
    address_type_not_supported = 8,
    name_not_found = 9,
    too_many_connections = 10,
    tls_failed = 11,
    malformed_request = 12,
    going_down = 13,
    peer_not_allowed = 14,
    reset_by_endpoint = 15,
    certificate_expired = 16,     //!< the server's certificate, with kind TLS
    certificate_not_trusted = 17, //!< self signed, or by an unknown issuer
    certificate_wrong_name = 18,  //!< for another host
    certificate_refused = 19,     //!< unfit for another reason
    link_lost = 134,              //!< SLEP: the link was down too long
    peer_restarted = 136          //!< SLEP: the other node has restarted
};
//! A few English words for displays and logs.
const char* to_string(status s);

//! Address and port of a TCP endpoint.
struct endpoint_address {
    ip::address host;
    uint16_t port = 0;
    std::string to_string() const;
    bool operator==(const endpoint_address& o) const
    {
        return host == o.host && port == o.port;
    }
};

//! Destination of a connection: an address, or a name that the far side looks up.
struct destination {
    std::variant<ip::address, std::string> host; //!< a name has 1 to 210 octets
    uint16_t port = 0;
    std::string to_string() const;
    //! Name or address without the port.
    std::string host_string() const;
};

/*! \brief What the far side needs to make a TLS session to the server (TLS apart).
 *  \details Kind 1 of a request. A proxy without it answers status::kind_not_supported.
 */
struct tls_request {
    std::string server_name;       //!< SNI; empty: the name or address of the destination
    std::vector<std::string> alpn; //!< protocols to offer, the preferred one first
};

//! Connect request.
struct connect_request {
    destination to;
    std::optional<tls_request> tls;         //!< kind 1, options 4 and 5
    std::optional<endpoint_address> source; //!< option 1
    std::optional<uint8_t> dscp;            //!< option 2
    std::optional<uint16_t> idle_limit_s;   //!< option 3; 0: none
    std::optional<uint8_t> connect_limit_s; //!< option 6; default 30
    bool answer_first = false; //!< option 7: not accepted locally yet, send the answer
                               //!< before data
};

//! Answer to an accepted request.
struct connect_answer {
    status code = status::connected;
    std::optional<endpoint_address> actual; //!< option 1: the connected address
    std::string alpn; //!< option 4: protocol that the server of a TLS request has chosen
};

//! Empty if a value does not fit.
octets encode(const connect_request& r);
octets encode(const connect_answer& a);

/*! \brief Reads a request. Unknown options are ignored.
 *  \return the request, or the status of its refusal
 */
std::variant<connect_request, status> decode_request(const uint8_t* p, size_t n);
//! Empty if it is malformed.
std::optional<connect_answer> decode_answer(const uint8_t* p, size_t n);

} // namespace gr::hf::hfpep
