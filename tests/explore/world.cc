/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explore/world.h"

#include "explore/attacker.h"
#include "explore/faulty_air.h"
#include "explore/flow.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <stdexcept>

namespace gr::hf::explore {

using namespace sim;
using namespace s5066;
using std::chrono::milliseconds;

namespace {

// The stations and the air of one run.
struct world {
    const char* name;
    std::vector<flow_plan> flows;
    std::vector<const char*> modes;           // of stations 0, 1, ...
    double turnaround_s = 0;                  // of station 1
    double snr_forth_db = 0, snr_back_db = 0; // 0: no errors; from and to station 0
};

delivery_mode service(delivery_order o, delivery_confirmation c)
{
    delivery_mode m;
    m.order = o;
    m.confirmation = c;
    return m;
}

const std::vector<world>& all_worlds()
{
    const auto ordered = service(delivery_order::in_order, delivery_confirmation::node);
    const auto arriving =
        service(delivery_order::as_they_arrive, delivery_confirmation::node);
    const auto by_client =
        service(delivery_order::in_order, delivery_confirmation::client);
    const flow_plan forth{ 0, 1, 3, 400, ordered }, back{ 1, 0, 2, 400, ordered };
    static const std::vector<world> worlds = {
        { "in-order", { forth }, { "4539-2400S", "4539-2400S" } },
        { "as-they-arrive",
          { { 0, 1, 3, 400, arriving } },
          { "4539-2400S", "4539-2400S" } },
        { "client", { { 0, 1, 2, 400, by_client } }, { "4539-2400S", "4539-2400S" } },
        { "both-ways", { forth, back }, { "4539-2400S", "4539-2400S" } },
        { "three",
          { forth, { 2, 1, 2, 400, ordered } },
          { "4539-2400S", "4539-2400S", "4539-2400S" } },
        { "relay",
          { forth, { 1, 2, 2, 400, ordered } },
          { "4539-2400S", "4539-2400S", "4539-2400S" } },
        { "slow-radio", { forth, back }, { "4539-2400S", "4539-2400S" }, 2.0 },
        { "unequal", { forth }, { "auto", "auto" }, 0, 20, 0 },
        { "wideband", { { 0, 1, 3, 2000, ordered } }, { "auto:48k", "auto:48k" } },
    };
    return worlds;
}

const world& world_named(const std::string& name)
{
    for (const world& w : all_worlds()) {
        if (name == w.name) {
            return w;
        }
    }
    std::string allowed;
    for (const std::string& w : worlds()) {
        allowed += (allowed.empty() ? "" : ", ") + w;
    }
    throw std::invalid_argument("world '" + name + "': allowed are " + allowed);
}

node_config config_of(const world& w, size_t station)
{
    node_config c;
    c.own = address_of(station);
    c.mode = w.modes[station];
    c.turnaround_s = station == 1 ? w.turnaround_s : 0;
    c.seed = 101 + station;
    return c;
}

// A run of one schedule.
class run_of
{
public:
    run_of(const world& w, const schedule& s, bool trace)
        : d_world(w), d_air(d_time, s, w.modes.size())
    {
        for (size_t i = 0; i < w.modes.size(); ++i) {
            d_stations.push_back(
                std::make_unique<station>(d_time, d_air.air(), config_of(w, i)));
        }
        set_paths();
        for (const flow_plan& p : w.flows) {
            d_flows.push_back(
                std::make_unique<flow>(d_time,
                                       *d_stations[p.from],
                                       *d_stations[p.to],
                                       p,
                                       static_cast<uint8_t>(d_flows.size())));
            d_flows.back()->links_begun = [this, p] {
                return d_air.links_begun(p.from, p.to);
            };
            d_flows.back()->unanswered = [this, p] {
                return d_air.unanswered(p.from, p.to);
            };
        }
        d_air.on_restart = [this](size_t k, bool sender) {
            restart(sender ? k : other(k));
        };
        d_air.on_submit = [this](size_t k) { submit(k); };
        d_air.on_forgery = [this](uint64_t n, unsigned what) { forge(n, what); };
        d_air.on_false_carrier = [this](size_t from, bool on) { carrier(from, on); };
        if (trace) {
            print_log();
        }
    }

    outcome result()
    {
        d_time.run_until(milliseconds(1));
        for (auto& f : d_flows) {
            f->send();
        }
        return after_exchange();
    }

    damage hostile_result()
    {
        damage d;
        d.during = result();
        flow& f = *d_flows.front();
        const auto before = f.done();
        f.send_one();
        d_time.run_until([&] { return f.done() > before; },
                         d_time.now() + from_seconds(max_quiet_s));
        d.works_again = f.done() > before;
        return d;
    }

private:
    outcome after_exchange()
    {
        look();
        const bool quiet =
            d_time.run_until([this] { return d_idle; }, std::chrono::hours(2));
        outcome o;
        o.transmissions = d_air.transmissions();
        o.quiet_s = to_seconds(d_time.now() - d_air.last_event());
        o.violations = d_air.violations();
        if (!quiet || o.quiet_s > max_quiet_s) {
            o.violations.push_back("not idle " + std::to_string(int(o.quiet_s)) +
                                   " s after the last fault and data");
        }
        for (auto& f : d_flows) {
            const auto more = f->violations();
            o.violations.insert(o.violations.end(), more.begin(), more.end());
            o.foreign += f->foreign();
        }
        return o;
    }

    void set_paths()
    {
        if (d_world.snr_forth_db == 0) {
            return;
        }
        d_air.set_lossy();
        for (const bool forth : { true, false }) {
            air_path p;
            p.snr_db = forth ? d_world.snr_forth_db : d_world.snr_back_db;
            p.blocks =
                std::make_shared<const block_error_curves>(measured_block_errors("awgn"));
            d_air.air().set_path(d_stations[forth ? 0 : 1]->modem(),
                                 d_stations[forth ? 1 : 0]->modem(),
                                 p);
        }
    }

    // The station after the given one, which is its peer where there are two.
    size_t other(size_t k) const { return (k + 1) % d_stations.size(); }

    void restart(size_t k)
    {
        d_air.restarted(k);
        d_stations[k]->restart(1000 + k);
        for (auto& f : d_flows) {
            f->restarted(*d_stations[k]);
        }
    }

    void submit(size_t from)
    {
        for (auto& f : d_flows) {
            if (&f->from() == d_stations[other(from)].get()) {
                f->send();
                return;
            }
        }
        d_flows.front()->send();
    }

    void forge(uint64_t number, unsigned what)
    {
        if (!d_attacker) {
            d_attacker = std::make_unique<attacker>(d_time, d_air.air());
        }
        const size_t victim = d_air.transmissions()[number].station;
        d_attacker->send(static_cast<forgery>(what),
                         d_stations[other(victim)]->address(),
                         d_stations[victim]->address(),
                         d_air.next_fsn(number),
                         d_air.mode_of(number));
    }

    void carrier(size_t from, bool on)
    {
        for (size_t k = 0; k < d_stations.size(); ++k) {
            station& s = *d_stations[k];
            // The end of a false carrier is not the end of a signal that began meanwhile.
            const bool hides = !on && s.modem().senses_carrier();
            if (k != from && !s.modem().transmitting() && !s.modem().receiving() &&
                !hides) {
                s.node().on_carrier(s.modem().clock(), on);
                s.modem().poke();
            }
        }
    }

    // Looks once a second of virtual time. A fifth of the processor time went into looks
    // after each event.
    void look()
    {
        d_idle = idle();
        d_time.at(d_time.now() + std::chrono::seconds(1), [this] { look(); });
    }

    bool idle() const
    {
        return d_air.silent() &&
               std::all_of(d_stations.begin(), d_stations.end(), [&](const auto& s) {
                   const node_state st = s->node().state();
                   const auto next = s->node().next_deadline();
                   return st.links == 0 && st.phase == node_phase::idle &&
                          st.queued_octets == 0 &&
                          (!next || *next > d_time.now() + std::chrono::hours(1));
               });
    }

    void print_log()
    {
        for (auto& s : d_stations) {
            s->node().set_trace(true);
            s->on_trace = [st = s.get()](const log_record& l) {
                std::printf("%10.3f %s  %s\n",
                            to_seconds(l.time),
                            st->address().to_string().c_str(),
                            l.text.c_str());
            };
        }
    }

    const world& d_world;
    scheduler d_time;
    faulty_air d_air;
    bool d_idle = false; // as of the last look
    std::vector<std::unique_ptr<station>> d_stations;
    std::vector<std::unique_ptr<flow>> d_flows;
    std::unique_ptr<attacker> d_attacker; // on the air from its first transmission on
};

} // namespace

std::vector<std::string> worlds()
{
    std::vector<std::string> names;
    for (const world& w : all_worlds()) {
        names.emplace_back(w.name);
    }
    return names;
}

outcome run(const std::string& name, const schedule& s, bool trace)
{
    return run_of(world_named(name), s, trace).result();
}

damage run_hostile(const std::string& name, const schedule& s)
{
    return run_of(world_named(name), s, false).hostile_result();
}

} // namespace gr::hf::explore
