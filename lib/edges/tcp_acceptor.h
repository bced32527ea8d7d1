/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace gr::hf {

//! How a listening socket accepts connections.
enum class listen_as {
    ordinary,
    transparent //!< to any address, as TPROXY passes them on; needs CAP_NET_ADMIN
};

/*! \brief One listening TCP socket and the connections that it accepts.
 *
 * Lives on an io_thread, like all its calls and callbacks. An accept that fails (for
 * example without free descriptors) is tried again after a pause, since the next try
 * would fail at once, again and again.
 */
class tcp_acceptor
{
public:
    //! \param who name of the listener in messages to the operator, for example "SIS
    //! server"
    tcp_acceptor(boost::asio::io_context& io, std::string who);
    ~tcp_acceptor();

    std::function<void(boost::asio::ip::tcp::socket)> on_accepted;
    //! An accept has failed.
    std::function<void()> on_failed = [] {};

    /*! \brief Open, bind, listen and accept connections from now on. An IPv6 address
     *         accepts only IPv6.
     *  \throws std::runtime_error "<who> cannot listen on <address>: <why>".
     */
    void listen(const boost::asio::ip::tcp::endpoint& where,
                listen_as how = listen_as::ordinary);

    bool is_open() const;
    //! Bound port, also if 0 was requested. Only while open.
    uint16_t port() const;
    //! No callback is called any more.
    void close();

private:
    struct state;
    static void accept(const std::shared_ptr<state>& s, tcp_acceptor& self);

    boost::asio::io_context& d_io;
    const std::string d_who;
    // Pending handlers may outlive this object.
    std::shared_ptr<state> d_state;
};

/*! \brief Endpoint to listen on, from a user's \p address and \p port (0: any free one).
 *  \throws std::invalid_argument names what is not allowed.
 */
boost::asio::ip::tcp::endpoint listen_endpoint(const std::string& address, int port);

} // namespace gr::hf
