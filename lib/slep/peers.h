/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/between/link_report.h"
#include "slep/datagrams.h"
#include "slep/endpoint_context.h"

#include <array>
#include <functional>
#include <map>

namespace gr::hf::slep {

constexpr size_t service_classes = 8;
//! Amount that a stream has sent since its start, or since it last had nothing on its
//! way.
enum class freshness {
    first, //!< a first exchange: before everything else of all classes
    fresh, //!< new or small: before the bulk of its class
    bulk
};
//! Number of levels of service, see level().
constexpr size_t levels = 3 * service_classes;
//! Order of service in SIS: first exchanges by class, then fresh and bulk of each class
//! in turn.
constexpr uint8_t level(uint8_t service_class, freshness f)
{
    if (f == freshness::first)
        return service_class;
    return static_cast<uint8_t>(service_classes + 2u * service_class +
                                (f == freshness::bulk ? 1 : 0));
}
//! Whether a level is that of bulk.
constexpr bool is_bulk(uint8_t level)
{
    return level >= service_classes && (level - service_classes) % 2 == 1;
}

//! State of one node in SLEP: how much SIS holds for it and whether it is reachable.
struct node_state {
    size_t outstanding = 0;                      //!< octets, with an allowance per U_PDU
    std::array<size_t, levels> outstanding_of{}; //!< the same, by level()
    std::array<size_t, 16> bulk_of{}; //!< bulk only, by the priority of its rule
    size_t dead = 0;                  //!< part of outstanding whose stream has ended
    //! Octets that the link carried in its last transmission. Confirms that arrive
    //! together show it.
    size_t burst = 0;
    station_time burst_at{ -1 };
    bool held_back = false;      //!< octets have waited for room in SIS since the last of
                                 //!< these confirms
    bool limited = false;        //!< held_back before these confirms
    size_t depth = SIZE_MAX;     //!< octets that SIS may hold, at most queue_octets
    station_time retry_at{};     //!< nothing is sent before this time
    int rejects_in_a_row = 0;    //!< place in the list of back-off times
    station_time alive_at{ -1 }; //!< last confirm, or last time the node was heard
    station_time heard_at{ -1 };
    bool silent = false; //!< the data link reports transmissions without an answer
    bool heard() const { return alive_at >= station_time(0); }
    bool may_send(station_time now) const { return retry_at <= now; }
    //! Highest priority of the bulk that SIS holds.
    uint8_t bulk_priority() const;
    //! The link to the node failed. Rejected U_PDUs wait.
    void link_failed(station_time now);
    //! The link to the node works, or is worth another attempt at once.
    void link_alive(station_time now);
    //! Report of the data link about the node.
    void reported(station_time now, const s5066::link_report& r);
    //! A U_PDU of this many octets, with its allowance, was confirmed. Learns depth.
    void learn_depth(station_time now, size_t octets);
};

//! Early data of a stream whose SO has not arrived yet.
struct orphan {
    station_time since{};
    std::vector<stream_data> pdus;
    size_t size = 0;
};

//! Rest of a stream number after the end of its stream.
struct resting {
    station_time until{}; //!< 0: the number is free
    uint8_t answer = 0;   //!< reason to repeat if the peer still sends; 0: stay silent
    station_time answered{ -1 };
    uint16_t open = 0; //!< incarnation::name of the open; 0: not known
};

constexpr size_t stream_numbers = 128;
//! Side that chose the number of a stream.
enum side : size_t { opened_here = 0, opened_there = 1 };

//! One remote SLEP user: node, SAP, extended address.
struct peer_state {
    //! \param datagram_octets limit of its incomplete datagrams
    explicit peer_state(size_t datagram_octets) : datagrams(datagram_octets) {}
    user_address who;
    node_state* node = nullptr;
    //! Restart notice: due before the first PDU, unless the peer has just sent one.
    enum class notice { due, in_sis, done } notice = notice::due;
    bool notice_wanted = false; //!< send it even if nothing else is to be sent
    uint16_t instance = 0;      //!< instance of the peer, from its last notice
    uint8_t next_number = 0;
    uint16_t next_datagram = 0;
    std::array<std::array<stream_id, stream_numbers>, 2> streams{}; //!< 0: none
    std::array<std::array<resting, stream_numbers>, 2> rest{};
    std::array<uint8_t, stream_numbers> uses{}; //!< uses of each number opened here
    size_t stream_count = 0;
    std::map<uint8_t, orphan> orphans; //!< keyed by number
    datagram_assembler datagrams;
    station_time used_at{};
    resting& rest_of(uint8_t sid)
    {
        return rest[sid & sid_responder ? opened_here : opened_there][sid & 0x7f];
    }
    //! SIS has settled the restart notice.
    void notice_settled(bool rejected)
    {
        notice = rejected ? notice::due : notice::done;
        // Only streams justify calling a node that may not exist.
        notice_wanted = rejected && node->heard();
    }
};

/*! \brief The peers that this endpoint knows, and their nodes.
 *  \details Bounded, since sources may be forged. The peer unused for longest is dropped.
 */
class peer_table
{
public:
    //! Limit of peers.
    static constexpr size_t most = 256;
    //! True if PDUs for the peer wait or are in SIS.
    using in_use_f = std::function<bool(const peer_state&)>;

    //! \param in_use called before a peer without streams is forgotten
    peer_table(endpoint_context& c, in_use_f in_use)
        : d_ctx(c), d_in_use(std::move(in_use))
    {
    }
    //! Makes the peer if it is not known. nullptr: all others are in use.
    peer_state* get(const user_address& who);
    //! nullptr: the node is not known.
    node_state* node(const s5066::address& a);
    const node_state* node(const s5066::address& a) const;
    //! All peers, by address.
    std::map<user_address, peer_state>& all() { return d_peers; }
    const std::map<user_address, peer_state>& all() const { return d_peers; }
    //! Allow sending to every node at once.
    void retry_all();
    //! Earliest time at which a node may be sent to again.
    std::optional<station_time> next_deadline() const;

private:
    bool forget_one();

    endpoint_context& d_ctx;
    in_use_f d_in_use;
    std::map<s5066::address, node_state> d_nodes;
    std::map<user_address, peer_state> d_peers;
};

} // namespace gr::hf::slep
