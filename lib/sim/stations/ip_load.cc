/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/stations/ip_load.h"

#include "ip/client.h"
#include "sim/stations/ip_hosts.h"
#include "sim/stations/pep_station.h"
#include "sim/stations/tcp_model.h"

#include <hf/mode.h>

#include <algorithm>
#include <memory>
#include <numeric>

namespace gr::hf::sim {

namespace {

//! Two hosts over the link, and the transfers and pings between them.
class experiment
{
public:
    explicit experiment(const ip_load& l);
    ip_load_result run();

private:
    bool done(size_t k) const { return d_result.transfer_s[k] >= 0; }
    void work();
    void wake_for_deadlines();
    void arrived(bool at_server, const octets& v);
    void start_transfer(size_t k);
    void ping(int k);
    void count_transfers(double took_s);

    const ip_load& d_load;
    ip_hosts d_net;
    station_time d_begin;
    std::vector<std::unique_ptr<tcp_model>> d_transfers;
    std::vector<station_time> d_begins;
    std::map<int, station_time> d_pings; // sent and not yet answered
    std::optional<station_time> d_wake;
    ip_load_result d_result;
};

experiment::experiment(const ip_load& l)
    : d_load(l), d_net(l.mode, "auto", l.on_path, l.seed, l.queue), d_begin(d_net.s.now())
{
    d_result.transfer_s.assign(l.octets.size(), -1);
    const auto to_host = [this](bool at_server) {
        return [this, at_server](octets v) {
            // Not from inside the poll of the same engine.
            d_net.s.at(d_net.s.now(),
                       [this, at_server, v = std::move(v)] { arrived(at_server, v); });
        };
    };
    d_net.to_host(d_net.a, to_host(false));
    d_net.to_host(d_net.b, to_host(true));
    for (size_t k = 0; k < l.octets.size(); ++k)
        d_net.s.at(d_begin + from_seconds(l.apart_s * double(k)),
                   [this, k] { start_transfer(k); });
    if (l.ping_every_s > 0)
        d_net.s.at(d_begin, [this] { ping(1); });
}

void experiment::work()
{
    for (const auto& t : d_transfers) {
        if (const auto d = t->next_deadline(); d && *d <= d_net.s.now())
            t->on_deadline(d_net.s.now());
        while (auto v = t->poll(false))
            d_net.send(d_net.a, *v);
        while (auto v = t->poll(true))
            d_net.send(d_net.b, *v);
    }
    wake_for_deadlines();
    for (size_t k = 0; k < d_transfers.size(); ++k)
        if (d_transfers[k]->done() && !done(k))
            d_result.transfer_s[k] = to_seconds(d_net.s.now() - d_begins[k]);
}

void experiment::wake_for_deadlines()
{
    std::optional<station_time> next;
    for (const auto& t : d_transfers)
        if (const auto d = t->next_deadline(); d && (!next || *d < *next))
            next = d;
    if (!next || (d_wake && *next >= *d_wake && *d_wake > d_net.s.now()))
        return;
    d_wake = next;
    d_net.s.at(*next, [this, when = *next] {
        if (d_wake == when)
            d_wake.reset();
        work();
    });
}

void experiment::arrived(bool at_server, const octets& v)
{
    const auto p = ip::read_packet(v.data(), v.size());
    if (!p)
        return;
    if (p->protocol == ip::proto_icmp) {
        if (at_server) {
            d_net.send(d_net.b, echo_reply(v));
        } else if (const auto it = d_pings.find(v[26] << 8 | v[27]);
                   it != d_pings.end()) {
            d_result.ping_s.push_back(to_seconds(d_net.s.now() - it->second));
            d_pings.erase(it);
        }
        return;
    }
    for (const auto& t : d_transfers)
        t->packet_in(d_net.s.now(), at_server, *p);
    work();
}

void experiment::start_transfer(size_t k)
{
    tcp_model::config c;
    c.client = d_net.address_a;
    c.server = d_net.address_b;
    c.port = static_cast<uint16_t>(10000 + k);
    c.octets = d_load.octets[k];
    d_transfers.push_back(std::make_unique<tcp_model>(c));
    d_begins.push_back(d_net.s.now());
    d_transfers.back()->start(d_net.s.now());
    work();
}

void experiment::ping(int k)
{
    d_pings[k] = d_net.s.now();
    d_net.send(d_net.a, echo_request(d_net.address_a, d_net.address_b, 84, k));
    d_net.s.at(d_net.s.now() + from_seconds(d_load.ping_every_s),
               [this, k] { ping(k + 1); });
}

void experiment::count_transfers(double took_s)
{
    double octets_there = 0, sum = 0, squares = 0;
    for (size_t k = 0; k < d_transfers.size(); ++k) {
        const tcp_model& t = *d_transfers[k];
        d_result.segments += t.segments_sent();
        d_result.repeats += t.segments_again();
        d_result.timeouts += t.timeouts();
        octets_there += double(t.received());
        const double end = d_result.transfer_s[k] > 0
                               ? d_result.transfer_s[k]
                               : to_seconds(d_net.s.now() - d_begins[k]);
        const double rate = double(t.received()) / end;
        sum += rate;
        squares += rate * rate;
    }
    d_result.utilisation = octets_there * 8 / took_s / mode::parse(d_load.mode).rate_bps;
    d_result.fairness =
        squares > 0 ? sum * sum / (double(d_transfers.size()) * squares) : 0;
}

ip_load_result experiment::run()
{
    d_net.s.run_until(
        [this] {
            return std::all_of(d_result.transfer_s.begin(),
                               d_result.transfer_s.end(),
                               [](double t) { return t >= 0; });
        },
        d_begin + from_seconds(d_load.limit_s));
    count_transfers(to_seconds(d_net.s.now() - d_begin));
    // Pings of the last minutes may still be on their way.
    for (const auto& p : d_pings)
        d_result.pings_lost += d_net.s.now() - p.second > std::chrono::minutes(5);
    return std::move(d_result);
}

} // namespace

ip_load_result measure(const ip_load& l) { return experiment(l).run(); }

} // namespace gr::hf::sim
