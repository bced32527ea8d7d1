/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trials/dns_exchange.h"
#include "dns/forwarder.h"
#include "sim/stations/client_on_station.h"

#include <set>

namespace gr::hf::sim {
namespace {

using dns_on_station = client_on_station<dns::forwarder>;

s5066::node_config node_config(int n, const dns_series& d)
{
    s5066::node_config c;
    c.own = s5066::address("1." + std::to_string(n) + ".0.0");
    c.mode = d.mode;
    c.seed = 100 * d.seed + static_cast<uint64_t>(n);
    return c;
}

//! Query of a stub resolver: an upstream query, but with an id and without EDNS.
octets stub_query(const dns::question& ask, uint16_t id)
{
    octets v = dns::make_query(ask);
    v.resize(v.size() - 11);
    v[0] = static_cast<uint8_t>(id >> 8);
    v[1] = static_cast<uint8_t>(id);
    v[11] = 0;
    return v;
}

//! The far resolver: one address for every name.
void resolve(dns_on_station& far, scheduler& s)
{
    far.edge = [&far, &s] {
        bool any = false;
        while (const auto a = far.engine().poll_action()) {
            any = true;
            const auto q = dns::read_query(a->message.data(), a->message.size());
            const auto& query = std::get<dns::query>(q);
            const octets r = dns::make_reply(
                query, { ip::address("192.0.2.1"), ip::address("2001:db8::1") }, 3600);
            far.engine().on_response(s.now(), a->id, r.data(), r.size());
        }
        return any;
    };
}

} // namespace

dns_times measure(const dns_series& d)
{
    scheduler s;
    emulated_air air(s, d.seed);
    air.set_default_path(d.on_path);
    station a(s, air, node_config(1, d)), b(s, air, node_config(2, d));
    dns::forwarder_config near_config, far_config;
    near_config.routes = { { ".", b.address() } };
    near_config.ipv6 = far_config.ipv6 = d.ipv6;
    far_config.serve = true;
    dns_on_station near(s, a, near_config), far(s, b, far_config);
    resolve(far, s);
    std::set<uint64_t> replies;
    near.edge = [&] {
        bool any = false;
        while (const auto reply = near.engine().poll_action()) {
            any = true;
            replies.insert(reply->id % 2);
        }
        return any;
    };
    s.run_until(std::chrono::milliseconds(1));

    dns_times result;
    uint64_t client = 0;
    for (int k = 0; k < d.count; ++k) {
        const std::string name = (k == 0 ? "" : std::to_string(k)) + d.name;
        const station_time begin = s.now();
        replies.clear();
        bool done = false;
        while (!done && to_seconds(s.now() - begin) < d.limit_s) {
            for (const uint16_t type : { dns::type_a, dns::type_aaaa }) {
                const octets q = stub_query({ name, type, false }, uint16_t(client));
                near.engine().on_query(s.now(), client++, q.data(), q.size());
            }
            near.drain();
            done = s.run_until([&] { return replies.size() == 2; },
                               s.now() + std::chrono::seconds(1));
        }
        result.answer_s.push_back(done ? to_seconds(s.now() - begin) : -1);
        s.run_until(s.now() + from_seconds(d.gap_s));
    }
    result.questions = near.engine().stats().asked;
    return result;
}

} // namespace gr::hf::sim
