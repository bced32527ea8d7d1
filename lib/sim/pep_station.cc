/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/pep_station.h"

#include <hf/mode.h>

#include <algorithm>

namespace gr::hf::sim {
namespace {

s5066::address node_address(int n)
{
    return s5066::address("1." + std::to_string(n) + ".0.0");
}

s5066::node_config node_config(int n,
                               const std::string& mode_text,
                               uint64_t seed,
                               const std::function<void(s5066::node_config&)>& change)
{
    s5066::node_config c;
    c.own = node_address(n);
    c.mode = mode_text;
    c.seed = 100 * seed + static_cast<uint64_t>(n);
    if (change)
        change(c);
    return c;
}

} // namespace

proxy_on_station::proxy_on_station(scheduler& s,
                                   station& at,
                                   const hfpep::engine_config& c)
    : d_scheduler(s), d_station(at), d_edge(std::make_unique<tcp_host>(c))
{
    attach();
    drain();
}

void proxy_on_station::attach()
{
    d_client = d_station.attach_octets([this](sim_time now, const octets& v) {
        d_edge->sis_in(now, v.data(), v.size());
        drain();
    });
}

void proxy_on_station::drain()
{
    if (d_busy)
        return;
    d_busy = true;
    for (bool again = true; again;) {
        d_edge->work(d_scheduler.now());
        again = false;
        while (auto v = d_edge->poll_sis()) {
            again = true;
            d_station.send_octets(d_client, *v);
        }
    }
    d_busy = false;
    const auto t = d_edge->next_deadline();
    if (!t || (d_wake && *d_wake <= *t && *d_wake > d_scheduler.now()))
        return;
    d_wake = t;
    d_scheduler.at(*t, [this, when = *t] {
        if (d_wake == when)
            d_wake.reset();
        if (const auto d = d_edge->next_deadline(); d && *d <= d_scheduler.now())
            d_edge->on_deadline(d_scheduler.now());
        drain();
    });
}

void proxy_on_station::reattach()
{
    attach();
    d_edge->pep.sis_reset(d_scheduler.now());
    drain();
}

void proxy_on_station::restart(const hfpep::engine_config& c)
{
    d_station.detach(d_client);
    d_edge = std::make_unique<tcp_host>(c);
    attach();
    drain();
}

size_t depth_for(double rate) { return static_cast<size_t>(1.1 * 127.5 * rate / 8); }

proxy_pair::proxy_pair(const std::string& mode_text,
                       const path& p,
                       uint64_t seed,
                       const changes& c)
    : mode_name(mode_text), change(c), air(s, seed),
      a(s, air, node_config(1, mode_text, seed, c.node)),
      b(s, air, node_config(2, mode_text, seed, c.node)), pa(s, a, pep_config(1, 1)),
      pb(s, b, pep_config(2, 2))
{
    air.set_default_path(p);
    s.run_until(std::chrono::milliseconds(1));
}

hfpep::engine_config proxy_pair::pep_config(int n, uint16_t instance) const
{
    hfpep::engine_config c;
    const s5066::address other = node_address(3 - n);
    c.routes = { { ip::prefix("0.0.0.0/0"), "", other, 13 },
                 { ip::prefix("::/0"), "", other, 13 },
                 { {}, ".", other, 13 } };
    c.slep.queue_octets =
        std::max<size_t>(depth_for(mode::parse(mode_name).rate_bps), 2048);
    c.allow = { hfpep::reach::parse("*:*") };
    c.slep.instance = instance;
    const station& at = n == 1 ? a : b;
    c.slep.segment_octets =
        std::min<size_t>(1023, (at.node().aligned_u_pdu_octets() + 4) / 2);
    if (change.pep)
        change.pep(c);
    return c;
}

bool proxy_pair::run_for(double seconds, const std::function<bool()>& done)
{
    return s.run_until(
        [&] {
            pa.drain();
            pb.drain();
            return done();
        },
        s.now() + from_seconds(seconds));
}

} // namespace gr::hf::sim
