/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/stations/pep_station.h"

namespace gr::hf::sim {

proxy_on_station::proxy_on_station(scheduler& s,
                                   station& at,
                                   const hfpep::proxy_config& c)
    : client_on_station(s, at, c)
{
    client_on_station::edge = [this] {
        engine().work(now());
        return false; // poll_sis() tells whether there is more to do
    };
    drain();
}

void proxy_on_station::reattach()
{
    attach();
    engine().pep.sis_reset(now());
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
