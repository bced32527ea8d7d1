/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ip/classifier.h"
#include "ip/tcp_help.h"
#include <hf/time.h>

#include <deque>
#include <map>
#include <tuple>
#include <vector>

namespace gr::hf::ip {

//! What happens in a queue that the link does not empty fast enough.
enum class queue_policy {
    //! One queue. Too long or too old, it is dropped as a whole, so that all losses of a TCP
    //! connection fall together.
    whole,
    //! A queue for each flow, served in turn by octets (RFC 8290 without its hash); those
    //! new or seldom come first. The longest one loses its oldest packet when there is too
    //! much; a flow that keeps packets waiting is marked (ECN) or loses one (RFC 8289).
    fair
};

//! Settings of a queue.
struct queue_config {
    queue_policy policy = queue_policy::fair;
    size_t octets_max = 360'000;
    station_time age_max = station_time(300'000'000'000);
    //! Fair only: standing delay that is accepted, and how long it must stand. A round trip
    //! contains two transmissions.
    station_time delay_target = station_time(30'000'000'000);
    station_time delay_interval = station_time(300'000'000'000);
    //! Of the pure ACKs of a TCP connection only the newest waits. In SIS, too, where it
    //! lives only until the next one should be there, and comes again if it is not.
    bool thin_acks = true;
    //! A TCP segment (a SYN, too) that is already waiting does not wait twice, nor does one
    //! that SIS holds unconfirmed, since ARQ will deliver it, or that was delivered a minute
    //! ago at most while the far side has not been heard since.
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
    bool insist = false; //!< an ACK that became too old in SIS and is still the newest
};

//! Counters of queues.
struct queue_stats {
    uint64_t duplicates = 0;      //!< an equal packet waited already
    uint64_t repeats_dropped = 0; //!< TCP segments that waited already
    uint64_t acks_thinned = 0;    //!< waiting, or outlived in SIS
    uint64_t flushed_queues = 0;  //!< whole queues dropped: full, old or link lost
    uint64_t flushed_packets = 0; //!< packets in them
    uint64_t overflowed = 0;      //!< single packets dropped: full or old
    uint64_t marked = 0;          //!< ECN: congestion experienced
    uint64_t delay_dropped = 0;   //!< instead of a mark
};

//! Packets of one flow that wait.
struct waiting_flow {
    address src, dst;
    uint8_t protocol = 0; //!< number in IP; 0: of several flows that share one queue
    uint16_t src_port = 0, dst_port = 0; //!< 0 where the protocol has none
    size_t packets = 0, octets = 0;
    station_time since{}; //!< the oldest of them waits
};

//! What waits for one next hop in one class.
class packet_queue
{
public:
    //! \p stats is shared by queues and outlives them.
    packet_queue(const queue_config& c, queue_stats& stats) : d_config(c), d_stats(stats)
    {
    }

    void put(station_time now, waiting_packet w, dedup d);
    /*! \brief The packet that goes next; empty pointer: none. Drops what is too old and what
     *         the delay demands, so call it when there is room for a packet.
     */
    const waiting_packet* next(station_time now);
    //! Takes out what next() has just pointed to.
    waiting_packet take();
    void flush();
    //! Drops what is too old.
    void expire(station_time now);

    bool empty() const { return d_octets == 0; }
    size_t octets_waiting() const { return d_octets; }
    //! Flows that have something waiting, in no particular order.
    std::vector<waiting_flow> flows() const;
    //! When something gets too old.
    std::optional<station_time> expires() const;
    //! The packet at the head of the line, whatever its age.
    const waiting_packet* peek() const;

private:
    // Addresses, protocol, ports.
    using flow_key = std::tuple<address, address, uint8_t, uint16_t, uint16_t>;
    struct flow {
        std::deque<waiting_packet> packets;
        size_t octets = 0;
        long deficit = 0;
        // RFC 8289.
        std::optional<station_time> above_until; // the delay is above its target since
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
    std::deque<flow_key> d_fresh, d_turns; // both without repeats
    size_t d_octets = 0;
};

} // namespace gr::hf::ip
