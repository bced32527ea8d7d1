/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges/sis_dialer.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/steady_timer.hpp>

namespace gr::hf {

using boost::asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::chrono::seconds connect_limit{ 20 };
// Octets that wait for a server that does not read. Clients are stopped at the first
// limit and resumed at the second. A client that does not stop loses its connection at
// the third.
constexpr size_t flow_off_above = 131072;
constexpr size_t flow_on_below = 32768;
constexpr size_t max_out = 4u << 20;

} // namespace

//! State of one local client.
struct sis_dialer::client {
    explicit client(boost::asio::io_context& io) : resolver(io), socket(io), timer(io) {}
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
    tcp::socket socket; // before the connection exists
    boost::asio::steady_timer timer;
    std::shared_ptr<sis_connection> connection;
    std::vector<uint8_t> bind; // waits for the connection
    bool server_off = false;   // the server's own flow control
    bool here_off = false;     // our flow control, for a server that does not read
};

sis_dialer::sis_dialer(boost::asio::io_context& io, std::string host, int port)
    : d_io(io), d_host(std::move(host)), d_port(std::to_string(port))
{
}

sis_dialer::~sis_dialer() = default;

void sis_dialer::from_client(uint64_t id, std::vector<uint8_t> primitive)
{
    const auto it = d_clients.find(id);
    if (it == d_clients.end()) {
        // Any primitive but S_BIND_REQUEST belongs to a binding that no longer exists.
        if (primitive.size() > s5066::sis_header_octets &&
            primitive[s5066::sis_header_octets] == 1)
            connect(id, std::move(primitive));
    } else if (it->second->connection) {
        client& c = *it->second;
        ++d_count.out;
        c.connection->send(std::move(primitive));
        if (!c.here_off && c.connection->waiting() > flow_off_above) {
            c.here_off = true;
            if (!c.server_off)
                on_primitive(id, s5066::encode(s5066::s_data_flow_off{}));
        }
    }
}

void sis_dialer::close()
{
    for (auto& [id, c] : d_clients)
        c->end();
    d_clients.clear();
}

void sis_dialer::connect(uint64_t id, std::vector<uint8_t> bind)
{
    const auto c = std::make_shared<client>(d_io);
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
        [this, id, c](const error_code& error, const tcp::resolver::results_type& found) {
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

// False for a handler of an attempt that was abandoned.
bool sis_dialer::current(uint64_t id, const client_ptr& c) const
{
    const auto it = d_clients.find(id);
    return it != d_clients.end() && it->second == c;
}

void sis_dialer::failed(uint64_t id, const client_ptr& c, const std::string& why)
{
    if (!current(id, c))
        return;
    // Report once until it works again. Clients try every few seconds.
    if (!d_said)
        on_trouble(why);
    d_said = true;
    ++d_count.failed;
    forget(id);
    on_primitive(id,
                 s5066::encode(s5066::s_bind_rejected{
                     uint8_t(s5066::bind_reject_reason::not_enough_resources) }));
}

void sis_dialer::connected(uint64_t id, const client_ptr& c)
{
    d_said = false;
    c->timer.cancel();
    ++d_count.connected;
    c->connection = std::make_shared<sis_connection>(std::move(c->socket), max_out);
    c->connection->on_readable = [this, id] { to_client(id); };
    c->connection->on_written = [this, id] { written(id); };
    c->connection->on_broken = [this, id](const std::string& why) {
        on_trouble("connection lost: " + why);
        ++d_count.lost;
        forget(id);
        // No reason means exactly this. This one is the nearest.
        on_primitive(id,
                     s5066::encode(s5066::s_unbind_indication{
                         uint8_t(s5066::unbind_reason::no_keep_alive) }));
    };
    c->connection->open();
    ++d_count.out;
    c->connection->send(std::move(c->bind));
}

void sis_dialer::to_client(uint64_t id)
{
    const client_ptr c = d_clients.at(id);
    while (const auto p = c->connection->next()) {
        ++d_count.in;
        const auto type =
            p->size() > s5066::sis_header_octets ? (*p)[s5066::sis_header_octets] : 0;
        if (type == 15 || type == 16) // S_DATA_FLOW_ON, _OFF
            c->server_off = type == 16;
        if (type != 15 || !c->here_off)
            on_primitive(id, *p);
    }
}

void sis_dialer::written(uint64_t id)
{
    client& c = *d_clients.at(id);
    if (!c.here_off || c.connection->waiting() >= flow_on_below)
        return;
    c.here_off = false;
    if (!c.server_off)
        on_primitive(id, s5066::encode(s5066::s_data_flow_on{}));
}

void sis_dialer::forget(uint64_t id)
{
    const auto it = d_clients.find(id);
    if (it == d_clients.end())
        return;
    it->second->end();
    d_clients.erase(it);
}

} // namespace gr::hf
