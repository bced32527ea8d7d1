/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trials/fault_trial.h"

#include <cmath>
#include <random>
#include <stdexcept>

namespace gr::hf::sim {

namespace {

constexpr double min_s = 600, longest_s = 1e6;

//! Random numbers of one seed.
class dice
{
public:
    explicit dice(uint64_t seed) : d_random(seed * 2654435761u + 17) {}
    //! Uniform from 0 to 1, never 0.
    double part()
    {
        return static_cast<double>((d_random() >> 11) + 1) / 9007199254740992.0;
    }
    double between(double a, double b) { return a + (b - a) * part(); }
    //! Logarithmic: between 1 and 10 as likely as between 10 and 100.
    double between_log(double a, double b) { return a * std::pow(b / a, part()); }
    //! Time to the next random event.
    double pause(double mean_s) { return -mean_s * std::log(part()); }
    bool chance(double p) { return part() <= p; }
    template <typename T, size_t N>
    const T& one_of(const T (&list)[N])
    {
        return list[d_random() % N];
    }

private:
    std::mt19937_64 d_random;
};

const char* const names[] = { "A", "B", "C" };

void add_stations(scenario& s, dice& d)
{
    static const char* const modes[] = { "4539-600S",  "4539-1200L", "4539-2400S",
                                         "4539-4800S", "4539-9600S", "auto" };
    const std::string mode = d.one_of(modes);
    const bool extensions = d.chance(0.5), large_windows = d.chance(0.5);
    for (const char* name : names) {
        scenario_station one;
        one.name = name;
        one.mode = mode;
        one.data_link["extensions"] = extensions ? 1 : 0;
        one.data_link["large_windows"] = large_windows ? 1 : 0;
        s.stations.push_back(one);
    }
}

// Each direction has its own channel.
void add_paths(scenario& s, dice& d)
{
    for (const char* from : names) {
        for (const char* to : names) {
            if (from == to)
                continue;
            air_path p;
            p.ber = d.chance(0.3) ? 0 : d.between_log(1e-6, 1e-4);
            p.loss = d.chance(0.5) ? 0 : d.between(0, 0.2);
            p.eom_loss = d.between(0, 0.1);
            s.paths.push_back({ from, to, p });
        }
    }
}

// Traffic between two of the stations, both ways, and a little with the third.
void add_traffic(scenario& s, dice& d)
{
    using s5066::delivery_confirmation;
    const auto add = [&](traffic_kind kind, const char* from, const char* to) {
        scenario_traffic t;
        t.kind = kind;
        t.from = from;
        t.to = to;
        t.in_order = d.chance(0.5);
        t.confirmation =
            d.chance(0.5) ? delivery_confirmation::node : delivery_confirmation::client;
        t.priority = static_cast<unsigned>(d.between(0, 15.99));
        t.u_pdu = static_cast<size_t>(d.between_log(20, 2048));
        s.traffic.push_back(t);
        return &s.traffic.back();
    };
    const bool forth_and_back[] = { false, true };
    // Both request a link at the same moment, after the link was idle long enough to be
    // broken.
    const double interval_s = d.between(150, 400);
    for (const bool back : forth_and_back) {
        auto* t = add(traffic_kind::bulk, names[back], names[!back]);
        t->rate_bps = 8.0 * static_cast<double>(t->u_pdu) / interval_s;
        t->start_s = 10;
    }
    for (const bool back : forth_and_back) {
        auto* t = add(traffic_kind::interactive, names[back], names[!back]);
        t->interval_s = d.between_log(20, 600);
        t->answer = back ? 100 : 0;
    }
    // Flows long enough for several transmissions, each followed by a pause.
    for (double at = d.pause(1800); at < s.duration_s; at += d.pause(5400)) {
        auto* t = add(traffic_kind::bulk, d.chance(0.5) ? "A" : "B", "C");
        t->from = d.chance(0.7) ? t->from : "C";
        t->to = t->from == "C" ? "B" : t->to;
        t->u_pdu = std::max<size_t>(t->u_pdu, 200);
        t->octets = static_cast<uint64_t>(d.between_log(5e3, 1e5));
        t->start_s = at;
        t->stop_s = at + 1800;
        if (s.traffic.size() >= 12)
            break; // no SAPs left
    }
    auto* t = add(traffic_kind::ping, "A", "B");
    t->expedited = true;
    t->interval_s = d.between(30, 300);
    t->u_pdu = 64;
}

void add_faults(scenario& s, dice& d)
{
    const auto at_random = [&](double mean_s, auto&& make) {
        for (double at = d.pause(mean_s); at < s.duration_s; at += d.pause(mean_s)) {
            scenario_fault f;
            f.at_s = at;
            make(f);
            s.faults.push_back(f);
        }
    };
    std::vector<double> free_at(std::size(names), 0);
    const auto restart = [&](scenario_fault f, size_t which) {
        // A station that is already off.
        if (f.at_s <= free_at[which])
            return;
        f.kind = fault_kind::restart;
        f.station = names[which];
        f.for_s = d.between_log(0.05, 600);
        free_at[which] = f.at_s + f.for_s + 0.01;
        s.faults.push_back(f);
    };
    for (double at = d.pause(1200); at < s.duration_s; at += d.pause(1200)) {
        scenario_fault f;
        f.at_s = at;
        const bool both = d.chance(0.2);
        const size_t first = d.chance(0.5) ? 0 : 1;
        restart(f, d.chance(0.1) ? 2 : first);
        if (both) {
            f.at_s += d.between(0, 20);
            restart(f, 1 - first);
        }
    }
    at_random(900, [&](scenario_fault& f) {
        f.kind = fault_kind::deaf;
        f.station = d.one_of(names);
        f.from = d.chance(0.5) ? d.one_of(names) : "";
        f.for_s = d.between_log(1, 900);
    });
    at_random(600, [&](scenario_fault& f) {
        f.kind = fault_kind::noise;
        f.station = d.chance(0.5) ? d.one_of(names) : "";
        f.for_s = d.between_log(0.1, 60);
    });
    at_random(7200, [&](scenario_fault& f) {
        f.kind = fault_kind::clock_step;
        f.station = d.one_of(names);
        f.step_s = d.between(-2, 2);
    });
}

} // namespace

scenario scenario_of(const fault_trial& t)
{
    if (!(t.duration_s >= min_s && t.duration_s <= longest_s)) {
        throw std::invalid_argument("duration_s " + std::to_string(t.duration_s) +
                                    ": must be 600 to 1e6");
    }
    dice d(t.seed);
    scenario s;
    s.duration_s = t.duration_s;
    s.seed = t.seed;
    s.fates = true;
    add_stations(s, d);
    add_paths(s, d);
    add_traffic(s, d);
    add_faults(s, d);
    return s;
}

fault_trial_result run(const fault_trial& t)
{
    const scenario s = scenario_of(t);
    const scenario_result all = run(s);
    fault_trial_result r;
    for (const auto& f : all.fates) {
        ++r.u_pdus;
        r.delivered += f.delivered_s ? 1 : 0;
        r.confirmed += f.confirmed_s ? 1 : 0;
        r.rejected += f.rejected_s ? 1 : 0;
        r.missing += f.missing() ? 1 : 0;
        r.contradictory += f.contradictory() ? 1 : 0;
        r.repeated_on_link += f.repeated_on_link;
        r.repeated += f.deliveries > 1 ? f.deliveries - 1 - f.repeated_on_link : 0;
        r.rejected_delivered += f.rejected_s && f.delivered_s ? 1 : 0;
    }
    for (const auto& f : all.flows)
        r.altered += f.altered;
    for (const auto& f : s.faults)
        r.restarts += f.kind == fault_kind::restart ? 1 : 0;
    for (const auto& one : all.stations) {
        r.links_made += one.links_made;
        r.links_failed += one.links_failed;
        r.resets += one.resets;
    }
    r.collisions = all.collisions;
    return r;
}

} // namespace gr::hf::sim
