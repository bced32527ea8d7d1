/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ip/packet.h"
#include <hf/station_time.h>

#include <deque>
#include <map>
#include <optional>

namespace gr::hf::sim {

/*! \brief Model of one bulk TCP transfer as hosts do it, as load for an IP client:
 *         three-way handshake, slow start, congestion avoidance, fast retransmit and
 *         recovery (RFC 5681, 6582), retransmission timer (RFC 6298), delayed ACKs, one
 *         receive window.
 *  \details Both ends in one object; packets are whole IPv4 datagrams.
 */
class tcp_model
{
public:
    struct config {
        ip::address client, server;
        uint16_t port = 10000; //!< port of the client
        size_t octets = 100'000;
        size_t mss = 1460;
        size_t window = 6'000'000;                          //!< window of the receiver
        station_time timeout = station_time(1'000'000'000); //!< first timeout, RFC 6298
    };
    explicit tcp_model(const config& c);

    //! Starts with a SYN.
    void start(station_time now);
    //! A datagram for the end \p at_server. Others are ignored.
    void packet_in(station_time now, bool at_server, const ip::packet_view& v);
    //! Next datagram of an end for its IP client.
    std::optional<ip::octets> poll(bool at_server);
    std::optional<station_time> next_deadline() const;
    void on_deadline(station_time now);

    //! Everything has arrived and the client knows it.
    bool done() const { return d_acked >= d_config.octets; }
    size_t received() const { return d_server.received; }
    uint64_t segments_sent() const { return d_sent; }
    uint64_t segments_again() const { return d_again; }
    uint64_t timeouts() const { return d_timeouts; }

private:
    // The server's side: what it received, and when it acknowledges.
    struct data_received {
        size_t received = 0;            // without a gap
        std::map<size_t, size_t> ahead; // start, end of octets after a gap
        std::optional<station_time> delayed_ack;
        int unacked = 0; // segments
    };

    void send(bool from_server, uint8_t flags, size_t seq, size_t ack, size_t payload);
    void send_segment(station_time now, size_t at);
    void send_more(station_time now);
    void on_ack(station_time now, size_t ack);
    void arm(station_time now) { d_timer = now + d_rto; }

    config d_config;
    std::deque<ip::octets> d_out[2];
    bool d_open = false;
    // State of the client: offsets into the data.
    size_t d_acked = 0, d_next = 0, d_highest = 0, d_recover = 0;
    double d_cwnd = 0, d_threshold = 1e9;
    int d_same_acks = 0;
    bool d_recovering = false;
    station_time d_rto;
    double d_srtt = -1, d_rttvar = 0;
    std::optional<station_time> d_timer;
    std::optional<std::pair<size_t, station_time>>
        d_timed; // offset at which the sample ends
    uint64_t d_sent = 0, d_again = 0, d_timeouts = 0;
    data_received d_server;
};

} // namespace gr::hf::sim
