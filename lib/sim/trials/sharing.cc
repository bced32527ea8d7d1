/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/trials/sharing.h"

#include "sim/stations/traffic.h"

#include <cmath>
#include <stdexcept>

namespace gr::hf::sim {

namespace {

constexpr uint8_t sap = 3;

//! U_PDUs at random times: exponential pauses.
class random_source
{
public:
    random_source(scheduler& s,
                  bulk_source& out,
                  s5066::address to,
                  const sharing_trial& t,
                  uint64_t seed)
        : d_scheduler(s), d_out(out), d_to(to), d_octets(t.u_pdu_octets),
          d_mean_s(8.0 * static_cast<double>(t.u_pdu_octets) / t.load_bps), d_random(seed)
    {
        next();
    }

private:
    void next()
    {
        const double u = static_cast<double>((d_random() >> 11) + 1) / 9007199254740993.0;
        d_scheduler.at(d_scheduler.now() + from_seconds(-d_mean_s * std::log(u)), [this] {
            d_out.send(d_to, d_octets, d_octets);
            next();
        });
    }

    scheduler& d_scheduler;
    bulk_source& d_out;
    s5066::address d_to;
    size_t d_octets;
    double d_mean_s;
    std::mt19937_64 d_random;
};

//! Load of one station, and what arrives of it.
struct sender {
    sender(scheduler& scheduler_,
           const std::vector<std::unique_ptr<station>>& stations,
           unsigned number,
           const sharing_trial& t)
        : s(scheduler_), trial(t), index(number), to(*stations[destination(t, number)]),
          source(s, *stations[number], sap, service(t, number), sink_sap(t, number)),
          sink(s, to, sink_sap(t, number))
    {
        sink.on_new = [this](station_time now, const s5066::s_unidata_indication&) {
            longest_wait = std::max(longest_wait, now - delivered_at);
            delivered_at = now;
        };
    }

    static unsigned destination(const sharing_trial& t, unsigned i)
    {
        const bool pair = t.pattern == sharing_pattern::two_way
                              ? (i | 1u) < t.stations
                              : t.pattern == sharing_pattern::mixed && i < 2;
        return pair ? i ^ 1u : (i + 1) % t.stations;
    }
    static s5066::delivery_mode service(const sharing_trial& t, unsigned i)
    {
        s5066::delivery_mode m;
        if (i < t.without_arq) {
            m.mode = s5066::transmission_mode::non_arq;
        }
        return m;
    }
    // Two other stations may send to the same station.
    static uint8_t sink_sap(const sharing_trial& t, unsigned i)
    {
        return static_cast<uint8_t>(i + 1 == t.stations ? sap + 3 : sap + 1 + i % 2);
    }

    void start(double delay_s)
    {
        delivered_at = from_seconds(delay_s);
        s.at(delivered_at, [this] {
            if (trial.load_bps > 0) {
                load = std::make_unique<random_source>(
                    s, source, to.address(), trial, trial.seed * 1000 + index);
            } else {
                source.send(to.address(), size_t{ 1 } << 40, trial.u_pdu_octets);
            }
        });
    }

    scheduler& s;
    const sharing_trial& trial;
    unsigned index;
    station& to;
    bulk_source source;
    bulk_sink sink;
    std::unique_ptr<random_source> load;
    station_time delivered_at{};
    station_time longest_wait{};
};

void validate(const sharing_trial& t)
{
    if (t.stations < 2 || t.stations > 64) {
        throw std::invalid_argument("stations " + std::to_string(t.stations) +
                                    ": must be 2 to 64");
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
}

std::vector<std::unique_ptr<station>>
make_stations(scheduler& s, emulated_air& air, const sharing_trial& t)
{
    std::vector<std::unique_ptr<station>> stations;
    for (unsigned i = 0; i < t.stations; ++i) {
        s5066::node_config c = t.base;
        c.mode = t.mode;
        c.own = s5066::address("1." + std::to_string(i + 1) + ".0.0");
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

} // namespace

sharing_result run(const sharing_trial& t)
{
    validate(t);
    scheduler s;
    emulated_air air(s, t.seed);
    const auto stations = make_stations(s, air, t);
    std::vector<std::unique_ptr<sender>> senders;
    for (unsigned i = 0; i < t.stations; ++i) {
        senders.push_back(std::make_unique<sender>(s, stations, i, t));
    }
    s.run_until(std::chrono::milliseconds(1));
    for (unsigned i = 0; i < t.stations; ++i) {
        senders[i]->start(i + 1 == t.stations ? t.late_s : 0);
    }
    s.run_until(from_seconds(t.duration_s));

    sharing_result r;
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < t.stations; ++i) {
        const auto& sink = senders[i]->sink;
        const auto octets = static_cast<double>(sink.octets());
        r.octets.push_back(sink.octets());
        r.wait_s.push_back(to_seconds(
            std::max(senders[i]->longest_wait, s.now() - senders[i]->delivered_at)));
        r.altered += sink.altered() + sink.repeated();
        r.links_failed += stations[i]->node().stats().links_failed;
        sum += octets;
        squares += octets * octets;
    }
    r.utilisation = 8 * sum / (t.duration_s * mode::parse(t.mode).rate_bps);
    r.fairness = squares > 0 ? sum * sum / (t.stations * squares) : 0;
    r.transmissions = air.transmissions();
    r.collisions = air.collisions();
    return r;
}

} // namespace gr::hf::sim
