/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges/modem_dialer.h"

#include "modem_interface/udp_codec.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>

#include <istream>

namespace gr::hf {

using boost::asio::ip::tcp;
using boost::asio::ip::udp;
using boost::system::error_code;

namespace {

constexpr std::chrono::seconds connect_limit{ 10 };
constexpr std::chrono::seconds connect_again{ 2 };

} // namespace

//! An attempt to connect.
struct modem_dialer::attempt {
    explicit attempt(boost::asio::io_context& io)
        : resolver(io), socket(io), datagrams(io),
          line(modem_interface::max_control_line), timer(io)
    {
    }
    void end()
    {
        error_code ignored;
        resolver.cancel();
        timer.cancel();
        socket.close(ignored);
        datagrams.close(ignored);
    }
    tcp::resolver resolver;
    tcp::socket socket;
    udp::socket datagrams;
    boost::asio::streambuf line;
    std::string hello;
    boost::asio::steady_timer timer;
};

modem_dialer::modem_dialer(boost::asio::io_context& io,
                           std::string host,
                           int port,
                           bool udp)
    : d_io(io), d_host(std::move(host)), d_port(std::to_string(port)), d_udp(udp),
      d_timer(io)
{
}

void modem_dialer::start()
{
    d_running = true;
    connect();
}

void modem_dialer::stop()
{
    d_running = false;
    d_timer.cancel();
    if (d_attempt)
        d_attempt->end();
    d_attempt.reset();
}

void modem_dialer::connect()
{
    const auto a = d_attempt = std::make_shared<attempt>(d_io);
    a->timer.expires_after(connect_limit);
    a->timer.async_wait([this, a](const error_code& error) {
        if (!error)
            failed(a, "no answer");
    });
    a->resolver.async_resolve(
        d_host,
        d_port,
        [this, a](const error_code& error, const tcp::resolver::results_type& found) {
            if (error) {
                failed(a, error.message());
                return;
            }
            boost::asio::async_connect(
                a->socket, found, [this, a](const error_code& e, const tcp::endpoint&) {
                    if (e)
                        failed(a, e.message());
                    else if (d_udp)
                        ask_control(a);
                    else
                        ready(a, {});
                });
        });
}

void modem_dialer::ask_control(const attempt_ptr& a)
{
    error_code error;
    const auto local = a->socket.local_endpoint(error);
    if (!error)
        a->datagrams.open(local.address().is_v4() ? udp::v4() : udp::v6(), error);
    if (!error)
        a->datagrams.bind({ local.address(), 0 }, error);
    if (!error)
        a->datagrams.non_blocking(true, error);
    if (error) {
        failed(a, error.message());
        return;
    }
    a->hello = modem_interface::control_line(a->datagrams.local_endpoint().port()) + "\n";
    boost::asio::async_write(
        a->socket,
        boost::asio::buffer(a->hello),
        [this, a](const error_code& failure, size_t) {
            if (failure) {
                failed(a, failure.message());
                return;
            }
            boost::asio::async_read_until(
                a->socket, a->line, '\n', [this, a](const error_code& e, size_t) {
                    std::string line;
                    std::istream in(&a->line);
                    std::getline(in, line);
                    const auto port = modem_interface::parse_control_line(line);
                    if (e)
                        failed(a, e.message());
                    else if (!port)
                        failed(a, line == "BUSY" ? "busy" : "no control connection");
                    else
                        ready(a, port);
                });
        });
}

void modem_dialer::ready(const attempt_ptr& a, std::optional<uint16_t> udp_port)
{
    if (a != d_attempt)
        return;
    d_attempt.reset();
    a->timer.cancel();
    if (!udp_port) {
        on_stream(std::move(a->socket));
        return;
    }
    error_code ignored;
    const auto far = a->socket.remote_endpoint(ignored);
    on_control(
        std::move(a->socket), std::move(a->datagrams), { far.address(), *udp_port });
}

void modem_dialer::failed(const attempt_ptr& a, const std::string& why)
{
    if (a != d_attempt)
        return;
    a->end();
    d_attempt.reset();
    on_failed(why);
    again();
}

void modem_dialer::again()
{
    d_timer.expires_after(connect_again);
    d_timer.async_wait([this](const error_code& error) {
        if (!error && d_running)
            connect();
    });
}

} // namespace gr::hf
