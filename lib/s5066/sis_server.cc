/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/sis_server.h"

#include "s5066/time_to_die.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {

// Octets towards clients that nobody polled: beyond this, indications are dropped.
constexpr size_t max_out_octets = 8u << 20;
constexpr size_t max_confirms = 4096;
// Octets accepted after S_DATA_FLOW_OFF: what was on its way when the client was told.
constexpr size_t overrun_octets = 256u << 10;

template <typename... F>
struct overloaded : F... {
    using F::operator()...;
};
template <typename... F>
overloaded(F...) -> overloaded<F...>;

} // namespace

sis_server::sis_server(const node_config& config, node_stats& stats, sis_lower& lower)
    : d_config(config), d_stats(stats), d_lower(lower)
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
    const auto it = d_clients.find(c);
    if (it == d_clients.end() && d_clients.size() >= d_config.max_clients) {
        send(c, s_bind_rejected{ uint8_t(bind_reject_reason::not_enough_resources) });
        return;
    }
    client& k = it == d_clients.end() ? d_clients[c] : it->second;
    auto v = decode_primitive(p, n);
    if (!v) {
        invalid(c, k);
        return;
    }
    const auto no_hard_link = [this, c](const hard_link& l, hard_link_reject_reason why) {
        send(c, s_hard_link_rejected{ uint8_t(why), l });
    };
    std::visit(
        overloaded{ [&](const s_bind_request& r) { on_bind(now, c, k, r); },
                    [&](const s_unbind_request&) { unbind(c, k, std::nullopt); },
                    [&](const s_keep_alive&) {
                        // An answer to ours must not be answered again.
                        if (!k.keep_alive_asked) {
                            send(c, s_keep_alive{});
                        }
                        k.keep_alive_asked = false;
                        k.keep_alive_at =
                            now + from_seconds(std::max(d_config.keep_alive_s, 120.0));
                    },
                    [&](s_unidata_request& r) { on_unidata(now, c, k, std::move(r)); },
                    [&](const s_hard_link_establish& r) {
                        // Only nonexclusive links are made, so no physical link can be had for it.
                        no_hard_link(r.link, hard_link_reject_reason::not_responding);
                    },
                    [&](const s_hard_link_terminate& r) {
                        hard_link l;
                        l.remote = r.remote;
                        send(c,
                             s_hard_link_terminated{
                                 uint8_t(hard_link_end_reason::link_broken), l });
                    },
                    [&](const s_management_msg_request&) {
                        // Its contents are not defined; a client below rank 15 must not send it.
                        if (!k.bound || k.rank != 15) {
                            invalid(c, k);
                        }
                    },
                    [&](const auto&) { invalid(c, k); } },
        *v);
}

void sis_server::invalid(client_id c, client& k)
{
    ++d_stats.invalid_primitives;
    if (++k.invalid >= d_config.max_invalid_primitives) {
        k.invalid = 0;
        unbind(c, k, unbind_reason::invalid_primitives);
    }
}

void sis_server::unbind(client_id c, client& k, std::optional<unbind_reason> why)
{
    if (k.bound) {
        d_saps.erase(k.sap);
        k.bound = false;
    }
    if (why) {
        send(c, s_unbind_indication{ uint8_t(*why) });
    }
}

void sis_server::client_gone(client_id c)
{
    const auto it = d_clients.find(c);
    if (it == d_clients.end()) {
        return;
    }
    unbind(c, it->second, std::nullopt);
    d_clients.erase(it);
    d_confirms.remove_if([c](const confirm& f) { return f.o->client == c; });
    const auto gone = [c](const auto& e) { return e.first == c; };
    for (const auto& e : d_out) {
        d_out_octets -= gone(e) ? e.second.size() : 0;
    }
    d_out.erase(std::remove_if(d_out.begin(), d_out.end(), gone), d_out.end());
}

void sis_server::on_bind(sim_time now, client_id c, client& k, const s_bind_request& r)
{
    const auto refuse = [&](bind_reject_reason why) {
        send(c, s_bind_rejected{ uint8_t(why) });
    };
    if (k.bound) {
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
    if (d_saps.count(r.sap)) {
        refuse(bind_reject_reason::sap_in_use);
        return;
    }
    k.bound = true;
    k.sap = r.sap;
    k.rank = r.rank;
    k.service = r.service;
    k.keep_alive_at = now + from_seconds(std::max(d_config.keep_alive_s, 120.0));
    d_saps[r.sap] = c;
    send(c, s_bind_accepted{ r.sap, static_cast<uint16_t>(d_config.mtu) });
    if (!d_flow_on) {
        send(c, s_data_flow_off{});
    }
}

std::vector<uint8_t> sis_server::fragment(const std::vector<uint8_t>& u,
                                          size_t from) const
{
    const size_t n =
        std::min(u.size() - std::min(from, u.size()), d_config.response_fragment);
    const auto b = u.begin() + static_cast<std::ptrdiff_t>(std::min(from, u.size()));
    return { b, b + static_cast<std::ptrdiff_t>(n) };
}

void sis_server::reject(client_id c,
                        const s_unidata_request& r,
                        unidata_reject_reason why)
{
    ++d_stats.u_pdus_rejected;
    send(c,
         s_unidata_request_rejected{
             r.expedited, uint8_t(why), r.dst_sap, r.dst, fragment(r.u_pdu, 0) });
}

void sis_server::on_unidata(sim_time now, client_id c, client& k, s_unidata_request r)
{
    if (!k.bound) {
        invalid(c, k);
        return;
    }
    const delivery_mode mode =
        r.mode.mode == transmission_mode::default_ ? k.service : r.mode;
    if (r.u_pdu.size() > d_config.mtu) {
        reject(c, r, unidata_reject_reason::larger_than_mtu);
        return;
    }
    const bool arq = mode.mode == transmission_mode::arq;
    if (mode.mode > transmission_mode::non_arq_with_errors || (arq && r.dst.is_group())) {
        // Groups cannot acknowledge.
        reject(c, r, unidata_reject_reason::no_transmission_mode);
        return;
    }
    if (r.dst == d_config.own) {
        r.mode = mode;
        deliver_local(c, r, k.sap);
        return;
    }
    if (d_lower.unsent_octets() > d_high + overrun_octets) {
        ++d_stats.u_pdus_overflowed;
        return;
    }
    ++d_stats.u_pdus_submitted;
    d_stats.u_pdu_octets_submitted += r.u_pdu.size();
    auto o = std::make_shared<outgoing>();
    o->dst = r.dst;
    o->mode = mode;
    o->priority = r.priority;
    o->expedited = r.expedited;
    o->client = c;
    o->src_sap = k.sap;
    o->dst_sap = r.dst_sap;
    const double ttl = r.ttl ? double(r.ttl) * sis_ttl_unit_s : d_config.default_ttl_s;
    o->expires = now + from_seconds(std::min(ttl, 1296000.0));
    s_pdu s;
    s.low = r.priority;
    s.src_sap = k.sap;
    s.dst_sap = r.dst_sap;
    s.confirm_required = arq && mode.confirmation == delivery_confirmation::client;
    if (d_config.send_ttd && d_config.utc_at_zero_s && ttl < 7 * 86400) {
        s.ttd = time_to_die_at(utc(o->expires));
    }
    o->header = 1 + (s.ttd ? s_pdu_data_header_ttd : s_pdu_data_header);
    s.u_pdu = std::move(r.u_pdu);
    o->c_pdu = encode(c_pdu{ c_pdu_type::data, 0, encode(s) });
    if (s.confirm_required && d_confirms.size() < max_confirms) {
        const auto wait = from_seconds(d_config.client_confirm_s);
        d_confirms.push_back({ o, std::min(o->expires, now + wait) });
    }
    d_lower.submit(now, std::move(o));
    update_flow();
}

void sis_server::deliver_local(client_id c, const s_unidata_request& r, uint8_t src_sap)
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
    s.src_sap = src_sap;
    s.dst_sap = r.dst_sap;
    s.u_pdu = r.u_pdu;
    const bool ok = indicate(from, s, 0);
    if (r.mode.mode != transmission_mode::arq) {
        return;
    }
    if (!ok && r.mode.confirmation == delivery_confirmation::client) {
        reject(c, r, unidata_reject_reason::sap_not_bound);
    } else if (r.mode.confirmation != delivery_confirmation::none) {
        send(c,
             s_unidata_request_confirm{ false, r.dst_sap, r.dst, fragment(r.u_pdu, 0) });
    }
}

void sis_server::confirm_to_client(const outgoing& o)
{
    if (o.client && d_clients.count(*o.client)) {
        send(*o.client,
             s_unidata_request_confirm{
                 o.expedited, o.dst_sap, o.dst, fragment(o.c_pdu, o.header) });
    }
}

void sis_server::on_delivered(const outgoing& o)
{
    if (o.arq() && o.mode.confirmation == delivery_confirmation::node) {
        confirm_to_client(o);
    }
}

void sis_server::on_failed(const outgoing& o, unidata_reject_reason why)
{
    d_stats.u_pdus_rejected += o.client ? 1 : 0;
    d_confirms.remove_if([&o](const confirm& f) { return f.o.get() == &o; });
    if (o.client && o.arq() && o.mode.confirmation != delivery_confirmation::none &&
        d_clients.count(*o.client)) {
        send(*o.client,
             s_unidata_request_rejected{ o.expedited,
                                         uint8_t(why),
                                         o.dst_sap,
                                         o.dst,
                                         fragment(o.c_pdu, o.header) });
    }
}

void sis_server::on_s_pdu(sim_time now,
                          const s_pdu_origin& from,
                          const uint8_t* p,
                          size_t n)
{
    auto s = decode_s_pdu(p, n);
    if (!s) {
        ++d_stats.indications_dropped;
        return;
    }
    switch (s->type) {
    case s_pdu_type::data:
        on_data(now, from, *s, n - s->u_pdu.size());
        break;
    case s_pdu_type::delivery_confirm:
    case s_pdu_type::delivery_fail:
        on_delivery_report(from, *s);
        break;
    default:
        break; // hard links come by the expedited service, which is not offered
    }
}

void sis_server::on_data(sim_time now, const s_pdu_origin& from, s_pdu& s, size_t header)
{
    if (s.ttd && d_config.utc_at_zero_s && is_over(*s.ttd, utc(now))) {
        ++d_stats.u_pdus_expired;
        return;
    }
    const bool ok = indicate(from, s, header);
    if (s.confirm_required && from.mode == transmission_mode::arq) {
        answer(now, from, s, ok);
    }
}

bool sis_server::indicate(const s_pdu_origin& from, const s_pdu& s, size_t header)
{
    const auto sap = d_saps.find(s.dst_sap);
    if (sap == d_saps.end()) {
        ++d_stats.indications_dropped;
        return false;
    }
    s_unidata_indication i;
    i.expedited = from.expedited;
    i.priority = from.expedited ? 0 : s.low;
    i.dst_sap = s.dst_sap;
    i.dst = from.dst;
    i.mode = from.mode;
    i.src_sap = s.src_sap;
    i.src = from.src;
    i.u_pdu = s.u_pdu;
    if (!from.errored.empty() || !from.missing.empty()) {
        if (d_clients[sap->second].service.mode !=
            transmission_mode::non_arq_with_errors) {
            ++d_stats.indications_dropped;
            return false;
        }
        i.mode = transmission_mode::non_arq_with_errors;
        // Parts are counted from the begin of the U_PDU; a damaged header cannot be helped.
        const size_t skip = header + 1;
        const auto shift = [skip](const auto& list, auto& to) {
            for (const auto& [offset, length] : list) {
                const size_t end = size_t(offset) + length;
                if (end > skip) {
                    const size_t b = offset > skip ? offset - skip : 0;
                    to.emplace_back(static_cast<uint16_t>(b),
                                    static_cast<uint16_t>(end - skip - b));
                }
            }
        };
        shift(from.errored, i.errored);
        shift(from.missing, i.missing);
    }
    ++d_stats.u_pdus_delivered;
    d_stats.u_pdu_octets_delivered += s.u_pdu.size();
    send(sap->second, i);
    return true;
}

void sis_server::answer(sim_time now, const s_pdu_origin& from, const s_pdu& s, bool ok)
{
    s_pdu a;
    a.type = ok ? s_pdu_type::delivery_confirm : s_pdu_type::delivery_fail;
    a.low = ok ? 0 : 1; // destination SAP not bound
    a.src_sap = s.src_sap;
    a.dst_sap = s.dst_sap;
    a.u_pdu = fragment(s.u_pdu, 0);
    auto o = std::make_shared<outgoing>();
    o->dst = from.src;
    o->priority = s.low;
    o->expires = now + from_seconds(d_config.default_ttl_s);
    o->c_pdu = encode(c_pdu{ c_pdu_type::data, 0, encode(a) });
    d_lower.submit(now, std::move(o));
}

void sis_server::on_delivery_report(const s_pdu_origin& from, const s_pdu& s)
{
    const auto it =
        std::find_if(d_confirms.begin(), d_confirms.end(), [&](const confirm& f) {
            const outgoing& o = *f.o;
            return o.dst == from.src && o.src_sap == s.src_sap &&
                   o.dst_sap == s.dst_sap &&
                   o.c_pdu.size() - o.header >= s.u_pdu.size() &&
                   std::equal(s.u_pdu.begin(),
                              s.u_pdu.end(),
                              o.c_pdu.begin() + static_cast<std::ptrdiff_t>(o.header));
        });
    if (it == d_confirms.end()) {
        return;
    }
    const outgoing_ptr o = it->o;
    if (s.type == s_pdu_type::delivery_fail) {
        on_failed(*o, unidata_reject_reason::sap_not_bound);
        return;
    }
    d_confirms.erase(it);
    confirm_to_client(*o);
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
    const size_t n = d_lower.unsent_octets();
    const bool on = d_flow_on ? n < d_high : n < d_low;
    if (on == d_flow_on) {
        return;
    }
    d_flow_on = on;
    for (const auto& [sap, c] : d_saps) {
        if (on) {
            send(c, s_data_flow_on{});
        } else {
            send(c, s_data_flow_off{});
        }
    }
}

void sis_server::on_time(sim_time now)
{
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
        if (!k.bound || now < k.keep_alive_at) {
            continue;
        }
        if (k.keep_alive_asked) {
            k.keep_alive_asked = false;
            unbind(c, k, unbind_reason::no_keep_alive);
            continue;
        }
        const sim_time answer = from_seconds(d_config.keep_alive_answer_s);
        k.keep_alive_asked = true;
        k.keep_alive_at = now + answer;
        send(c, s_keep_alive{});
    }
}

std::optional<sim_time> sis_server::next_deadline() const
{
    std::optional<sim_time> t;
    const auto add = [&t](sim_time d) { t = t ? std::min(*t, d) : d; };
    for (const auto& f : d_confirms) {
        add(f.deadline);
    }
    if (d_config.keep_alive_s > 0) {
        for (const auto& [c, k] : d_clients) {
            if (k.bound) {
                add(k.keep_alive_at);
            }
        }
    }
    return t;
}

int64_t sis_server::utc(sim_time t) const
{
    return *d_config.utc_at_zero_s + static_cast<int64_t>(to_seconds(t));
}

} // namespace gr::hf::s5066
