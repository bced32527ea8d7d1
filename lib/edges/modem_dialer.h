/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace gr::hf {

/*! \brief Connects a data link to a modem's LAN interface (110C Appendix A). In the UDP
 *         form it exchanges the port numbers. It tries again every 2 s until it succeeds.
 *  \details Lives on the thread of the io_context. An attempt ends after 10 s.
 */
class modem_dialer
{
public:
    /*! \param host name or address of the modem, \param port its TCP port
     *  \param udp the UDP form: the connection is for control, data goes in datagrams
     */
    modem_dialer(boost::asio::io_context& io, std::string host, int port, bool udp);

    //! \name Results, set before start(), not called after stop() @{ Connected in the TCP
    //! form.
    std::function<void(boost::asio::ip::tcp::socket)> on_stream;
    //! Connected in the UDP form: control connection, our socket, the modem's address.
    std::function<void(boost::asio::ip::tcp::socket,
                       boost::asio::ip::udp::socket,
                       boost::asio::ip::udp::endpoint)>
        on_control;
    //! An attempt has failed, with the reason. The next one follows by itself.
    std::function<void(const std::string&)> on_failed;
    //! @}

    //! Connect now.
    void start();
    //! The connection is lost: connect again after the usual pause.
    void again();
    //! No more attempts until start().
    void stop();

private:
    struct attempt;
    using attempt_ptr = std::shared_ptr<attempt>;

    void connect();
    void ask_control(const attempt_ptr& a);
    void ready(const attempt_ptr& a, std::optional<uint16_t> udp_port);
    void failed(const attempt_ptr& a, const std::string& why);

    boost::asio::io_context& d_io;
    const std::string d_host, d_port;
    const bool d_udp;
    boost::asio::steady_timer d_timer;
    attempt_ptr d_attempt;
    bool d_running = false;
};

} // namespace gr::hf
