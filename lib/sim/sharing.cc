/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/sharing.h"

#include "sim/traffic.h"

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

} // namespace

sharing_result run(const sharing_trial& t)
{
    if (t.stations < 2 || t.stations > 32) {
        throw std::invalid_argument("stations " + std::to_string(t.stations) +
                                    ": must be 2 to 32");
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
    scheduler s;
    emulated_air air(s, t.seed);
    std::vector<std::unique_ptr<station>> stations;
    std::vector<std::unique_ptr<bulk_source>> sources;
    std::vector<std::unique_ptr<bulk_sink>> sinks;
    std::vector<std::unique_ptr<random_source>> loads;
    for (unsigned i = 0; i < t.stations; ++i) {
        s5066::node_config c = t.base;
        c.mode = t.mode;
        c.own = s5066::address("1." + std::to_string(i + 1) + ".0.0");
        c.seed = t.seed * 100 + i;
        c.default_ttl_s = 1296000;
        stations.push_back(std::make_unique<station>(s, air, c));
        sinks.push_back(std::make_unique<bulk_sink>(s, *stations.back(), sap + 1));
    }
    for (unsigned i = 0; i < t.stations; ++i) {
        sources.push_back(std::make_unique<bulk_source>(
            s, *stations[i], sap, s5066::delivery_mode(), sap + 1));
    }
    s.run_until(std::chrono::milliseconds(1));
    for (unsigned i = 0; i < t.stations; ++i) {
        const auto to = stations[(i + 1) % t.stations]->address();
        if (t.load_bps > 0) {
            loads.push_back(std::make_unique<random_source>(
                s, *sources[i], to, t, t.seed * 1000 + i));
        } else {
            sources[i]->send(to, size_t{ 1 } << 40, t.u_pdu_octets);
        }
    }
    s.run_until(from_seconds(t.duration_s));

    sharing_result r;
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < t.stations; ++i) {
        const auto& sink = *sinks[(i + 1) % t.stations];
        const auto octets = static_cast<double>(sink.octets());
        r.octets.push_back(sink.octets());
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
