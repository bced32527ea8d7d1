/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ip/client.h"
#include "sim/stations/client_on_station.h"

namespace gr::hf::sim {

using octets = std::vector<uint8_t>;
using ip_on_station = client_on_station<ip::client>;

//! ICMP echo request of \p size octets with IP header, sequence number \p k.
octets echo_request(const ip::address& from, const ip::address& to, size_t size, int k);
//! A host's answer to a request. Empty: \p v is no request.
octets echo_reply(octets v);

//! IP client of station \p n, 1 or 2, for a data link of \p mode: the host is 10.66.0.n.
ip::client_config
ip_config(int n, const std::string& mode, const ip::queue_config& queue);

//! Two stations with an IP client each, 10.66.0.1 and 10.66.0.2.
struct ip_hosts {
    ip_hosts(const std::string& mode,
             const std::string& ack_mode,
             const air_path& on_path,
             uint64_t seed,
             const ip::queue_config& queue = {},
             bool ping_arq = true);

    //! The host of \p from sends a datagram.
    void send(ip_on_station& from, const octets& packet);
    //! Packets for the host of \p c are passed to \p f.
    void to_host(ip_on_station& c, std::function<void(octets)> f);

    const ip::address address_a{ "10.66.0.1" }, address_b{ "10.66.0.2" };
    scheduler s;
    emulated_air air;
    station station_a, station_b;
    ip_on_station a, b;
};

} // namespace gr::hf::sim
