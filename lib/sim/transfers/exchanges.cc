/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/transfers/exchanges.h"

#include "sim/stations/ip_hosts.h"
#include "sim/transfers/real_proxies.h"

#include <hf/mode.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>

namespace gr::hf::sim {
namespace {

constexpr const char* server_address = "10.0.0.1";
// Port refused by the far side. The attempt makes two stations known to each other.
constexpr uint16_t warm_port = 7;
constexpr uint8_t ping_sap = 12;

std::vector<uint8_t> numbered(size_t n)
{
    std::vector<uint8_t> v(n);
    std::iota(v.begin(), v.end(), uint8_t(0));
    return v;
}

struct two_stations {
    explicit two_stations(const ping_series& p)
        : air(s, p.seed), a(s, air, config(1, p)), b(s, air, config(2, p))
    {
        air.set_default_path(p.on_path);
        s.run_until(std::chrono::milliseconds(1));
    }
    static s5066::node_config config(int n, const ping_series& p)
    {
        s5066::node_config c;
        c.own = s5066::address("1." + std::to_string(n) + ".0.0");
        c.mode = p.mode;
        c.ack_mode = p.ack_mode;
        c.seed = 100 * p.seed + static_cast<uint64_t>(n);
        return c;
    }
    scheduler s;
    emulated_air air;
    station a, b;
};

//! Sends \p count requests. \p answered returns the number of answers.
std::vector<double> run_series(scheduler& s,
                               const ping_series& p,
                               const std::function<void(int)>& request,
                               const int& answered)
{
    std::vector<double> times;
    for (int k = 0; k < p.count; ++k) {
        const station_time begin = s.now();
        const int before = answered;
        request(k);
        const bool came = s.run_until([&] { return answered > before; },
                                      begin + from_seconds(p.limit_s));
        times.push_back(came ? to_seconds(s.now() - begin) : -1);
        s.run_until(s.now() + from_seconds(p.gap_s));
    }
    return times;
}

std::vector<double> ping_icmp(const ping_series& p)
{
    ip_hosts n(p.mode, p.ack_mode, p.on_path, p.seed, {}, p.arq);
    int answered = 0;
    n.to_host(
        n.a, [&](const octets&) { ++answered; });
    n.to_host(
        n.b,
        [&](octets v) {
            // Called later: an engine must not be called from inside its own poll.
            n.s.at(
                n.s.now(),
                [&n, reply = echo_reply(std::move(v))] {
                    if (!reply.empty())
                        n.send(n.b, reply);
                });
        });
    return run_series(
        n.s,
        p,
        [&](int k) { n.send(n.a, echo_request(n.address_a, n.address_b, p.octets, k)); },
        answered);
}

std::vector<double> ping_u_pdu(const ping_series& p)
{
    two_stations n(p);
    s5066::s_unidata_request q;
    q.dst_sap = ping_sap;
    q.mode.mode =
        p.arq ? s5066::transmission_mode::arq : s5066::transmission_mode::non_arq;
    q.mode.order = s5066::delivery_order::as_they_arrive;
    q.u_pdu = numbered(p.octets);
    int answered = 0;
    const auto client_a = n.a.attach([&](station_time, const s5066::s_primitive& x) {
        answered += std::holds_alternative<s5066::s_unidata_indication>(x);
    });
    s5066::client_id client_b = 0;
    client_b = n.b.attach([&](station_time, const s5066::s_primitive& x) {
        if (!std::holds_alternative<s5066::s_unidata_indication>(x))
            return;
        auto back = q;
        back.dst = n.a.address();
        n.b.send(client_b, back);
    });
    n.a.send(client_a, s5066::s_bind_request{ ping_sap, 0, {} });
    n.b.send(client_b, s5066::s_bind_request{ ping_sap, 0, {} });
    q.dst = n.b.address();
    return run_series(
        n.s, p, [&](int) { n.a.send(client_a, q); }, answered);
}

// Time after the last transmission by which the soft link is surely broken.
constexpr double link_broken_s = 90;

//! One refused connection, and a wait until the soft link is broken again.
void make_acquainted(proxy_link& n)
{
    const auto id = n.edge(0).accept(n.now(), server_address, warm_port);
    auto& client = n.edge(0).sockets[id];
    client.then_eof = true;
    n.drain();
    n.run_for(3600, [&] { return client.reset; });
    n.run_for(link_broken_s);
}

//! An earlier transfer, and a wait until the soft link is broken again.
bool transfer_before(proxy_link& n, const tcp_transfer& t, double limit_s)
{
    const auto id = n.edge(0).accept(n.now(), server_address, t.port);
    auto& client = n.edge(0).sockets[id];
    client.to_send = t.content;
    client.then_eof = true;
    n.drain();
    const bool done = n.run_for(limit_s, [&] { return client.closed || client.reset; });
    n.run_for(link_broken_s);
    return done && client.closed;
}

std::unique_ptr<proxy_link> link_of(const tcp_transfer& t)
{
    proxy_link::changes change;
    change.node = [&](s5066::node_config& c) {
        s5066::apply(t.settings, c);
        c.ack_mode = t.ack_mode;
    };
    change.pep = [&](hfpep::proxy_config& c) {
        for (auto& r : c.rules)
            r.compress = t.compress ? hfpep::compression::on : hfpep::compression::off;
    };
    if (t.waveforms)
        return std::make_unique<real_proxies>(t.mode, *t.waveforms, t.seed, change);
    return std::make_unique<proxy_pair>(t.mode, t.on_path, t.seed, change);
}

//! The measured transfer, and its preparation.
tcp_times transfer(proxy_link& n, const tcp_transfer& t)
{
    tcp_host& far = n.edge(1);
    far.on_connect = [](const hfpep::destination& to) {
        return to.port == warm_port ? hfpep::status::refused : hfpep::status::connected;
    };
    far.on_server = [&](tcp_host::socket& s) {
        s.reply_after = t.content.size();
        s.reply = octets(12, 'k');
        s.eof_after_eof = true;
    };
    if (t.acquainted)
        make_acquainted(n);
    tcp_times result;
    const double rate = fastest_mode(t.mode).rate_bps;
    const double limit = 600 + 40 * 8.0 * static_cast<double>(t.content.size()) / rate;
    for (unsigned k = 0; k < t.earlier; ++k)
        if (!transfer_before(n, t, limit))
            return result;
    const size_t connects_before = far.connects.size();
    const auto of_both = [&](uint64_t s5066::node_stats::*counter) {
        return n.node(0).stats().*counter + n.node(1).stats().*counter;
    };
    const uint64_t transmissions_before = of_both(&s5066::node_stats::transmissions);
    const uint64_t octets_before = of_both(&s5066::node_stats::octets_sent);

    const station_time begin = n.now();
    const auto id = n.edge(0).accept(begin, server_address, t.port);
    auto& client = n.edge(0).sockets[id];
    client.to_send = t.content;
    n.drain();
    const auto server = [&]() -> tcp_host::socket* {
        return far.connects.size() <= connects_before
                   ? nullptr
                   : &far.sockets[far.connects[connects_before]];
    };
    const bool arrived = n.run_for(limit, [&] {
        return client.reset ||
               (server() != nullptr && server()->got.size() == t.content.size());
    });
    if (!arrived || client.reset)
        return result;
    result.connect_s = to_seconds(server()->connect_at - begin);
    result.total_s = to_seconds(server()->last_at - begin);
    result.latency_s = to_seconds(server()->last_at - client.sent_at);
    if (!n.run_for(limit, [&] { return client.got.size() == 12; }))
        return result;
    result.confirmed_s = to_seconds(n.now() - begin);
    n.run_for(5);
    const station_time close = n.now();
    client.then_eof = true;
    n.drain();
    if (!n.run_for(limit, [&] { return client.got_eof && server()->got_eof; }))
        return result;
    result.close_s = to_seconds(std::max(client.eof_at, server()->eof_at) - close);
    result.complete = n.run_for(limit, [&] {
        return client.closed && server()->closed;
    }) && server()->got == t.content;
    result.transmissions =
        of_both(&s5066::node_stats::transmissions) - transmissions_before;
    result.octets_over_hf = of_both(&s5066::node_stats::octets_sent) - octets_before;
    return result;
}

} // namespace

std::vector<double> measure(const ping_series& p)
{
    const size_t least = p.icmp ? 28 : 4, most = p.icmp ? 1500 : s5066::sis_mtu;
    if (p.octets < least || p.octets > most)
        throw std::invalid_argument("octets of a ping " + std::to_string(p.octets) +
                                    ": allowed are " + std::to_string(least) + " to " +
                                    std::to_string(most));
    return p.icmp ? ping_icmp(p) : ping_u_pdu(p);
}

tcp_times measure(const tcp_transfer& t)
{
    const auto link = link_of(t);
    auto result = transfer(*link, t);
    result.end_s = to_seconds(link->now());
    return result;
}

} // namespace gr::hf::sim
