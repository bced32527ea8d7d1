/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges/tcp_acceptor.h"

#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/steady_timer.hpp>

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <sstream>
#include <stdexcept>

namespace gr::hf {

using boost::asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr auto pause_after_failure = std::chrono::milliseconds(200);

error_code make_transparent(tcp::acceptor& acceptor, bool v6)
{
    const int on = 1;
    const int failed = ::setsockopt(acceptor.native_handle(),
                                    v6 ? SOL_IPV6 : SOL_IP,
                                    v6 ? IPV6_TRANSPARENT : IP_TRANSPARENT,
                                    &on,
                                    sizeof(on));
    return failed ? error_code(errno, boost::system::system_category()) : error_code();
}

} // namespace

struct tcp_acceptor::state {
    explicit state(boost::asio::io_context& io) : acceptor(io), retry(io) {}
    tcp::acceptor acceptor;
    boost::asio::steady_timer retry;
};

tcp_acceptor::tcp_acceptor(boost::asio::io_context& io, std::string who)
    : d_io(io), d_who(std::move(who))
{
}

tcp_acceptor::~tcp_acceptor() { close(); }

void tcp_acceptor::listen(const tcp::endpoint& where, listen_as how)
{
    close();
    auto s = std::make_shared<state>(d_io);
    const bool v6 = where.address().is_v6();
    error_code error;
    std::string hint;
    s->acceptor.open(where.protocol(), error);
    if (!error)
        s->acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error && v6)
        s->acceptor.set_option(boost::asio::ip::v6_only(true), error);
    if (!error && how == listen_as::transparent) {
        error = make_transparent(s->acceptor, v6);
        hint = error ? " (a transparent socket needs CAP_NET_ADMIN)" : "";
    }
    if (!error) {
        s->acceptor.bind(where, error);
        if (error == boost::asio::error::access_denied)
            hint = " (ports below 1024 need CAP_NET_BIND_SERVICE)";
    }
    if (!error)
        s->acceptor.listen(boost::asio::socket_base::max_listen_connections, error);
    if (error) {
        std::ostringstream text;
        text << d_who << " cannot listen on " << where << ": " << error.message() << hint;
        throw std::runtime_error(text.str());
    }
    d_state = s;
    accept(s, *this);
}

void tcp_acceptor::accept(const std::shared_ptr<state>& s, tcp_acceptor& self)
{
    s->acceptor.async_accept([s, &self](const error_code& error, tcp::socket socket) {
        if (!s->acceptor.is_open())
            return; // self may no longer exist
        if (error) {
            s->retry.expires_after(pause_after_failure);
            s->retry.async_wait([s, &self](const error_code& stopped) {
                if (!stopped && s->acceptor.is_open())
                    accept(s, self);
            });
            self.on_failed();
            return;
        }
        self.on_accepted(std::move(socket));
        if (s->acceptor.is_open())
            accept(s, self);
    });
}

bool tcp_acceptor::is_open() const { return d_state != nullptr; }

uint16_t tcp_acceptor::port() const { return d_state->acceptor.local_endpoint().port(); }

void tcp_acceptor::close()
{
    if (!d_state)
        return;
    error_code ignored;
    d_state->acceptor.close(ignored);
    d_state->retry.cancel();
    d_state.reset();
}

tcp::endpoint listen_endpoint(const std::string& address, int port)
{
    error_code error;
    const auto parsed = boost::asio::ip::make_address(address, error);
    if (error)
        throw std::invalid_argument("address '" + address +
                                    "': allowed is an IPv4 or IPv6 address");
    if (port < 0 || port > 65535)
        throw std::invalid_argument("port " + std::to_string(port) +
                                    ": allowed are 0 to 65535");
    return { parsed, static_cast<uint16_t>(port) };
}

} // namespace gr::hf
