/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/sis/sis_clients.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {

// Octets for clients not polled yet; beyond this, primitives are dropped.
constexpr size_t max_out_octets = 8u << 20;
// The standard allows keep-alives no more often than this.
constexpr double min_keep_alive_s = 120;
// Longest wait for the answer to S_KEEP_ALIVE (A.2.1.17 leaves it open).
constexpr station_time keep_alive_answer = std::chrono::seconds(10);

} // namespace

sis_client& sis_clients::arrive(client_id c)
{
    sis_client& k = d_clients[c];
    k.who.client = c;
    return k;
}

void sis_clients::forget_one()
{
    const auto unbound = [](const auto& e) { return !e.second.is_bound; };
    if (d_clients.size() > d_config.max_clients)
        d_clients.erase(std::find_if(d_clients.begin(), d_clients.end(), unbound));
}

void sis_clients::gone(station_time now, client_id c)
{
    const auto it = d_clients.find(c);
    unbind(now, it->second, std::nullopt);
    d_clients.erase(it);
    const auto its = [c](const auto& e) { return e.client == c; };
    for (const auto& e : d_out)
        d_out_octets -= its(e) ? e.octets.size() : 0;
    d_out.erase(std::remove_if(d_out.begin(), d_out.end(), its), d_out.end());
}

sis_client* sis_clients::find(client_id c)
{
    const auto it = d_clients.find(c);
    return it == d_clients.end() ? nullptr : &it->second;
}

sis_client* sis_clients::at(uint8_t sap)
{
    const auto it = d_saps.find(sap);
    return it == d_saps.end() ? nullptr : &d_clients.at(it->second);
}

void sis_clients::send(client_id c, const s_primitive& p, uint64_t numbering)
{
    auto octets = encode(p);
    if (octets.empty() || d_out_octets + octets.size() > max_out_octets) {
        ++d_stats.indications_dropped;
        return;
    }
    d_out_octets += octets.size();
    d_out.push_back({ c, std::move(octets), numbering });
}

std::optional<sis_output> sis_clients::poll()
{
    if (d_out.empty())
        return std::nullopt;
    auto r = std::move(d_out.front());
    d_out.pop_front();
    d_out_octets -= r.octets.size();
    return r;
}

bool sis_clients::all_places_taken() const
{
    return d_saps.size() >= std::min(d_config.max_bound, d_config.max_clients);
}

// Makes a place for a client of this rank, if need be by unbinding one of lower rank.
bool sis_clients::make_room(station_time now, uint8_t rank)
{
    if (!all_places_taken())
        return true;
    const auto lowest =
        std::min_element(d_saps.begin(), d_saps.end(), [this](auto& a, auto& b) {
            return d_clients.at(a.second).who.rank < d_clients.at(b.second).who.rank;
        });
    sis_client& k = d_clients.at(lowest->second);
    if (k.who.rank >= rank)
        return false;
    unbind(now, k, unbind_reason::higher_rank);
    return true;
}

// Reason to refuse the bind; makes room for the client if there is none.
std::optional<bind_reject_reason> sis_clients::refusal(station_time now,
                                                       const sis_client& k,
                                                       const s_bind_request& r,
                                                       bool broadcast)
{
    if (k.is_bound) {
        ++d_stats.invalid_primitives; // a connection can bind only one SAP
        return bind_reject_reason::invalid_sap;
    }
    const auto m = r.service.mode;
    if (m == transmission_mode::default_ || m > transmission_mode::non_arq_with_errors) {
        // No reason fits an unknown service type; this one is at least not false.
        return bind_reject_reason::not_enough_resources;
    }
    if (broadcast && m == transmission_mode::arq)
        return bind_reject_reason::no_arq_in_broadcast;
    if (sis_client* holder = at(r.sap)) {
        // If no place is free, a higher rank displaces the holder of this SAP.
        if (!all_places_taken() || holder->who.rank >= r.rank)
            return bind_reject_reason::sap_in_use;
        unbind(now, *holder, unbind_reason::higher_rank);
    } else if (!make_room(now, r.rank)) {
        return bind_reject_reason::not_enough_resources;
    }
    return std::nullopt;
}

bool sis_clients::bind(station_time now,
                       sis_client& k,
                       const s_bind_request& r,
                       bool broadcast)
{
    const client_id c = k.who.client;
    if (const auto why = refusal(now, k, r, broadcast)) {
        send(c, s_bind_rejected{ uint8_t(*why) });
        return false;
    }
    k.is_bound = true;
    k.who.sap = r.sap;
    k.who.rank = r.rank;
    k.service = r.service;
    k.expedited.clear();
    k.expedited_credit = d_config.client_expedited_per_minute;
    k.expedited_at = now;
    k.keep_alive_asked = false;
    k.keep_alive_at = next_keep_alive(now);
    k.flow_on = true;
    d_saps[r.sap] = c;
    send(c, s_bind_accepted{ r.sap, static_cast<uint16_t>(d_config.max_u_pdu_octets()) });
    return true;
}

void sis_clients::unbind(station_time now,
                         sis_client& k,
                         std::optional<unbind_reason> why)
{
    if (k.is_bound) {
        d_saps.erase(k.who.sap);
        k.is_bound = false;
        k.flow_off_sent = false;
        d_unbound(now, k.who.client);
    }
    if (why)
        send(k.who.client, s_unbind_indication{ uint8_t(*why) });
}

void sis_clients::invalid(station_time now, sis_client& k)
{
    ++d_stats.invalid_primitives;
    if (++k.invalid >= d_config.max_invalid_primitives) {
        k.invalid = 0;
        unbind(now, k, unbind_reason::invalid_primitives);
    }
}

void sis_clients::unbind_arq(station_time now, unbind_reason why)
{
    std::vector<client_id> arq;
    for (const auto& [sap, c] : d_saps)
        if (d_clients.at(c).service.mode == transmission_mode::arq)
            arq.push_back(c);
    for (const client_id c : arq)
        unbind(now, d_clients.at(c), why);
}

bool sis_clients::too_many_expedited(station_time now, sis_client& k) const
{
    const double limit = d_config.client_expedited_per_minute;
    k.expedited_credit = std::min(
        limit, k.expedited_credit + to_seconds(now - k.expedited_at) * limit / 60);
    k.expedited_at = now;
    if (k.expedited_credit < 1 || k.expedited.size() >= d_config.client_expedited)
        return true;
    k.expedited_credit -= 1;
    return false;
}

station_time sis_clients::next_keep_alive(station_time now) const
{
    return now + from_seconds(std::max(d_config.keep_alive_s, min_keep_alive_s));
}

void sis_clients::send_keep_alive(station_time now, sis_client& k)
{
    k.keep_alive_sent = now;
    send(k.who.client, s_keep_alive{});
}

void sis_clients::on_keep_alive(station_time now, sis_client& k)
{
    // Never answer an answer to our own S_KEEP_ALIVE. A client that answers every one, as
    // the standard literally says, must not be answered without end either: A.2.1.17
    // allows one in 120 s to the same destination, and "within 10 seconds" or none.
    if (!k.keep_alive_asked &&
        (!k.keep_alive_sent ||
         now >= *k.keep_alive_sent + from_seconds(min_keep_alive_s)))
        send_keep_alive(now, k);
    k.keep_alive_asked = false;
    k.keep_alive_at = next_keep_alive(now);
}

void sis_clients::on_time(station_time now)
{
    if (d_config.keep_alive_s <= 0)
        return;
    for (auto& [c, k] : d_clients) {
        if (!k.is_bound || now < k.keep_alive_at)
            continue;
        if (k.keep_alive_asked) {
            k.keep_alive_asked = false;
            unbind(now, k, unbind_reason::no_keep_alive);
            continue;
        }
        k.keep_alive_asked = true;
        k.keep_alive_at = now + keep_alive_answer;
        send_keep_alive(now, k);
    }
}

std::optional<due> sis_clients::next_due() const
{
    earliest first;
    for (const auto& [c, k] : d_clients)
        if (d_config.keep_alive_s > 0 && k.is_bound)
            first.add(timer::keep_alive, k.keep_alive_at);
    return first.get();
}

} // namespace gr::hf::s5066
