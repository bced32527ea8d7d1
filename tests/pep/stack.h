/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "pep/fake_edge.h"
#include "sim/station.h"

namespace gr::hf::test {

//! A proxy with its applications on a station of the event simulator.
class proxy_on_station
{
public:
    proxy_on_station(sim::scheduler& s, sim::station& at, const hfpep::engine_config& c)
        : edge(c), d_scheduler(s), d_station(at)
    {
        d_client = at.attach_octets([this](sim_time now, const octets& v) {
            edge.sis_in(now, v.data(), v.size());
            drain();
        });
        drain();
    }

    //! To be called after anything was done to the edge.
    void drain()
    {
        if (d_busy)
            return;
        d_busy = true;
        for (bool again = true; again;) {
            edge.work(d_scheduler.now());
            again = false;
            while (auto v = edge.poll_sis()) {
                again = true;
                d_station.send_octets(d_client, *v);
            }
        }
        d_busy = false;
        const auto t = edge.next_deadline();
        if (!t || (d_wake && *d_wake <= *t && *d_wake > d_scheduler.now()))
            return;
        d_wake = t;
        d_scheduler.at(*t, [this, when = *t] {
            if (d_wake == when)
                d_wake.reset();
            if (const auto d = edge.next_deadline(); d && *d <= d_scheduler.now())
                edge.on_deadline(d_scheduler.now());
            drain();
        });
    }

    //! The node has restarted: attach and bind again.
    void reattach()
    {
        d_client = d_station.attach_octets([this](sim_time now, const octets& v) {
            edge.sis_in(now, v.data(), v.size());
            drain();
        });
        edge.pep.sis_reset(d_scheduler.now());
        drain();
    }

    fake_edge edge;

private:
    sim::scheduler& d_scheduler;
    sim::station& d_station;
    s5066::client_id d_client = 0;
    bool d_busy = false;
    std::optional<sim_time> d_wake;
};

//! Octets that SIS should hold: 1.1 times a longest transmission.
inline size_t depth_for(double rate)
{
    return static_cast<size_t>(1.1 * 127.5 * rate / 8);
}

//! Two stations with a proxy each, 1.1.0.0 and 1.2.0.0.
struct two_nodes {
    explicit two_nodes(const std::string& mode_text,
                       const sim::path& p = {},
                       uint64_t seed = 1,
                       const std::function<void(s5066::node_config&)>& change = {})
        : air(s, seed), a(s, air, node_config(1, mode_text, seed, change)),
          b(s, air, node_config(2, mode_text, seed, change)),
          pa(s, a, pep_config(2, mode_text, a)), pb(s, b, pep_config(1, mode_text, b))
    {
        air.set_default_path(p);
        s.run_until(std::chrono::milliseconds(1));
    }

    static s5066::node_config
    node_config(int n,
                const std::string& m,
                uint64_t seed,
                const std::function<void(s5066::node_config&)>& change)
    {
        s5066::node_config c;
        c.own = s5066::address("1." + std::to_string(n) + ".0.0");
        c.mode = m;
        c.seed = 100 * seed + static_cast<uint64_t>(n);
        if (change)
            change(c);
        return c;
    }
    static hfpep::engine_config
    pep_config(int other, const std::string& m, const sim::station& at)
    {
        hfpep::engine_config c;
        const s5066::address node("1." + std::to_string(other) + ".0.0");
        c.routes = { { ip::prefix("0.0.0.0/0"), "", node, 13 } };
        c.slep.queue_octets = depth_for(mode::parse(m).rate_bps);
        c.slep.instance = static_cast<uint16_t>(other);
        c.slep.segment_octets =
            std::min<size_t>(1023, (at.node().aligned_u_pdu_octets() + 4) / 2);
        return c;
    }

    bool run_for(double seconds, const std::function<bool()>& done)
    {
        return s.run_until(
            [&] {
                pa.drain();
                pb.drain();
                return done();
            },
            s.now() + from_seconds(seconds));
    }

    sim::scheduler s;
    sim::emulated_air air;
    sim::station a, b;
    proxy_on_station pa, pb;
};

} // namespace gr::hf::test
