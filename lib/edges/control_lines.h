/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <functional>

namespace gr::hf {

/*! \brief Reads the first line of those who connect to a modem in the UDP form: the port that they
 *         take datagrams at.
 *  \details Lives on the thread of the sockets. Strangers may connect and say nothing: a connection
 *  has 3 s for its line, and eight at a time are heard.
 */
class control_lines
{
public:
    //! \name Set before the first connection
    //! @{
    //! The line has come.
    std::function<void(boost::asio::ip::tcp::socket, uint16_t port)> on_port;
    //! None has, or there are too many.
    std::function<void()> on_refused;
    //! @}

    //! Takes a connection that has just been made.
    void await(boost::asio::ip::tcp::socket socket);

private:
    int d_asking = 0; // have not sent their line
};

} // namespace gr::hf
