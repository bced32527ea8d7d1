/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem_interface/wire.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace gr::hf {

//! Whether \p form is udp. \throws std::invalid_argument
bool udp_form(const std::string& form);

/*! \brief The sockets of one connection of the LAN interface, for either end and form.
 *
 * Lives on the thread of the io_context. The block's own thread shares the session, so it
 * is accessed only under the mutex. Late handlers do nothing.
 */
class wire_edge : public std::enable_shared_from_this<wire_edge>
{
public:
    /*! \param session outlives the io_context's thread
     *  \param clock of the host, for the session
     */
    wire_edge(boost::asio::io_context& io,
              modem_interface::wire& session,
              std::mutex& mutex,
              std::function<station_time()> clock);

    //! \name Set before open() @{ Called with the mutex, after each event for the
    //! session.
    std::function<void()> after;
    //! Called without the mutex, once: the connection has ended, with the reason.
    std::function<void(const std::string&)> on_closed;
    //! @}

    //! TCP form.
    void open(boost::asio::ip::tcp::socket stream);
    //! UDP form: datagrams to and from \p peer for as long as \p control is open.
    void open(boost::asio::ip::tcp::socket control,
              boost::asio::ip::udp::socket datagrams,
              boost::asio::ip::udp::endpoint peer);
    //! After each event for the session: do all that it wants.
    void pump();
    void close(const std::string& why);

private:
    using error_code = boost::system::error_code;

    void begin();
    void read();
    void read_datagrams();
    void write();
    void set_timer(std::optional<station_time> due);
    template <class F>
    void tell(F f);

    modem_interface::wire& d_session;
    std::mutex& d_mutex;
    const std::function<station_time()> d_clock;
    boost::asio::ip::tcp::socket d_stream; // the control connection in the UDP form
    std::optional<boost::asio::ip::udp::socket> d_datagrams;
    boost::asio::ip::udp::endpoint d_peer, d_from;
    boost::asio::steady_timer d_timer;
    std::array<uint8_t, 8192> d_in;
    std::array<uint8_t, 2048> d_datagram;
    modem_interface::octets d_out;
    std::optional<station_time> d_end_at; // finished: deadline for the last octets to
                                          // leave
    std::string d_why;
    bool d_open = false;
    bool d_reading = false, d_writing = false;
};

} // namespace gr::hf
