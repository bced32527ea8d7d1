/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// TLS apart at both ends: the session of a program at the near end, that to the server at
// the far end.
#include "edges/tcp_connection.h"

#include <algorithm>

namespace gr::hf {

using boost::asio::ip::tcp;
using hfpep::status;

namespace {

// A silent program must not keep its place forever.
constexpr auto hello_limit = std::chrono::seconds(30);
// Protocols in a request, which must fit into the open-data of a stream.
constexpr size_t alpn_max = 4, alpn_octets_max = 30;
const std::string http_1_1 = "http/1.1";

status status_of(tls::fault f)
{
    switch (f) {
    case tls::fault::expired:
        return status::certificate_expired;
    case tls::fault::not_trusted:
        return status::certificate_not_trusted;
    case tls::fault::wrong_name:
        return status::certificate_wrong_name;
    case tls::fault::refused:
        return status::certificate_refused;
    default:
        return status::tls_failed;
    }
}

} // namespace

tls::fault tls_fault_of(status why)
{
    switch (why) {
    case status::certificate_expired:
        return tls::fault::expired;
    case status::certificate_not_trusted:
        return tls::fault::not_trusted;
    case status::certificate_wrong_name:
        return tls::fault::wrong_name;
    case status::certificate_refused:
        return tls::fault::refused;
    default:
        return tls::fault::no_handshake;
    }
}

void tcp_edge::connection::begin_tls_near(const hfpep::destination& to)
{
    if (!d_edge.d_ca || d_edge.d_engine.tls_of(d_id) == hfpep::proxy::tls_end::none)
        return;
    if (!d_edge.d_programs)
        d_edge.d_programs = tls::context::for_programs();
    d_tls.near = true;
    d_tls.host = to.host_string();
    d_tls.session = std::make_unique<tls::session>(*d_edge.d_programs, *d_edge.d_ca);
    d_timer.expires_after(hello_limit);
    d_timer.async_wait([self = shared_from_this()](const error_code& error) {
        if (!error && !self->d_gone && !self->d_tls.open && !self->d_tls.session->waits())
            self->fail();
    });
    // After a request to a SOCKS or CONNECT port the hello may be here already.
    const auto hello = std::move(d_in.early);
    d_in.early.clear();
    on_cipher(hello.data(), hello.size());
}

void tcp_edge::connection::begin_tls_far(const tcp::endpoint& at)
{
    if (!d_edge.d_servers)
        d_edge.d_servers = tls::context::for_servers();
    d_tls.server = from_asio(at);
    d_tls.session = std::make_unique<tls::session>(
        *d_edge.d_servers, d_tls.host, d_tls.request->alpn);
    begin(nullptr);
    on_cipher(nullptr, 0);
    d_edge.d_pump();
}

void tcp_edge::connection::on_cipher(const uint8_t* p, size_t n)
{
    const auto keep = shared_from_this();
    tls::session& s = *d_tls.session;
    s.feed(p, n);
    if (s.waits() && d_tls.near)
        on_hello();
    send_cipher(0);
    if (s.open() && !d_tls.open)
        on_tls_open();
    const auto plain = s.read();
    send_cipher(0);
    d_in.early.insert(d_in.early.end(), plain.begin(), plain.end());
    if (s.failed() != tls::fault::none)
        on_tls_failed();
    else if (d_tls.open && !d_gone)
        deliver();
}

void tcp_edge::connection::on_hello()
{
    const tls::hello& h = *d_tls.session->from_program();
    const auto end = d_edge.d_engine.tls_of(d_id);
    hfpep::tls_request r;
    if (!h.server_name.empty() && h.server_name != d_tls.host)
        d_tls.host = r.server_name = h.server_name;
    if (!h.server_name.empty() && !tls::is_host_name(h.server_name)) {
        d_tls.session->refuse(tls::fault::no_handshake);
        return; // on_tls_failed() follows
    }
    const bool web = std::count(h.alpn.begin(), h.alpn.end(), http_1_1) > 0;
    if (end == hfpep::proxy::tls_end::late) {
        for (const auto& protocol : h.alpn)
            if (r.alpn.size() < alpn_max && protocol.size() <= alpn_octets_max)
                r.alpn.push_back(protocol);
    } else if (!h.alpn.empty()) {
        // The header of HTTP/1.1 compresses better than that of HTTP/2, which is
        // compressed already.
        r.alpn = { web ? http_1_1 : h.alpn.front() };
    }
    d_tls.request = r;
    if (end == hfpep::proxy::tls_end::late)
        d_edge.d_engine.on_tls_hello(d_edge.d_clock(), d_id, r);
    else
        d_tls.session->go_on(d_tls.host, r.alpn.empty() ? "" : r.alpn.front());
}

void tcp_edge::connection::on_tls_open()
{
    const auto& asked = d_tls.request->alpn;
    const std::string alpn = d_tls.session->alpn();
    if (!d_tls.near && alpn.empty() && asked.size() == 1 && asked[0] != http_1_1) {
        // The program has begun to speak this protocol.
        d_edge.d_engine.note(d_id, "the server does not have " + asked[0]);
        connect_failed(status::tls_failed);
        return;
    }
    d_timer.cancel();
    d_tls.open = true;
    // Early: the program's request follows at once, and goes out with the open.
    if (d_tls.near)
        d_edge.d_engine.on_tls_hello(d_edge.d_clock(), d_id, *d_tls.request);
    else
        d_edge.d_engine.on_connect_ok(d_edge.d_clock(), d_id, d_tls.server, alpn);
    const auto plain = std::move(d_tls.plain);
    d_tls.plain.clear();
    for (auto& data : plain)
        write_tls(data);
    if (d_tls.finish)
        finish_tls();
}

void tcp_edge::connection::on_tls_failed()
{
    const auto fault = d_tls.session->failed();
    const std::string why = d_tls.session->why();
    if (!d_tls.near && !d_tls.open) {
        d_edge.d_engine.note(d_id, "no TLS with " + d_tls.host + ": " + why);
        connect_failed(status_of(fault));
        return;
    }
    if (d_tls.near && !d_tls.open)
        d_edge.d_engine.note(d_id,
                             "the program has ended its TLS session: " + why +
                                 "; does it trust the certificate of hf pep ca?");
    d_edge.d_engine.on_tcp_error(d_edge.d_clock(), d_id);
    end_when_written();
}

// A TLS session ends with close_notify. An end without it may cut the data.
void tcp_edge::connection::on_tls_socket_end(const error_code& error)
{
    if (d_in.eof)
        return;
    if (!d_tls.near && !d_tls.open) {
        d_edge.d_engine.note(d_id, "no TLS with " + d_tls.host + ": connection closed");
        connect_failed(status::tls_failed);
    } else if (!d_tls.near && error == boost::asio::error::eof) {
        const auto keep = shared_from_this();
        d_edge.d_engine.on_tcp_cut(d_edge.d_clock(), d_id);
        d_edge.forget(d_id);
    } else {
        fail();
    }
}

void tcp_edge::connection::write_tls(std::vector<uint8_t> data)
{
    if (!d_tls.open) {
        d_tls.plain.push_back(std::move(data));
        return;
    }
    d_tls.session->write(data);
    send_cipher(data.size());
}

void tcp_edge::connection::finish_tls()
{
    if (!d_tls.open) {
        d_tls.finish = true;
        return;
    }
    d_tls.session->finish();
    send_cipher(0);
    d_out.fin = true;
    write();
}

//! \param counts octets of the engine that are in it
void tcp_edge::connection::send_cipher(size_t counts)
{
    auto data = d_tls.session->poll();
    if (data.empty() && counts == 0)
        return;
    d_out.pieces.push_back({ std::move(data), counts });
    write();
}

// The engine has forgotten the connection. Keep it until the program has the alert.
void tcp_edge::connection::end_when_written()
{
    send_cipher(0);
    d_in.eof = true;
    d_out.fin = d_out.close = true;
    write();
}

} // namespace gr::hf
