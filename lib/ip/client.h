/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ip/classifier.h"
#include "ip/packet_queue.h"
#include "s5066/words/address.h"
#include <hf/station_time.h>

#include <memory>

namespace gr::hf::ip {

//! Entry of the address table: next hop of a prefix. Longest match wins.
struct table_entry {
    ip::prefix to;       //!< unicast or multicast
    s5066::address node; //!< node, or group for multicast
};

//! Settings of an IP client.
struct client_config {
    uint8_t sap = 9;  //!< Annex F: 9
    uint8_t rank = 0; //!< 0 to 14
    std::vector<table_entry> table;
    std::vector<filter_rule> filter = default_filter();
    //! Source of ICMP errors, one address for each family that gets them.
    std::vector<address> own;
    size_t mtu = 1500; //!< 576 to 2048; also bounded by the MTU of the bind
    /*! \brief Unconfirmed octets that SIS may hold for one node. Choose about 1.1 times a
     *         longest transmission. 2048 to 2^26.
     */
    size_t queue_octets = 168'000;
    queue_config queue; //!< for each node and class; its octets 2048 to 2^26
    //! Replaces queue.age_max in the interactive class.
    static constexpr station_time interactive_age_max = std::chrono::minutes(1);
    double rate = 9600;               //!< bit/s: how fast datagrams without ARQ are sent
                                      //!< to SIS
    dscp_table dscp = default_dscp(); //!< priority by DSCP, unless a rule sets another
    /*! \brief Take the mode from the TOS bits (RFC 1349) if no rule sets one, by the
     *         table of Annex F.12.4. Unicast with minimal delay or cost alone is sent
     *         without ARQ. Multicast with reliability is repeated once.
     */
    bool use_tos = false;
    uint8_t multicast_repeats = 0; //!< without ARQ: sent 1 + n times, 0 to 15
    bool fragment = true;          //!< fragment packets that are too big, without DF;
                                   //!< false: drop them
    /*! \brief Lower the windows that far hosts offer to local TCP senders, to one and a
     *         half times queue_octets for all connections together. Only with the fair
     *         queue.
     */
    bool clamp_window = true;
    size_t icmp_burst =
        5; //!< ICMP errors to one destination without a limit of their rate

    //! \throws std::invalid_argument names the value and what is allowed.
    void validate() const;
};

//! Counters since the start.
struct client_stats {
    uint64_t from_host = 0; //!< packets from the TUN device
    uint64_t sent = 0;      //!< passed to SIS
    uint64_t sent_octets = 0;
    uint64_t confirmed = 0;
    uint64_t rejected = 0; //!< rejected by SIS
    uint64_t received = 0; //!< passed to the TUN device
    uint64_t received_octets = 0;
    uint64_t bad_from_host = 0; //!< not an IP datagram
    uint64_t bad_from_hf = 0;   //!< malformed from HF
    uint64_t spoofed = 0;       //!< from HF with the source of another node
    uint64_t no_route = 0;
    uint64_t too_big = 0;
    uint64_t hops_exceeded = 0;
    uint64_t fragmented = 0;      //!< datagrams that were fragmented
    uint64_t windows_lowered = 0; //!< TCP segments from HF whose window clamp_window
                                  //!< lowered
    queue_stats queues;
    uint64_t icmp_sent = 0;
    uint64_t icmp_suppressed = 0; //!< ICMP errors over the rate limit
    uint64_t unreachable = 0;     //!< rejected by a rule with an ICMP error
    uint64_t host_overflow = 0;   //!< received, but not read by the host
    uint64_t invalid_primitives = 0;
    std::vector<uint64_t> per_rule; //!< packets matched, in the order of
                                    //!< client_config::filter
};

//! A flow with packets that wait for SIS.
struct client_flow {
    s5066::address node;      //!< next hop
    bool interactive = false; //!< class of the flow
    waiting_flow flow;
};

/*! \brief IP client of STANAG 5066 Annex F.12 (Edition 3): one datagram per U_PDU, SAP 9.
 *
 * Sans-I/O. on_packet() takes packets that the kernel routes to the TUN device,
 * poll_packet() returns packets for it. sis_in() and poll_sis() are the data link. After
 * each call drain both polls. Unicast is sent with ARQ, node confirmation, in order of
 * arrival. Multicast is sent without ARQ.
 *
 * Packets are queued per next hop and class, by one of two policies (queue_policy). SIS
 * is filled only to a limit, which is a sixteenth higher for the interactive class. If a
 * U_PDU cannot be delivered to a node, the queue of that node is dropped.
 */
class client
{
public:
    //! \throws std::invalid_argument names the value and what is allowed.
    explicit client(const client_config& c);
    ~client();

    void on_packet(station_time now, const uint8_t* p, size_t n); //!< from the TUN device
    std::optional<octets> poll_packet();                          //!< for the TUN device
    void sis_in(station_time now, const uint8_t* p, size_t n);    //!< one whole primitive
    void sis_reset(station_time now); //!< the SIS connection is new
    std::optional<octets> poll_sis();
    std::optional<station_time> next_deadline() const;
    void on_deadline(station_time now);

    bool bound() const;
    //! Octets that wait for \p node, all classes, not yet in SIS.
    size_t waiting(const s5066::address& node) const;
    //! The \p most flows with the most octets waiting, largest first.
    std::vector<client_flow> flows(size_t most) const;
    const client_stats& stats() const;
    const client_config& config() const;

private:
    class impl;
    std::unique_ptr<impl> d_impl;
};

} // namespace gr::hf::ip
