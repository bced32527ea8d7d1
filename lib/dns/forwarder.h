/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "dns/cache.h"
#include "dns/codec.h"
#include "slep/endpoint.h"

#include <memory>

namespace gr::hf::dns {

//! Station that answers for names. The longest suffix wins.
struct name_route {
    std::string suffix; //!< "example.org" matches itself and all names below; "." every
                        //!< name
    s5066::address node;
};

//! A name answered at this station.
struct local_name {
    std::string name;
    ip::address address;
};

/*! \brief Names that no far resolver can know or should be asked for: special-use names
 *         (RFC 6761, RFC 6762, RFC 8375), reverse look-ups of private addresses, and the
 *         name by which browsers detect that DNS must stay local.
 */
std::vector<std::string> default_blocked();

//! Settings of a DNS proxy.
struct forwarder_config {
    forwarder_config() { slep.sap = 15; }

    slep::endpoint_config slep;     //!< SAP 15 by default: our choice, free in Annex F.15
    std::vector<name_route> routes; //!< empty: asks no peer
    bool serve = false;             //!< answers peers, with on_response() of the edge
    std::vector<s5066::address> peers; //!< nodes that may ask; empty: every node
    std::vector<local_name> local;
    std::vector<std::string> blocked =
        default_blocked(); //!< suffixes answered as "no such
                           //!< name"
    std::vector<uint16_t> no_data = { type_svcb,
                                      type_https }; //!< types answered as "no data"
    bool ipv6 = true;    //!< false: AAAA has no data, and is not requested
    bool dnssec = false; //!< true: DNSSEC signatures are sent to clients that want them
    cache_limits limits;
    uint8_t priority = 12;    //!< STANAG 5066 priority
    size_t pending_max = 256; //!< limit of questions on their way, each side; 1 to 65536
    size_t waiters_max = 64;  //!< clients that wait for one question
    size_t addresses_max = 4; //!< limit for each family in a message over HF, 1 to 15
    station_time wait_max = station_time(120'000'000'000); //!< then the client gets a
                                                           //!< failure
    station_time stale_wait =
        station_time(4'000'000'000); //!< then the client gets a stale answer
    station_time upstream_wait =
        station_time(20'000'000'000); //!< limit for the edge's resolver
    uint32_t stale_ttl_s = 30;

    //! \throws std::invalid_argument names the value and what is allowed.
    void validate() const;
};

//! Work for the edge, which owns the sockets.
struct action {
    enum class kind {
        reply, //!< send \c message to client \c id
        ask    //!< send \c message to the upstream resolver; answer with on_response()
    };
    kind what = kind::reply;
    uint64_t id = 0;
    octets message; //!< an ask has id 0, which the edge replaces by a random one
};

//! Counters since the start.
struct forwarder_stats {
    uint64_t queries = 0;       //!< from local clients
    uint64_t malformed = 0;     //!< part of queries: no query, or of a kind not served
    uint64_t local = 0;         //!< answered here by configuration
    uint64_t cached = 0;        //!< answered from the cache
    uint64_t stale = 0;         //!< answered from the cache after the TTL
    uint64_t joined = 0;        //!< waited for a question already on its way
    uint64_t asked = 0;         //!< questions sent over HF
    uint64_t answered = 0;      //!< answers that arrived
    uint64_t failed = 0;        //!< questions without an answer
    uint64_t served = 0;        //!< questions of peers
    uint64_t upstream = 0;      //!< part of served: passed to the upstream resolver
    uint64_t bad_messages = 0;  //!< malformed messages from HF or upstream
    uint64_t refused_peers = 0; //!< questions of nodes that may not ask, or while not
                                //!< serving
    size_t cache_entries = 0;
};

/*! \brief DNS-PEP: a caching DNS forwarder in two halves, one at each end of the HF link.
 *
 * Sans-I/O. A question crosses HF once, however often clients repeat it, as one datagram
 * with only the name. A and AAAA are asked together. The far half asks its resolver and
 * answers with the addresses. Answers are kept for at least some minutes, and beyond
 * their TTL while the link is down. After each call drain poll_action() and poll_sis().
 */
class forwarder
{
public:
    //! \throws std::invalid_argument names the value and what is allowed.
    explicit forwarder(const forwarder_config& c);
    ~forwarder();

    /*! \brief A query of a local client.
     *  \param client id that the edge chooses. At most one action::kind::reply follows,
     *         none if it is no query
     *  \return false: there will be no reply
     */
    bool on_query(station_time now, uint64_t client, const uint8_t* p, size_t n);
    //! Response of the upstream resolver to ask \p id, by UDP or TCP.
    void on_response(station_time now, uint64_t id, const uint8_t* p, size_t n);
    //! The upstream resolver did not respond.
    void on_ask_failed(station_time now, uint64_t id);
    std::optional<action> poll_action();

    void sis_in(station_time now, const uint8_t* p, size_t n); //!< one whole primitive
    void sis_reset(station_time now); //!< the SIS connection is new; what the old one
                                      //!< held is lost
    std::optional<octets> poll_sis();
    std::optional<station_time> next_deadline() const;
    void on_deadline(station_time now);

    //! The SAP is bound.
    bool bound() const;
    forwarder_stats stats() const;
    const forwarder_config& config() const;

private:
    class impl;
    std::unique_ptr<impl> d_impl;
};

} // namespace gr::hf::dns
