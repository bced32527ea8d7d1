/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Turns U_PDUs of clients into S_PDUs, holds them, confirms or rejects them (A.3.2).
#include "s5066/sis/sis_delivery.h"

#include "s5066/sis/time_to_die.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {

constexpr size_t max_confirms = 4096;
// Octets accepted after S_DATA_FLOW_OFF: requests that were already on their way.
constexpr size_t overrun_octets = 256u << 10;
// TTL field 648000, in units of 2 s
constexpr double longest_ttl_s = 1296000;

} // namespace

sis_delivery::sis_delivery(const node_config& config,
                           node_stats& stats,
                           node_log& log,
                           sis_lower& lower,
                           const hard_links& rules,
                           sis_clients& clients)
    : d_config(config), d_stats(stats), d_log(log), d_lower(lower), d_rules(rules),
      d_clients(clients), d_proofs(config.own, config.auth),
      d_next_id(static_cast<uint32_t>(config.seed * 2654435761u))
{
}

void sis_delivery::reject(client_id c,
                          const s_unidata_request& r,
                          unidata_reject_reason why)
{
    ++d_stats.u_pdus_rejected;
    d_clients.send(c,
                   s_unidata_request_rejected{
                       r.expedited, uint8_t(why), r.dst_sap, r.dst, r.u_pdu });
}

// An ID with no pending confirmation.
uint32_t sis_delivery::new_id()
{
    const auto taken = [this](const confirm& f) { return f.o->id == d_next_id; };
    do {
        ++d_next_id;
    } while (std::any_of(d_confirms.begin(), d_confirms.end(), taken));
    return d_next_id;
}

std::optional<unidata_reject_reason> sis_delivery::refusal(const s_unidata_request& r,
                                                           const delivery_mode& mode,
                                                           bool broadcast) const
{
    if (r.u_pdu.size() > d_config.max_u_pdu_octets())
        return unidata_reject_reason::larger_than_mtu;
    // Groups cannot acknowledge, and no node can in a broadcast session.
    const bool unheard =
        mode.mode == transmission_mode::arq && (r.dst.is_group() || broadcast);
    return mode.mode > transmission_mode::non_arq_with_errors || unheard
               ? std::optional(unidata_reject_reason::no_transmission_mode)
               : std::nullopt;
}

void sis_delivery::request(station_time now,
                           sis_client& k,
                           s_unidata_request r,
                           bool broadcast)
{
    const delivery_mode mode =
        r.mode.mode == transmission_mode::default_ ? k.service : r.mode;
    if (r.expedited && d_clients.too_many_expedited(now, k)) {
        d_clients.unbind(now, k, unbind_reason::too_many_expedited);
        return;
    }
    if (const auto why = refusal(r, mode, broadcast)) {
        reject(k.who.client, r, *why);
        return;
    }
    if (r.dst == d_config.own) {
        r.mode = mode;
        deliver_local(k, r);
        return;
    }
    if (too_much(waiting(), k.who.sap, d_high, overrun_octets)) {
        ++d_stats.u_pdus_overflowed;
        return;
    }
    ++d_stats.u_pdus_submitted;
    d_stats.u_pdu_octets_submitted += r.u_pdu.size();
    outgoing_ptr o = make(now, k, mode, r);
    if (o->arq() && mode.confirmation == delivery_confirmation::client &&
        d_confirms.size() < max_confirms)
        d_confirms.push_back({ o, std::nullopt });
    if (o->arq() && o->expedited)
        k.expedited.insert(o.get());
    dispatch(now, std::move(o));
    update_flow();
}

// Builds the C_PDU; moves the octets of the U_PDU out of \p r.
outgoing_ptr sis_delivery::make(station_time now,
                                const sis_client& k,
                                const delivery_mode& mode,
                                s_unidata_request& r)
{
    auto o = std::make_shared<outgoing>();
    o->dst = r.dst;
    o->submitted_at = now;
    o->mode = mode;
    o->priority = r.expedited ? 0 : r.priority;
    o->expedited = r.expedited;
    o->client = k.who.client;
    o->src_sap = k.who.sap;
    o->dst_sap = r.dst_sap;
    const double ttl = r.ttl ? double(r.ttl) * sis_ttl_unit_s : d_config.default_ttl_s;
    o->expires = now + from_seconds(std::min(ttl, longest_ttl_s));
    s_pdu s;
    s.low = o->priority;
    s.src_sap = o->src_sap;
    s.dst_sap = o->dst_sap;
    s.confirm_required = o->arq() && mode.confirmation == delivery_confirmation::client;
    if (d_config.send_ttd && d_config.utc_at_zero_s && ttl < 7 * 86400)
        s.ttd = time_to_die_at(utc(o->expires));
    o->place.header = 1 + (s.ttd ? s_pdu_data_header_ttd : s_pdu_data_header);
    if (s.confirm_required && d_lower.takes_compact_confirm(r.dst)) {
        s.type = s_pdu_type::data_with_id;
        s.id = new_id();
        o->id = s.id;
        o->place.header += s_pdu_id_octets;
    }
    s.u_pdu = std::move(r.u_pdu);
    o->place.trailer = d_proofs.seal(r.dst, s.src_sap, s.dst_sap, s.u_pdu);
    o->c_pdu = encode(c_pdu{ c_pdu_type::data, 0, encode(s) });
    return o;
}

void sis_delivery::dispatch(station_time now, outgoing_ptr o)
{
    if (d_rules.allows(*o)) {
        d_lower.submit(now, std::move(o));
    } else {
        d_held_backlog.add(*o, o->c_pdu.size());
        d_held.push_back(std::move(o));
    }
}

void sis_delivery::expire_held(station_time now)
{
    for (size_t i = d_held.size(); i-- > 0;) {
        const outgoing_ptr o = d_held[i];
        if (o->expires > now)
            continue;
        d_held_backlog.remove(*o, o->c_pdu.size());
        d_held.erase(d_held.begin() + static_cast<std::ptrdiff_t>(i));
        ++d_stats.u_pdus_expired;
        on_failed(*o, unidata_reject_reason::ttl_expired);
    }
}

void sis_delivery::deliver_local(const sis_client& k, const s_unidata_request& r)
{
    ++d_stats.u_pdus_submitted;
    d_stats.u_pdu_octets_submitted += r.u_pdu.size();
    s_pdu_origin from;
    from.src = d_config.own;
    from.dst = d_config.own;
    from.mode = r.mode.mode;
    from.expedited = r.expedited;
    s_pdu s;
    s.low = r.priority;
    s.src_sap = k.who.sap;
    s.dst_sap = r.dst_sap;
    s.u_pdu = r.u_pdu;
    const bool ok = indicate(from, s, 0);
    if (r.mode.mode != transmission_mode::arq)
        return;
    if (!ok && r.mode.confirmation == delivery_confirmation::client) {
        reject(k.who.client, r, unidata_reject_reason::sap_not_bound);
    } else if (r.mode.confirmation != delivery_confirmation::none) {
        d_clients.send(k.who.client,
                       s_unidata_request_confirm{ false, r.dst_sap, r.dst, r.u_pdu });
    }
}

void sis_delivery::confirm_to_client(const outgoing& o)
{
    if (o.client && d_clients.find(*o.client)) {
        d_clients.send(
            *o.client,
            s_unidata_request_confirm{ o.expedited, o.dst_sap, o.dst, o.u_pdu() });
    }
}

// Removes it from the unconfirmed requests of its client.
void sis_delivery::settle(const outgoing& o)
{
    if (!o.client || !o.expedited)
        return;
    if (sis_client* k = d_clients.find(*o.client))
        k->expedited.erase(&o);
}

void sis_delivery::on_delivered(station_time now, const outgoing& o)
{
    settle(o);
    for (confirm& f : d_confirms)
        if (f.o.get() == &o)
            f.deadline = confirm_deadline(now, o);
    if (o.arq() && o.mode.confirmation == delivery_confirmation::node)
        confirm_to_client(o);
}

station_time sis_delivery::confirm_deadline(station_time now, const outgoing& o) const
{
    return std::min(o.expires, now + from_seconds(d_config.client_confirm_s));
}

bool sis_delivery::on_failed(const outgoing& o, unidata_reject_reason why)
{
    settle(o);
    if (o.known.confirmed)
        return true; // only the acknowledgement is lost; the client has its confirmation
    d_stats.u_pdus_rejected += o.client ? 1 : 0;
    d_confirms.remove_if([&o](const confirm& f) { return f.o.get() == &o; });
    if (!o.client || d_clients.find(*o.client) == nullptr)
        return true; // no client to notify
    if (!o.arq() || o.mode.confirmation == delivery_confirmation::none)
        return false;
    d_clients.send(*o.client,
                   s_unidata_request_rejected{
                       o.expedited, uint8_t(why), o.dst_sap, o.dst, o.u_pdu() });
    return true;
}

int64_t sis_delivery::utc(station_time t) const
{
    return *d_config.utc_at_zero_s + static_cast<int64_t>(to_seconds(t));
}

void sis_delivery::client_gone(client_id c)
{
    d_confirms.remove_if([c](const confirm& f) { return f.o->client == c; });
}

void sis_delivery::withdraw(station_time now, client_id c, const withdrawal& w)
{
    const auto meant = [&](const outgoing& o) {
        return o.client == c && o.dst == w.dst && o.dst_sap == w.dst_sap &&
               std::any_of(w.heads.begin(), w.heads.end(), [&o](const auto& head) {
                   return o.c_pdu.size() - o.place.header - o.place.trailer >=
                              head.size() &&
                          std::equal(head.begin(),
                                     head.end(),
                                     o.c_pdu.begin() +
                                         static_cast<std::ptrdiff_t>(o.place.header));
               });
    };
    for (auto& o : d_lower.withdraw())
        if (meant(*o))
            on_failed(*o, unidata_reject_reason::ttl_expired);
        else
            dispatch(now, std::move(o));
    update_flow();
}

void sis_delivery::rules_changed(station_time now)
{
    std::deque<outgoing_ptr> again = std::move(d_held);
    d_held.clear();
    d_held_backlog.clear();
    for (auto& o : d_lower.withdraw())
        again.push_back(std::move(o));
    for (auto& o : again)
        dispatch(now, std::move(o));
    update_flow();
}

void sis_delivery::add_waiting(queue_states& all) const
{
    for (const auto& o : d_held)
        all.add(*o);
}

void sis_delivery::set_water_marks(size_t high)
{
    // The lower mark still holds one longest transmission, so that the transmitter never
    // runs dry.
    d_high = high;
    d_low = high - high / 6;
    update_flow();
}

void sis_delivery::update_flow()
{
    const backlog all = waiting();
    for (const auto& [sap, c] : d_clients.saps()) {
        sis_client& k = *d_clients.at(sap);
        const bool on = !too_much(all, sap, k.flow_on ? d_high : d_low, 0);
        if (on == k.flow_on)
            continue;
        k.flow_on = on;
        if (on)
            d_clients.send(c, s_data_flow_on{});
        else
            d_clients.send(c, s_data_flow_off{});
    }
}

backlog sis_delivery::waiting() const
{
    backlog all = d_lower.unsent();
    return all += d_held_backlog;
}

// True if the total is \p more octets beyond the mark, and this SAP as much beyond its
// equal share.
bool sis_delivery::too_much(const backlog& all,
                            uint8_t sap,
                            size_t mark,
                            size_t more) const
{
    const size_t own = all.of_sap(sap);
    const size_t shares = all.saps() + (own == 0 ? 1 : 0);
    return all.total() >= mark + more && own >= mark / shares + more;
}

bool sis_delivery::flow_on() const
{
    const auto& saps = d_clients.saps();
    return std::all_of(saps.begin(), saps.end(), [this](const auto& e) {
        return d_clients.at(e.first)->flow_on;
    });
}

void sis_delivery::on_time(station_time now)
{
    expire_held(now);
    for (auto it = d_confirms.begin(); it != d_confirms.end();) {
        const outgoing_ptr o = it->o;
        ++it; // advance first: on_failed() erases the element
        if (const auto t = std::prev(it)->deadline; o && t && now >= *t)
            on_failed(*o, unidata_reject_reason::not_responding);
    }
}

std::optional<due> sis_delivery::next_due() const
{
    earliest first;
    for (const auto& o : d_held)
        first.add(timer::held_u_pdu, o->expires);
    for (const auto& f : d_confirms)
        if (f.deadline)
            first.add(timer::client_confirm, *f.deadline);
    return first.get();
}

} // namespace gr::hf::s5066
