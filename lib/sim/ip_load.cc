/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/ip_load.h"

#include "ip/client.h"
#include "sim/ip_hosts.h"
#include "sim/pep_station.h"
#include "sim/tcp_model.h"

#include <hf/mode.h>

#include <algorithm>
#include <memory>
#include <numeric>

namespace gr::hf::sim {

ip_load_result measure(const ip_load& l)
{
    ip_hosts n(l.mode, "auto", l.on_path, l.seed, l.queue);
    std::vector<std::unique_ptr<tcp_model>> transfers;
    std::vector<sim_time> begins;
    ip_load_result result;
    result.transfer_s.assign(l.octets.size(), -1);
    std::map<int, sim_time> pings;

    std::optional<sim_time> wake;
    std::function<void()> work = [&] {
        for (const auto& t : transfers) {
            if (const auto d = t->next_deadline(); d && *d <= n.s.now())
                t->on_deadline(n.s.now());
            while (auto v = t->poll(false))
                n.send(n.a, *v);
            while (auto v = t->poll(true))
                n.send(n.b, *v);
        }
        std::optional<sim_time> next;
        for (const auto& t : transfers)
            if (const auto d = t->next_deadline(); d && (!next || *d < *next))
                next = d;
        if (next && (!wake || *next < *wake || *wake <= n.s.now())) {
            wake = next;
            n.s.at(*next, [&wake, &work, when = *next] {
                if (wake == when)
                    wake.reset();
                work();
            });
        }
        for (size_t k = 0; k < transfers.size(); ++k)
            if (transfers[k]->done() && result.transfer_s[k] < 0)
                result.transfer_s[k] = to_seconds(n.s.now() - begins[k]);
    };
    // Not from within the poll of the same engine.
    const auto arrived = [&](bool at_server) {
        return [&, at_server](octets v) {
            n.s.at(n.s.now(), [&, at_server, v = std::move(v)] {
                const auto p = ip::read_packet(v.data(), v.size());
                if (!p)
                    return;
                if (p->protocol == ip::proto_icmp) {
                    if (at_server) {
                        n.send(n.b, echo_reply(v));
                    } else if (const auto it = pings.find(v[26] << 8 | v[27]);
                               it != pings.end()) {
                        result.ping_s.push_back(to_seconds(n.s.now() - it->second));
                        pings.erase(it);
                    }
                    return;
                }
                for (const auto& t : transfers)
                    t->packet_in(n.s.now(), at_server, *p);
                work();
            });
        };
    };
    n.to_host(n.a, arrived(false));
    n.to_host(n.b, arrived(true));

    const sim_time begin = n.s.now();
    for (size_t k = 0; k < l.octets.size(); ++k)
        n.s.at(begin + from_seconds(l.apart_s * double(k)), [&, k] {
            tcp_model::config c;
            c.client = n.address_a;
            c.server = n.address_b;
            c.port = static_cast<uint16_t>(10000 + k);
            c.octets = l.octets[k];
            transfers.push_back(std::make_unique<tcp_model>(c));
            begins.push_back(n.s.now());
            transfers.back()->start(n.s.now());
            work();
        });
    std::function<void(int)> ping = [&](int k) {
        pings[k] = n.s.now();
        n.send(n.a, echo_request(n.address_a, n.address_b, 84, k));
        n.s.at(n.s.now() + from_seconds(l.ping_every_s), [&ping, k] { ping(k + 1); });
    };
    if (l.ping_every_s > 0)
        n.s.at(begin, [&ping] { ping(1); });
    n.s.run_until(
        [&] {
            return std::all_of(result.transfer_s.begin(),
                               result.transfer_s.end(),
                               [](double t) { return t >= 0; });
        },
        begin + from_seconds(l.limit_s));

    const double took = to_seconds(n.s.now() - begin);
    double octets_there = 0, sum = 0, squares = 0;
    for (size_t k = 0; k < transfers.size(); ++k) {
        const tcp_model& t = *transfers[k];
        result.segments += t.segments_sent();
        result.repeats += t.segments_again();
        result.timeouts += t.timeouts();
        octets_there += double(t.received());
        const double end = result.transfer_s[k] > 0 ? result.transfer_s[k]
                                                    : to_seconds(n.s.now() - begins[k]);
        const double rate = double(t.received()) / end;
        sum += rate;
        squares += rate * rate;
    }
    result.utilisation = octets_there * 8 / took / mode::parse(l.mode).rate_bps;
    result.fairness = squares > 0 ? sum * sum / (double(transfers.size()) * squares) : 0;
    // Those of the last minutes may still be on their way.
    for (const auto& p : pings)
        result.pings_lost += n.s.now() - p.second > std::chrono::minutes(5);
    return result;
}

} // namespace gr::hf::sim
