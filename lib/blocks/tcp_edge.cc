/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/tcp_edge.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/write.hpp>

#include <linux/netfilter_ipv4.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <limits>
#include <stdexcept>

namespace gr::hf {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;
using hfpep::action;

hfpep::endpoint_address from_asio(const tcp::endpoint& e)
{
    hfpep::endpoint_address a;
    a.port = e.port();
    if (e.address().is_v4()) {
        a.host = ip::address::v4(e.address().to_v4().to_bytes().data());
    } else {
        const auto v6 = e.address().to_v6();
        // A dual-stack socket shows IPv4 clients as mapped addresses.
        a.host = v6.is_v4_mapped() ? ip::address::v4(boost::asio::ip::make_address_v4(
                                                         boost::asio::ip::v4_mapped, v6)
                                                         .to_bytes()
                                                         .data())
                                   : ip::address::v6(v6.to_bytes().data());
    }
    return a;
}

boost::asio::ip::address to_asio(const ip::address& a)
{
    return boost::asio::ip::make_address(a.to_string());
}

// Where the client wanted to go before an nftables REDIRECT rule sent it here.
std::optional<hfpep::endpoint_address> original_destination(tcp::socket& socket)
{
    // IP6T_SO_ORIGINAL_DST; its header clashes with netinet/in.h.
    constexpr int ipv6_original_dst = 80;
    sockaddr_storage sa{};
    socklen_t n = sizeof(sa);
    const int fd = socket.native_handle();
    if (::getsockopt(fd, IPPROTO_IP, SO_ORIGINAL_DST, &sa, &n) != 0) {
        n = sizeof(sa);
        if (::getsockopt(fd, IPPROTO_IPV6, ipv6_original_dst, &sa, &n) != 0)
            return std::nullopt;
    }
    // By family, not by n: some kernels return the length of the buffer.
    if (sa.ss_family != AF_INET && sa.ss_family != AF_INET6)
        return std::nullopt;
    const size_t size =
        sa.ss_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    tcp::endpoint e;
    std::memcpy(e.data(), &sa, size);
    e.resize(size);
    return from_asio(e);
}

hfpep::status status_of(const error_code& error)
{
    switch (error.value()) {
    case ECONNREFUSED:
        return hfpep::status::refused;
    case ENETUNREACH:
        return hfpep::status::network_unreachable;
    case EHOSTUNREACH:
        return hfpep::status::host_unreachable;
    case ETIMEDOUT:
    case ECANCELED:
        return hfpep::status::timed_out;
    default:
        return hfpep::status::general_failure;
    }
}

uint16_t parse_port(const std::string& text, const std::string& whole)
{
    const bool digits = !text.empty() && text.size() <= 5 &&
                        text.find_first_not_of("0123456789") == std::string::npos;
    const int port = digits ? std::stoi(text) : -1;
    if (port < 1 || port > 65535)
        throw std::invalid_argument("listener '" + whole + "': port '" + text +
                                    "' is not one of 1 to 65535");
    return static_cast<uint16_t>(port);
}

// "HOST:PORT", the host in brackets if it is an IPv6 address.
std::pair<std::string, uint16_t> split_host_port(const std::string& text,
                                                 const std::string& whole)
{
    const auto colon = text.rfind(':');
    if (colon == std::string::npos)
        return { "", parse_port(text, whole) };
    std::string host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    return { host, parse_port(text.substr(colon + 1), whole) };
}

} // namespace

tcp_listener tcp_listener::parse(const std::string& text)
{
    tcp_listener l;
    const auto eq = text.find('=');
    if (eq == std::string::npos) {
        const auto colon = text.find(':');
        const std::string word = text.substr(0, colon);
        if (colon == std::string::npos || (word != "redirect" && word != "tproxy"))
            throw std::invalid_argument(
                "listener '" + text +
                "': allowed are redirect:PORT, tproxy:PORT and [ADDRESS:]PORT=HOST:PORT");
        l.how = word == "redirect" ? kind::redirect : kind::tproxy;
        l.port = parse_port(text.substr(colon + 1), text);
        return l;
    }
    const auto here = split_host_port(text.substr(0, eq), text);
    if (!here.first.empty())
        l.bind_address = here.first;
    if (!ip::address::parse(l.bind_address))
        throw std::invalid_argument("listener '" + text + "': '" + l.bind_address +
                                    "' is not an IP address");
    l.port = here.second;
    const auto there = split_host_port(text.substr(eq + 1), text);
    if (there.first.empty() || there.first.size() > 230)
        throw std::invalid_argument("listener '" + text +
                                    "': the destination must be HOST:PORT");
    l.to.port = there.second;
    if (const auto a = ip::address::parse(there.first))
        l.to.host = *a;
    else
        l.to.host = there.first;
    return l;
}

struct tcp_edge::listening {
    tcp_listener how;
    tcp::acceptor acceptor;
};

//! One TCP connection. Handlers keep it alive; d_gone silences those that come late.
class tcp_edge::connection : public std::enable_shared_from_this<tcp_edge::connection>
{
public:
    connection(tcp_edge& edge, hfpep::connection_id id, tcp::socket socket)
        : d_edge(edge), d_id(id), d_socket(std::move(socket)), d_timer(edge.d_io)
    {
    }

    void begin()
    {
        error_code ignored;
        d_socket.set_option(tcp::no_delay(true), ignored);
        // No autotuning: what the kernel holds is data that the sender believes delivered.
        d_socket.set_option(boost::asio::socket_base::receive_buffer_size(65536),
                            ignored);
        d_open = true;
        read();
        write();
    }

    void connect(const action& a)
    {
        const auto self = shared_from_this();
        const auto limit =
            std::clamp(a.time_limit, sim_time(1'000'000'000), sim_time(300'000'000'000));
        d_timer.expires_after(
            std::chrono::duration_cast<std::chrono::milliseconds>(limit));
        d_timer.async_wait([self](const error_code& error) {
            if (!error && !self->d_open)
                self->connect_failed(hfpep::status::timed_out);
        });
        if (const auto* address = std::get_if<ip::address>(&a.to.host)) {
            d_candidates = { tcp::endpoint(to_asio(*address), a.to.port) };
            connect_next();
            return;
        }
        d_resolver = std::make_unique<tcp::resolver>(d_edge.d_io);
        d_resolver->async_resolve(
            std::get<std::string>(a.to.host),
            std::to_string(a.to.port),
            [self](const error_code& error, const tcp::resolver::results_type& found) {
                if (self->d_gone)
                    return;
                if (error || found.empty()) {
                    self->connect_failed(hfpep::status::name_not_found);
                    return;
                }
                for (const auto& r : found)
                    self->d_candidates.push_back(r.endpoint());
                self->connect_next();
            });
    }

    void allow_read(size_t n)
    {
        d_credit += n;
        read();
    }

    void write(std::vector<uint8_t> data)
    {
        d_out.push_back(std::move(data));
        write();
    }

    void shutdown_write()
    {
        d_fin = true;
        write();
    }

    void close_when_written()
    {
        d_close = true;
        write();
    }

    void reset()
    {
        error_code ignored;
        d_socket.set_option(boost::asio::socket_base::linger(true, 0), ignored);
        die();
    }

    void die()
    {
        d_gone = true;
        error_code ignored;
        d_timer.cancel(ignored);
        if (d_resolver)
            d_resolver->cancel();
        d_socket.close(ignored);
    }

private:
    void connect_next()
    {
        const auto self = shared_from_this();
        const tcp::endpoint to = d_candidates.front();
        d_candidates.pop_front();
        error_code ignored;
        d_socket.close(ignored);
        d_socket.async_connect(to, [self, to](const error_code& error) {
            if (self->d_gone)
                return;
            if (error && !self->d_candidates.empty()) {
                self->connect_next();
            } else if (error) {
                self->connect_failed(status_of(error));
            } else {
                self->d_timer.cancel();
                self->d_edge.d_engine.on_connect_ok(
                    self->d_edge.d_clock(), self->d_id, from_asio(to));
                self->begin();
                self->d_edge.d_pump();
            }
        });
    }

    void connect_failed(hfpep::status why)
    {
        if (d_gone)
            return;
        const auto keep = shared_from_this();
        d_edge.d_engine.on_connect_failed(d_edge.d_clock(), d_id, why);
        d_edge.forget(d_id);
        d_edge.d_pump();
    }

    // A socket without credit is not read, so the application's TCP window closes.
    void read()
    {
        if (!d_open || d_reading || d_gone || d_eof || d_credit == 0)
            return;
        d_reading = true;
        d_in.resize(std::min<size_t>(d_credit, 65536));
        d_socket.async_read_some(
            boost::asio::buffer(d_in),
            [self = shared_from_this()](const error_code& error, size_t n) {
                self->on_read(error, n);
            });
    }

    void on_read(const error_code& error, size_t n)
    {
        d_reading = false;
        if (d_gone)
            return;
        const sim_time now = d_edge.d_clock();
        if (n > 0) {
            d_credit -= std::min(n, d_credit);
            d_edge.d_engine.on_tcp_data(now, d_id, d_in.data(), n);
        }
        if (error == boost::asio::error::eof) {
            d_eof = true;
            d_edge.d_engine.on_tcp_eof(now, d_id);
        } else if (error) {
            fail();
            return;
        }
        read();
        d_edge.d_pump();
    }

    void write()
    {
        if (!d_open || d_writing || d_gone)
            return;
        if (d_out.empty()) {
            error_code ignored;
            if (d_fin && !d_fin_sent) {
                d_fin_sent = true;
                d_socket.shutdown(tcp::socket::shutdown_send, ignored);
            }
            if (d_close) {
                const auto keep = shared_from_this();
                d_edge.forget(d_id);
            }
            return;
        }
        d_writing = true;
        boost::asio::async_write(
            d_socket,
            boost::asio::buffer(d_out.front()),
            [self = shared_from_this()](const error_code& error, size_t n) {
                self->on_written(error, n);
            });
    }

    void on_written(const error_code& error, size_t n)
    {
        d_writing = false;
        if (d_gone)
            return;
        d_out.pop_front();
        d_edge.d_engine.on_tcp_written(d_edge.d_clock(), d_id, n);
        if (error) {
            fail();
            return;
        }
        write();
        d_edge.d_pump();
    }

    void fail()
    {
        const auto keep = shared_from_this();
        d_edge.d_engine.on_tcp_error(d_edge.d_clock(), d_id);
        d_edge.forget(d_id);
        d_edge.d_pump();
    }

    tcp_edge& d_edge;
    const hfpep::connection_id d_id;
    tcp::socket d_socket;
    boost::asio::steady_timer d_timer; // limit of a connect
    std::unique_ptr<tcp::resolver> d_resolver;
    std::deque<tcp::endpoint> d_candidates;
    std::vector<uint8_t> d_in;
    std::deque<std::vector<uint8_t>> d_out;
    size_t d_credit = 0;
    bool d_open = false;
    bool d_gone = false;
    bool d_reading = false, d_writing = false;
    bool d_eof = false, d_fin = false, d_fin_sent = false, d_close = false;
};

tcp_edge::tcp_edge(boost::asio::io_context& io,
                   hfpep::engine& engine,
                   std::function<sim_time()> clock,
                   std::function<void()> pump)
    : d_io(io), d_engine(engine), d_clock(std::move(clock)), d_pump(std::move(pump))
{
}

tcp_edge::~tcp_edge() { close(); }

void tcp_edge::listen(const tcp_listener& l)
{
    const bool any = l.how == tcp_listener::kind::tproxy;
    const auto address = boost::asio::ip::make_address(any ? "0.0.0.0" : l.bind_address);
    const tcp::endpoint where(address, l.port);
    const auto fail = [&](const std::string& what) {
        throw std::runtime_error("HF-PEP cannot listen on " + address.to_string() + ":" +
                                 std::to_string(l.port) + ": " + what);
    };
    error_code error;
    auto item = std::make_shared<listening>(listening{ l, tcp::acceptor(d_io) });
    item->acceptor.open(where.protocol(), error);
    if (!error)
        item->acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    const int on = 1;
    if (!error && any &&
        ::setsockopt(
            item->acceptor.native_handle(), SOL_IP, IP_TRANSPARENT, &on, sizeof(on)) != 0)
        fail(std::string("IP_TRANSPARENT: ") + std::strerror(errno) +
             " (needs CAP_NET_ADMIN)");
    if (!error)
        item->acceptor.bind(where, error);
    if (!error)
        item->acceptor.listen(boost::asio::socket_base::max_listen_connections, error);
    if (error)
        fail(error.message());
    d_listeners.push_back(item);
    accept(item);
}

void tcp_edge::accept(const std::shared_ptr<listening>& l)
{
    l->acceptor.async_accept([this, l](const error_code& error, tcp::socket socket) {
        if (error == boost::asio::error::operation_aborted || !l->acceptor.is_open())
            return;
        if (!error)
            accepted(l->how, std::move(socket));
        accept(l);
    });
}

void tcp_edge::accepted(const tcp_listener& l, tcp::socket socket)
{
    error_code error;
    const auto source = socket.remote_endpoint(error);
    std::optional<hfpep::destination> to;
    if (l.how == tcp_listener::kind::map) {
        to = l.to;
    } else {
        const auto original = l.how == tcp_listener::kind::redirect
                                  ? original_destination(socket)
                                  : from_asio(socket.local_endpoint(error));
        // Without a rule that redirected it, a connection would lead back to ourselves.
        const auto local = from_asio(socket.local_endpoint(error));
        if (original && !(l.how == tcp_listener::kind::redirect && *original == local))
            to = hfpep::destination{ original->host, original->port };
    }
    const auto id = d_next_id++;
    const auto c = std::make_shared<connection>(*this, id, std::move(socket));
    if (error || !to ||
        d_engine.on_accept(d_clock(), id, *to, from_asio(source)) !=
            hfpep::rule_action::proxy) {
        c->reset();
        return;
    }
    d_connections[id] = c;
    c->begin();
    d_pump();
}

bool tcp_edge::drain()
{
    bool any = false;
    while (auto a = d_engine.poll_action()) {
        any = true;
        if (a->what == action::kind::connect) {
            const auto c =
                std::make_shared<connection>(*this, a->conn, tcp::socket(d_io));
            d_connections[a->conn] = c;
            c->connect(*a);
            continue;
        }
        const auto found = d_connections.find(a->conn);
        if (found == d_connections.end())
            continue;
        const auto c = found->second;
        switch (a->what) {
        case action::kind::write:
            c->write(std::move(a->data));
            break;
        case action::kind::shutdown_write:
            c->shutdown_write();
            break;
        case action::kind::close:
            c->close_when_written();
            break;
        case action::kind::reset:
            c->reset();
            d_connections.erase(a->conn);
            break;
        case action::kind::read_more:
            c->allow_read(a->octets_allowed);
            break;
        case action::kind::connect:
        case action::kind::connected:
            break;
        }
    }
    return any;
}

void tcp_edge::forget(hfpep::connection_id id)
{
    const auto found = d_connections.find(id);
    if (found == d_connections.end())
        return;
    found->second->die();
    d_connections.erase(found);
}

void tcp_edge::close()
{
    error_code ignored;
    for (const auto& l : d_listeners)
        l->acceptor.close(ignored);
    d_listeners.clear();
    for (const auto& c : d_connections)
        c.second->die();
    d_connections.clear();
}

} // namespace gr::hf
