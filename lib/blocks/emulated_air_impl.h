/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "blocks/modem_reporter.h"
#include "sim/air/emulated_modem.h"

#include <hf/emulated_air.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace gr::hf {

class emulated_modem_impl;

/*! \brief One thread runs virtual time in ticks, each when it is due by the clock. It
 *         calls the modems, which wait there for their data links.
 */
class emulated_air_impl : public emulated_air,
                          public std::enable_shared_from_this<emulated_air_impl>
{
public:
    emulated_air_impl(int stations, double ber, double loss, uint64_t seed, double speed);
    ~emulated_air_impl() override;

    hf::emulated_modem::sptr modem(int station) override;
    void set_speed(double speed) override;
    void disturb(double seconds) override;
    double now() const override { return to_seconds(station_time(d_now.load())); }

    //! A modem was started or stopped. Time runs while all of them are started.
    void started();
    void stopped();
    bool ended() const { return d_end; }
    sim::scheduler& scheduler() { return d_scheduler; }
    sim::emulated_air& engine() { return d_engine; }

private:
    using clock = std::chrono::steady_clock;

    void run();
    bool wait_until_due(station_time t);

    sim::scheduler d_scheduler;
    sim::emulated_air d_engine;
    std::vector<bool> d_taken; // modems already given out
    std::atomic<int64_t> d_now{ 0 };
    std::atomic<bool> d_end{ false };
    std::atomic<double> d_disturb_s{ 0 }; // to begin with the next tick
    std::mutex d_mutex;                   // guards the members below
    std::condition_variable d_changed;
    size_t d_running = 0;
    size_t d_made = 0;
    double d_speed;
    // Pace: d_pace_now was due at d_pace_time.
    bool d_paced = false;
    clock::time_point d_pace_time;
    station_time d_pace_now{};
    std::thread d_thread;
};

class emulated_modem_impl : public hf::emulated_modem, private modem_user
{
public:
    explicit emulated_modem_impl(std::shared_ptr<emulated_air_impl> air);

    bool start() override;
    bool stop() override;
    modem_state state() const override;

private:
    // modem_user, as messages on the port, called on the thread of the air
    void on_tick(station_time now) override;
    std::optional<mode> want_tx(station_time now) override;
    tx_octets pull(station_time now, station_time air_time, size_t max_octets) override;
    void on_tx_end(station_time now) override { d_reports.tx_end(now); }
    void on_rx_start(station_time now, const rx_start& e) override
    {
        d_reports.rx_start(now, e);
    }
    void on_rx_octets(station_time now, const rx_octets& e) override
    {
        d_reports.rx_octets(now, e);
    }
    void on_rx_end(station_time now, const rx_end& e) override
    {
        d_reports.rx_end(now, e);
    }
    void on_carrier(station_time now, bool present) override
    {
        d_reports.carrier(now, present);
    }

    template <class Parse>
    auto await(Parse parse) -> decltype(parse(pmt::pmt_t()));

    const pmt::pmt_t d_port;
    std::shared_ptr<emulated_air_impl> d_air;
    sim::emulated_modem d_modem;
    std::optional<mode> d_key_up;
    std::atomic<bool> d_connected{ false };

    std::mutex d_answers_mutex;
    std::condition_variable d_answered;
    std::deque<pmt::pmt_t> d_answers;

    modem_reporter d_reports{ *this };
};

} // namespace gr::hf
