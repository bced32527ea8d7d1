/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges/dns_edge.h"
#include "edges/dns_question.h"
#include "pep/reach.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <stdexcept>

namespace gr::hf {

using boost::asio::ip::tcp;
using boost::asio::ip::udp;
using boost::system::error_code;

namespace {

constexpr uint16_t dns_port = 53;
// A query contains little more than a name.
constexpr size_t query_max = 1024;
constexpr size_t waiting_max = 4096;
constexpr size_t clients_max = 64;
// A TCP client that is silent for this long is closed.
constexpr auto client_idle = std::chrono::seconds(15);
constexpr size_t udp_always = 512; // RFC 1035 2.3.4

[[noreturn]] void cannot_listen(const udp::endpoint& where, const error_code& error)
{
    std::string text = "DNS-PEP cannot listen on " + where.address().to_string() + ":" +
                       std::to_string(where.port()) + ": " + error.message();
    if (error == boost::asio::error::access_denied)
        text += " (ports below 1024 need CAP_NET_BIND_SERVICE)";
    throw std::runtime_error(text);
}

} // namespace

udp::endpoint parse_dns_endpoint(const std::string& text)
{
    std::string host = text;
    uint16_t port = dns_port;
    if (!ip::address::parse(text)) {
        const auto [h, p] = hfpep::split_host_port(text);
        host = h;
        port = hfpep::parse_port(p).value_or(0);
    }
    if (port == 0 || !ip::address::parse(host))
        throw std::invalid_argument("DNS address '" + text +
                                    "': allowed is ADDRESS[:PORT], for example 127.0.0.1 "
                                    "or [::1]:53");
    return { boost::asio::ip::make_address(host), port };
}

struct dns_edge::udp_listener {
    explicit udp_listener(boost::asio::io_context& io) : socket(io) {}
    udp::socket socket;
    udp::endpoint from;
    std::array<uint8_t, query_max> buffer;
};

//! Handles one query after the other. Each is answered before the next is read.
class dns_edge::tcp_client : public std::enable_shared_from_this<tcp_client>
{
public:
    tcp_client(dns_edge& edge, tcp::socket socket)
        : d_edge(edge), d_socket(std::move(socket)), d_timer(edge.d_io)
    {
    }

    void read()
    {
        auto self = shared_from_this();
        d_timer.expires_after(client_idle);
        d_timer.async_wait([self](const error_code& error) {
            if (!error)
                self->end();
        });
        boost::asio::async_read(
            d_socket,
            boost::asio::buffer(d_length),
            [self](const error_code& error, size_t) {
                const size_t n =
                    static_cast<size_t>(self->d_length[0] << 8) | self->d_length[1];
                if (error || n > query_max) {
                    self->end();
                    return;
                }
                self->d_message.resize(n);
                boost::asio::async_read(self->d_socket,
                                        boost::asio::buffer(self->d_message),
                                        [self](const error_code& e, size_t) {
                                            if (e)
                                                self->end();
                                            else
                                                self->ask();
                                        });
            });
    }

    void reply(dns::octets message)
    {
        auto self = shared_from_this();
        message.insert(message.begin(),
                       { static_cast<uint8_t>(message.size() >> 8),
                         static_cast<uint8_t>(message.size()) });
        d_message = std::move(message);
        boost::asio::async_write(d_socket,
                                 boost::asio::buffer(d_message),
                                 [self](const error_code& error, size_t) {
                                     if (error)
                                         self->end();
                                     else
                                         self->read();
                                 });
    }

    void close()
    {
        error_code ignored;
        d_timer.cancel();
        d_socket.close(ignored);
    }

private:
    void ask()
    {
        d_timer.cancel();
        waiting w;
        w.by_tcp = weak_from_this();
        w.query = d_message;
        d_edge.query(std::move(w));
    }
    void end()
    {
        close();
        d_edge.d_clients.erase(shared_from_this());
    }

    dns_edge& d_edge;
    tcp::socket d_socket;
    boost::asio::steady_timer d_timer;
    std::array<uint8_t, 2> d_length;
    dns::octets d_message;
};

dns_edge::dns_edge(boost::asio::io_context& io,
                   dns::forwarder& engine,
                   std::function<station_time()> clock,
                   std::function<void()> pump)
    : d_io(io), d_engine(engine), d_clock(std::move(clock)), d_pump(std::move(pump))
{
}

dns_edge::~dns_edge() { close(); }

void dns_edge::listen(const udp::endpoint& where)
{
    error_code error;
    auto u = std::make_shared<udp_listener>(d_io);
    u->socket.open(where.protocol(), error);
    if (!error && where.address().is_v6())
        u->socket.set_option(boost::asio::ip::v6_only(true), error);
    if (!error)
        u->socket.bind(where, error);
    if (error)
        cannot_listen(where, error);
    auto t = std::make_unique<tcp_acceptor>(d_io, "DNS-PEP");
    t->on_accepted = [this](tcp::socket s) { accepted(std::move(s)); };
    t->listen({ where.address(), where.port() });
    d_udp.push_back(u);
    d_tcp.push_back(std::move(t));
    receive(u);
}

void dns_edge::receive(const std::shared_ptr<udp_listener>& l)
{
    l->socket.async_receive_from(
        boost::asio::buffer(l->buffer),
        l->from,
        [this, l](const error_code& error, size_t n) {
            if (error == boost::asio::error::operation_aborted || !l->socket.is_open())
                return;
            if (!error && n < query_max) {
                waiting w;
                w.by_udp = l;
                w.to = l->from;
                w.query.assign(l->buffer.begin(),
                               l->buffer.begin() + static_cast<long>(n));
                query(std::move(w));
            }
            receive(l);
        });
}

void dns_edge::accepted(tcp::socket socket)
{
    if (d_clients.size() >= clients_max)
        return; // the socket closes
    auto c = std::make_shared<tcp_client>(*this, std::move(socket));
    d_clients.insert(c);
    c->read();
}

dns_edge::repeat_key dns_edge::key_of(const waiting& w)
{
    const auto l = w.by_udp.lock();
    const unsigned id = w.query.size() < 2 ? 0u : unsigned(w.query[0] << 8 | w.query[1]);
    return { l ? l->socket.native_handle() : -1, w.to, id };
}

void dns_edge::query(waiting w)
{
    // A client that repeats its question gets one reply when it arrives.
    const bool by_udp = !w.by_udp.expired();
    if (d_waiting.size() >= waiting_max ||
        (by_udp && !d_repeats.insert(key_of(w)).second))
        return;
    const uint64_t id = d_next++;
    const dns::octets message = w.query;
    const repeat_key key = key_of(w);
    d_waiting.emplace(id, std::move(w));
    if (!d_engine.on_query(d_clock(), id, message.data(), message.size())) {
        d_repeats.erase(key);
        d_waiting.erase(id);
    }
    d_pump();
}

void dns_edge::reply(uint64_t client, dns::octets message)
{
    const auto it = d_waiting.find(client);
    if (it == d_waiting.end())
        return;
    const waiting w = std::move(it->second);
    d_waiting.erase(it);
    if (const auto t = w.by_tcp.lock()) {
        t->reply(std::move(message));
        return;
    }
    d_repeats.erase(key_of(w));
    const auto l = w.by_udp.lock();
    if (!l || !l->socket.is_open())
        return;
    if (message.size() > udp_always) {
        const auto q = dns::read_query(w.query.data(), w.query.size());
        const auto* asked = std::get_if<dns::query>(&q);
        if (asked != nullptr && message.size() > asked->udp_octets)
            message = dns::make_truncated(*asked);
    }
    error_code ignored; // a client that has closed
    l->socket.send_to(boost::asio::buffer(message), w.to, 0, ignored);
}

bool dns_edge::drain()
{
    bool any = false;
    while (auto a = d_engine.poll_action()) {
        any = true;
        if (a->what == dns::action::kind::reply) {
            reply(a->id, std::move(a->message));
            continue;
        }
        const uint64_t id = a->id;
        auto q = std::make_shared<question>(d_io, d_resolver, std::move(a->message));
        d_questions.insert(q);
        q->ask([this, id, weak = std::weak_ptr<question>(q)](const dns::octets& answer) {
            if (const auto done = weak.lock())
                d_questions.erase(done);
            if (answer.empty())
                d_engine.on_ask_failed(d_clock(), id);
            else
                d_engine.on_response(d_clock(), id, answer.data(), answer.size());
            d_pump();
        });
    }
    return any;
}

void dns_edge::close()
{
    error_code ignored;
    for (const auto& l : d_udp)
        l->socket.close(ignored);
    for (const auto& c : d_clients)
        c->close();
    for (const auto& q : d_questions)
        q->cancel();
    d_udp.clear();
    d_tcp.clear();
    d_clients.clear();
    d_questions.clear();
    d_waiting.clear();
    d_repeats.clear();
}

} // namespace gr::hf
