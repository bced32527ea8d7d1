/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "pep/engine.h"

#include <functional>
#include <map>

namespace gr::hf::test {

using octets = std::vector<uint8_t>;

/*! \brief Plays the sockets of one proxy: applications that have something to send and take
 *         what comes. Reads only within its credit.
 */
class fake_edge
{
public:
    explicit fake_edge(const hfpep::engine_config& c) : pep(c) {}

    struct socket {
        hfpep::destination to; // of a connect
        octets to_send;        // by the application
        bool then_eof = false;
        size_t sent = 0;
        bool eof_sent = false;
        size_t credit = 0;
        octets got;
        size_t unwritten = 0; // taken from the engine, not by the application
        bool reads = true;
        bool connected = false; // action::connected seen
        bool got_eof = false, closed = false, reset = false;
        hfpep::status why = hfpep::status::connected;
        sim_time first_at{ -1 }, last_at{ -1 }, connect_at{ -1 }, eof_at{ -1 },
            closed_at{ -1 };
        size_t max_unwritten = 0;
        bool eof_after_eof = false; // closes when the other side has
        size_t reply_after = 0;     // when so many octets came, send the reply
        octets reply;
    };

    hfpep::engine pep;
    std::map<hfpep::connection_id, socket> sockets;
    std::vector<hfpep::connection_id> connects; // asked for by the engine, in order
    //! Outcome of connects; empty: succeed.
    std::function<hfpep::status(const hfpep::destination&)> on_connect;
    //! Prepares a connected server socket.
    std::function<void(socket&)> on_server;

    hfpep::connection_id accept(sim_time now, const std::string& host, uint16_t port)
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
    hfpep::rule_action verdict = hfpep::rule_action::proxy;

    void sis_in(sim_time now, const uint8_t* p, size_t n) { pep.sis_in(now, p, n); }
    std::optional<octets> poll_sis() { return pep.poll_sis(); }
    std::optional<sim_time> next_deadline() const { return pep.next_deadline(); }
    void on_deadline(sim_time now) { pep.on_deadline(now); }

    std::function<void(sim_time)> hook()
    {
        return [this](sim_time now) { work(now); };
    }

    void work(sim_time now)
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

private:
    bool pump(sim_time now, hfpep::connection_id id, socket& s)
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

    void act(sim_time now, const hfpep::action& a)
    {
        using kind = hfpep::action::kind;
        socket& s = sockets[a.conn];
        switch (a.what) {
        case kind::connect: {
            connects.push_back(a.conn);
            s.to = a.to;
            const auto why = on_connect ? on_connect(a.to) : hfpep::status::connected;
            if (why != hfpep::status::connected) {
                pep.on_connect_failed(now, a.conn, why);
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
            break;
        case kind::reset:
            s.reset = true;
            s.why = a.why;
            break;
        case kind::read_more:
            s.credit += a.octets_allowed;
            break;
        }
    }

    hfpep::connection_id d_next = 1;
};

} // namespace gr::hf::test
