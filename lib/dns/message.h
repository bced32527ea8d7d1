/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ip/address.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/*! \file The part of the DNS message format (RFC 1035, RFC 6891) that a forwarder needs.
 */
namespace gr::hf::dns {

using octets = std::vector<uint8_t>;

//! Record types used here (IANA).
enum type : uint16_t {
    type_a = 1,
    type_soa = 6,
    type_aaaa = 28,
    type_opt = 41,
    type_svcb = 64,
    type_https = 65,
    type_ixfr = 251,
    type_any = 255
};
//! RCODE.
enum class rcode : uint8_t {
    ok = 0,
    malformed = 1,
    server_failure = 2,
    no_such_name = 3,
    not_implemented = 4,
    refused = 5
};

//! Longest name in text, without the last dot (RFC 1035 2.3.4).
constexpr size_t name_max = 253;

/*! \brief A name in the form for comparing: lower case, without the last dot. "" is the
 *         root.
 *  \return empty: no name (a label of more than 63 octets, an octet that is no visible
 *  ASCII character)
 */
std::optional<std::string> normal_name(const std::string& text);

//! A question of class IN.
struct question {
    std::string name; //!< \ref normal_name
    uint16_t type = type_a;
    bool dnssec = false; //!< with signatures (DO of RFC 3225)

    bool operator<(const question& o) const
    {
        if (name != o.name)
            return name < o.name;
        return type != o.type ? type < o.type : dnssec < o.dnssec;
    }
};

//! A query of a client.
struct query {
    uint16_t id = 0;
    bool recursion_desired = false;
    bool checking_disabled = false;
    bool edns = false;
    size_t udp_octets = 512; //!< limit that the client accepts by UDP
    question ask;
    octets question_section; //!< as received: the reply repeats it, case included
};

/*! \brief Reads a query.
 *  \return the query, or the reply to send instead, or empty octets if none is due (a
 *  response, or shorter than a header)
 */
std::variant<query, octets> read_query(const uint8_t* p, size_t n);

//! A reply without records: an error, or "no data".
octets make_reply(const query& q, rcode code);
//! A reply with the addresses of the requested family. \p ttl in seconds.
octets
make_reply(const query& q, const std::vector<ip::address>& addresses, uint32_t ttl);
//! A reply that signals: too long for UDP, ask by TCP.
octets make_truncated(const query& q);
/*! \brief A reply made from the octets of another response to the same question.
 *  \param response whole message
 *  \param ttl limit for the TTL of all records
 *  \return empty: \p response is malformed
 */
octets make_reply(const query& q, const octets& response, uint32_t ttl);

//! A query for an upstream resolver, with id 0, recursion desired, with EDNS.
octets make_query(const question& ask);

//! The parts of a response that are used.
struct response {
    uint16_t id = 0;
    bool truncated = false;
    rcode code = rcode::ok;
    question ask;
    std::vector<ip::address> addresses; //!< addresses of A and AAAA records in the answer
    bool any_answer = false;            //!< the answer section has a record
    size_t answer_end = 0;              //!< offset of the end of the answer section
    uint32_t ttl = 0; //!< lowest TTL of the answer; for a negative answer as in RFC 2308
                      //!< 5, or 0
};
/*! \brief The message up to the end of its answer section. A client that asks for one
 *         name does not need the rest.
 */
octets only_answer(const uint8_t* p, const response& r);
//! Reads a response. Empty: malformed, not a response, or not exactly one question.
std::optional<response> read_response(const uint8_t* p, size_t n);

} // namespace gr::hf::dns
