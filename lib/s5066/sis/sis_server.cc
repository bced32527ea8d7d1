/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Clients of the Subnetwork Interface Sublayer: binding, sessions, flow.
#include "s5066/sis/sis_server.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {

// Octets towards clients that nobody polled: beyond this, indications are dropped.
constexpr size_t max_out_octets = 8u << 20;
// Reasons in S_SUBNET_AVAILABILITY
constexpr uint8_t because_unspecified = 0;
constexpr uint8_t because_emcon = 1;
constexpr uint8_t because_hard_link = 2;
// The standard lets keep-alives go out no oftener.
constexpr double least_keep_alive_s = 120;

template <typename... F>
struct overloaded : F... {
    using F::operator()...;
};
template <typename... F>
overloaded(F...) -> overloaded<F...>;

s_subnet_availability availability(node_status status, uint8_t reason)
{
    return { uint8_t(status), reason };
}

} // namespace

sis_server::sis_server(const node_config& config, node_stats& stats, sis_lower& lower)
    : d_config(config), d_stats(stats), d_lower(lower), d_hard_links(config, *this),
      d_next_id(static_cast<uint32_t>(config.seed * 2654435761u))
{
}

void sis_server::send(client_id c, const s_primitive& p)
{
    auto octets = encode(p);
    if (octets.empty() || d_out_octets + octets.size() > max_out_octets) {
        ++d_stats.indications_dropped;
        return;
    }
    d_out_octets += octets.size();
    d_out.emplace_back(c, std::move(octets));
}

void sis_server::send_all(const s_primitive& p)
{
    for (const auto& [sap, c] : d_saps) {
        send(c, p);
    }
}

std::optional<std::pair<client_id, std::vector<uint8_t>>> sis_server::poll()
{
    if (d_out.empty()) {
        return std::nullopt;
    }
    auto r = std::move(d_out.front());
    d_out.pop_front();
    d_out_octets -= r.second.size();
    return r;
}

void sis_server::sis_in(sim_time now, client_id c, const uint8_t* p, size_t n)
{
    client& k = d_clients[c];
    k.who.client = c;
    take(now, c, k, p, n);
    // Nothing is lost with one that is not bound: it may bind again at any time.
    const auto unbound = [](const auto& e) { return !e.second.is_bound; };
    if (d_clients.size() > d_config.max_clients) {
        d_clients.erase(std::find_if(d_clients.begin(), d_clients.end(), unbound));
    }
}

void sis_server::take(sim_time now, client_id c, client& k, const uint8_t* p, size_t n)
{
    auto v = decode_primitive(p, n);
    // All others are for a client that is bound.
    const bool any_time = v && (std::holds_alternative<s_bind_request>(*v) ||
                                std::holds_alternative<s_unbind_request>(*v) ||
                                std::holds_alternative<s_keep_alive>(*v));
    if (!v || !(k.is_bound || any_time)) {
        invalid(now, c, k);
        return;
    }
    const auto needs = [&](bool right) {
        if (!right) {
            invalid(now, c, k);
        }
    };
    std::visit(
        overloaded{
            [&](const s_bind_request& r) { on_bind(now, c, k, r); },
            [&](const s_unbind_request&) { unbind(now, c, k, std::nullopt); },
            [&](const s_keep_alive&) { on_keep_alive(now, c, k); },
            [&](s_unidata_request& r) { on_unidata(now, c, k, std::move(r)); },
            [&](const s_hard_link_establish& r) { on_establish(now, c, k, r.link); },
            [&](const s_hard_link_terminate& r) {
                // Not against the client: its hard link may have ended meanwhile.
                d_stats.invalid_primitives +=
                    d_hard_links.terminate(now, c, r.remote) ? 0 : 1;
            },
            [&](const s_hard_link_accept& r) {
                needs(d_hard_links.accept(now, c, r.link));
            },
            [&](const s_hard_link_reject& r) {
                needs(d_hard_links.reject(now, c, r.link, r.reason));
            },
            // The content is not defined; only rank 15 may change the configuration.
            [&](const s_management_msg_request&) { needs(k.who.rank == 15); },
            [&](const auto&) { invalid(now, c, k); } },
        *v);
}

void sis_server::invalid(sim_time now, client_id c, client& k)
{
    ++d_stats.invalid_primitives;
    if (++k.invalid >= d_config.max_invalid_primitives) {
        k.invalid = 0;
        unbind(now, c, k, unbind_reason::invalid_primitives);
    }
}

void sis_server::unbind(sim_time now,
                        client_id c,
                        client& k,
                        std::optional<unbind_reason> why)
{
    if (k.is_bound) {
        d_saps.erase(k.who.sap);
        k.is_bound = false;
        k.told_off = false;
        d_hard_links.client_gone(now, c);
    }
    if (why) {
        send(c, s_unbind_indication{ uint8_t(*why) });
    }
}

void sis_server::client_gone(sim_time now, client_id c)
{
    const auto it = d_clients.find(c);
    if (it == d_clients.end()) {
        return;
    }
    unbind(now, c, it->second, std::nullopt);
    d_clients.erase(it);
    d_confirms.remove_if([c](const confirm& f) { return f.o->client == c; });
    const auto gone = [c](const auto& e) { return e.first == c; };
    for (const auto& e : d_out) {
        d_out_octets -= gone(e) ? e.second.size() : 0;
    }
    d_out.erase(std::remove_if(d_out.begin(), d_out.end(), gone), d_out.end());
}

bool sis_server::all_places_taken() const
{
    return d_saps.size() >= std::min(d_config.max_bound, d_config.max_clients);
}

// A place for one more client of this rank, if need be that of one of lower rank.
bool sis_server::make_room(sim_time now, uint8_t rank)
{
    if (!all_places_taken()) {
        return true;
    }
    const auto lowest =
        std::min_element(d_saps.begin(), d_saps.end(), [this](auto& a, auto& b) {
            return d_clients.at(a.second).who.rank < d_clients.at(b.second).who.rank;
        });
    const client_id c = lowest->second;
    client& k = d_clients.at(c);
    if (k.who.rank >= rank) {
        return false;
    }
    unbind(now, c, k, unbind_reason::higher_rank);
    return true;
}

void sis_server::on_bind(sim_time now, client_id c, client& k, const s_bind_request& r)
{
    const auto refuse = [&](bind_reject_reason why) {
        send(c, s_bind_rejected{ uint8_t(why) });
    };
    if (k.is_bound) {
        ++d_stats.invalid_primitives; // one connection, one SAP
        refuse(bind_reject_reason::invalid_sap);
        return;
    }
    const auto m = r.service.mode;
    if (m == transmission_mode::default_ || m > transmission_mode::non_arq_with_errors) {
        // No reason fits a service type that does not exist; this one says nothing wrong.
        refuse(bind_reject_reason::not_enough_resources);
        return;
    }
    if (d_broadcast && m == transmission_mode::arq) {
        refuse(bind_reject_reason::no_arq_in_broadcast);
        return;
    }
    if (const auto holder = d_saps.find(r.sap); holder != d_saps.end()) {
        // Where nothing else is free either, this is the place that a higher rank takes.
        client& h = d_clients.at(holder->second);
        if (!all_places_taken() || h.who.rank >= r.rank) {
            refuse(bind_reject_reason::sap_in_use);
            return;
        }
        unbind(now, holder->second, h, unbind_reason::higher_rank);
    } else if (!make_room(now, r.rank)) {
        refuse(bind_reject_reason::not_enough_resources);
        return;
    }
    k.is_bound = true;
    k.who.sap = r.sap;
    k.who.rank = r.rank;
    k.service = r.service;
    k.expedited.clear();
    k.expedited_credit = d_config.client_expedited_per_minute;
    k.expedited_at = now;
    k.keep_alive_asked = false;
    k.keep_alive_at =
        now + from_seconds(std::max(d_config.keep_alive_s, least_keep_alive_s));
    d_saps[r.sap] = c;
    send(c, s_bind_accepted{ r.sap, static_cast<uint16_t>(d_config.mtu) });
    k.flow_on = true;
    update_flow(); // of what a client before it on this SAP has sent
    if (d_emcon) {
        send(c, availability(node_status::receive_only, because_emcon));
    }
    tell_availability();
}

void sis_server::send_keep_alive(sim_time now, client_id c, client& k)
{
    k.keep_alive_sent = now;
    send(c, s_keep_alive{});
}

void sis_server::on_keep_alive(sim_time now, client_id c, client& k)
{
    // An answer to ours must not be answered again. A client that answers every one, as the
    // standard literally says, must not be answered without end either: A.2.1.17 allows one in
    // 120 s to the same destination, and "within 10 seconds" or none.
    if (!k.keep_alive_asked &&
        (!k.keep_alive_sent ||
         now >= *k.keep_alive_sent + from_seconds(least_keep_alive_s))) {
        send_keep_alive(now, c, k);
    }
    k.keep_alive_asked = false;
    k.keep_alive_at =
        now + from_seconds(std::max(d_config.keep_alive_s, least_keep_alive_s));
}

void sis_server::on_establish(sim_time now, client_id c, client& k, const hard_link& l)
{
    if (l.type > 2 || l.remote.is_group()) {
        invalid(now, c, k);
    } else if (l.remote == d_config.own || d_broadcast || d_emcon) {
        send(c,
             s_hard_link_rejected{ uint8_t(hard_link_reject_reason::not_responding), l });
    } else {
        d_hard_links.establish(now, k.who, l);
    }
}

std::optional<hard_link_user::bound> sis_server::client_at(uint8_t sap) const
{
    const auto it = d_saps.find(sap);
    return it == d_saps.end() ? std::nullopt
                              : std::optional(d_clients.at(it->second).who);
}

void sis_server::tell_availability()
{
    for (const auto& [sap, c] : d_saps) {
        client& k = d_clients.at(c);
        const bool off = !d_hard_links.open_to(k.who);
        if (off == k.told_off) {
            continue;
        }
        k.told_off = off;
        send(c,
             off ? availability(node_status::off, because_hard_link)
                 : availability(on_the_air(), because_unspecified));
    }
}

node_status sis_server::on_the_air() const
{
    return d_config.full_duplex ? node_status::full_duplex : node_status::half_duplex;
}

void sis_server::rules_changed(sim_time now)
{
    tell_availability();
    std::deque<outgoing_ptr> again = std::move(d_held);
    d_held.clear();
    d_held_backlog.clear();
    for (auto& o : d_lower.withdraw()) {
        again.push_back(std::move(o));
    }
    for (auto& o : again) {
        dispatch(now, std::move(o));
    }
    update_flow();
}

void sis_server::set_broadcast(sim_time now, bool on)
{
    d_broadcast = on;
    if (!on) {
        return;
    }
    d_hard_links.end_all(now);
    std::vector<client_id> arq;
    for (const auto& [sap, c] : d_saps) {
        if (d_clients.at(c).service.mode == transmission_mode::arq) {
            arq.push_back(c);
        }
    }
    for (const client_id c : arq) {
        unbind(now, c, d_clients.at(c), unbind_reason::no_arq_in_broadcast);
    }
}

void sis_server::set_emcon(sim_time now, bool on)
{
    d_emcon = on;
    if (on) {
        d_hard_links.end_all(now);
        send_all(availability(node_status::receive_only, because_emcon));
    } else {
        send_all(availability(on_the_air(), because_unspecified));
    }
}

void sis_server::set_water_marks(size_t high)
{
    // The lower mark still holds one longest transmission, so that the air never runs dry.
    d_high = high;
    d_low = high - high / 6;
    update_flow();
}

void sis_server::update_flow()
{
    const backlog all = waiting();
    for (const auto& [sap, c] : d_saps) {
        client& k = d_clients.at(c);
        const bool on = !too_much(all, sap, k.flow_on ? d_high : d_low, 0);
        if (on == k.flow_on) {
            continue;
        }
        k.flow_on = on;
        if (on) {
            send(c, s_data_flow_on{});
        } else {
            send(c, s_data_flow_off{});
        }
    }
}

backlog sis_server::waiting() const
{
    backlog all = d_lower.unsent();
    return all += d_held_backlog;
}

// Beyond the mark by so many octets, and the SAP beyond its equal share of it as well.
bool sis_server::too_much(const backlog& all, uint8_t sap, size_t mark, size_t more) const
{
    const size_t own = all.of_sap(sap);
    const size_t shares = all.saps() + (own == 0 ? 1 : 0);
    return all.total() >= mark + more && own >= mark / shares + more;
}

bool sis_server::flow_on() const
{
    return std::all_of(d_saps.begin(), d_saps.end(), [this](const auto& e) {
        return d_clients.at(e.second).flow_on;
    });
}

void sis_server::on_time(sim_time now)
{
    d_hard_links.on_time(now);
    expire_held(now);
    for (auto it = d_confirms.begin(); it != d_confirms.end();) {
        const outgoing_ptr o = it->o;
        ++it; // on_failed() takes it out
        if (o && now >= std::prev(it)->deadline) {
            on_failed(*o, unidata_reject_reason::not_responding);
        }
    }
    if (d_config.keep_alive_s <= 0) {
        return;
    }
    for (auto& [c, k] : d_clients) {
        if (!k.is_bound || now < k.keep_alive_at) {
            continue;
        }
        if (k.keep_alive_asked) {
            k.keep_alive_asked = false;
            unbind(now, c, k, unbind_reason::no_keep_alive);
            continue;
        }
        const sim_time answer = from_seconds(d_config.keep_alive_answer_s);
        k.keep_alive_asked = true;
        k.keep_alive_at = now + answer;
        send_keep_alive(now, c, k);
    }
}

std::optional<sim_time> sis_server::next_deadline() const
{
    std::optional<sim_time> t;
    const auto add = [&t](sim_time d) { t = t ? std::min(*t, d) : d; };
    if (const auto h = d_hard_links.next_deadline()) {
        add(*h);
    }
    for (const auto& o : d_held) {
        add(o->expires);
    }
    for (const auto& f : d_confirms) {
        add(f.deadline);
    }
    if (d_config.keep_alive_s > 0) {
        for (const auto& [c, k] : d_clients) {
            if (k.is_bound) {
                add(k.keep_alive_at);
            }
        }
    }
    return t;
}

} // namespace gr::hf::s5066
