/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/pdu.h"
#include "edges/io_thread.h"
#include "edges/sis_connection.h"

#include <gnuradio/io_signature.h>
#include <hf/sis_client.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <chrono>
#include <stdexcept>

namespace gr::hf {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds tick{ 10 };
constexpr std::chrono::seconds connect_limit{ 20 };
// Octets that wait for a server that does not read: clients stop at the first, go on at the
// second, and one that does not stop loses its connection at the third.
constexpr size_t flow_off_above = 131072;
constexpr size_t flow_on_below = 32768;
constexpr size_t max_out = 4u << 20;

class sis_client_impl : public sis_client
{
public:
    sis_client_impl(const std::string& host, int port, const std::string& netns)
        : gr::block("hf_sis_client",
                    gr::io_signature::make(0, 0, 0),
                    gr::io_signature::make(0, 0, 0)),
          d_sis(pmt::mp("sis")), d_host(host), d_port(std::to_string(port)), d_io(netns),
          d_timer(d_io.context())
    {
        message_port_register_in(d_sis);
        message_port_register_out(d_sis);
        set_msg_handler(d_sis, [this](const pmt::pmt_t& m) { on_message(m); });
    }

    ~sis_client_impl() override { d_io.stop(); }

    bool start() override
    {
        d_io.run_and_wait([this] {
            d_begin = d_next = std::chrono::steady_clock::now();
            d_running = true;
            wait();
        });
        return true;
    }

    bool stop() override
    {
        d_io.run_and_wait([this] {
            d_running = false;
            d_timer.cancel();
            for (auto& [id, c] : d_clients)
                c->end();
            d_clients.clear();
        });
        return true;
    }

    std::map<std::string, uint64_t> stats() const override
    {
        return { { "connected", d_connected },
                 { "failed", d_failed },
                 { "lost", d_lost },
                 { "primitives_in", d_in },
                 { "primitives_out", d_out } };
    }

private:
    //! What belongs to one client inside.
    struct client {
        explicit client(boost::asio::io_context& io) : resolver(io), socket(io), timer(io)
        {
        }
        void end()
        {
            error_code ignored;
            resolver.cancel();
            timer.cancel();
            socket.close(ignored);
            if (connection)
                connection->close();
        }
        tcp::resolver resolver;
        tcp::socket socket; // until it is connected
        boost::asio::steady_timer timer;
        std::shared_ptr<sis_connection> connection;
        std::vector<uint8_t> bind; // waits for the connection
        bool server_off = false;   // the server's own flow control
        bool here_off = false;     // ours, for a server that does not read
    };
    using client_ptr = std::shared_ptr<client>;

    void wait()
    {
        d_next += tick;
        d_timer.expires_at(d_next);
        d_timer.async_wait([this](const error_code& error) {
            if (error || !d_running)
                return;
            message_port_pub(d_sis, pdu::builder("tick").set(keys::now(), now()).make());
            wait();
        });
    }

    sim_time now() const { return std::chrono::steady_clock::now() - d_begin; }

    void publish(uint64_t id, const std::vector<uint8_t>& primitive)
    {
        message_port_pub(d_sis,
                         pdu::builder()
                             .set(keys::now(), now())
                             .set(keys::client(), id)
                             .make(primitive));
    }

    void on_message(const pmt::pmt_t& msg)
    {
        const pdu::reader r(msg);
        const auto id = r.integer(keys::client());
        auto octets = r.octets();
        if (!id || (octets.empty() && r.type() != "client_gone"))
            return; // an answer to a tick, which nobody waits for
        d_io.post([this, id = *id, octets = std::move(octets)]() mutable {
            if (d_running)
                from_client(id, std::move(octets));
        });
    }

    void from_client(uint64_t id, std::vector<uint8_t> octets)
    {
        const auto it = d_clients.find(id);
        if (octets.empty()) {
            forget(id);
        } else if (it == d_clients.end()) {
            // All but S_BIND_REQUEST is for a binding that exists no more.
            if (octets.size() > s5066::sis_header_octets &&
                octets[s5066::sis_header_octets] == 1)
                connect(id, std::move(octets));
        } else if (it->second->connection) {
            client& c = *it->second;
            ++d_out;
            c.connection->send(std::move(octets));
            if (!c.here_off && c.connection->waiting() > flow_off_above) {
                c.here_off = true;
                if (!c.server_off)
                    publish(id, s5066::encode(s5066::s_data_flow_off{}));
            }
        }
    }

    void connect(uint64_t id, std::vector<uint8_t> bind)
    {
        const auto c = std::make_shared<client>(d_io.context());
        c->bind = std::move(bind);
        d_clients[id] = c;
        c->timer.expires_after(connect_limit);
        c->timer.async_wait([this, id, c](const error_code& error) {
            if (!error && !c->connection)
                failed(id, c, "no answer");
        });
        c->resolver.async_resolve(
            d_host,
            d_port,
            [this, id, c](const error_code& error,
                          const tcp::resolver::results_type& found) {
                if (!current(id, c))
                    return;
                if (error) {
                    failed(id, c, error.message());
                    return;
                }
                boost::asio::async_connect(
                    c->socket,
                    found,
                    [this, id, c](const error_code& e, const tcp::endpoint&) {
                        if (!current(id, c))
                            return;
                        if (e)
                            failed(id, c, e.message());
                        else
                            connected(id, c);
                    });
            });
    }

    // A handler may be of an attempt that has been given up.
    bool current(uint64_t id, const client_ptr& c) const
    {
        const auto it = d_clients.find(id);
        return it != d_clients.end() && it->second == c;
    }

    void failed(uint64_t id, const client_ptr& c, const std::string& why)
    {
        if (!current(id, c))
            return;
        // Once until it works again: clients try every few seconds.
        if (!d_said)
            d_logger->warn("SIS server {}:{}: {}", d_host, d_port, why);
        d_said = true;
        ++d_failed;
        forget(id);
        publish(id,
                s5066::encode(s5066::s_bind_rejected{
                    uint8_t(s5066::bind_reject_reason::not_enough_resources) }));
    }

    void connected(uint64_t id, const client_ptr& c)
    {
        d_said = false;
        c->timer.cancel();
        ++d_connected;
        c->connection = std::make_shared<sis_connection>(std::move(c->socket), max_out);
        c->connection->on_readable = [this, id] { to_client(id); };
        c->connection->on_written = [this, id] { written(id); };
        c->connection->on_broken = [this, id](const std::string& why) {
            d_logger->warn("SIS server {}:{}: connection lost: {}", d_host, d_port, why);
            ++d_lost;
            forget(id);
            // No reason says it; this one comes nearest.
            publish(id,
                    s5066::encode(s5066::s_unbind_indication{
                        uint8_t(s5066::unbind_reason::no_keep_alive) }));
        };
        c->connection->open();
        ++d_out;
        c->connection->send(std::move(c->bind));
    }

    void to_client(uint64_t id)
    {
        const client_ptr c = d_clients.at(id);
        while (const auto p = c->connection->next()) {
            ++d_in;
            const auto type =
                p->size() > s5066::sis_header_octets ? (*p)[s5066::sis_header_octets] : 0;
            if (type == 15 || type == 16) // S_DATA_FLOW_ON, _OFF
                c->server_off = type == 16;
            if (type != 15 || !c->here_off)
                publish(id, *p);
        }
    }

    void written(uint64_t id)
    {
        client& c = *d_clients.at(id);
        if (!c.here_off || c.connection->waiting() >= flow_on_below)
            return;
        c.here_off = false;
        if (!c.server_off)
            publish(id, s5066::encode(s5066::s_data_flow_on{}));
    }

    void forget(uint64_t id)
    {
        const auto it = d_clients.find(id);
        if (it == d_clients.end())
            return;
        it->second->end();
        d_clients.erase(it);
    }

    const pmt::pmt_t d_sis;
    const std::string d_host, d_port;
    std::atomic<uint64_t> d_connected{ 0 }, d_failed{ 0 }, d_lost{ 0 }, d_in{ 0 },
        d_out{ 0 };
    io_thread d_io; // what follows lives on it
    boost::asio::steady_timer d_timer;
    std::chrono::steady_clock::time_point d_begin, d_next;
    std::map<uint64_t, client_ptr> d_clients;
    bool d_running = false;
    bool d_said = false;
};

} // namespace

sis_client::sptr
sis_client::make(const std::string& host, int port, const std::string& netns)
{
    if (host.empty() || host.size() > 253)
        throw std::invalid_argument(
            "host '" + host + "': allowed is a name or an address, 1 to 253 characters");
    if (port < 1 || port > 65535)
        throw std::invalid_argument("port " + std::to_string(port) +
                                    ": allowed are 1 to 65535");
    return gnuradio::make_block_sptr<sis_client_impl>(host, port, netns);
}

} // namespace gr::hf
