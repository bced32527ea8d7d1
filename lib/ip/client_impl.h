/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ip/client.h"
#include "slep/sis_client.h"
#include "slep/u_pdu_ledger.h"

#include <array>
#include <deque>
#include <map>

/*! \file Inside of the IP client: client.cc has the public calls and the path of a
 *  packet, client_queue.cc the queues and SIS.
 */
namespace gr::hf::ip {

//! Classes of a queue, in the order of service.
enum service : size_t { interactive = 0, ordinary = 1 };

//! Queue for one next hop.
struct hop_state {
    hop_state(const client_config& c, queue_stats& stats);
    std::array<packet_queue, 2> queue;
    std::array<size_t, 2> outstanding{}; // octets in SIS, with an allowance per U_PDU
    size_t all_outstanding() const { return outstanding[0] + outstanding[1]; }
};

//! Token bucket of ICMP errors to one address.
struct bucket {
    double tokens = 0;
    station_time at{};
};

class client::impl
{
public:
    explicit impl(const client_config& c);

    // in client.cc
    void on_packet(const uint8_t* p, size_t n);
    void from_hf(const s5066::s_unidata_indication& u);

    // in client_queue.cc
    void sis_in(const uint8_t* p, size_t n);
    void lost_sis();
    std::optional<octets> poll_sis();
    std::optional<station_time> next_deadline() const;
    void on_deadline();

    client_config d_config;
    client_stats d_stats;
    s5066::sis_client d_sis;
    station_time d_now{};
    std::deque<octets> d_to_host;
    std::map<s5066::address, hop_state> d_hops;

private:
    // in client.cc
    const filter_rule* classify(const packet_view& v);
    const s5066::address* route(const address& a) const;
    void error(icmp_error e, const packet_view& about);
    bool icmp_allowed(const address& to);
    void to_host(octets packet);
    size_t mtu() const;
    void clamp(octets& packet, int version) const;
    void queue_packet(const packet_view& v, const filter_rule& rule);

    // in client_queue.cc
    hop_state& hop_of(const s5066::address& node);
    station_time age_limit(service s) const;
    bool room(const hop_state& hop, service s, const waiting_packet& w) const;
    octets submit(const s5066::address& node, hop_state& hop, service s);
    void settled(const s5066::address& node,
                 uint8_t sap,
                 const octets& head,
                 std::optional<uint8_t> reject_reason);

    prefix_table<s5066::address> d_table;
    std::map<address, bucket> d_buckets;
    size_t d_host_octets = 0;
    //! A U_PDU in SIS.
    struct held {
        service s;
        std::optional<segment_key> segment;
        std::optional<tcp_direction> ack; // direction in d_acks if it is a pure ACK
        uint64_t number = 0;
    };
    //! The newest pure ACK of a connection in SIS.
    struct newest_ack {
        uint64_t number = 0;
        uint32_t ack = 0;
        waiting_packet packet;
    };
    void outdated(const s5066::u_pdu_ledger<held>::entry& e);
    station_time ack_life() const;
    void release(const s5066::u_pdu_ledger<held>::entry& e, bool delivered = false);
    s5066::u_pdu_ledger<held> d_in_sis;
    tcp_flows d_tcp;
    std::map<tcp_direction, newest_ack> d_acks;
    uint64_t d_next_ack = 1;
    station_time d_sent_until{}; // when SIS will have sent the datagrams without ARQ
    s5066::address d_last;       // node served last, for taking turns

    friend class client;
};

} // namespace gr::hf::ip
