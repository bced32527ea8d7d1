/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/air/lock_step.h"

#include "modem/decode/segment_decoder.h"

#include <stdexcept>

namespace gr::hf::sim {

lock_step_station::lock_step_station(const s5066::node_config& node,
                                     const kernel::half_duplex_options& modem)
    : d_node(node, kernel::decode_after_zeros), d_modem(*this, modem)
{
}

lock_step_station::~lock_step_station() = default;

// All output of the node except to the modem. Answers of clients wait for the end of the
// tick, as between threads.
void lock_step_station::publish(station_time now)
{
    d_held.resize(d_clients.size());
    while (const auto p = d_node.poll_sis()) {
        if (p->client >= d_clients.size())
            continue;
        d_clients[p->client]->sis_in(now, p->octets);
        collect(p->client);
    }
    while (const auto line = d_node.poll_trace())
        if (on_trace)
            on_trace(*line);
}

void lock_step_station::collect(size_t client)
{
    while (auto p = d_clients[client]->poll_sis())
        d_held[client].push_back(std::move(*p));
}

void lock_step_station::on_tick(station_time now)
{
    d_node.on_tick(now);
    publish(now);
    for (size_t k = 0; k < d_clients.size(); ++k) {
        d_clients[k]->tick(now);
        collect(k);
    }
}

std::optional<mode> lock_step_station::want_tx(station_time now)
{
    for (size_t k = 0; k < d_held.size(); ++k)
        for (const auto& primitive : d_held[k])
            d_node.sis_in(now, k, primitive);
    d_held.assign(d_clients.size(), {});
    const auto key_up = d_node.want_tx(now);
    publish(now);
    return key_up;
}

tx_octets
lock_step_station::pull(station_time now, station_time air_time, size_t max_octets)
{
    auto octets = d_node.pull(now, air_time, max_octets);
    publish(now);
    return octets;
}

void lock_step_station::on_tx_end(station_time now)
{
    d_node.on_tx_end(now);
    publish(now);
}

void lock_step_station::on_rx_start(station_time now, const rx_start& e)
{
    d_node.on_rx_start(now, e);
    publish(now);
}

void lock_step_station::on_rx_octets(station_time now, const rx_octets& e)
{
    d_node.on_rx_octets(now, e);
    publish(now);
}

void lock_step_station::on_rx_end(station_time now, const rx_end& e)
{
    d_node.on_rx_end(now, e);
    publish(now);
}

void lock_step_station::on_carrier(station_time now, bool present)
{
    d_node.on_carrier(now, present);
    publish(now);
}

lock_step::lock_step(const kernel::air_options& air,
                     std::vector<lock_step_station*> stations)
    : d_air(air), d_stations(std::move(stations))
{
    if (d_stations.size() != d_air.stations())
        throw std::invalid_argument(std::to_string(d_stations.size()) +
                                    " stations for an air of " +
                                    std::to_string(d_air.stations()));
    if (!d_stations.empty())
        d_rx.resize(d_stations.front()->tick_samples());
    d_tx.resize(d_rx.size());
    if (d_air.delay_samples() < d_rx.size())
        throw std::invalid_argument(
            "air: delay of " + std::to_string(d_air.delay_samples()) +
            " samples: allowed is a tick, " + std::to_string(d_rx.size()) + ", and more");
}

void lock_step::tick()
{
    const size_t n = d_rx.size();
    for (size_t k = 0; k < d_stations.size(); ++k) {
        d_air.take(k, n, d_heard);
        d_air.mix(k, d_heard, d_rx.data(), n);
        d_stations[k]->run(d_rx.data(), d_tx.data());
        d_air.write(k, d_tx.data(), n);
    }
}

bool lock_step::run_until(const std::function<bool()>& done, station_time limit)
{
    while (now() < limit) {
        tick();
        if (done())
            return true;
    }
    return false;
}

} // namespace gr::hf::sim
