/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <functional>

namespace gr::hf {

/*! \brief Reads the first line of each connection to a modem in the UDP form: the port
 *         for its datagrams.
 *  \details Lives on the thread of the sockets. Strangers may connect and send nothing,
 *  so a connection has 3 s for its line, and at most eight wait at a time.
 */
class control_lines
{
public:
    //! \name Set before the first connection @{ The line has arrived.
    std::function<void(boost::asio::ip::tcp::socket, uint16_t port)> on_port;
    //! The line did not arrive, or too many connections wait.
    std::function<void()> on_refused;
    //! @}

    //! Takes a new connection.
    void await(boost::asio::ip::tcp::socket socket);

private:
    int d_asking = 0; // connections whose line has not arrived
};

} // namespace gr::hf
