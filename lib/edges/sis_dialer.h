/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "edges/sis_connection.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gr::hf {

/*! \brief For each client inside a connection of its own to a SIS server outside (Annex A).
 *
 * Lives on the thread of the io_context. A client's S_BIND_REQUEST makes its connection; when there
 * is none, or it breaks, the client hears that as a SIS server would say it. One that sends faster
 * than the server reads is stopped by S_DATA_FLOW_OFF, whatever the server's own flow control says.
 */
class sis_dialer
{
public:
    //! Since construction; to be read on any thread.
    struct counters {
        std::atomic<uint64_t> connected{ 0 }; //!< connections made
        std::atomic<uint64_t> failed{ 0 };    //!< that could not be made
        std::atomic<uint64_t> lost{ 0 };      //!< that broke
        std::atomic<uint64_t> in{ 0 };        //!< primitives from servers
        std::atomic<uint64_t> out{ 0 };       //!< primitives to servers
    };

    //! \param host name or address of the server, \param port its TCP port
    sis_dialer(boost::asio::io_context& io, std::string host, int port);
    ~sis_dialer();

    //! \name Set before the first call
    //! @{
    //! A primitive for the client of that number.
    std::function<void(uint64_t client, const std::vector<uint8_t>& primitive)>
        on_primitive;
    //! For the operator: no connection, and why, once until there is one; or one is lost.
    std::function<void(const std::string&)> on_trouble;
    //! @}

    //! One whole primitive of a client.
    void from_client(uint64_t client, std::vector<uint8_t> primitive);
    //! The client has gone.
    void forget(uint64_t client);
    //! All have gone; nothing is called any more until the next from_client().
    void close();
    const counters& count() const { return d_count; }

private:
    struct client;
    using client_ptr = std::shared_ptr<client>;

    void connect(uint64_t id, std::vector<uint8_t> bind);
    bool current(uint64_t id, const client_ptr& c) const;
    void failed(uint64_t id, const client_ptr& c, const std::string& why);
    void connected(uint64_t id, const client_ptr& c);
    void to_client(uint64_t id);
    void written(uint64_t id);

    boost::asio::io_context& d_io;
    const std::string d_host, d_port;
    counters d_count;
    std::map<uint64_t, client_ptr> d_clients;
    bool d_said = false;
};

} // namespace gr::hf
