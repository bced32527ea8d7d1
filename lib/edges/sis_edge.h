/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "edges/sis_connection.h"
#include "edges/sis_ranks.h"
#include "edges/tcp_acceptor.h"

#include <hf/time.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gr::hf {

/*! \brief The sockets of a SIS server: clients by TCP, each with its place, its rank and its flow
 *         (Annex A). Everything but stats() and port() runs on the thread of the io_context.
 *
 * What clients say is taken in portions, from one tick of station time to the next, so that all
 * together cannot flood the data link; data of a client that was told DATA_FLOW_OFF waits in its
 * connection beyond what was on its way.
 */
class sis_edge
{
public:
    struct settings {
        boost::asio::ip::tcp::endpoint where;
        size_t max_clients; //!< bound at a time
        size_t max_out;     //!< octets that may wait for one client that does not read
        sis_ranks ranks;
    };
    //! The data link, and who hears of it.
    struct surroundings {
        std::function<uint64_t()> new_client; //!< an id that grows from call to call
        std::function<void(uint64_t, const std::vector<uint8_t>&)> to_link; //!< primitive
        std::function<void(uint64_t)> gone; //!< a client that the data link knows of
        std::function<void(const std::string&)> tell, warn;
    };
    //! Counters since the start; clients: now connected.
    struct counters {
        uint64_t clients, accepted, refused, disconnected, from_clients, to_clients;
    };

    sis_edge(boost::asio::io_context& io, settings s, surroundings around);

    /*! \brief Bind and listen: from now on clients are taken, but not heard before start().
     *  \throws std::runtime_error naming the address and what the system said
     */
    void listen();
    //! Hear what clients say; listen() again at the same port after stop().
    void start();
    //! Close everything.
    void stop();
    //! Station time goes on: every client gets its portion.
    void tick(station_time now);
    //! A primitive of the data link for \p client; one that is not connected here is no error.
    void to_client(uint64_t client, std::vector<uint8_t> primitive);

    //! Bound port, also when 0 was asked for. Any thread.
    int port() const { return d_port; }
    //! Any thread.
    counters stats() const
    {
        return { d_connected,    d_accepted,     d_refused,
                 d_disconnected, d_from_clients, d_to_clients };
    }

private:
    //! From one tick (10 ms) to the next: far more than any modem sends.
    static constexpr unsigned primitives_per_tick = 32;
    static constexpr size_t octets_per_tick = 65540;

    struct client {
        std::shared_ptr<sis_connection> connection;
        ip::address from;
        int highest_rank = 0;
        bool asking = false; // S_BIND_REQUEST is with the data link
        bool bound = false;
        int rank = 0; // of the last bind
        int sap = 0;
        bool flow_off = false;
        bool told = false; // the data link knows of it
        size_t over = 0;   // octets of data taken since flow_off
        unsigned primitives = primitives_per_tick;
        size_t octets = octets_per_tick;
        std::optional<std::vector<uint8_t>> held; // data that waits for the flow
    };

    void accepted(boost::asio::ip::tcp::socket socket);
    void refused(const ip::address& from, const std::string& why);
    size_t visitors() const;
    uint64_t least_needed();
    bool may_bind(client& c, const std::vector<uint8_t>& request);
    bool make_room(int sap, int rank);
    void drop(uint64_t id);
    void take(uint64_t id);

    const settings d_settings;
    const surroundings d_around;
    tcp_acceptor d_acceptor;
    std::map<uint64_t, client> d_clients;
    bool d_running = false; // before, nobody would hear what clients say
    station_time d_tick{ -1 };
    std::atomic<int> d_port{ 0 };
    std::atomic<uint64_t> d_connected{ 0 }, d_accepted{ 0 }, d_refused{ 0 },
        d_disconnected{ 0 }, d_from_clients{ 0 }, d_to_clients{ 0 };
};

} // namespace gr::hf
