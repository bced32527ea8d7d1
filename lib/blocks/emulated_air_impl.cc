/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/emulated_air_impl.h"

#include "blocks/modem_messages.h"

#include <gnuradio/io_signature.h>

#include <stdexcept>

namespace gr::hf {
namespace {

constexpr auto tick = std::chrono::milliseconds(10);
// Longest wait: stop() must not hang.
constexpr auto patience = std::chrono::milliseconds(20);
// Only one answer is due at any time. A data link never sends more than that.
constexpr size_t max_answers = 64;

} // namespace

emulated_air::sptr
emulated_air::make(int stations, double ber, double loss, uint64_t seed, double speed)
{
    return std::make_shared<emulated_air_impl>(stations, ber, loss, seed, speed);
}

emulated_air_impl::emulated_air_impl(int stations,
                                     double ber,
                                     double loss,
                                     uint64_t seed,
                                     double speed)
    : d_engine(d_scheduler, seed), d_speed(speed)
{
    const auto check = [](bool ok, const char* what, double value, const char* allowed) {
        if (!ok)
            throw std::invalid_argument(std::string("emulated air: ") + what + " " +
                                        std::to_string(value) + ": allowed are " +
                                        allowed);
    };
    check(stations >= 2 && stations <= 64, "stations", stations, "2 to 64");
    check(ber >= 0 && ber <= 0.5, "ber", ber, "0 to 0.5");
    check(loss >= 0 && loss <= 1, "loss", loss, "0 to 1");
    check(speed >= 0, "speed", speed, "0 (no limit) and above");
    d_taken.resize(static_cast<size_t>(stations));
    sim::air_path p;
    p.ber = ber;
    p.loss = loss;
    d_engine.set_default_path(p);
}

emulated_air_impl::~emulated_air_impl()
{
    d_end = true;
    d_changed.notify_all();
    if (d_thread.joinable())
        d_thread.join();
}

hf::emulated_modem::sptr emulated_air_impl::modem(int station)
{
    if (station < 0 || static_cast<size_t>(station) >= d_taken.size())
        throw std::invalid_argument("emulated air: station " + std::to_string(station) +
                                    ": allowed are 0 to " +
                                    std::to_string(d_taken.size() - 1));
    if (d_taken[static_cast<size_t>(station)])
        throw std::invalid_argument("emulated air: station " + std::to_string(station) +
                                    " has its modem already");
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        if (d_running > 0)
            throw std::invalid_argument("emulated air: no further modem while it runs");
        ++d_made;
    }
    d_taken[static_cast<size_t>(station)] = true;
    return gnuradio::make_block_sptr<emulated_modem_impl>(shared_from_this());
}

void emulated_air_impl::set_speed(double speed)
{
    std::lock_guard<std::mutex> lock(d_mutex);
    d_speed = std::max(speed, 0.0);
    d_paced = false; // the pace starts again
    d_changed.notify_all();
}

void emulated_air_impl::disturb(double seconds)
{
    if (!(seconds >= 0))
        throw std::invalid_argument("emulated air: disturbance of " +
                                    std::to_string(seconds) +
                                    " s: allowed are 0 and above");
    d_disturb_s = seconds;
}

void emulated_air_impl::started()
{
    std::lock_guard<std::mutex> lock(d_mutex);
    if (++d_running < d_made)
        return;
    d_end = false;
    d_paced = false;
    d_thread = std::thread([this] { run(); });
}

void emulated_air_impl::stopped()
{
    std::thread last;
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        d_end = true;
        d_changed.notify_all();
        d_running -= d_running > 0;
        last.swap(d_thread);
    }
    if (last.joinable())
        last.join();
}

bool emulated_air_impl::wait_until_due(station_time t)
{
    std::unique_lock<std::mutex> lock(d_mutex);
    while (!d_end) {
        if (d_speed <= 0)
            return true;
        const auto wall = clock::now();
        if (!d_paced) {
            d_paced = true;
            d_pace_time = wall;
            d_pace_now = t;
        }
        const auto due =
            d_pace_time +
            std::chrono::duration_cast<clock::duration>(
                std::chrono::duration<double, std::nano>(
                    static_cast<double>((t - d_pace_now).count()) / d_speed));
        if (due <= wall) {
            // A machine that cannot keep up must not race afterwards.
            if (wall - due > std::chrono::milliseconds(200))
                d_paced = false;
            return true;
        }
        d_changed.wait_until(lock, std::min(due, wall + patience));
    }
    return false;
}

void emulated_air_impl::run()
{
    for (station_time t = d_scheduler.now() + tick; wait_until_due(t) && !d_end;
         t += tick) {
        if (const double s = d_disturb_s.exchange(0); s > 0)
            d_engine.disturb({}, {}, t, t + from_seconds(s));
        d_scheduler.run_until(t);
        d_now = t.count();
    }
}

emulated_modem_impl::emulated_modem_impl(std::shared_ptr<emulated_air_impl> air)
    : gr::block("hf_emulated_modem",
                gr::io_signature::make(0, 0, 0),
                gr::io_signature::make(0, 0, 0)),
      d_port(pmt::mp("modem")), d_air(std::move(air)),
      d_modem(d_air->scheduler(), d_air->engine(), *this, {}, {})
{
    message_port_register_in(d_port);
    message_port_register_out(d_port);
    message_port_register_out(pmt::mp("status"));
    set_msg_handler(d_port, [this](const pmt::pmt_t& m) {
        std::lock_guard<std::mutex> lock(d_answers_mutex);
        if (d_answers.size() < max_answers)
            d_answers.push_back(m);
        d_answered.notify_all();
    });
    d_modem.poke(); // without deadlines of its user the modem ticks from now on
}

bool emulated_modem_impl::start()
{
    d_connected = pmt::length(message_subscribers(d_port)) > 0;
    if (!d_connected)
        d_logger->warn("port modem is not connected: receiving only");
    d_air->started();
    return true;
}

bool emulated_modem_impl::stop()
{
    d_air->stopped();
    return true;
}

modem_state emulated_modem_impl::state() const
{
    auto s = d_reports.state();
    s.now = d_air->now();
    return s;
}

// Takes messages until one parses. Empty when the air has ended.
template <class Parse>
auto emulated_modem_impl::await(Parse parse) -> decltype(parse(pmt::pmt_t()))
{
    std::unique_lock<std::mutex> lock(d_answers_mutex);
    while (d_connected && !d_air->ended()) {
        if (d_answers.empty()) {
            d_answered.wait_for(lock, patience);
            continue;
        }
        const auto msg = d_answers.front();
        d_answers.pop_front();
        if (auto answer = parse(msg))
            return answer;
    }
    return {};
}

void emulated_modem_impl::on_tick(station_time now)
{
    message_port_pub(d_port, modem_messages::tick(now, true));
    const auto answer = await(modem_messages::parse_tick_done);
    d_key_up = answer ? answer->key_up : std::nullopt;
}

std::optional<mode> emulated_modem_impl::want_tx(station_time now)
{
    if (d_key_up)
        d_reports.tx_start(now, *d_key_up);
    return std::exchange(d_key_up, std::nullopt);
}

tx_octets
emulated_modem_impl::pull(station_time now, station_time air_time, size_t max_octets)
{
    message_port_pub(d_port, modem_messages::pull(now, air_time, max_octets));
    auto answer = await(modem_messages::parse_tx_octets);
    if (!answer)
        return { {}, true };
    if (answer->octets.size() > max_octets)
        answer->octets.resize(max_octets);
    d_reports.sent(answer->octets.size());
    return *answer;
}

} // namespace gr::hf
