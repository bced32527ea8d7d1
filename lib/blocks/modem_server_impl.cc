/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/modem_messages.h"
#include "blocks/pdu.h"
#include "edges/io_thread.h"
#include "edges/tcp_acceptor.h"
#include "edges/wire_edge.h"
#include "modem_interface/tcp_modem.h"
#include "modem_interface/udp_modem.h"

#include <gnuradio/io_signature.h>
#include <hf/modem_server.h>

#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>

#include <atomic>
#include <istream>
#include <stdexcept>

namespace gr::hf {
namespace {

using boost::asio::ip::tcp;
using boost::asio::ip::udp;
using boost::system::error_code;
using namespace modem_interface;

constexpr std::chrono::seconds control_limit{ 3 };
// Connections that have not sent their control line.
constexpr int max_asking = 8;

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
        set_msg_handler(d_modem, [this](const pmt::pmt_t& m) { on_modem(m); });
        d_acceptor.on_accepted = [this](tcp::socket s) { accepted(std::move(s)); };
        // Now, so that a port in use is told by the constructor: the scheduler only logs it.
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
    sim_time clock() const { return std::chrono::steady_clock::now() - d_begin; }

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
            await_control(std::move(socket));
            return;
        }
        std::shared_ptr<wire_edge> edge;
        if (take_place(edge))
            edge->open(std::move(socket));
    }

    //! A control connection until its line has come.
    struct asking {
        explicit asking(tcp::socket s)
            : socket(std::move(s)), line(max_control_line), timer(socket.get_executor())
        {
        }
        tcp::socket socket;
        boost::asio::streambuf line;
        boost::asio::steady_timer timer;
    };

    void await_control(tcp::socket socket)
    {
        if (d_asking >= max_asking) {
            ++d_refused;
            return; // the socket closes
        }
        ++d_asking;
        const auto a = std::make_shared<asking>(std::move(socket));
        a->timer.expires_after(control_limit);
        a->timer.async_wait([a](const error_code& error) {
            error_code ignored;
            if (!error)
                a->socket.close(ignored);
        });
        boost::asio::async_read_until(
            a->socket, a->line, '\n', [this, a](const error_code& error, size_t) {
                --d_asking;
                a->timer.cancel();
                std::string line;
                std::istream in(&a->line);
                std::getline(in, line);
                const auto port = parse_control_line(line);
                if (error || !port)
                    ++d_refused;
                else
                    control(std::move(a->socket), *port);
            });
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
                reply = modem_messages::tick_done(key);
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
        // Ticks alone give nothing to send; a held packet goes on by the other messages.
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
    mutable std::mutex d_mutex; // of the session
    const std::unique_ptr<modem_session> d_session;
    io_thread d_io; // what follows lives on it
    tcp_acceptor d_acceptor;
    std::shared_ptr<wire_edge> d_edge;
    int d_asking = 0;
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
    udp_form(form); // complains of others
    const auto where = listen_endpoint(address, port);
    return gnuradio::make_block_sptr<modem_server_impl>(settings, form, where, netns);
}

} // namespace gr::hf
