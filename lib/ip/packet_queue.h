/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ip/classifier.h"
#include "ip/tcp_help.h"
#include <hf/station_time.h>

#include <deque>
#include <map>
#include <tuple>
#include <vector>

namespace gr::hf::ip {

//! Policy of a queue that the link does not empty fast enough.
enum class queue_policy {
    //! One queue. If it is too long or too old, all of it is dropped, so that all losses
    //! of a TCP connection happen together.
    whole,
    //! A queue for each flow, served in turn by octets (RFC 8290 without its hash). New
    //! or seldom flows come first. When there is too much, the longest queue loses its
    //! oldest packet. A flow whose packets wait too long is marked (ECN) or loses one
    //! (RFC 8289).
    fair
};

//! Settings of a queue.
struct queue_config {
    queue_policy policy = queue_policy::fair;
    size_t octets_max = 360'000;
    station_time age_max = station_time(300'000'000'000);
    //! Only the newest pure ACK of a TCP connection waits. In SIS, too: an ACK there
    //! expires when the next one should arrive, and is sent again if none does.
    bool thin_acks = true;
    //! Drop a TCP segment (or SYN) that already waits. Also one in SIS, since ARQ will
    //! deliver it, and one delivered within the last minute if the far side has not been
    //! heard since.
    bool drop_repeats = true;
};

//! A packet that waits for SIS.
struct waiting_packet {
    octets packet;
    station_time since{};
    uint8_t priority = 0;
    bool arq = true;
    uint8_t repeats = 0;
    bool in_order = false;
    bool insist = false; //!< an ACK that expired in SIS and is still the newest
};

//! Counters of all queues.
struct queue_stats {
    uint64_t duplicates = 0;      //!< an equal packet was already waiting
    uint64_t repeats_dropped = 0; //!< TCP segments that were already waiting
    uint64_t acks_thinned = 0;    //!< dropped while waiting, or expired in SIS
    uint64_t flushed_queues = 0;  //!< whole queues dropped: full, too old or link lost
    uint64_t flushed_packets = 0; //!< packets in flushed queues
    uint64_t overflowed = 0;      //!< single packets dropped: queue full, or too old
    uint64_t marked = 0;          //!< ECN: congestion experienced
    uint64_t delay_dropped = 0;   //!< dropped instead of marked
};

//! Waiting packets of one flow.
struct waiting_flow {
    address src, dst;
    uint8_t protocol = 0; //!< number in IP; 0: several flows that share one queue
    uint16_t src_port = 0, dst_port = 0; //!< 0 if the protocol has none
    size_t packets = 0, octets = 0;
    station_time since{}; //!< arrival of the oldest
};

//! Queue for one next hop in one class.
class packet_queue
{
public:
    //! Queues share \p stats, which outlives them.
    packet_queue(const queue_config& c, queue_stats& stats) : d_config(c), d_stats(stats)
    {
    }

    void put(station_time now, waiting_packet w, dedup d);
    /*! \brief The next packet. Null pointer: none. Drops packets that are too old or that
     *         wait too long, so call it when there is room for a packet.
     */
    const waiting_packet* next(station_time now);
    //! Removes the packet that next() has just returned.
    waiting_packet take();
    void flush();
    //! Drops packets that are too old.
    void expire(station_time now);

    bool empty() const { return d_octets == 0; }
    size_t octets_waiting() const { return d_octets; }
    //! Flows with waiting packets, in no particular order.
    std::vector<waiting_flow> flows() const;
    //! When the next packet gets too old.
    std::optional<station_time> expires() const;
    //! The first packet, at any age.
    const waiting_packet* peek() const;

private:
    // Addresses, protocol, ports.
    using flow_key = std::tuple<address, address, uint8_t, uint16_t, uint16_t>;
    struct flow {
        std::deque<waiting_packet> packets;
        size_t octets = 0;
        long deficit = 0;
        // RFC 8289.
        std::optional<station_time> above_until; // start of the delay above its target
        bool dropping = false;
        station_time drop_at{};
        unsigned drops = 0;
    };

    flow_key key_of(const packet_view& v) const;
    bool is_known(flow& f, waiting_packet& w, const packet_view& v, dedup d);
    void drop_head(flow& f);
    void forget_if_empty(const flow_key& k);
    bool too_much_delay(flow& f, station_time now);
    void obey_delay(flow& f, station_time now);

    queue_config d_config;
    queue_stats& d_stats;
    std::map<flow_key, flow> d_flows;
    std::deque<flow_key> d_fresh, d_turns; // both without duplicates
    size_t d_octets = 0;
};

} // namespace gr::hf::ip
