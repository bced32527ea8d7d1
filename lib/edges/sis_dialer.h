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

/*! \brief Gives each local client its own connection to a remote SIS server (Annex A).
 *
 * Lives on the thread of the io_context. A client's S_BIND_REQUEST makes its connection.
 * If that fails or breaks, the client is notified as a SIS server would do it. A client
 * that sends faster than the server reads is stopped by S_DATA_FLOW_OFF, regardless of
 * the server's own flow control.
 */
class sis_dialer
{
public:
    //! Since construction. Any thread may read them.
    struct counters {
        std::atomic<uint64_t> connected{ 0 }; //!< connections made
        std::atomic<uint64_t> failed{ 0 };    //!< attempts that failed
        std::atomic<uint64_t> lost{ 0 };      //!< connections that broke
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
    //! For the operator: no connection, with the reason, once until one is made; or a
    //! connection is lost.
    std::function<void(const std::string&)> on_trouble;
    //! @}

    //! One whole primitive of a client.
    void from_client(uint64_t client, std::vector<uint8_t> primitive);
    //! The client has closed.
    void forget(uint64_t client);
    //! All clients have closed. No callbacks until the next from_client().
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
