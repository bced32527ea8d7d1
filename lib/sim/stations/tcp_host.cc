/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/stations/tcp_host.h"

#include <algorithm>

namespace gr::hf::sim {

hfpep::connection_id
tcp_host::accept(station_time now, const std::string& host, uint16_t port)
{
    const auto id = d_next++;
    sockets[id];
    const hfpep::endpoint_address source{ ip::address("192.168.1.9"), 40000 };
    hfpep::destination to;
    if (const auto a = ip::address::parse(host))
        to.host = *a;
    else
        to.host = host;
    to.port = port;
    verdict = pep.on_accept(now, id, to, source);
    if (verdict != hfpep::rule_action::proxy)
        sockets.erase(id);
    return id;
}

void tcp_host::abort(station_time now, hfpep::connection_id id)
{
    const auto it = sockets.find(id);
    if (it == sockets.end() || it->second.closed || it->second.reset)
        return;
    it->second.reset = true;
    it->second.why = hfpep::status::reset_by_endpoint;
    pep.on_tcp_error(now, id);
}

void tcp_host::work(station_time now)
{
    for (bool again = true; again;) {
        again = false;
        while (auto a = pep.poll_action()) {
            act(now, *a);
            again = true;
        }
        for (auto& s : sockets)
            again = pump(now, s.first, s.second) || again;
    }
}

bool tcp_host::pump(station_time now, hfpep::connection_id id, socket& s)
{
    if (s.closed || s.reset)
        return false;
    bool any = false;
    if (!s.reply.empty() && s.got.size() >= s.reply_after) {
        s.to_send.insert(s.to_send.end(), s.reply.begin(), s.reply.end());
        s.reply.clear();
    }
    const size_t n = std::min(s.credit, s.to_send.size() - s.sent);
    if (n > 0) {
        s.credit -= n;
        s.sent += n;
        s.sent_at = now;
        pep.on_tcp_data(now, id, s.to_send.data() + s.sent - n, n);
        any = true;
    }
    if ((s.then_eof || (s.eof_after_eof && s.got_eof)) && !s.eof_sent &&
        s.sent == s.to_send.size()) {
        s.eof_sent = true;
        pep.on_tcp_eof(now, id);
        any = true;
    }
    if (s.reads && s.unwritten > 0) {
        const size_t w = s.unwritten;
        s.unwritten = 0;
        pep.on_tcp_written(now, id, w);
        any = true;
    }
    return any;
}

void tcp_host::over(hfpep::connection_id id, socket& s)
{
    if (on_over)
        on_over(id, s);
}

void tcp_host::act(station_time now, const hfpep::action& a)
{
    using kind = hfpep::action::kind;
    socket& s = sockets[a.conn];
    switch (a.what) {
    case kind::connect: {
        connects.push_back(a.conn);
        s.to = a.to;
        s.tls = a.tls;
        const auto why = on_connect ? on_connect(a.to) : hfpep::status::connected;
        if (!why)
            break;
        if (*why != hfpep::status::connected) {
            pep.on_connect_failed(now, a.conn, *why);
            s.closed = true;
            break;
        }
        s.connect_at = now;
        if (on_server)
            on_server(s);
        pep.on_connect_ok(
            now, a.conn, hfpep::endpoint_address{ ip::address("10.9.9.9"), 80 });
        break;
    }
    case kind::connected:
        s.connected = true;
        s.alpn = a.alpn;
        break;
    case kind::write:
        if (s.got.empty())
            s.first_at = now;
        s.last_at = now;
        s.got.insert(s.got.end(), a.data.begin(), a.data.end());
        s.unwritten += a.data.size();
        s.max_unwritten = std::max(s.max_unwritten, s.unwritten);
        break;
    case kind::shutdown_write:
        s.got_eof = true;
        s.eof_at = now;
        break;
    case kind::close:
        s.closed = true;
        s.closed_at = now;
        over(a.conn, s);
        break;
    case kind::reset:
        s.reset = true;
        s.why = a.why;
        over(a.conn, s);
        break;
    case kind::read_more:
        s.credit += a.octets_allowed;
        break;
    }
}

} // namespace gr::hf::sim
