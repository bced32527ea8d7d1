/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/modem_messages.h"
#include "blocks/pdu.h"
#include "edges/control_lines.h"
#include "edges/io_thread.h"
#include "edges/tcp_acceptor.h"
#include "edges/wire_edge.h"
#include "modem_interface/tcp_modem.h"
#include "modem_interface/udp_modem.h"

#include <gnuradio/io_signature.h>
#include <hf/modem_server.h>

#include <boost/asio/write.hpp>

#include <atomic>
#include <stdexcept>

namespace gr::hf {
namespace {

using boost::asio::ip::tcp;
using boost::asio::ip::udp;
using boost::system::error_code;
using namespace modem_interface;

std::unique_ptr<modem_session> make_session(const std::string& form, modem_settings s)
{
    if (udp_form(form))
        return std::make_unique<udp_modem>(s);
    return std::make_unique<tcp_modem>(s);
}

class modem_server_impl : public modem_server
{
public:
    modem_server_impl(const modem_settings& settings,
                      const std::string& form,
                      const tcp::endpoint& where,
                      const std::string& netns)
        : gr::block("hf_modem_server",
                    gr::io_signature::make(0, 0, 0),
                    gr::io_signature::make(0, 0, 0)),
          d_modem(pmt::mp("modem")), d_udp(udp_form(form)), d_where(where),
          d_begin(std::chrono::steady_clock::now()),
          d_session(make_session(form, settings)), d_io(netns),
          d_acceptor(d_io.context(), "modem server")
    {
        message_port_register_in(d_modem);
        message_port_register_out(d_modem);
        set_msg_handler(
            d_modem, [this](const pmt::pmt_t& m) { on_modem(m); });
        d_acceptor.on_accepted = [this](tcp::socket s) { accepted(std::move(s)); };
        d_lines.on_port = [this](tcp::socket s, uint16_t p) { control(std::move(s), p); };
        d_lines.on_refused = [this] { ++d_refused; };
        // Listen now, so that the constructor reports a port in use. The scheduler only
        // logs it.
        d_io.run_and_wait([this] {
            d_acceptor.listen(d_where);
            d_port = d_acceptor.port();
        });
    }

    ~modem_server_impl() override { d_io.stop(); }

    bool start() override
    {
        d_io.run_and_wait([this] {
            if (!d_acceptor.is_open())
                d_acceptor.listen({ d_where.address(), static_cast<uint16_t>(d_port) });
            d_running = true;
        });
        return true;
    }

    bool stop() override
    {
        d_io.run_and_wait([this] {
            d_running = false;
            d_acceptor.close();
            if (d_edge) {
                const auto edge = d_edge;
                edge->close("the modem stops");
                d_edge.reset();
            }
        });
        return true;
    }

    int port() const override { return d_port; }

    std::map<std::string, uint64_t> stats() const override
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        return { { "connected", d_session->connected() },
                 { "accepted", d_accepted },
                 { "refused", d_refused },
                 { "disconnected", d_disconnected },
                 { "transmissions", d_transmissions },
                 { "underruns", d_session->underruns() },
                 { "queued_octets", d_session->queued() },
                 { "bad_messages", d_bad_messages } };
    }

private:
    station_time clock() const { return std::chrono::steady_clock::now() - d_begin; }

    // A.4.1: one terminal at a time.
    bool take_place(std::shared_ptr<wire_edge>& edge)
    {
        if (!d_running || d_edge) {
            ++d_refused;
            return false;
        }
        ++d_accepted;
        edge = std::make_shared<wire_edge>(
            d_io.context(), *d_session, d_mutex, [this] { return clock(); });
        edge->on_closed = [this,
                           p = std::weak_ptr<wire_edge>(edge)](const std::string& why) {
            d_logger->info("data terminal has gone: {}", why);
            ++d_disconnected;
            if (d_edge == p.lock())
                d_edge.reset();
        };
        d_edge = edge;
        return true;
    }

    void accepted(tcp::socket socket)
    {
        if (d_udp) {
            d_lines.await(std::move(socket));
            return;
        }
        std::shared_ptr<wire_edge> edge;
        if (take_place(edge))
            edge->open(std::move(socket));
    }

    void control(tcp::socket socket, uint16_t port)
    {
        error_code error;
        const auto say = [&](const std::string& line) {
            // A few octets into an empty buffer.
            boost::asio::write(socket, boost::asio::buffer(line + "\n"), error);
        };
        const auto from = socket.remote_endpoint(error);
        udp::socket datagrams(d_io.context());
        if (!error && !d_edge) {
            datagrams.open(d_where.address().is_v4() ? udp::v4() : udp::v6(), error);
            if (!error)
                datagrams.bind({ d_where.address(), static_cast<uint16_t>(d_port) },
                               error);
            if (!error)
                datagrams.non_blocking(true, error);
            if (error)
                d_logger->warn("UDP port {}: {}", d_port.load(), error.message());
        }
        std::shared_ptr<wire_edge> edge;
        if (error || !take_place(edge)) {
            say("BUSY");
            return;
        }
        say(control_line(static_cast<uint16_t>(d_port)));
        edge->open(std::move(socket), std::move(datagrams), { from.address(), port });
    }

    void on_modem(const pmt::pmt_t& msg)
    {
        const pdu::reader r(msg);
        pmt::pmt_t reply;
        bool understood = false;
        {
            std::lock_guard<std::mutex> lock(d_mutex);
            understood = modem_messages::dispatch(msg, *d_session, reply);
            if (understood && r.type() == "tick") {
                const auto key = d_session->want_tx(*r.time(keys::now()));
                d_transmissions += key.has_value();
                reply = modem_messages::tick_done({ key, {}, false });
            }
        }
        if (!understood) {
            if (d_bad_messages++ == 0)
                d_logger->warn("modem port: not a message of this port, dropped (further "
                               "ones are only counted)");
            return;
        }
        if (reply)
            message_port_pub(d_modem, reply);
        // Ticks alone produce nothing to send. A held packet is sent on other messages.
        if (r.type() != "tick" && !d_pump_posted.exchange(true))
            d_io.post([this] {
                d_pump_posted = false;
                if (const auto edge = d_edge)
                    edge->pump();
            });
    }

    const pmt::pmt_t d_modem;
    const bool d_udp;
    const tcp::endpoint d_where;
    const std::chrono::steady_clock::time_point d_begin;
    std::atomic<int> d_port{ 0 };
    std::atomic<uint64_t> d_accepted{ 0 }, d_refused{ 0 }, d_disconnected{ 0 },
        d_transmissions{ 0 }, d_bad_messages{ 0 };
    std::atomic<bool> d_pump_posted{ false };
    mutable std::mutex d_mutex; // guards the session
    const std::unique_ptr<modem_session> d_session;
    io_thread d_io; // the members below live on it
    tcp_acceptor d_acceptor;
    std::shared_ptr<wire_edge> d_edge;
    control_lines d_lines;
    bool d_running = false;
};

} // namespace

modem_server::sptr modem_server::make(const std::string& mode,
                                      const std::string& form,
                                      const std::string& address,
                                      int port,
                                      bool receiver_master,
                                      const std::string& netns)
{
    modem_settings settings;
    settings.tx_mode = hf::mode::parse(mode);
    settings.receiver_master = receiver_master;
    udp_form(form); // throws for any other form
    const auto where = listen_endpoint(address, port);
    return gnuradio::make_block_sptr<modem_server_impl>(settings, form, where, netns);
}

} // namespace gr::hf
