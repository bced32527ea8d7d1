/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/sis/sis_server.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {

// Reasons in S_SUBNET_AVAILABILITY
constexpr uint8_t because_unspecified = 0;
constexpr uint8_t because_emcon = 1;
constexpr uint8_t because_hard_link = 2;

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

sis_server::sis_server(const node_config& config,
                       node_stats& stats,
                       node_log& log,
                       sis_lower& lower)
    : d_config(config), d_stats(stats), d_lower(lower), d_hard_links(config, *this),
      d_clients(
          config,
          stats,
          [this](station_time now, client_id c) { d_hard_links.client_gone(now, c); }),
      d_delivery(config, stats, log, lower, d_hard_links, d_clients)
{
}

void sis_server::sis_in(station_time now, client_id c, const uint8_t* p, size_t n)
{
    take(now, d_clients.arrive(c), p, n);
    d_clients.forget_one();
}

void sis_server::take(station_time now, sis_client& k, const uint8_t* p, size_t n)
{
    const client_id c = k.who.client;
    auto v = decode_primitive(p, n);
    // All other primitives require a bound client.
    const bool any_time = v && (std::holds_alternative<s_bind_request>(*v) ||
                                std::holds_alternative<s_unbind_request>(*v) ||
                                std::holds_alternative<s_keep_alive>(*v));
    if (!v || !(k.is_bound || any_time)) {
        d_clients.invalid(now, k);
        return;
    }
    const auto needs = [&](bool right) {
        if (!right)
            d_clients.invalid(now, k);
    };
    std::visit(
        overloaded{
            [&](const s_bind_request& r) { on_bind(now, k, r); },
            [&](const s_unbind_request&) { d_clients.unbind(now, k, std::nullopt); },
            [&](const s_keep_alive&) { d_clients.on_keep_alive(now, k); },
            [&](s_unidata_request& r) {
                d_delivery.request(now, k, std::move(r), d_broadcast);
            },
            [&](const s_hard_link_establish& r) { on_establish(now, k, r.link); },
            [&](const s_hard_link_terminate& r) {
                // Not counted against the client: its hard link may have ended meanwhile.
                d_stats.invalid_primitives +=
                    d_hard_links.terminate(now, c, r.remote) ? 0 : 1;
            },
            [&](const s_hard_link_accept& r) {
                needs(d_hard_links.accept(now, c, r.link));
            },
            [&](const s_hard_link_reject& r) {
                needs(d_hard_links.reject(now, c, r.link, r.reason));
            },
            // The standard does not define the content; only rank 15 may change the
            // configuration.
            [&](const s_management_msg_request& r) {
                if (const auto w = decode_withdrawal(r)) {
                    d_delivery.withdraw(now, c, *w);
                } else {
                    needs(k.who.rank == 15);
                }
            },
            [&](const auto&) { d_clients.invalid(now, k); } },
        *v);
}

void sis_server::client_gone(station_time now, client_id c)
{
    if (d_clients.find(c)) {
        d_clients.gone(now, c);
        d_delivery.client_gone(c);
    }
}

void sis_server::on_bind(station_time now, sis_client& k, const s_bind_request& r)
{
    if (!d_clients.bind(now, k, r, d_broadcast))
        return;
    d_delivery.update_flow(); // a former client on this SAP may have left a backlog
    if (d_emcon) {
        d_clients.send(k.who.client,
                       availability(node_status::receive_only, because_emcon));
    }
    tell_availability();
    if (wants_messages(k.service))
        d_clients.send(k.who.client, greeting());
}

void sis_server::on_establish(station_time now, sis_client& k, const hard_link& l)
{
    if (l.type > 2 || l.remote.is_group()) {
        d_clients.invalid(now, k);
    } else if (l.remote == d_config.own || d_broadcast || d_emcon) {
        d_clients.send(
            k.who.client,
            s_hard_link_rejected{ uint8_t(hard_link_reject_reason::not_responding), l });
    } else {
        d_hard_links.establish(now, k.who, l);
    }
}

std::optional<hard_link_user::bound> sis_server::client_at(uint8_t sap) const
{
    const sis_client* k = d_clients.at(sap);
    return k == nullptr ? std::nullopt : std::optional(k->who);
}

void sis_server::tell_availability()
{
    for (const auto& [sap, c] : d_clients.saps()) {
        sis_client& k = *d_clients.at(sap);
        const bool off = !d_hard_links.open_to(k.who);
        if (off == k.flow_off_sent)
            continue;
        k.flow_off_sent = off;
        d_clients.send(c,
                       off ? availability(node_status::off, because_hard_link)
                           : availability(on_the_air(), because_unspecified));
    }
}

void sis_server::on_report(const link_report& r)
{
    for (const auto& [sap, c] : d_clients.saps())
        if (wants_messages(d_clients.at(sap)->service))
            d_clients.send(c, encode(r));
}

node_status sis_server::on_the_air() const
{
    return d_config.full_duplex ? node_status::full_duplex : node_status::half_duplex;
}

void sis_server::rules_changed(station_time now)
{
    tell_availability();
    d_delivery.rules_changed(now);
}

void sis_server::set_broadcast(station_time now, bool on)
{
    d_broadcast = on;
    if (on) {
        d_hard_links.end_all(now);
        d_clients.unbind_arq(now, unbind_reason::no_arq_in_broadcast);
    }
}

void sis_server::set_emcon(station_time now, bool on)
{
    d_emcon = on;
    if (on)
        d_hard_links.end_all(now);
    for (const auto& [sap, c] : d_clients.saps()) {
        d_clients.send(c,
                       on ? availability(node_status::receive_only, because_emcon)
                          : availability(on_the_air(), because_unspecified));
    }
}

void sis_server::to_node(station_time now, address a, const s_pdu& s)
{
    auto o = std::make_shared<outgoing>();
    o->dst = a;
    o->submitted_at = now;
    o->expedited = true;
    o->sets_up_hard_link = true;
    o->expires = now + from_seconds(std::max(d_config.hard_link_response_s,
                                             d_config.hard_link_end_s));
    o->c_pdu = encode(c_pdu{ c_pdu_type::data, 0, encode(s) });
    d_lower.submit(now, std::move(o));
}

unsigned sis_server::on_s_pdu(station_time now,
                              const s_pdu_origin& from,
                              const uint8_t* p,
                              size_t n)
{
    if (auto s = decode_s_pdu(p, n)) {
        const size_t header = n - s->u_pdu.size();
        take_s_pdu(now, from, std::move(*s), header);
    } else {
        ++d_stats.indications_dropped;
    }
    return u_pdu_priority(p, n);
}

void sis_server::take_s_pdu(station_time now,
                            const s_pdu_origin& from,
                            s_pdu s,
                            size_t header)
{
    switch (s.type) {
    case s_pdu_type::data:
    case s_pdu_type::data_with_id:
        d_delivery.on_data(now, from, std::move(s), header);
        break;
    case s_pdu_type::delivery_confirm:
    case s_pdu_type::delivery_fail:
    case s_pdu_type::compact_confirm:
        d_delivery.on_delivery_report(now, from, s);
        break;
    default:
        if (from.mode == transmission_mode::arq && !d_broadcast)
            d_hard_links.on_s_pdu(now, from.src, s);
    }
}

void sis_server::on_time(station_time now)
{
    d_hard_links.on_time(now);
    d_delivery.on_time(now);
    d_clients.on_time(now);
}

std::optional<due> sis_server::next_due() const
{
    earliest first;
    first.add(d_hard_links.next_due());
    first.add(d_delivery.next_due());
    first.add(d_clients.next_due());
    return first.get();
}

} // namespace gr::hf::s5066
