/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/stations/pep_station.h"

namespace gr::hf::sim {

proxy_on_station::proxy_on_station(scheduler& s,
                                   station& at,
                                   const hfpep::proxy_config& c)
    : d_scheduler(s), d_station(at), d_edge(std::make_unique<tcp_host>(c))
{
    attach();
    drain();
}

void proxy_on_station::attach()
{
    d_client = d_station.attach_octets([this](station_time now, const octets& v) {
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

void proxy_on_station::restart(const hfpep::proxy_config& c)
{
    d_station.detach(d_client);
    d_edge = std::make_unique<tcp_host>(c);
    attach();
    drain();
}

proxy_pair::proxy_pair(const std::string& mode_text,
                       const air_path& p,
                       uint64_t seed,
                       const changes& c)
    : mode_name(mode_text), change(c), air(s, seed),
      a(s, air, node_of(1, mode_text, seed, c)),
      b(s, air, node_of(2, mode_text, seed, c)), pa(s, a, pep_config(1, 1)),
      pb(s, b, pep_config(2, 2))
{
    air.set_default_path(p);
    s.run_until(std::chrono::milliseconds(1));
}

hfpep::proxy_config proxy_pair::pep_config(int n, uint16_t instance) const
{
    return pep_of(n, instance, mode_name, (n == 1 ? a : b).node(), change);
}

void proxy_pair::drain()
{
    pa.drain();
    pb.drain();
}

bool proxy_pair::run_for(double seconds, const std::function<bool()>& done)
{
    return s.run_until(
        [&] {
            drain();
            return done();
        },
        s.now() + from_seconds(seconds));
}

} // namespace gr::hf::sim
