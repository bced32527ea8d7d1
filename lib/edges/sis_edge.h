/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "edges/sis_connection.h"
#include "edges/sis_ranks.h"
#include "edges/tcp_acceptor.h"

#include <hf/station_time.h>

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

/*! \brief The sockets of a SIS server: clients by TCP, each with its place, its rank and
 *         its flow (Annex A). Everything but stats() and port() runs on the thread of the
 *         io_context.
 *
 * Primitives of clients are taken in portions, one for each tick of station time, so that
 * clients cannot flood the data link. Data of a client that got DATA_FLOW_OFF waits in
 * its connection, except what was already on its way.
 */
class sis_edge
{
public:
    struct settings {
        boost::asio::ip::tcp::endpoint where;
        size_t max_clients; //!< clients bound at the same time
        size_t max_out;     //!< octets that may wait for one client that does not read
        sis_ranks ranks;
    };
    //! The data link, as callbacks.
    struct surroundings {
        std::function<uint64_t()> new_client; //!< returns an id that increases from call
                                              //!< to call
        std::function<void(uint64_t, const std::vector<uint8_t>&)>
            to_link;                        //!< a primitive
        std::function<void(uint64_t)> gone; //!< a client that the data link knows has
                                            //!< closed
        std::function<void(const std::string&)> tell, warn;
    };
    //! Counters since the start. clients: connected now.
    struct counters {
        uint64_t clients, accepted, refused, disconnected, from_clients, to_clients;
    };

    sis_edge(boost::asio::io_context& io, settings s, surroundings around);

    /*! \brief Bind and listen. Clients may connect from now on. Their primitives are read
     *         after start().
     *  \throws std::runtime_error with the address and the system's error
     */
    void listen();
    //! Read primitives of clients. Listens again at the same port after stop().
    void start();
    //! Close everything.
    void stop();
    //! Station time has advanced. Every client gets its credit for this tick.
    void tick(station_time now);
    //! A primitive of the data link for \p client. It is ignored if the client is not
    //! connected here.
    void to_client(uint64_t client, std::vector<uint8_t> primitive);

    //! Bound port, also if 0 was requested. Any thread.
    int port() const { return d_port; }
    //! Any thread.
    counters stats() const
    {
        return { d_connected,    d_accepted,     d_refused,
                 d_disconnected, d_from_clients, d_to_clients };
    }

private:
    //! For one tick (10 ms): far more than any modem sends.
    static constexpr unsigned primitives_per_tick = 32;
    static constexpr size_t octets_per_tick = 65540;

    struct client {
        std::shared_ptr<sis_connection> connection;
        ip::address from;
        int highest_rank = 0;
        bool asking = false; // S_BIND_REQUEST waits in the data link
        bool bound = false;
        int rank = 0; // rank of the last bind
        int sap = 0;
        bool flow_off = false;
        bool announced = false; // the data link knows the client
        size_t over = 0;        // octets of data taken since flow_off
        unsigned primitives = primitives_per_tick;
        size_t octets = octets_per_tick;
        std::optional<std::vector<uint8_t>> held; // data that waits for DATA_FLOW_ON
    };

    void accepted(boost::asio::ip::tcp::socket socket);
    void refused(const ip::address& from, const std::string& why);
    size_t visitors() const;
    uint64_t min_needed();
    bool may_bind(client& c, const std::vector<uint8_t>& request);
    bool make_room(int sap, int rank);
    void drop(uint64_t id);
    void take(uint64_t id);

    const settings d_settings;
    const surroundings d_around;
    tcp_acceptor d_acceptor;
    std::map<uint64_t, client> d_clients;
    bool d_running = false; // false: nothing receives the primitives yet
    station_time d_tick{ -1 };
    std::atomic<int> d_port{ 0 };
    std::atomic<uint64_t> d_connected{ 0 }, d_accepted{ 0 }, d_refused{ 0 },
        d_disconnected{ 0 }, d_from_clients{ 0 }, d_to_clients{ 0 };
};

} // namespace gr::hf
