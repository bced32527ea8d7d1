/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/endpoint_impl.h"

#include <algorithm>

namespace gr::hf::slep {

namespace {

// Times between attempts to send again what was rejected.
constexpr int backoff_s[] = { 5, 10, 20, 40, 60 };
// A peer that started anew is asked after this whether it knows a stream just opened; its
// answer may have to wait for the end of a longest transmission.
constexpr sim_time probe_wait = std::chrono::seconds(130);
// One SX for the same unknown stream per minute.
constexpr sim_time answer_gap = std::chrono::minutes(1);
// Orphans of one peer: numbers, and octets of each.
constexpr size_t orphans_max = 32;
constexpr size_t orphan_allowance = 64;

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

void endpoint::impl::link_failed(node_state& n)
{
    // One failure of the link rejects many U_PDUs at once; they count as one.
    if (d_now < n.retry_at)
        return;
    const int last = static_cast<int>(std::size(backoff_s)) - 1;
    n.retry_at =
        d_now + std::chrono::seconds(backoff_s[std::min(n.rejects_in_a_row, last)]);
    ++n.rejects_in_a_row;
}

void endpoint::impl::link_alive(node_state& n)
{
    n.alive_at = d_now;
    n.rejects_in_a_row = 0;
    n.retry_at = d_now;
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
        link_failed(*o->tag.p->node);
    else
        link_alive(*o->tag.p->node);
    settle(*o, reject_reason);
}

void endpoint::impl::settle(const ledger::entry& o, std::optional<uint8_t> reject_reason)
{
    o.tag.p->node->outstanding -= o.cost();
    o.tag.p->node->dead -= o.tag.dead ? o.cost() : 0;
    o.tag.p->node->outstanding_of[o.tag.who.service_class] -= o.cost();
    ++(reject_reason ? d_stats.pdus_rejected : d_stats.pdus_confirmed);
    const bool never =
        reject_reason == uint8_t(s5066::unidata_reject_reason::larger_than_mtu);
    switch (o.tag.who.what) {
    case owner::kind::data:
        if (stream* s = find(o.tag.who.id)) {
            if (never) {
                fail(*s, reason_not_supported, true);
                return;
            }
            if (reject_reason) {
                s->tx.rejected(o.tag.who.number);
                if (!s->stalled_since)
                    s->stalled_since = d_now;
            } else {
                s->tx.confirmed(o.tag.who.number);
                s->stalled_since.reset();
                if (o.tag.who.number == 0 && s->state == stream_state::opening)
                    s->answer_by = d_now + d_config.open_wait;
            }
            make_ready(*s);
            end_if_done(*s);
        }
        break;
    case owner::kind::window:
        if (stream* s = find(o.tag.who.id)) {
            s->control_in_sis = false;
            // The newest state goes out, not the one that was lost.
            s->control_due = s->control_due || reject_reason.has_value();
            make_ready(*s);
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
        o.tag.p->notice_wanted = reject_reason.has_value();
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
    link_alive(*p->node);
    p->node->heard_at = d_now;
    p->used_at = d_now;
    const uint8_t prio = u.priority;
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

stream* endpoint::impl::by_sid(peer_state& p, uint8_t sid)
{
    const side w = sid & sid_responder ? opened_here : opened_there;
    return find(p.streams[w][sid & 0x7f]);
}

resting& endpoint::impl::rest_of(peer_state& p, uint8_t sid)
{
    return p.rest[sid & sid_responder ? opened_here : opened_there][sid & 0x7f];
}

void endpoint::impl::unknown_stream(peer_state& p, uint8_t sid, uint8_t priority)
{
    resting& rest = rest_of(p, sid);
    uint8_t code = reason_unknown_stream;
    if (d_now < rest.until) {
        // A late repeat after a clean end is no reason for traffic.
        if (rest.answer == 0) {
            ++d_stats.duplicates;
            return;
        }
        code = rest.answer;
    } else if ((sid & sid_responder) != 0) {
        // Of a stream that an earlier start of ours opened: there may be more of it to come.
        rest.until = d_now + d_config.number_rest;
        rest.answer = code;
    }
    if (p.notice == peer_state::notice::due) {
        // We started after the peer opened it: the notice ends all such streams at once.
        p.notice_wanted = true;
        return;
    }
    if (rest.answered >= sim_time(0) && d_now - rest.answered < answer_gap)
        return;
    rest.answered = d_now;
    send_abort(p, sid ^ sid_responder, code, priority);
}

void endpoint::impl::on_pdu(peer_state& p, stream_open d, uint8_t priority)
{
    if (p.streams[opened_there][d.number] != 0) {
        ++d_stats.duplicates;
        return;
    }
    resting& rest = p.rest[opened_there][d.number];
    if (d_now < rest.until) {
        unknown_stream(p, d.number, priority);
        return;
    }
    const uint8_t extended = p.who.extended;
    const bool full = d_streams.size() >= d_config.streams_max;
    const bool foreign = d.compressed && !preset_known(d.par.dictionary);
    if (full || foreign || !d_listening.test(extended)) {
        const uint8_t code = full      ? reason_too_many_streams
                             : foreign ? reason_not_supported
                                       : reason_no_listener;
        const uint8_t sid = d.number | sid_responder;
        control(p, { extended, stream_refuse{ sid, code, {} } }, priority);
        rest = { d_now + d_config.number_rest, 0, d_now };
        p.orphans.erase(d.number);
        ++d_stats.streams_refused;
        return;
    }
    rest = resting{};
    stream_options o;
    o.priority = priority;
    o.one_way = d.par.one_way;
    if (preset_known(d.par.dictionary))
        o.dictionary = d.par.dictionary;
    o.outage_max = d_config.outage_max;
    const stream_id id = d_next_id++;
    stream& s = d_streams
                    .emplace(std::piecewise_construct,
                             std::forward_as_tuple(id),
                             std::forward_as_tuple(d_config, o))
                    .first->second;
    s.id = id;
    s.p = &p;
    s.number = d.number;
    s.state = stream_state::offered;
    p.streams[opened_there][d.number] = id;
    ++p.stream_count;
    ++d_stats.streams_received;
    if (d.compressed)
        s.rx.set_compressed(o.dictionary);
    tell(event::type::open, s, std::move(d.open_data));
    receive(s, 0, std::move(d.data), d.fin);
    const auto early = p.orphans.find(d.number);
    if (early == p.orphans.end())
        return;
    const orphan o2 = std::move(early->second);
    p.orphans.erase(early);
    for (const stream_data& sd : o2.pdus)
        if (stream* again = find(id))
            receive(*again, sd.seq, sd.data, sd.fin);
}

void endpoint::impl::on_pdu(peer_state& p, stream_accept d, uint8_t priority)
{
    stream* s = by_sid(p, d.sid);
    if (s == nullptr) {
        unknown_stream(p, d.sid, priority);
        return;
    }
    if (!s->opener || s->state != stream_state::opening || s->tx.next_number() == 0) {
        ++d_stats.duplicates;
        return;
    }
    if (d.compressed && !preset_known(d.par.dictionary)) {
        fail(*s, reason_not_supported, true);
        return;
    }
    s->state = stream_state::open;
    s->answer_by.reset();
    s->probe_at.reset();
    if (d.par.window != window_unlimited)
        s->tx.window(0, d.par.window);
    if (d.compressed)
        s->rx.set_compressed(d.par.dictionary);
    tell(event::type::opened, *s, std::move(d.open_data));
    receive(*s, 0, std::move(d.data), d.fin);
}

void endpoint::impl::on_pdu(peer_state& p, const stream_refuse& d)
{
    stream* s = by_sid(p, d.sid);
    if (s == nullptr || !s->opener || s->state != stream_state::opening) {
        ++d_stats.duplicates;
        return;
    }
    tell(event::type::refused, *s, {}, d.reason);
    d_events.back().text = d.text;
    ++d_stats.streams_refused;
    end(*s, 0);
}

void endpoint::impl::on_pdu(peer_state& p, stream_data d, uint8_t priority)
{
    const uint8_t sid = d.sid;
    if (stream* s = by_sid(p, sid)) {
        s->control_due = s->control_due || d.control_wanted;
        receive(*s, d.seq, std::move(d.data), d.fin);
        return;
    }
    if (d_now < rest_of(p, sid).until || (sid & sid_responder) != 0 ||
        !d_listening.test(p.who.extended)) {
        unknown_stream(p, sid, priority);
        return;
    }
    // Delivered as they arrive, data may come before the SO that it belongs to.
    if (p.notice == peer_state::notice::due)
        p.notice_wanted = true;
    if (p.orphans.count(sid) == 0 && p.orphans.size() >= orphans_max) {
        ++d_stats.bad_pdus;
        return;
    }
    orphan& o = p.orphans[sid];
    if (o.pdus.empty())
        o.since = d_now;
    const size_t cost = d.data.size() + orphan_allowance;
    if (o.size + cost > 2 * d_config.queue_octets) {
        ++d_stats.bad_pdus;
        return;
    }
    o.size += cost;
    o.pdus.push_back(std::move(d));
}

void endpoint::impl::receive(stream& s, uint16_t seq, octets data, bool fin)
{
    switch (s.rx.put(seq, std::move(data), fin)) {
    case stream_receiver::verdict::duplicate:
        ++d_stats.duplicates;
        make_ready(s);
        return;
    case stream_receiver::verdict::violation:
        ++d_stats.bad_pdus;
        fail(s, reason_protocol_error, true);
        return;
    case stream_receiver::verdict::taken:
        break;
    }
    if (!s.rx.gap()) {
        s.gap_since.reset();
    } else if (!s.gap_since || s.gap_at != s.rx.received()) {
        s.gap_since = d_now;
        s.gap_at = s.rx.received();
    }
    update_window(s);
    make_ready(s);
    deliver(s);
}

void endpoint::impl::on_pdu(peer_state& p, const stream_control& d, uint8_t priority)
{
    stream* s = by_sid(p, d.sid);
    if (s == nullptr) {
        if (d.answer_wanted)
            unknown_stream(p, d.sid, priority);
        return;
    }
    s->probe_at.reset();
    s->tx.window(d.ack, d.window);
    if (d.window != window_closed)
        s->ask_window_at.reset();
    else if (!s->ask_window_at)
        s->ask_window_at = d_now + std::chrono::minutes(10);
    s->control_due = s->control_due || d.answer_wanted;
    make_ready(*s);
}

void endpoint::impl::on_pdu(peer_state& p, const stream_abort& d)
{
    if (d.sid == 0 && d.reason == reason_peer_restarted) {
        peer_restarted(p, d.instance);
        return;
    }
    if (stream* s = by_sid(p, d.sid)) {
        fail(*s, d.reason, false);
        return;
    }
    // It may have overtaken the SO, which must not open the stream now.
    if ((d.sid & sid_responder) == 0) {
        rest_of(p, d.sid) = { d_now + d_config.number_rest, 0, d_now };
        p.orphans.erase(d.sid);
    }
}

void endpoint::impl::peer_restarted(peer_state& p, uint16_t instance)
{
    if (instance != 0 && instance == p.instance) {
        ++d_stats.duplicates;
        return;
    }
    p.instance = instance;
    // It knows nothing of us that a notice of ours would have to end.
    if (p.notice == peer_state::notice::due) {
        p.notice = peer_state::notice::done;
        p.notice_wanted = false;
    }
    bool any = false;
    for (auto& numbers : p.streams)
        for (const stream_id id : numbers) {
            stream* s = find(id);
            if (s == nullptr)
                continue;
            // A stream that was not answered yet may have met the new instance: ask. If its
            // SO is not confirmed, it is still to come there.
            if (s->opener && s->state == stream_state::opening) {
                if (s->answer_by)
                    s->probe_at = d_now + probe_wait;
                continue;
            }
            any = true;
            fail(*s, reason_peer_restarted, false);
        }
    if (any)
        ++d_stats.peer_restarts;
    p.rest[opened_there] = {};
    p.orphans.clear();
    p.datagrams.clear();
}

} // namespace gr::hf::slep
