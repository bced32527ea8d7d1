/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/modem_messages.h"
#include "blocks/pdu.h"
#include "edges/io_thread.h"
#include "edges/modem_dialer.h"
#include "edges/wire_edge.h"
#include "modem_interface/tcp_dte.h"
#include "modem_interface/udp_dte.h"

#include <gnuradio/io_signature.h>
#include <hf/modem_client.h>

#include <atomic>
#include <random>
#include <stdexcept>

namespace gr::hf {
namespace {

using boost::asio::ip::tcp;
using boost::asio::ip::udp;
using namespace modem_interface;

std::unique_ptr<dte_session> make_session(const std::string& form, const dte_settings& s)
{
    if (udp_form(form))
        return std::make_unique<udp_dte>(s);
    return std::make_unique<tcp_dte>(s);
}

class modem_client_impl : public modem_client
{
public:
    modem_client_impl(const dte_settings& settings,
                      const std::string& form,
                      const std::string& host,
                      int port,
                      const std::string& netns)
        : gr::block("hf_modem_client",
                    gr::io_signature::make(0, 0, 0),
                    gr::io_signature::make(0, 0, 0)),
          d_modem(pmt::mp("modem")), d_ticks(pmt::mp("ticks")), d_udp(udp_form(form)),
          d_mode(settings.tx_mode), d_host(host), d_port(std::to_string(port)),
          d_begin(std::chrono::steady_clock::now()),
          d_session(make_session(form, settings)), d_io(netns),
          d_dialer(d_io.context(), host, port, d_udp)
    {
        message_port_register_in(d_modem);
        message_port_register_out(d_modem);
        message_port_register_in(d_ticks);
        set_msg_handler(
            d_modem, [this](const pmt::pmt_t& m) { on_link(m); });
        set_msg_handler(
            d_ticks, [this](const pmt::pmt_t& m) { on_tick(m); });
        d_dialer.on_stream = [this](tcp::socket s) { new_edge()->open(std::move(s)); };
        d_dialer.on_control = [this](tcp::socket s, udp::socket d, udp::endpoint peer) {
            new_edge()->open(std::move(s), std::move(d), std::move(peer));
        };
        d_dialer.on_failed = [this](const std::string& why) {
            ++d_counters.failed;
            complain(why);
        };
    }

    ~modem_client_impl() override { d_io.stop(); }

    bool start() override
    {
        d_io.run_and_wait([this] {
            d_running = true;
            d_dialer.start();
        });
        return true;
    }

    bool stop() override
    {
        d_io.run_and_wait([this] {
            d_running = false;
            d_dialer.stop();
            if (const auto edge = d_edge)
                edge->close("the data link stops");
            d_edge.reset();
        });
        return true;
    }

    bool connected() const override
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        return d_session->connected();
    }

    std::map<std::string, uint64_t> stats() const override
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        return { { "connected", d_session->connected() },
                 { "connections", d_counters.connections },
                 { "failed", d_counters.failed },
                 { "lost_transmissions", d_session->lost_transmissions() },
                 { "modem_rate_bps", d_session->modem_rate() },
                 { "modem_blocking_bits", d_session->modem_blocking() },
                 { "bad_messages", d_counters.bad_messages } };
    }

private:
    station_time clock() const { return std::chrono::steady_clock::now() - d_begin; }

    // The caller opens the returned edge. It keeps a reference, because an open that
    // fails at once resets d_edge.
    std::shared_ptr<wire_edge> new_edge()
    {
        ++d_counters.connections;
        const auto edge = std::make_shared<wire_edge>(
            d_io.context(), *d_session, d_mutex, [this] { return clock(); });
        edge->after = [this] { publish(); };
        edge->on_closed = [this](const std::string& why) {
            if (!d_running)
                return;
            ++d_counters.failed;
            complain("connection lost: " + why);
            d_edge.reset();
            d_dialer.again();
        };
        return d_edge = edge;
    }

    // Report once until it works again. There is an attempt every few seconds.
    void complain(const std::string& why)
    {
        if (!d_said.exchange(true))
            d_logger->warn("modem {}:{}: {}", d_host, d_port, why);
    }

    void pump_later()
    {
        if (!d_pump_posted.exchange(true))
            d_io.post([this] {
                d_pump_posted = false;
                if (const auto edge = d_edge)
                    edge->pump();
            });
    }

    void on_tick(const pmt::pmt_t& msg)
    {
        const pdu::reader r(msg);
        const auto now = r.time(keys::now());
        if (!now || r.type() != "tick") {
            // The port of a modem carries more than ticks.
            d_counters.bad_messages += !now;
            return;
        }
        {
            std::lock_guard<std::mutex> lock(d_mutex);
            if (*now < d_now)
                return;
            d_now = *now;
            d_session->on_tick(d_now);
            publish();
            message_port_pub(d_modem, modem_messages::tick(d_now, false));
        }
        pump_later();
    }

    void on_link(const pmt::pmt_t& msg)
    {
        if (const auto answer = modem_messages::parse_tick_done(msg)) {
            if (!answer->key_up)
                return;
            std::lock_guard<std::mutex> lock(d_mutex);
            if (*answer->key_up != d_mode && !d_other_mode.exchange(true))
                d_logger->warn("the data link asks for {}, the modem transmits in {} "
                               "(ack_mode must be same)",
                               answer->key_up->to_string(),
                               d_mode.to_string());
            d_session->key_up(d_now, d_mode);
            publish();
        } else if (const auto octets = modem_messages::parse_tx_octets(msg)) {
            std::lock_guard<std::mutex> lock(d_mutex);
            d_session->on_octets(*octets);
            publish();
        } else {
            ++d_counters.bad_messages;
            return;
        }
        pump_later();
    }

    // With the mutex, so that the data link gets events in the order of time.
    void publish()
    {
        while (const auto e = d_session->poll_event())
            message_port_pub(d_modem, message_of(*e));
        if (d_session->connected() && !d_was_connected) {
            d_said = false;
            if (d_session->mismatch())
                d_logger->warn(
                    "modem {}:{} is set to {} bit/s and blocks of {} bits, not "
                    "to {}",
                    d_host,
                    d_port,
                    d_session->modem_rate(),
                    d_session->modem_blocking(),
                    d_mode.to_string());
        }
        d_was_connected = d_session->connected();
    }

    pmt::pmt_t message_of(const port_event& e) const
    {
        if (const auto* pull = std::get_if<pull_request>(&e))
            return modem_messages::pull(d_now, pull->air_time, pull->max_octets);
        if (const auto* start = std::get_if<rx_start>(&e))
            return modem_messages::start(d_now, *start);
        if (const auto* octets = std::get_if<rx_octets>(&e))
            return modem_messages::octets(d_now, *octets);
        if (const auto* end = std::get_if<rx_end>(&e))
            return modem_messages::end(d_now, *end);
        return modem_messages::tx_end(d_now);
    }

    const pmt::pmt_t d_modem, d_ticks;
    const bool d_udp;
    const mode d_mode;
    const std::string d_host, d_port;
    const std::chrono::steady_clock::time_point d_begin;
    //! What stats() reports, since construction.
    struct counters {
        std::atomic<uint64_t> connections{ 0 }, failed{ 0 }, bad_messages{ 0 };
    } d_counters;
    std::atomic<bool> d_pump_posted{ false }, d_said{ false }, d_other_mode{ false };
    mutable std::mutex d_mutex; // guards the session and the members below
    const std::unique_ptr<dte_session> d_session;
    station_time d_now{};
    bool d_was_connected = false;
    io_thread d_io; // the members below live on it
    modem_dialer d_dialer;
    std::shared_ptr<wire_edge> d_edge;
    bool d_running = false;
};

} // namespace

modem_client::sptr modem_client::make(const std::string& mode,
                                      const std::string& form,
                                      const std::string& host,
                                      int port,
                                      const std::string& netns)
{
    dte_settings settings;
    settings.tx_mode = hf::mode::parse(mode);
    settings.seed = std::random_device{}();
    udp_form(form); // throws for any other form
    if (host.empty() || host.size() > 253)
        throw std::invalid_argument(
            "host '" + host + "': allowed is a name or an address, 1 to 253 characters");
    if (port < 1 || port > 65535)
        throw std::invalid_argument("port " + std::to_string(port) +
                                    ": allowed are 1 to 65535");
    return gnuradio::make_block_sptr<modem_client_impl>(
        settings, form, host, port, netns);
}

} // namespace gr::hf
