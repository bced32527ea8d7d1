/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges/tcp_edge.h"
#include "edges/tcp_connection.h"

#include <linux/netfilter_ipv4.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <stdexcept>

namespace gr::hf {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;
using hfpep::action;

// Clients that have not named their destination yet.
constexpr size_t asking_max = 256;

// The client's destination before an nftables REDIRECT rule sent it here.
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

} // namespace

tcp_edge::tcp_edge(boost::asio::io_context& io,
                   hfpep::proxy& engine,
                   std::function<station_time()> clock,
                   std::function<void()> pump,
                   std::shared_ptr<tls::authority> ca)
    : d_io(io), d_engine(engine), d_clock(std::move(clock)), d_pump(std::move(pump)),
      d_ca(std::move(ca))
{
}

tcp_edge::~tcp_edge() { close(); }

void tcp_edge::listen(const tcp_listener& l)
{
    auto acceptor = std::make_unique<tcp_acceptor>(d_io, "HF-PEP");
    acceptor->on_accepted = [this, l](tcp::socket s) { accepted(l, std::move(s)); };
    acceptor->on_failed = [this] {
        ++d_accept_errors;
        d_pump(); // displays show it
    };
    acceptor->listen({ boost::asio::ip::make_address(l.bind_address), l.port },
                     l.how == tcp_listener::kind::tproxy ? listen_as::transparent
                                                         : listen_as::ordinary);
    d_acceptors.push_back(std::move(acceptor));
}

std::vector<uint16_t> tcp_edge::ports() const
{
    std::vector<uint16_t> bound;
    for (const auto& acceptor : d_acceptors)
        bound.push_back(acceptor->port());
    return bound;
}

void tcp_edge::accepted(const tcp_listener& l, tcp::socket socket)
{
    using kind = tcp_listener::kind;
    error_code error;
    const auto source = socket.remote_endpoint(error);
    const auto local =
        error ? hfpep::endpoint_address{} : from_asio(socket.local_endpoint(error));
    const auto id = d_next_id++;
    if (l.how == kind::socks5 || l.how == kind::connect) {
        if (error)
            return; // the socket closes
        make_room_to_ask();
        const auto c = std::make_shared<connection>(*this, id, std::move(socket));
        d_connections[id] = c;
        c->begin_handshake(l.how == kind::socks5
                               ? hfpep::handshake::protocol::socks5
                               : hfpep::handshake::protocol::http_connect,
                           from_asio(source));
        return;
    }
    std::optional<hfpep::destination> to;
    if (l.how == kind::map) {
        to = l.to;
    } else {
        const auto original =
            l.how == kind::redirect ? original_destination(socket) : local;
        // A connection that no rule redirected would lead back to ourselves.
        if (original && !(original->port == l.port && *original == local))
            to = hfpep::destination{ original->host, original->port };
    }
    const auto c = std::make_shared<connection>(*this, id, std::move(socket));
    if (error || !to ||
        d_engine.on_accept(d_clock(), id, *to, from_asio(source)) !=
            hfpep::rule_action::proxy) {
        c->reset(hfpep::status::forbidden);
        return;
    }
    d_connections[id] = c;
    c->begin(&*to);
    d_pump();
}

void tcp_edge::make_room_to_ask()
{
    // Close the oldest client of the source that has the most of them.
    std::map<ip::address, std::vector<hfpep::connection_id>> asking;
    size_t all = 0;
    for (const auto& [id, c] : d_connections)
        if (c->asking()) {
            asking[c->source()].push_back(id);
            ++all;
        }
    if (all < asking_max)
        return;
    const auto most =
        std::max_element(asking.begin(), asking.end(), [](const auto& a, const auto& b) {
            return a.second.size() < b.second.size();
        });
    forget(*std::min_element(most->second.begin(), most->second.end()));
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
            c->reset(a->why);
            break;
        case action::kind::read_more:
            c->allow_read(a->octets_allowed);
            break;
        case action::kind::connected:
            c->connected(*a);
            break;
        case action::kind::connect:
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
    d_acceptors.clear();
    for (const auto& c : d_connections)
        c.second->die();
    d_connections.clear();
}

} // namespace gr::hf
