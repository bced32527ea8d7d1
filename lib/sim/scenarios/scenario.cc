/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/scenarios/scenario.h"

#include "s5066/pdu/d_pdu.h"
#include "sim/scenarios/flow.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace gr::hf::sim {

namespace {

constexpr uint8_t highest_sap = 15;
constexpr double longest_s = 1e7;

[[noreturn]] void refuse(const std::string& where, const std::string& why)
{
    throw std::invalid_argument(where + ": " + why);
}

void within(const std::string& where, const char* key, double v, double lo, double hi)
{
    if (!(v >= lo && v <= hi)) {
        char text[96];
        std::snprintf(text, sizeof text, "%s %g: must be %g to %g", key, v, lo, hi);
        refuse(where, text);
    }
}

std::string nth(const char* what, size_t i)
{
    return std::string(what) + " " + std::to_string(i + 1);
}

void validate(const scenario_traffic& t, const std::string& where)
{
    within(where, "start_s", t.start_s, 0, longest_s);
    within(where, "stop_s", t.stop_s, 0, longest_s);
    within(where, "u_pdu", static_cast<double>(t.u_pdu), 4, s5066::sis_mtu);
    within(where, "answer", static_cast<double>(t.answer), 0, s5066::sis_mtu);
    if (t.answer > 0)
        within(where, "answer", static_cast<double>(t.answer), 4, s5066::sis_mtu);
    within(where, "octets", static_cast<double>(t.octets), 0, 1e12);
    within(where, "count", static_cast<double>(t.count), 0, 1e6);
    within(where, "rate_bps", t.rate_bps, 0, 1e6);
    within(where, "interval_s", t.interval_s, 0.01, longest_s);
    within(where, "limit_s", t.limit_s, 1, longest_s);
    within(where, "repeats", t.repeats, 0, 15);
    within(where, "priority", t.priority, 0, 15);
}

//! Refuses the name of an unknown station.
void known(const scenario& s,
           const std::string& where,
           const char* key,
           const std::string& name,
           bool may_be_empty)
{
    if (name.empty() && may_be_empty)
        return;
    std::string all;
    for (const auto& station : s.stations) {
        if (station.name == name)
            return;
        all += (all.empty() ? "" : ", ") + station.name;
    }
    refuse(where, std::string(key) + " '" + name + "': no station; there are " + all);
}

void validate(const scenario& s, const scenario_path& p, const std::string& where)
{
    const auto& c = p.channel;
    known(s, where, "from", p.from, true);
    known(s, where, "to", p.to, true);
    within(where, "ber", c.ber, 0, 0.5);
    within(where, "loss", c.loss, 0, 1);
    within(where, "eom_loss", c.eom_loss, 0, 1);
    within(where, "duplicate", c.duplicate, 0, 1);
    within(where, "reorder", c.reorder, 0, 1);
    within(where, "snr_db", c.snr_db, -40, 100);
    within(where, "delay_s", to_seconds(c.delay), 0, 10);
}

void validate_ends(const scenario& s, const scenario_traffic& t, const std::string& where)
{
    known(s, where, "from", t.from, false);
    if (t.kind != traffic_kind::broadcast)
        known(s, where, "to", t.to, false);
    else if (t.arq)
        refuse(where, "arq: a broadcast has no acknowledgements");
    if (t.from == t.to)
        refuse(where, "from and to are the same station");
}

void validate(const scenario& s, const scenario_fault& f, const std::string& where)
{
    const bool one = f.kind == fault_kind::restart || f.kind == fault_kind::clock_step;
    known(s, where, "station", f.station, !one);
    known(s, where, "from", f.from, true);
    within(where, "at_s", f.at_s, 0, longest_s);
    within(where, "for_s", f.for_s, 0, longest_s);
    within(where, "step_s", f.step_s, -longest_s, longest_s);
}

//! \throws std::invalid_argument names what the station cannot have
s5066::node_config node_of(const scenario& s, size_t i)
{
    const auto& c = s.stations[i];
    s5066::node_config n;
    n.mode = c.mode;
    n.ack_mode = c.ack_mode;
    n.seed = s.seed * 1000 + i;
    n.default_ttl_s = 1296000; // only the amount delivered counts, not the delay
    // The first 255 are 1.1.0.0 to 1.255.0.0, the next 1.0.1.0 and so on.
    const size_t x = i + 1;
    n.own = s5066::address(c.address.empty() ? "1." + std::to_string(x % 256) + "." +
                                                   std::to_string(x / 256) + ".0"
                                             : c.address);
    for (const auto& g : c.groups)
        n.groups.emplace_back(g);
    n.trace = s.log;
    n.tap = s.record;
    try {
        s5066::apply(c.data_link, n);
    } catch (const std::invalid_argument& e) {
        refuse(nth("station", i), e.what());
    }
    return n;
}

//! The stations of a running scenario and all objects between them.
class experiment
{
public:
    explicit experiment(const scenario& c) : d_config(c), d_air(d_scheduler, c.seed)
    {
        make_stations();
        make_paths();
        d_scheduler.run_until(std::chrono::milliseconds(1));
        for (const auto& t : c.traffic)
            make_flow(t);
        for (const auto& f : c.faults)
            make_fault(f);
    }

    scenario_result run(const std::function<void(double)>& progress);

private:
    struct running {
        std::unique_ptr<station> at;
        uint8_t next_sap = 1;
        transmission_result now; // content of the current transmission so far
        size_t data_pdus = 0;
        uint64_t again_before = 0; // D_PDUs repeated or sent as fill, until the
                                   // transmission began
        double tx_time_s = 0;      // measured by the clock of the experiment
        station_result before;     // counters from before the last restart
    };
    static void add_counts(station_result& r, const s5066::node_stats& s);

    static uint64_t again(const station& s)
    {
        return s.node().stats().d_pdus_repeated + s.node().stats().d_pdus_fill;
    }
    size_t index(const std::string& name) const;
    void make_stations();
    void make_paths();
    void make_flow(const scenario_traffic& t);
    void make_fault(const scenario_fault& f);
    void on_tap(running& r, const s5066::tap_record& t);
    void on_transmission(const transmission_record& t);
    void mark_collisions();
    scenario_result results();

    const scenario& d_config;
    scheduler d_scheduler;
    emulated_air d_air;
    std::vector<std::unique_ptr<running>> d_stations;
    std::vector<std::unique_ptr<flow>> d_flows;
    scenario_result d_result;
};

size_t experiment::index(const std::string& name) const
{
    for (size_t i = 0; i < d_config.stations.size(); ++i)
        if (d_config.stations[i].name == name)
            return i;
    return d_config.stations.size();
}

void experiment::make_stations()
{
    for (size_t i = 0; i < d_config.stations.size(); ++i) {
        const auto& c = d_config.stations[i];
        const auto n = node_of(d_config, i);
        modem_config m;
        if (c.decode_delay_s)
            m.rx_latency = from_seconds(*c.decode_delay_s);
        auto r = std::make_unique<running>();
        r->at = std::make_unique<station>(d_scheduler, d_air, n, m);
        r->at->on_trace = [this, name = c.name](const s5066::log_record& l) {
            char time[32];
            std::snprintf(time, sizeof time, "%10.2f ", to_seconds(d_scheduler.now()));
            d_result.log.push_back(time + name + " " + l.text);
        };
        r->at->on_tap = [this, p = r.get()](const s5066::tap_record& t) {
            on_tap(*p, t);
        };
        d_stations.push_back(std::move(r));
    }
    d_air.on_transmission = [this](const transmission_record& t) {
        d_stations[t.station]->tx_time_s += to_seconds(t.end - t.begin);
        if (d_config.record) {
            // The content of the last block is known only after its modem was served.
            d_scheduler.at(t.end, [this, t] { on_transmission(t); });
        }
    };
}

void experiment::make_paths()
{
    for (const auto& p : d_config.paths) {
        for (const auto& from : d_stations) {
            for (const auto& to : d_stations) {
                const auto named = [&](const std::string& name, const auto& r) {
                    return name.empty() || d_stations[index(name)].get() == r.get();
                };
                if (from != to && named(p.from, from) && named(p.to, to))
                    d_air.set_path(from->at->modem(), to->at->modem(), p.channel);
            }
        }
    }
}

void experiment::make_flow(const scenario_traffic& t)
{
    const size_t k = d_flows.size();
    const std::string where = nth("traffic", k);
    running& from = *d_stations[index(t.from)];
    std::vector<running*> receivers;
    std::vector<std::string> names; // names of the receivers
    s5066::address dst;
    const size_t one = index(t.to);
    if (one < d_stations.size()) {
        receivers.push_back(d_stations[one].get());
        names.push_back(t.to);
        dst = receivers.front()->at->address();
    } else {
        dst = t.to == "all" ? s5066::address::broadcast() : s5066::address(t.to);
        for (size_t i = 0; i < d_stations.size(); ++i) {
            const auto& groups = d_config.stations[i].groups;
            const bool hears =
                t.to == "all" ||
                std::find(groups.begin(), groups.end(), t.to) != groups.end();
            if (hears && d_stations[i].get() != &from) {
                receivers.push_back(d_stations[i].get());
                names.push_back(d_config.stations[i].name);
            }
        }
        if (receivers.empty())
            refuse(where, "nobody listens to group " + t.to);
    }
    uint8_t sap = 0;
    for (const auto* r : receivers)
        sap = std::max(sap, r->next_sap);
    if (sap > highest_sap || from.next_sap > highest_sap)
        refuse(where, "a station has 15 SAPs for traffic, one for each end of a flow");
    std::vector<flow::end> to;
    for (auto* r : receivers) {
        to.push_back({ r->at.get(), sap });
        r->next_sap = static_cast<uint8_t>(sap + 1);
    }
    const flow::end begin{ from.at.get(), from.next_sap++ };
    d_flows.push_back(std::make_unique<flow>(
        d_scheduler, t, begin, to, dst, d_config.seed * 1000 + 500 + k));
    if (d_config.fates)
        d_flows.back()->keep_fates(k, names);
    if (d_config.record) {
        d_flows.back()->on_delivery = [this, k](size_t octets) {
            d_result.deliveries.push_back({ to_seconds(d_scheduler.now()), k, octets });
        };
    }
}

void experiment::add_counts(station_result& r, const s5066::node_stats& s)
{
    r.transmissions += s.transmissions;
    r.silent_rounds += s.silent_rounds;
    r.links_made += s.links_made;
    r.links_failed += s.links_failed;
    r.d_pdus_repeated += s.d_pdus_repeated;
    r.d_pdus_fill += s.d_pdus_fill;
    r.resets += s.resets;
}

void experiment::make_fault(const scenario_fault& f)
{
    const station_time begin = from_seconds(f.at_s), end = from_seconds(f.at_s + f.for_s);
    const auto number = [this](const std::string& name) -> std::optional<size_t> {
        if (name.empty())
            return std::nullopt;
        return d_stations[index(name)]->at->modem().id();
    };
    switch (f.kind) {
    case fault_kind::noise:
        d_air.disturb(std::nullopt, number(f.station), begin, end);
        break;
    case fault_kind::deaf:
        d_air.disturb(number(f.from), number(f.station), begin, end);
        break;
    case fault_kind::clock_step:
        d_scheduler.at(begin, [this, f] {
            d_stations[index(f.station)]->at->step_clock(from_seconds(f.step_s));
        });
        break;
    case fault_kind::restart: {
        running* r = d_stations[index(f.station)].get();
        d_scheduler.at(begin, [r] { r->at->power_off(); });
        const uint64_t seed = d_config.seed * 7919 + static_cast<uint64_t>(end.count());
        d_scheduler.at(end, [this, r, seed] {
            add_counts(r->before, r->at->node().stats());
            r->at->restart(seed);
            r->again_before = 0;
            for (const auto& one : d_flows)
                one->rebind(r->at.get());
        });
        break;
    }
    }
}

void experiment::on_tap(running& r, const s5066::tap_record& t)
{
    if (!t.sent || t.octets.size() < 3)
        return;
    const auto type = static_cast<s5066::d_pdu_type>(t.octets[2] >> 4);
    switch (is_large(type) ? small_type(type) : type) {
    case s5066::d_pdu_type::data_only:
    case s5066::d_pdu_type::data_ack:
        r.now.data += t.octets.size();
        ++r.data_pdus;
        break;
    case s5066::d_pdu_type::ack_only:
        r.now.acks += t.octets.size();
        break;
    case s5066::d_pdu_type::non_arq_data:
        r.now.non_arq += t.octets.size();
        break;
    default:
        r.now.control += t.octets.size();
        break;
    }
}

void experiment::on_transmission(const transmission_record& t)
{
    running& r = *d_stations[t.station];
    transmission_result& x = r.now;
    x.station = t.station;
    x.mode = t.m.to_string();
    x.begin_s = to_seconds(t.begin);
    x.end_s = to_seconds(t.end);
    x.cut = t.cut;
    const uint64_t twice = again(*r.at) - r.again_before;
    r.again_before += twice;
    if (r.data_pdus > 0) {
        x.repeated = std::min(x.data, x.data * static_cast<size_t>(twice) / r.data_pdus);
        x.data -= x.repeated;
    }
    d_result.transmissions.push_back(x);
    x = transmission_result();
    r.data_pdus = 0;
}

void experiment::mark_collisions()
{
    auto& all = d_result.transmissions;
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return std::make_pair(a.begin_s, a.station) <
               std::make_pair(b.begin_s, b.station);
    });
    for (size_t i = 0; i < all.size(); ++i)
        for (size_t j = i + 1; j < all.size() && all[j].begin_s < all[i].end_s; ++j)
            all[i].collided = all[j].collided = true;
}

scenario_result experiment::run(const std::function<void(double)>& progress)
{
    const bool finite = std::any_of(
        d_flows.begin(), d_flows.end(), [](const auto& f) { return f->finite(); });
    const auto done = [this, finite] {
        return finite && std::all_of(d_flows.begin(), d_flows.end(), [](const auto& f) {
                   return f->complete();
               });
    };
    // Asked only now and then, since flows with many messages need time for it.
    const station_time end = from_seconds(d_config.duration_s);
    constexpr auto step = std::chrono::milliseconds(500);
    while (d_scheduler.now() < end && !done()) {
        d_scheduler.run_until(std::min<station_time>(d_scheduler.now() + step, end));
        if (progress)
            progress(to_seconds(d_scheduler.now()) / d_config.duration_s);
    }
    d_result.complete = done();
    return results();
}

scenario_result experiment::results()
{
    auto& r = d_result;
    r.end_s = to_seconds(d_scheduler.now());
    double first = r.end_s, last = 0, octets = 0, sum = 0, squares = 0;
    size_t bulk = 0;
    for (size_t k = 0; k < d_flows.size(); ++k) {
        r.flows.push_back(d_flows[k]->result());
        const auto& fates = d_flows[k]->fates().all();
        r.fates.insert(r.fates.end(), fates.begin(), fates.end());
        const auto& f = r.flows.back();
        const double each =
            static_cast<double>(f.octets_delivered) / static_cast<double>(f.receivers);
        first = std::min(first, d_config.traffic[k].start_s);
        last = std::max(last, f.last_s);
        octets += each;
        if (d_config.traffic[k].kind == traffic_kind::bulk) {
            ++bulk;
            sum += each;
            squares += each * each;
        }
    }
    r.goodput_bps = last > first ? 8 * octets / (last - first) : 0;
    r.fairness = squares > 0 ? sum * sum / (static_cast<double>(bulk) * squares) : 1;
    r.collisions = d_air.collisions();
    for (size_t i = 0; i < d_stations.size(); ++i) {
        station_result one = d_stations[i]->before;
        one.name = d_config.stations[i].name;
        add_counts(one, d_stations[i]->at->node().stats());
        one.tx_time_s = d_stations[i]->tx_time_s;
        r.stations.push_back(one);
    }
    mark_collisions();
    return std::move(r);
}

} // namespace

void scenario::validate() const
{
    within("scenario", "duration_s", duration_s, 1, longest_s);
    within("scenario", "stations", static_cast<double>(stations.size()), 2, max_stations);
    within(
        "scenario", "traffic", static_cast<double>(traffic.size()), 0, 2 * max_stations);
    std::vector<std::string> names;
    for (size_t i = 0; i < stations.size(); ++i) {
        const std::string where = nth("station", i);
        const auto& s = stations[i];
        if (s.name.empty() || std::count(names.begin(), names.end(), s.name) > 0)
            refuse(where, "name '" + s.name + "': every station needs one of its own");
        within(where, "decode_delay_s", s.decode_delay_s.value_or(0), 0, 10);
        names.push_back(s.name);
        node_of(*this, i);
    }
    for (size_t i = 0; i < paths.size(); ++i)
        sim::validate(*this, paths[i], nth("path", i));
    for (size_t i = 0; i < traffic.size(); ++i) {
        const std::string where = nth("traffic", i);
        validate_ends(*this, traffic[i], where);
        sim::validate(traffic[i], where);
    }
    for (size_t i = 0; i < faults.size(); ++i)
        sim::validate(*this, faults[i], nth("fault", i));
}

scenario_result run(const scenario& s, const std::function<void(double)>& progress)
{
    s.validate();
    return experiment(s).run(progress);
}

} // namespace gr::hf::sim
