/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "edges/tcp_acceptor.h"
#include "edges/tcp_listener.h"
#include "pep/proxy.h"
#include "tls/session.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace gr::hf {

/*! \brief The sockets of HF-PEP: reports their events to the engine and does what it
 *         wants. Everything runs on the thread of the io_context.
 */
class tcp_edge
{
public:
    /*! \param clock station time
     *  \param pump called after each event from a socket
     *  \param ca for rules with TLS apart; null: the engine has none
     */
    tcp_edge(boost::asio::io_context& io,
             hfpep::proxy& engine,
             std::function<station_time()> clock,
             std::function<void()> pump,
             std::shared_ptr<tls::authority> ca = nullptr);
    ~tcp_edge();

    //! \throws std::runtime_error with the listener and the system's error.
    void listen(const tcp_listener& l);
    //! Do what the engine wants. False if it wanted nothing.
    bool drain();
    //! Close listeners and connections at once.
    void close();

    //! Bound ports, in the order of listen().
    std::vector<uint16_t> ports() const;
    size_t open_sockets() const { return d_connections.size(); }
    //! Connections that the system did not hand over, mostly for lack of descriptors.
    uint64_t accept_errors() const { return d_accept_errors; }

private:
    class connection;

    void accepted(const tcp_listener& l, boost::asio::ip::tcp::socket socket);
    void make_room_to_ask();
    void connect(const hfpep::action& a);
    void forget(hfpep::connection_id id);

    boost::asio::io_context& d_io;
    hfpep::proxy& d_engine;
    std::function<station_time()> d_clock;
    std::function<void()> d_pump;
    std::shared_ptr<tls::authority> d_ca;
    std::optional<tls::context> d_programs, d_servers; // made at the first use
    std::vector<std::unique_ptr<tcp_acceptor>> d_acceptors;
    std::unordered_map<hfpep::connection_id, std::shared_ptr<connection>> d_connections;
    hfpep::connection_id d_next_id = 1;
    uint64_t d_accept_errors = 0;
};

} // namespace gr::hf
