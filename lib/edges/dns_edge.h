/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "dns/forwarder.h"
#include "edges/tcp_acceptor.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace gr::hf {

/*! \brief "ADDRESS[:PORT]", IPv6 with a port in brackets; port 53 by default.
 *  \throws std::invalid_argument that names \p text and what is allowed.
 */
boost::asio::ip::udp::endpoint parse_dns_endpoint(const std::string& text);

/*! \brief The sockets of DNS-PEP: clients by UDP and TCP, and the upstream resolver.
 *         Everything runs on the thread of the io_context.
 */
class dns_edge
{
public:
    /*! \param clock station time
     *  \param pump called after each event from a socket
     */
    dns_edge(boost::asio::io_context& io,
             dns::forwarder& engine,
             std::function<station_time()> clock,
             std::function<void()> pump);
    ~dns_edge();

    //! UDP and TCP. \throws std::runtime_error with the address and the system's error.
    void listen(const boost::asio::ip::udp::endpoint& where);
    //! Resolver for the questions of peers.
    void set_resolver(const boost::asio::ip::udp::endpoint& where) { d_resolver = where; }
    //! Do what the engine wants. False if it wanted nothing.
    bool drain();
    //! Close all sockets at once.
    void close();

private:
    struct udp_listener;
    class tcp_client;
    class question; // see dns_question.h
    //! A client that waits for a reply: by UDP a socket and an address, by TCP a
    //! connection.
    struct waiting {
        std::weak_ptr<udp_listener> by_udp;
        boost::asio::ip::udp::endpoint to;
        std::weak_ptr<tcp_client> by_tcp;
        dns::octets query;
    };
    using repeat_key = std::tuple<int, boost::asio::ip::udp::endpoint, unsigned>;

    void receive(const std::shared_ptr<udp_listener>& l);
    void accepted(boost::asio::ip::tcp::socket socket);
    void query(waiting w);
    void reply(uint64_t client, dns::octets message);
    static repeat_key key_of(const waiting& w);

    boost::asio::io_context& d_io;
    dns::forwarder& d_engine;
    std::function<station_time()> d_clock;
    std::function<void()> d_pump;
    boost::asio::ip::udp::endpoint d_resolver;
    std::vector<std::shared_ptr<udp_listener>> d_udp;
    std::vector<std::unique_ptr<tcp_acceptor>> d_tcp;
    std::set<std::shared_ptr<tcp_client>> d_clients;
    std::set<std::shared_ptr<question>> d_questions;
    std::map<uint64_t, waiting> d_waiting;
    std::set<repeat_key> d_repeats;
    uint64_t d_next = 1;
};

} // namespace gr::hf
