/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/io_thread.h"
#include "blocks/pdu.h"
#include "blocks/sis_connection.h"
#include "blocks/tcp_acceptor.h"

#include <gnuradio/io_signature.h>
#include <hf/sis_server.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>

namespace gr::hf {
namespace {

using boost::asio::ip::tcp;

// Of one client, taken from one tick (10 ms of station time) to the next: far more than any
// modem sends, so few that all clients together cannot flood the data link.
constexpr unsigned primitives_per_tick = 32;
constexpr size_t octets_per_tick = 65540;
// Octets of data taken from a client that was told to stop: what was on its way.
constexpr size_t flow_off_grace = 65536;

uint8_t type_of(const std::vector<uint8_t>& primitive)
{
    return primitive.size() > s5066::sis_header_octets
               ? primitive[s5066::sis_header_octets]
               : 0;
}

class sis_server_impl : public sis_server
{
public:
    sis_server_impl(const tcp::endpoint& where,
                    size_t max_clients,
                    size_t max_out,
                    const std::string& netns)
        : gr::block("hf_sis_server",
                    gr::io_signature::make(0, 0, 0),
                    gr::io_signature::make(0, 0, 0)),
          d_sis(pmt::mp("sis")), d_where(where), d_max_clients(max_clients),
          d_max_out(max_out), d_io(netns), d_acceptor(d_io.context(), "SIS server")
    {
        message_port_register_in(d_sis);
        message_port_register_out(d_sis);
        set_msg_handler(d_sis, [this](const pmt::pmt_t& m) { on_message(m); });
        d_acceptor.on_accepted = [this](tcp::socket s) { accepted(std::move(s)); };
        // Now, so that a port in use is told by the constructor: the scheduler only logs it.
        d_io.run_and_wait([this] {
            d_acceptor.listen(d_where);
            d_port = d_acceptor.port();
        });
    }

    ~sis_server_impl() override { d_io.stop(); }

    bool start() override
    {
        d_io.run_and_wait([this] {
            if (!d_acceptor.is_open())
                d_acceptor.listen({ d_where.address(), static_cast<uint16_t>(d_port) });
            d_tick = sim_time(-1);
            d_running = true;
            for (auto& c : d_clients)
                take(c.first);
        });
        return true;
    }

    bool stop() override
    {
        d_io.run_and_wait([this] {
            d_running = false;
            d_acceptor.close();
            while (!d_clients.empty())
                drop(d_clients.begin()->first);
        });
        return true;
    }

    int port() const override { return d_port; }

    std::map<std::string, uint64_t> stats() const override
    {
        return { { "clients", d_connected },         { "accepted", d_accepted },
                 { "refused", d_refused },           { "disconnected", d_disconnected },
                 { "primitives_in", d_from_client }, { "primitives_out", d_to_client } };
    }

private:
    struct client {
        std::shared_ptr<sis_connection> connection;
        bool bound = false;
        bool flow_off = false;
        bool told = false; // the data link knows of it
        size_t over = 0;   // octets of data taken since flow_off
        unsigned primitives = primitives_per_tick;
        size_t octets = octets_per_tick;
        std::optional<std::vector<uint8_t>> held; // data that waits for the flow
    };

    void accepted(tcp::socket socket)
    {
        if (d_clients.size() >= d_max_clients) {
            // Ids grow, so the first one found is the oldest.
            const auto idle = std::find_if(d_clients.begin(),
                                           d_clients.end(),
                                           [](auto& c) { return !c.second.bound; });
            if (idle == d_clients.end()) {
                ++d_refused;
                return; // the socket closes
            }
            drop(idle->first);
        }
        ++d_accepted;
        const uint64_t id = keys::new_client_id();
        const auto c = std::make_shared<sis_connection>(std::move(socket), d_max_out);
        c->on_readable = [this, id] { take(id); };
        c->on_written = [] {};
        c->on_broken = [this, id](const std::string& why) {
            d_logger->info("SIS client {}: {}", id, why);
            drop(id);
        };
        d_clients[id].connection = c;
        d_connected = d_clients.size();
        c->open();
    }

    void drop(uint64_t id)
    {
        const auto it = d_clients.find(id);
        if (it == d_clients.end())
            return;
        it->second.connection->close();
        if (it->second.told)
            message_port_pub(d_sis,
                             pdu::builder("client_gone").set(keys::client(), id).make());
        d_clients.erase(it);
        ++d_disconnected;
        d_connected = d_clients.size();
    }

    // What has come from a client and may go on now.
    void take(uint64_t id)
    {
        client& c = d_clients.at(id);
        while (d_running && c.primitives > 0 && c.octets > 0) {
            auto p = std::move(c.held);
            c.held.reset();
            if (!p)
                p = c.connection->next();
            if (!p)
                return;
            // By the numbers of table A-1: data, normal and expedited.
            const bool data = type_of(*p) == 20 || type_of(*p) == 24;
            if (data && c.flow_off && c.over + p->size() > flow_off_grace) {
                c.held = std::move(p);
                return;
            }
            c.over += data && c.flow_off ? p->size() : 0;
            --c.primitives;
            c.octets -= std::min(c.octets, p->size());
            c.told = true;
            if (type_of(*p) == 2)
                c.bound = false;
            ++d_from_client;
            message_port_pub(d_sis, pdu::builder().set(keys::client(), id).make(*p));
        }
    }

    void on_message(const pmt::pmt_t& msg)
    {
        const pdu::reader r(msg);
        if (r.type() == "tick") {
            if (const auto now = r.time(keys::now()))
                d_io.post_time(*now, [this](sim_time t) { on_tick(t); });
            return;
        }
        auto octets = r.octets();
        const auto id = r.integer(keys::client());
        if (!id || octets.empty())
            return;
        d_io.post([this, id = *id, octets = std::move(octets)]() mutable {
            to_client(id, std::move(octets));
        });
    }

    void on_tick(sim_time now)
    {
        // Several ticks may have been put together; no more is saved up than for one.
        if (now <= d_tick)
            return;
        d_tick = now;
        for (auto& [id, c] : d_clients) {
            c.primitives = primitives_per_tick;
            c.octets = octets_per_tick;
            take(id);
        }
    }

    // Most of what passes belongs to clients that are blocks.
    void to_client(uint64_t id, std::vector<uint8_t> octets)
    {
        const auto it = d_clients.find(id);
        if (it == d_clients.end())
            return;
        client& c = it->second;
        switch (type_of(octets)) {
        case 3: // S_BIND_ACCEPTED
            c.bound = true;
            break;
        case 5: // S_UNBIND_INDICATION
            c.bound = false;
            break;
        case 15: // S_DATA_FLOW_ON
            c.flow_off = false;
            c.over = 0;
            break;
        case 16: // S_DATA_FLOW_OFF
            c.flow_off = true;
            break;
        default:
            break;
        }
        ++d_to_client;
        const bool on = !c.flow_off && c.held;
        c.connection->send(std::move(octets));
        if (on)
            take(id);
    }

    const pmt::pmt_t d_sis;
    const tcp::endpoint d_where;
    const size_t d_max_clients;
    const size_t d_max_out;
    std::atomic<int> d_port{ 0 };
    std::atomic<uint64_t> d_connected{ 0 }, d_accepted{ 0 }, d_refused{ 0 },
        d_disconnected{ 0 }, d_from_client{ 0 }, d_to_client{ 0 };
    sim_time d_tick{ -1 };
    io_thread d_io; // what follows lives on it
    tcp_acceptor d_acceptor;
    std::map<uint64_t, client> d_clients;
    bool d_running = false; // before, nobody would hear what clients say
};

} // namespace

sis_server::sptr sis_server::make(const std::string& address,
                                  int port,
                                  int max_clients,
                                  size_t max_out,
                                  const std::string& netns)
{
    const auto where = listen_endpoint(address, port);
    if (max_clients < 5 || max_clients > 60)
        throw std::invalid_argument("max_clients " + std::to_string(max_clients) +
                                    ": allowed are 5 to 60");
    if (max_out < 65540 || max_out > (size_t(1) << 30))
        throw std::invalid_argument("max_out " + std::to_string(max_out) +
                                    ": allowed are 65540 to 2^30 octets");
    return gnuradio::make_block_sptr<sis_server_impl>(
        where, static_cast<size_t>(max_clients), max_out, netns);
}

} // namespace gr::hf
