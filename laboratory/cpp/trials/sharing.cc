/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trials/sharing.h"

#include "sim/scenarios/scenario.h"
#include "sim/stations/traffic.h"

#include <cmath>
#include <deque>
#include <stdexcept>

namespace gr::hf::sim {

namespace {

constexpr uint8_t sap = 3;

double uniform(std::mt19937_64& random)
{
    return static_cast<double>((random() >> 11) + 1) / 9007199254740993.0;
}

//! Load of one station, and what arrives of it.
class sender
{
public:
    sender(scheduler& s,
           const std::vector<std::unique_ptr<station>>& stations,
           unsigned number,
           const sharing_trial& t)
        : d_scheduler(s), d_stations(stations), d_trial(t), d_index(number),
          d_load_bps(number + 1 == t.stations ? t.last_load_bps.value_or(t.load_bps)
                                              : t.load_bps),
          d_source(s, *stations[number], sap, service(t, number), sap + 1),
          d_random(t.seed * 1000 + number)
    {
        d_source.on_submit = [this](uint32_t, size_t) {
            d_submitted_at.push_back(d_scheduler.now());
        };
    }

    void start(double delay_s)
    {
        d_delivered_at = from_seconds(delay_s);
        d_scheduler.at(d_delivered_at, [this] {
            if (d_load_bps > 0)
                next();
            else
                d_source.send(d_stations[destination()]->address(),
                              size_t{ 1 } << 40,
                              d_trial.u_pdu_octets);
        });
    }

    //! A U_PDU of this station arrived for the first time.
    void arrived(station_time now, const s5066::s_unidata_indication& i)
    {
        d_octets += i.u_pdu.size();
        d_longest_wait = std::max(d_longest_wait, now - d_delivered_at);
        d_delivered_at = now;
        d_delays_s.push_back(
            to_seconds(now - d_submitted_at.at(bulk_source::number_of(i.u_pdu))));
    }

    uint64_t octets() const { return d_octets; }
    uint64_t submitted() const { return d_source.submitted(); }
    const std::vector<double>& delays_s() const { return d_delays_s; }
    double longest_wait_s() const
    {
        return to_seconds(std::max(d_longest_wait, d_scheduler.now() - d_delivered_at));
    }

private:
    unsigned destination()
    {
        const sharing_trial& t = d_trial;
        const unsigned i = d_index;
        if (t.pattern == sharing_pattern::any) {
            return static_cast<unsigned>((i + 1 + d_random() % (t.stations - 1)) %
                                         t.stations);
        }
        if (t.pattern == sharing_pattern::to_one)
            return 1;
        const bool pair = t.pattern == sharing_pattern::two_way
                              ? (i | 1u) < t.stations
                              : t.pattern == sharing_pattern::mixed && i < 2;
        const bool unheard = t.hidden && i + 1 == t.stations;
        return pair ? i ^ 1u : unheard ? i - 1 : (i + 1) % t.stations;
    }
    static s5066::delivery_mode service(const sharing_trial& t, unsigned i)
    {
        s5066::delivery_mode m;
        if (i < t.without_arq)
            m.mode = s5066::transmission_mode::non_arq;
        return m;
    }

    // U_PDUs at random times: exponential pauses.
    void next()
    {
        const double mean_s =
            8.0 * static_cast<double>(d_trial.u_pdu_octets) / d_load_bps;
        const double wait_s = -mean_s * std::log(uniform(d_random));
        d_scheduler.at(d_scheduler.now() + from_seconds(wait_s), [this] {
            const size_t octets = d_trial.u_pdu_octets;
            d_source.send(d_stations[destination()]->address(), octets, octets);
            next();
        });
    }

    scheduler& d_scheduler;
    const std::vector<std::unique_ptr<station>>& d_stations;
    const sharing_trial& d_trial;
    unsigned d_index;
    double d_load_bps;
    bulk_source d_source;
    std::mt19937_64 d_random;
    std::vector<station_time> d_submitted_at; // by number of the U_PDU
    std::vector<double> d_delays_s;
    uint64_t d_octets = 0;
    station_time d_delivered_at{};
    station_time d_longest_wait{};
};

void validate(const sharing_trial& t)
{
    if (t.stations < 2 || t.stations > max_stations) {
        throw std::invalid_argument("stations " + std::to_string(t.stations) +
                                    ": must be 2 to " + std::to_string(max_stations));
    }
    if (t.u_pdu_octets < 8 || t.u_pdu_octets > 2048) {
        throw std::invalid_argument("u_pdu_octets " + std::to_string(t.u_pdu_octets) +
                                    ": must be 8 to 2048");
    }
    if (!(t.duration_s >= 1 && t.duration_s <= 1e7) ||
        !(t.load_bps >= 0 && t.load_bps <= 1e6)) {
        throw std::invalid_argument("duration_s " + std::to_string(t.duration_s) +
                                    ", load_bps " + std::to_string(t.load_bps) +
                                    ": must be 1 to 1e7 and 0 to 1e6");
    }
    if (t.pattern == sharing_pattern::any && t.load_bps == 0)
        throw std::invalid_argument("pattern any: needs a load_bps over 0");
    if (t.hidden && (t.stations < 3 || t.pattern == sharing_pattern::any))
        throw std::invalid_argument("hidden: needs 3 stations, and no pattern any");
    if (t.last_load_bps && !(*t.last_load_bps > 0 && *t.last_load_bps <= 1e6)) {
        throw std::invalid_argument("last_load_bps " + std::to_string(*t.last_load_bps) +
                                    ": must be over 0, at most 1e6");
    }
}

std::vector<std::unique_ptr<station>>
make_stations(scheduler& s, emulated_air& air, const sharing_trial& t)
{
    std::vector<std::unique_ptr<station>> stations;
    for (unsigned i = 0; i < t.stations; ++i) {
        s5066::node_config c = t.base;
        c.mode = t.mode;
        c.own = s5066::address("1." + std::to_string((i + 1) % 256) + "." +
                               std::to_string((i + 1) / 256) + ".0");
        c.seed = t.seed * 100 + i;
        c.default_ttl_s = 1296000;
        stations.push_back(std::make_unique<station>(s, air, c));
    }
    if (t.hidden) {
        air_path nothing;
        nothing.loss = 1;
        const auto& first = stations.front()->modem();
        const auto& last = stations.back()->modem();
        air.set_path(first, last, nothing);
        air.set_path(last, first, nothing);
    }
    return stations;
}

//! Counts transmissions that overlap in time with another one.
class overlaps
{
public:
    void add(const transmission_record& t)
    {
        // Records arrive in the order of their ends.
        bool overlaps = false;
        for (auto& [begin, end, counted] : d_recent) {
            if (end > t.begin) {
                overlaps = true;
                d_collided += counted ? 0 : 1;
                counted = true;
            }
        }
        d_collided += overlaps ? 1 : 0;
        d_recent.push_back({ t.begin, t.end, overlaps });
        constexpr size_t most = 64;
        if (d_recent.size() > most)
            d_recent.pop_front();
    }
    uint64_t collided() const { return d_collided; }

private:
    struct entry {
        station_time begin{}, end{};
        bool counted = false;
    };
    std::deque<entry> d_recent;
    uint64_t d_collided = 0;
};

} // namespace

sharing_result run(const sharing_trial& t)
{
    validate(t);
    scheduler s;
    emulated_air air(s, t.seed);
    overlaps overlapping;
    air.on_transmission = [&](const transmission_record& r) { overlapping.add(r); };
    const auto stations = make_stations(s, air, t);
    std::vector<std::unique_ptr<sender>> senders;
    std::vector<std::unique_ptr<bulk_sink>> sinks;
    for (unsigned i = 0; i < t.stations; ++i) {
        senders.push_back(std::make_unique<sender>(s, stations, i, t));
        sinks.push_back(std::make_unique<bulk_sink>(s, *stations[i], sap + 1));
        sinks[i]->on_new = [&](station_time now, const s5066::s_unidata_indication& u) {
            for (unsigned k = 0; k < t.stations; ++k)
                if (stations[k]->address() == u.src)
                    senders[k]->arrived(now, u);
        };
    }
    s.run_until(std::chrono::milliseconds(1));
    for (unsigned i = 0; i < t.stations; ++i)
        if (t.pattern != sharing_pattern::to_one || i != 1)
            senders[i]->start(i + 1 == t.stations ? t.late_s : 0);
    s.run_until(from_seconds(t.duration_s));

    sharing_result r;
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < t.stations; ++i) {
        const auto& stats = stations[i]->node().stats();
        const auto octets = static_cast<double>(senders[i]->octets());
        r.octets.push_back(senders[i]->octets());
        r.wait_s.push_back(senders[i]->longest_wait_s());
        r.altered += sinks[i]->altered() + sinks[i]->repeated();
        r.links_failed += stats.links_failed;
        r.u_pdus_submitted += senders[i]->submitted();
        r.u_pdus_rejected += stats.u_pdus_rejected;
        sum += octets;
        squares += octets * octets;
    }
    r.last_delays_s = senders.back()->delays_s();
    r.utilisation = 8 * sum / (t.duration_s * mode::parse(t.mode).rate_bps);
    r.fairness = squares > 0 ? sum * sum / (t.stations * squares) : 0;
    r.transmissions = air.transmissions();
    r.collisions = air.collisions();
    r.collided = overlapping.collided();
    return r;
}

} // namespace gr::hf::sim
