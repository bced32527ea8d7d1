/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "channel/shared_air.h"
#include "modem/half_duplex_modem.h"
#include "s5066/node/node.h"
#include "slep/client_driver.h"

#include <complex>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace gr::hf::sim {

//! Engine of a subnetwork client, as driven by a station in lock step.
class lock_step_client
{
public:
    virtual ~lock_step_client() = default;
    //! One whole primitive from the node.
    virtual void sis_in(station_time now, const std::vector<uint8_t>& primitive) = 0;
    //! Station time has reached \p now.
    virtual void tick(station_time now) = 0;
    //! The next primitive for the node.
    virtual std::optional<std::vector<uint8_t>> poll_sis() = 0;
};

//! A lock_step_client of any engine with the calls of a subnetwork client.
template <class Engine>
class lock_step_engine : public lock_step_client
{
public:
    template <class Config>
    explicit lock_step_engine(const Config& c) : engine(c)
    {
    }
    void sis_in(station_time now, const std::vector<uint8_t>& p) override
    {
        engine.sis_in(now, p.data(), p.size());
    }
    void tick(station_time now) override { slep::run_deadlines(engine, now); }
    std::optional<std::vector<uint8_t>> poll_sis() override { return engine.poll_sis(); }

    Engine engine;
};

/*! \brief A node, its modem and its clients, on real waveforms.
 *
 * The order within a tick is that of the blocks in lock step. First the received data,
 * then the node's timers, the clients in order of attachment, their primitives, and only
 * then the question whether to transmit. So a flowgraph of the same stations has the same
 * events at the same times.
 */
class lock_step_station : private modem_user
{
public:
    //! \throws std::invalid_argument for values that node or modem do not allow
    lock_step_station(const s5066::node_config& node,
                      const kernel::half_duplex_options& modem);
    ~lock_step_station() override;

    //! \p c must outlive the station.
    void attach(lock_step_client& c) { d_clients.push_back(&c); }
    //! Samples of a tick of 10 ms.
    size_t tick_samples() const { return d_modem.tick_samples(); }
    //! A tick: tick_samples() samples from \p rx, as many to \p tx.
    void run(const std::complex<float>* rx, std::complex<float>* tx)
    {
        d_modem.run(rx, tx);
    }

    const s5066::node& node() const { return d_node; }
    station_time now() const { return d_modem.now(); }
    //! Lines of the node's log as they occur, if its configuration has trace.
    std::function<void(const s5066::log_record&)> on_trace;

private:
    void on_tick(station_time now) override;
    std::optional<mode> want_tx(station_time now) override;
    tx_octets pull(station_time now, station_time air_time, size_t max_octets) override;
    void on_tx_end(station_time now) override;
    void on_rx_start(station_time now, const rx_start& e) override;
    void on_rx_octets(station_time now, const rx_octets& e) override;
    void on_rx_end(station_time now, const rx_end& e) override;
    void on_carrier(station_time now, bool present) override;

    void publish(station_time now);
    void collect(size_t client);

    s5066::node d_node;
    kernel::half_duplex_modem d_modem;
    std::vector<lock_step_client*> d_clients;
    // Primitives of each client since the end of the last tick.
    std::vector<std::vector<std::vector<uint8_t>>> d_held;
};

/*! \brief Stations on real waveforms over one simulated air, in one thread. Does what
 *         hf.air, hf.modem and hf.data_link do in lock step, without passing samples
 *         between threads.
 */
class lock_step
{
public:
    /*! \param air between the stations; its bandwidth is the modems'
     *  \param stations one for each station of the air
     *  \throws std::invalid_argument as shared_air, and if the numbers differ
     */
    lock_step(const kernel::air_options& air, std::vector<lock_step_station*> stations);

    //! Run 10 ms of all stations.
    void tick();
    //! Run until \p done, asked after each tick, or until \p limit. \return the last
    //! answer
    bool run_until(const std::function<bool()>& done, station_time limit);
    station_time now() const { return d_stations.front()->now(); }

private:
    kernel::shared_air d_air;
    std::vector<lock_step_station*> d_stations;
    std::vector<kernel::shared_air::samples> d_heard;
    kernel::shared_air::samples d_rx, d_tx;
};

} // namespace gr::hf::sim
