/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges/control_lines.h"

#include "modem_interface/udp_codec.h"

#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/streambuf.hpp>

#include <istream>
#include <memory>

namespace gr::hf {

using boost::asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::chrono::seconds line_limit{ 3 };
constexpr int max_asking = 8;

//! A connection whose line has not arrived.
struct asking {
    explicit asking(tcp::socket s)
        : socket(std::move(s)), line(modem_interface::max_control_line),
          timer(socket.get_executor())
    {
    }
    tcp::socket socket;
    boost::asio::streambuf line;
    boost::asio::steady_timer timer;
};

} // namespace

void control_lines::await(tcp::socket socket)
{
    if (d_asking >= max_asking) {
        on_refused();
        return; // the socket closes
    }
    ++d_asking;
    const auto a = std::make_shared<asking>(std::move(socket));
    a->timer.expires_after(line_limit);
    a->timer.async_wait([a](const error_code& error) {
        error_code ignored;
        if (!error)
            a->socket.close(ignored);
    });
    boost::asio::async_read_until(
        a->socket, a->line, '\n', [this, a](const error_code& error, size_t) {
            --d_asking;
            a->timer.cancel();
            std::string line;
            std::istream in(&a->line);
            std::getline(in, line);
            const auto port = modem_interface::parse_control_line(line);
            if (error || !port)
                on_refused();
            else
                on_port(std::move(a->socket), *port);
        });
}

} // namespace gr::hf
