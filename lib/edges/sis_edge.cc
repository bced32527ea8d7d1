/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges/sis_edge.h"
#include "edges/asio_address.h"

#include <algorithm>
#include <utility>

namespace gr::hf {

using boost::asio::ip::tcp;

namespace {

// Data octets accepted from a client after it was stopped: those already on their way.
constexpr size_t flow_off_grace = 65536;
// Limit of connections without a SAP. This many can send their rank, regardless of how
// many clients are bound.
constexpr size_t max_visitors = 64;

uint8_t type_of(const std::vector<uint8_t>& primitive)
{
    return primitive.size() > s5066::sis_header_octets
               ? primitive[s5066::sis_header_octets]
               : 0;
}

} // namespace

sis_edge::sis_edge(boost::asio::io_context& io, settings s, surroundings around)
    : d_settings(std::move(s)), d_around(std::move(around)), d_acceptor(io, "SIS server")
{
    d_acceptor.on_accepted = [this](tcp::socket socket) { accepted(std::move(socket)); };
}

void sis_edge::listen()
{
    d_acceptor.listen(d_settings.where);
    d_port = d_acceptor.port();
}

void sis_edge::start()
{
    if (!d_acceptor.is_open())
        d_acceptor.listen({ d_settings.where.address(), static_cast<uint16_t>(d_port) });
    d_tick = station_time(-1);
    d_running = true;
    for (auto& c : d_clients)
        take(c.first);
}

void sis_edge::stop()
{
    d_running = false;
    d_acceptor.close();
    while (!d_clients.empty())
        drop(d_clients.begin()->first);
}

void sis_edge::accepted(tcp::socket socket)
{
    boost::system::error_code error;
    const auto far = socket.remote_endpoint(error);
    if (error)
        return; // the client has closed already
    const auto from = from_asio(far.address());
    const auto highest = d_settings.ranks.highest(from);
    if (!highest) {
        refused(from, "no entry of ranks is for this address");
        return; // the socket closes
    }
    if (visitors() >= max_visitors)
        drop(min_needed());
    ++d_accepted;
    const uint64_t id = d_around.new_client();
    const auto c =
        std::make_shared<sis_connection>(std::move(socket), d_settings.max_out);
    c->on_readable = [this, id] { take(id); };
    c->on_written = [] {};
    c->on_broken = [this, id](const std::string& why) {
        if (why != sis_connection::far_closed)
            d_around.tell("SIS client " + std::to_string(id) + ": " + why);
        drop(id);
    };
    client& k = d_clients[id];
    k.connection = c;
    k.from = from;
    k.highest_rank = *highest;
    d_connected = d_clients.size();
    c->open();
}

void sis_edge::refused(const ip::address& from, const std::string& why)
{
    if (d_refused++ == 0)
        d_around.warn("SIS client from " + from.to_string() + " refused: " + why +
                      " (further ones are only counted)");
}

size_t sis_edge::visitors() const
{
    return static_cast<size_t>(std::count_if(
        d_clients.begin(), d_clients.end(), [](auto& c) { return !c.second.bound; }));
}

// The oldest silent visitor of the address that has the most of them.
uint64_t sis_edge::min_needed()
{
    const auto silent = [](client& c) {
        boost::system::error_code error;
        return !c.bound && !c.asking && c.connection->socket().available(error) == 0;
    };
    std::map<ip::address, std::vector<uint64_t>> speaking, idle;
    for (auto& [id, c] : d_clients) // ids increase
        if (!c.bound)
            (silent(c) ? idle : speaking)[c.from].push_back(id);
    const auto& from = idle.empty() ? speaking : idle;
    return std::max_element(
               from.begin(),
               from.end(),
               [](auto& a, auto& b) { return a.second.size() < b.second.size(); })
        ->second.front();
}

// Whether to pass a bind to the data link, which then decides.
bool sis_edge::may_bind(client& c, const std::vector<uint8_t>& request)
{
    const int sap = request[s5066::sis_header_octets + 1] >> 4;
    const int rank = request[s5066::sis_header_octets + 1] & 0xf;
    if (rank > c.highest_rank) {
        refused(c.from,
                "rank " + std::to_string(rank) + ", allowed is up to " +
                    std::to_string(c.highest_rank));
        return false;
    }
    if (!c.bound && !make_room(sap, rank)) {
        refused(c.from,
                std::to_string(d_settings.max_clients) +
                    " clients are bound, none of lower rank");
        return false;
    }
    c.asking = !c.bound;
    c.sap = c.bound ? c.sap : sap;
    c.rank = c.bound ? c.rank : rank;
    return true;
}

// Makes a place among the bound clients, if necessary by removing one of lower rank
// (A.2.1.5).
bool sis_edge::make_room(int sap, int rank)
{
    size_t taken = 0;
    auto lowest = d_clients.end();
    for (auto c = d_clients.begin(); c != d_clients.end(); ++c) {
        if (!c->second.bound && !c->second.asking)
            continue;
        ++taken;
        if (c->second.bound && c->second.sap == sap)
            return true; // the data link will refuse it
        if (c->second.bound &&
            (lowest == d_clients.end() || c->second.rank < lowest->second.rank))
            lowest = c;
    }
    if (taken < d_settings.max_clients)
        return true;
    if (lowest == d_clients.end() || lowest->second.rank >= rank)
        return false;
    lowest->second.bound = false;
    const auto unbind = s5066::encode(s5066::s_unbind_request{});
    d_around.to_link(lowest->first, unbind);
    lowest->second.connection->send(s5066::encode(
        s5066::s_unbind_indication{ uint8_t(s5066::unbind_reason::higher_rank) }));
    return true;
}

void sis_edge::drop(uint64_t id)
{
    const auto it = d_clients.find(id);
    if (it == d_clients.end())
        return;
    it->second.connection->close();
    if (it->second.announced)
        d_around.gone(id);
    d_clients.erase(it);
    ++d_disconnected;
    d_connected = d_clients.size();
}

// Passes on what a client has sent, as far as allowed now.
void sis_edge::take(uint64_t id)
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
        ++d_from_clients;
        if (type_of(*p) == 1 && !may_bind(c, *p)) {
            c.connection->send(s5066::encode(s5066::s_bind_rejected{
                uint8_t(s5066::bind_reject_reason::not_enough_resources) }));
            continue;
        }
        if (type_of(*p) == 2)
            c.bound = false;
        c.announced = true;
        d_around.to_link(id, *p);
    }
}

void sis_edge::tick(station_time now)
{
    // Several ticks may have been merged. Credit never exceeds that of one tick.
    if (now <= d_tick)
        return;
    d_tick = now;
    for (auto& [id, c] : d_clients) {
        c.primitives = primitives_per_tick;
        c.octets = octets_per_tick;
        take(id);
    }
}

// Most primitives are for clients that are blocks.
void sis_edge::to_client(uint64_t id, std::vector<uint8_t> octets)
{
    const auto it = d_clients.find(id);
    if (it == d_clients.end())
        return;
    client& c = it->second;
    switch (type_of(octets)) {
    case 3: // S_BIND_ACCEPTED
        c.bound = true;
        c.asking = false;
        break;
    case 4: // S_BIND_REJECTED
        c.asking = false;
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
    ++d_to_clients;
    const bool on = !c.flow_off && c.held;
    c.connection->send(std::move(octets));
    if (on)
        take(id);
}

} // namespace gr::hf
