/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges/tcp_connection.h"
#include "edges/asio_address.h"
#include "edges/nearness.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <cerrno>

namespace gr::hf {

using boost::asio::ip::tcp;
using boost::system::error_code;
using hfpep::action;

hfpep::endpoint_address from_asio(const tcp::endpoint& e)
{
    return { from_asio(e.address()), e.port() };
}

namespace {

// A silent client must not keep its place forever.
constexpr auto handshake_limit = std::chrono::seconds(30);

hfpep::status status_of(const boost::system::error_code& error)
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

} // namespace

tcp_edge::connection::connection(tcp_edge& edge,
                                 hfpep::connection_id id,
                                 tcp::socket socket)
    : d_edge(edge), d_id(id), d_socket(std::move(socket)), d_timer(edge.d_io)
{
    reset_unless_ended();
}

void tcp_edge::connection::reset_unless_ended()
{
    // The kernel closes the sockets of a program that is stopped or killed. The
    // application must not take that for the end of the stream. So every close is a reset
    // until the end has arrived.
    error_code ignored;
    if (d_socket.is_open())
        d_socket.set_option(boost::asio::socket_base::linger(true, 0), ignored);
}

void tcp_edge::connection::begin(const hfpep::destination* to)
{
    error_code ignored;
    d_socket.set_option(tcp::no_delay(true), ignored);
    // An urgent octet keeps its place in the stream. Otherwise the kernel takes it out.
    d_socket.set_option(boost::asio::socket_base::out_of_band_inline(true), ignored);
    // No autotuning: the sender believes that data in the kernel's buffer is delivered.
    d_socket.set_option(boost::asio::socket_base::receive_buffer_size(65536), ignored);
    // Limit what waits for an application that does not read, for the same reason.
    d_socket.set_option(boost::asio::socket_base::send_buffer_size(65536), ignored);
    d_open = true;
    if (to != nullptr)
        begin_tls_near(*to);
    read();
    write();
}

void tcp_edge::connection::begin_handshake(hfpep::handshake::protocol p,
                                           const hfpep::endpoint_address& source)
{
    d_handshake = std::make_unique<hfpep::handshake>(p);
    d_source = source;
    d_open = true;
    d_timer.expires_after(handshake_limit);
    d_timer.async_wait([self = shared_from_this()](const error_code& error) {
        if (!error && self->asking() && !self->d_gone)
            self->d_edge.forget(self->d_id);
    });
    read_handshake();
}

void tcp_edge::connection::read_handshake()
{
    if (d_gone || d_in.under_way)
        return;
    d_in.under_way = true;
    d_in.buffer.resize(4096);
    d_socket.async_read_some(
        boost::asio::buffer(d_in.buffer),
        [self = shared_from_this()](const error_code& error, size_t n) {
            self->on_handshake(error, n);
        });
}

void tcp_edge::connection::on_handshake(const error_code& error, size_t n)
{
    using state = hfpep::handshake::state;
    d_in.under_way = false;
    if (d_gone)
        return;
    if (error) {
        d_edge.forget(d_id);
        return;
    }
    const state now = d_handshake->feed(d_in.buffer.data(), n);
    say(d_handshake->poll_reply(), now == state::failed);
    if (now == state::asking)
        read_handshake();
    if (now != state::requested)
        return;
    d_timer.cancel();
    on_request();
}

void tcp_edge::connection::on_request()
{
    d_in.early = d_handshake->early_data();
    d_known = true;
    const auto to = d_handshake->request();
    const auto verdict =
        d_edge.d_engine.on_accept(d_edge.d_clock(), d_id, to, d_source, true);
    if (verdict != hfpep::rule_action::proxy) {
        d_known = false;
        d_handshake->answer(d_edge.d_engine.refusal());
        say(d_handshake->poll_reply(), true);
        return;
    }
    if (d_edge.d_engine.tls_of(d_id) != hfpep::proxy::tls_end::none) {
        // The client begins its TLS session only after this answer.
        d_handshake->answer(hfpep::status::connected);
        say(d_handshake->poll_reply(), false);
        d_handshake.reset();
    }
    begin(&to);
    d_edge.d_pump();
}

void tcp_edge::connection::connected(const action& a)
{
    if (d_tls.session && d_tls.session->waits()) {
        d_tls.session->go_on(d_tls.host, a.alpn);
        on_cipher(nullptr, 0);
        read();
    }
    if (!d_handshake)
        return;
    d_handshake->answer(hfpep::status::connected, a.actual);
    say(d_handshake->poll_reply(), false);
    d_handshake.reset();
    read();
}

void tcp_edge::connection::say(std::vector<uint8_t> data, bool then_close)
{
    if (!data.empty())
        d_out.pieces.push_back({ std::move(data), 0 });
    d_out.fin = d_out.fin || then_close;
    d_out.close = d_out.close || then_close;
    write();
}

void tcp_edge::connection::connect(const action& a)
{
    const auto self = shared_from_this();
    const auto limit = std::clamp(
        a.time_limit, station_time(1'000'000'000), station_time(300'000'000'000));
    d_timer.expires_after(std::chrono::duration_cast<std::chrono::milliseconds>(limit));
    d_timer.async_wait([self](const error_code& error) {
        if (!error && !(self->d_open && self->passes()))
            self->connect_failed(hfpep::status::timed_out);
    });
    d_tls.request = a.tls;
    if (a.tls)
        d_tls.host =
            !a.tls->server_name.empty() ? a.tls->server_name : a.to.host_string();
    if (const auto server = d_edge.d_engine.server_of(d_id)) {
        d_candidates.push_back(tcp::endpoint(to_asio(server->host), server->port));
        connect_next();
        return;
    }
    if (const auto* address = std::get_if<ip::address>(&a.to.host)) {
        connect_to({ tcp::endpoint(to_asio(*address), a.to.port) });
        return;
    }
    d_resolver = std::make_unique<tcp::resolver>(d_edge.d_io);
    d_resolver->async_resolve(
        std::get<std::string>(a.to.host),
        std::to_string(a.to.port),
        [self](const error_code& error, const tcp::resolver::results_type& found) {
            if (self->d_gone)
                return;
            if (error || found.empty())
                self->connect_failed(hfpep::status::name_not_found);
            else
                self->connect_to({ found.begin(), found.end() });
        });
}

void tcp_edge::connection::connect_to(const std::vector<tcp::endpoint>& found)
{
    for (const tcp::endpoint& e : found) {
        const ip::address at = from_asio(e).host;
        if (d_edge.d_engine.may_reach(d_id, at, nearness_of(at)))
            d_candidates.push_back(e);
    }
    if (d_candidates.empty())
        connect_failed(hfpep::status::forbidden);
    else
        connect_next();
}

void tcp_edge::connection::allow_read(size_t n)
{
    d_in.credit += n;
    read();
}

void tcp_edge::connection::write(std::vector<uint8_t> data)
{
    if (d_tls.session || d_tls.request) {
        write_tls(std::move(data));
        return;
    }
    const size_t n = data.size();
    d_out.pieces.push_back({ std::move(data), n });
    write();
}

void tcp_edge::connection::shutdown_write()
{
    if (d_tls.session || d_tls.request) {
        finish_tls();
        return;
    }
    d_out.fin = true;
    write();
}

void tcp_edge::connection::close_when_written()
{
    d_out.close = true;
    write();
}

void tcp_edge::connection::reset(hfpep::status why)
{
    if (d_handshake && d_known &&
        d_handshake->now() == hfpep::handshake::state::requested) {
        // The engine has forgotten the connection. Keep it until its client has read the
        // reason.
        d_known = false;
        d_handshake->answer(why);
        say(d_handshake->poll_reply(), true);
        return;
    }
    if (d_tls.session && d_tls.session->waits() && why >= hfpep::status::tls_failed) {
        d_tls.session->refuse(tls_fault_of(why));
        end_when_written();
        return;
    }
    d_edge.forget(d_id);
    die();
}

void tcp_edge::connection::die()
{
    d_gone = true;
    error_code ignored;
    d_timer.cancel();
    if (d_resolver)
        d_resolver->cancel();
    d_socket.close(ignored);
}

void tcp_edge::connection::connect_next()
{
    const auto self = shared_from_this();
    const tcp::endpoint to = d_candidates.front();
    d_candidates.pop_front();
    error_code ignored;
    d_socket.close(ignored);
    d_socket.open(to.protocol(), ignored); // otherwise async_connect() reports the error
    reset_unless_ended();
    d_socket.async_connect(to, [self, to](const error_code& error) {
        if (self->d_gone)
            return;
        if (error && !self->d_candidates.empty()) {
            self->connect_next();
        } else if (error) {
            self->connect_failed(status_of(error));
        } else if (self->d_tls.request) {
            self->begin_tls_far(to);
        } else {
            self->d_timer.cancel();
            self->d_edge.d_engine.on_connect_ok(
                self->d_edge.d_clock(), self->d_id, from_asio(to));
            self->begin(nullptr);
            self->d_edge.d_pump();
        }
    });
}

void tcp_edge::connection::connect_failed(hfpep::status why)
{
    if (d_gone)
        return;
    const auto keep = shared_from_this();
    d_edge.d_engine.on_connect_failed(d_edge.d_clock(), d_id, why);
    d_edge.forget(d_id);
    d_edge.d_pump();
}

// A socket without credit is not read, so the application's TCP window closes. A TLS
// handshake needs none.
void tcp_edge::connection::read()
{
    if (!d_open || d_in.under_way || d_gone || d_in.eof || d_handshake)
        return;
    if (!d_in.early.empty()) {
        if (d_in.credit > 0 && passes())
            deliver();
        return;
    }
    const bool waits = d_tls.session && d_tls.session->waits();
    if (waits || (d_in.credit == 0 && passes()))
        return;
    d_in.under_way = true;
    d_in.buffer.resize(d_tls.session ? 65536 : std::min<size_t>(d_in.credit, 65536));
    d_socket.async_read_some(
        boost::asio::buffer(d_in.buffer),
        [self = shared_from_this()](const error_code& error, size_t n) {
            self->on_read(error, n);
        });
}

// Passes on what waits, at most the credit, and after it the end of a TLS session.
void tcp_edge::connection::deliver()
{
    const size_t n = std::min(d_in.early.size(), d_in.credit);
    if (n > 0) {
        d_in.credit -= n;
        d_edge.d_engine.on_tcp_data(d_edge.d_clock(), d_id, d_in.early.data(), n);
        d_in.early.erase(d_in.early.begin(), d_in.early.begin() + static_cast<long>(n));
    }
    if (d_tls.session && d_tls.session->ended() && d_in.early.empty() && !d_in.eof) {
        d_in.eof = true;
        d_edge.d_engine.on_tcp_eof(d_edge.d_clock(), d_id);
    }
    read();
}

void tcp_edge::connection::on_read(const error_code& error, size_t n)
{
    d_in.under_way = false;
    if (d_gone)
        return;
    const station_time now = d_edge.d_clock();
    if (n > 0 && d_tls.session) {
        on_cipher(d_in.buffer.data(), n);
    } else if (n > 0) {
        d_in.credit -= std::min(n, d_in.credit);
        d_edge.d_engine.on_tcp_data(now, d_id, d_in.buffer.data(), n);
    }
    if (d_gone) { // its session has failed
        d_edge.d_pump();
        return;
    }
    if (error && d_tls.session) {
        on_tls_socket_end(error);
    } else if (error == boost::asio::error::eof) {
        d_in.eof = true;
        d_edge.d_engine.on_tcp_eof(now, d_id);
    } else if (error) {
        fail();
        return;
    }
    read();
    d_edge.d_pump();
}

void tcp_edge::connection::write()
{
    if (!d_open || d_out.under_way || d_gone)
        return;
    if (d_out.pieces.empty()) {
        error_code ignored;
        if (d_out.fin && !d_out.fin_sent) {
            d_out.fin_sent = true;
            d_socket.shutdown(tcp::socket::shutdown_send, ignored);
        }
        if (d_out.close) {
            // The kernel goes on sending the rest.
            d_socket.set_option(boost::asio::socket_base::linger(false, 0), ignored);
            const auto keep = shared_from_this();
            d_edge.forget(d_id);
        }
        return;
    }
    d_out.under_way = true;
    boost::asio::async_write(
        d_socket,
        boost::asio::buffer(d_out.pieces.front().data),
        [self = shared_from_this()](const error_code& error, size_t) {
            self->on_written(error);
        });
}

void tcp_edge::connection::on_written(const error_code& error)
{
    d_out.under_way = false;
    if (d_gone)
        return;
    const size_t counts = d_out.pieces.front().counts;
    d_out.pieces.pop_front();
    if (counts > 0)
        d_edge.d_engine.on_tcp_written(d_edge.d_clock(), d_id, counts);
    if (error) {
        fail();
        return;
    }
    write();
    d_edge.d_pump();
}

void tcp_edge::connection::fail()
{
    const auto keep = shared_from_this();
    d_edge.d_engine.on_tcp_error(d_edge.d_clock(), d_id);
    d_edge.forget(d_id);
    d_edge.d_pump();
}

} // namespace gr::hf
