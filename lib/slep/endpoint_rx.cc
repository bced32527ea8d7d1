/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/endpoint_impl.h"

#include <algorithm>

namespace gr::hf::slep {

namespace {

// Times between attempts to send again what was rejected.
constexpr int backoff_s[] = { 5, 10, 20, 40, 60 };
// Confirms further apart belong to two transmissions.
constexpr sim_time burst_gap = std::chrono::milliseconds(200);

} // namespace

void endpoint::impl::sis_in(const uint8_t* p, size_t n)
{
    auto r = d_sis.primitive_in(d_now, p, n);
    if (r.what == s5066::sis_client::change::unbound)
        lost_sis();
    if (!r.data)
        return;
    if (const auto* u = std::get_if<s5066::s_unidata_indication>(&*r.data))
        indication(*u);
    else if (const auto* c = std::get_if<s5066::s_unidata_request_confirm>(&*r.data))
        settled(c->dst, c->dst_sap, c->u_pdu, std::nullopt);
    else if (const auto* j = std::get_if<s5066::s_unidata_request_rejected>(&*r.data))
        settled(j->dst, j->dst_sap, j->u_pdu, j->reason);
}

void endpoint::impl::lost_sis()
{
    // Whether they arrived is unknown: all go again, and the peers drop repeats.
    while (const auto o = d_outstanding.pop())
        settle(*o, uint8_t(s5066::unidata_reject_reason::not_responding));
    for (auto& n : d_nodes)
        n.second.retry_at = d_now;
}

void node_state::link_failed(sim_time now)
{
    // One failure of the link rejects many U_PDUs at once; they count as one.
    if (now < retry_at)
        return;
    const int last = static_cast<int>(std::size(backoff_s)) - 1;
    retry_at = now + std::chrono::seconds(backoff_s[std::min(rejects_in_a_row, last)]);
    ++rejects_in_a_row;
}

void node_state::link_alive(sim_time now)
{
    alive_at = now;
    rejects_in_a_row = 0;
    retry_at = now;
}

void node_state::learn_depth(sim_time now, size_t octets)
{
    // The confirms of a transmission come together. Of what the link has taken in one, SIS gets
    // as much again: more would only wait there, where nothing new can pass it.
    if (burst_at >= sim_time(0) && now - burst_at < burst_gap) {
        burst += octets;
    } else {
        burst = octets;
        limited = held_back;
        held_back = false;
    }
    burst_at = now;
    depth = limited ? 2 * burst : SIZE_MAX;
}

void stream::data_settled(sim_time now,
                          uint64_t number,
                          bool rejected,
                          sim_time answer_until)
{
    if (rejected) {
        tx.rejected(number);
        stalled(now);
        return;
    }
    tx.confirmed(number);
    went_through(now);
    if (number == 0 && state == stream_state::opening)
        answer_by = answer_until;
}

void stream::window_settled(sim_time now, bool rejected)
{
    control_in_sis = false;
    if (!rejected) {
        went_through(now);
        return;
    }
    // The newest state goes out, not the one that was lost.
    control_due = true;
    control_ask = control_ask || life_asked;
    stalled(now);
}

void endpoint::impl::settled(const s5066::address& node,
                             uint8_t sap,
                             const octets& head,
                             std::optional<uint8_t> reject_reason)
{
    const auto o = d_outstanding.settle(node, sap, head);
    if (!o) {
        ++d_stats.unmatched_confirms;
        return;
    }
    if (reject_reason)
        o->tag.p->node->link_failed(d_now);
    else
        o->tag.p->node->link_alive(d_now);
    settle(*o, reject_reason);
}

void endpoint::impl::settle(const ledger::entry& o, std::optional<uint8_t> reject_reason)
{
    o.tag.p->node->outstanding -= o.cost();
    o.tag.p->node->dead -= o.tag.dead ? o.cost() : 0;
    o.tag.p->node->outstanding_of[o.tag.who.level] -= o.cost();
    if (!reject_reason)
        o.tag.p->node->learn_depth(d_now, o.cost());
    ++(reject_reason ? d_stats.pdus_rejected : d_stats.pdus_confirmed);
    const bool never =
        reject_reason == uint8_t(s5066::unidata_reject_reason::larger_than_mtu);
    switch (o.tag.who.what) {
    case owner::kind::data:
    case owner::kind::window:
        if (stream* s = find(o.tag.who.id)) {
            if (o.tag.who.what == owner::kind::window) {
                s->window_settled(d_now, reject_reason.has_value());
            } else if (never) {
                fail(*s, reason_not_supported, true);
                return;
            } else {
                s->data_settled(d_now,
                                o.tag.who.number,
                                reject_reason.has_value(),
                                d_now + d_config.open_wait);
            }
            make_ready(*s);
            end_if_done(*s);
        }
        break;
    case owner::kind::control: {
        const auto it = d_control_in_sis.find(o.tag.who.id);
        if (it == d_control_in_sis.end())
            break;
        if (reject_reason && !never && it->second.expires > d_now)
            d_control.emplace_front(it->first, std::move(it->second));
        d_control_in_sis.erase(it);
        break;
    }
    case owner::kind::notice:
        o.tag.p->notice =
            reject_reason ? peer_state::notice::due : peer_state::notice::done;
        // A node that may not exist is called for the sake of streams alone.
        o.tag.p->notice_wanted = reject_reason && o.tag.p->node->heard();
        break;
    case owner::kind::datagram: {
        const auto it = d_datagrams.find(o.tag.who.id);
        if (it == d_datagrams.end())
            break;
        outgoing_datagram& d = it->second;
        --d.unconfirmed;
        if (reject_reason)
            d.to_send.insert(o.tag.who.number);
        if (never)
            datagram_over(it, reason_not_supported);
        else if (d.to_send.empty() && d.unconfirmed == 0)
            datagram_over(it, 0);
        break;
    }
    }
}

void endpoint::impl::indication(const s5066::s_unidata_indication& u)
{
    if (u.dst_sap != d_config.sap || !u.errored.empty() || !u.missing.empty() ||
        u.src.is_group()) {
        ++d_stats.bad_pdus;
        return;
    }
    auto body = decode(u.u_pdu);
    if (!body) {
        ++d_stats.bad_pdus;
        return;
    }
    ++d_stats.pdus_received;
    peer_state* p = peer_of({ u.src, u.src_sap, body->extended }, true);
    if (p == nullptr) {
        ++d_stats.bad_pdus;
        return;
    }
    // Only our own ARQ traffic shows that the way to the node is open, but whoever is heard
    // is worth another attempt at once.
    p->node->link_alive(d_now);
    p->node->heard_at = d_now;
    p->used_at = d_now;
    // What is asked for has one more than its answers (priority_of()).
    const auto prio = static_cast<uint8_t>(u.priority > 0 ? u.priority - 1 : 0);
    if (auto* ud = std::get_if<unreliable_datagram>(&body->body))
        on_pdu(*p, std::move(*ud), u);
    else if (auto* rd = std::get_if<reliable_datagram>(&body->body))
        on_pdu(*p, std::move(*rd), prio);
    else if (auto* ra = std::get_if<datagram_answer>(&body->body))
        on_pdu(*p, *ra);
    else if (auto* so = std::get_if<stream_open>(&body->body))
        on_pdu(*p, std::move(*so), prio);
    else if (auto* sa = std::get_if<stream_accept>(&body->body))
        on_pdu(*p, std::move(*sa), prio);
    else if (auto* sr = std::get_if<stream_refuse>(&body->body))
        on_pdu(*p, *sr);
    else if (auto* sd = std::get_if<stream_data>(&body->body))
        on_pdu(*p, std::move(*sd), prio);
    else if (auto* sc = std::get_if<stream_control>(&body->body))
        on_pdu(*p, *sc, prio);
    else if (auto* sx = std::get_if<stream_abort>(&body->body))
        on_pdu(*p, *sx);
}

void endpoint::impl::on_pdu(peer_state& p,
                            unreliable_datagram d,
                            const s5066::s_unidata_indication&)
{
    if (d.compressed) {
        auto plain =
            inflater().run(d.data.data(), d.data.size(), d_config.datagram_octets);
        if (!plain) {
            ++d_stats.bad_pdus;
            return;
        }
        d.data = std::move(*plain);
    }
    if (!d_listening.test(p.who.extended) ||
        d_datagrams_unread + d.data.size() > d_config.datagram_octets) {
        ++d_stats.datagrams_dropped;
        return;
    }
    ++d_stats.datagrams_received;
    d_datagrams_unread += d.data.size();
    event e;
    e.what = event::type::datagram;
    e.from = p.who;
    e.data = std::move(d.data);
    d_events.push_back(std::move(e));
}

void endpoint::impl::on_pdu(peer_state& p, reliable_datagram d, uint8_t priority)
{
    const bool wanted = d.answer_wanted, compressed = d.compressed;
    const uint16_t number = d.number;
    const auto answer = [&](uint8_t code) {
        if (wanted)
            control(p, { p.who.extended, datagram_answer{ number, code } }, priority);
    };
    if (!d_listening.test(p.who.extended)) {
        ++d_stats.datagrams_dropped;
        answer(reason_no_listener);
        return;
    }
    auto r = p.datagrams.put(d_now, std::move(d));
    d_stats.datagrams_dropped += r.lost;
    if (r.duplicate)
        ++d_stats.duplicates;
    if (!r.whole)
        return;
    unreliable_datagram whole{ compressed, std::move(*r.whole) };
    const uint64_t bad = d_stats.bad_pdus;
    on_pdu(p, std::move(whole), {});
    answer(d_stats.bad_pdus == bad ? 0 : reason_decompression);
}

void endpoint::impl::on_pdu(peer_state&, const datagram_answer&)
{
    // Never asked for: the node confirm is what ends a reliable datagram here.
    ++d_stats.bad_pdus;
}

} // namespace gr::hf::slep
