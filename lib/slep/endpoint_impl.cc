/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/endpoint_impl.h"

namespace gr::hf::slep {

namespace {

constexpr auto no_answer = uint8_t(s5066::unidata_reject_reason::not_responding);

} // namespace

endpoint::impl::impl(const endpoint_config& c)
    : d_ctx(c), d_peers(d_ctx, [this](const peer_state& p) {
          return d_sis.holds_for(p) || d_control.holds_for(p) || d_datagrams.holds_for(p);
      })
{
}

void endpoint::impl::sis_in(const uint8_t* p, size_t n)
{
    auto r = d_sis.client().primitive_in(d_ctx.now, p, n);
    if (r.what == s5066::sis_client::change::unbound)
        lost_sis();
    note_ready();
    if (r.message && s5066::is_greeting(*r.message))
        d_sis.allow_withdrawals(true);
    if (const auto report = r.message ? s5066::decode_link_report(*r.message)
                                      : std::optional<s5066::link_report>())
        if (node_state* n = d_peers.node(report->node))
            n->reported(d_ctx.now, *report);
    if (!r.data)
        return;
    const auto done = [this](const auto& answer, std::optional<uint8_t> reject_reason) {
        const auto e = d_sis.settled(
            answer.dst, answer.dst_sap, answer.u_pdu, reject_reason.has_value());
        if (e)
            settled(*e, reject_reason);
    };
    if (const auto* u = std::get_if<s5066::s_unidata_indication>(&*r.data))
        indication(*u);
    else if (const auto* c = std::get_if<s5066::s_unidata_request_confirm>(&*r.data))
        done(*c, std::nullopt);
    else if (const auto* j = std::get_if<s5066::s_unidata_request_rejected>(&*r.data))
        done(*j, j->reason);
}

void endpoint::impl::sis_reset()
{
    d_sis.client().reset(d_ctx.now);
    lost_sis();
    note_ready();
}

void endpoint::impl::note_ready()
{
    if (d_sis.client().ready())
        d_ctx.stopped_at.reset();
    else if (!d_ctx.stopped_at)
        d_ctx.stopped_at = d_ctx.now;
}

void endpoint::impl::lost_sis()
{
    d_sis.allow_withdrawals(false);
    // Whether they arrived is unknown. All are sent again, and the peers drop repeats.
    while (const auto e = d_sis.give_up_oldest())
        settled(*e, no_answer);
    d_peers.retry_all();
}

void endpoint::impl::settled(const sis_queue::entry& e,
                             std::optional<uint8_t> reject_reason)
{
    const owner& o = e.tag.who;
    const bool rejected = reject_reason.has_value();
    const bool never =
        reject_reason == uint8_t(s5066::unidata_reject_reason::larger_than_mtu);
    switch (o.what) {
    case owner::kind::data:
    case owner::kind::window:
        data_settled(o, rejected, never);
        break;
    case owner::kind::control:
        d_control.settled(o.id, rejected && !never);
        break;
    case owner::kind::notice:
        e.tag.p->notice_settled(rejected);
        break;
    case owner::kind::datagram:
        d_datagrams.settled(o.id, o.number, rejected, never);
        break;
    }
}

void endpoint::impl::data_settled(const owner& o, bool rejected, bool never)
{
    stream* s = d_streams.find(o.id);
    if (s == nullptr)
        return;
    if (o.what == owner::kind::window) {
        const auto& c = d_ctx.config;
        s->window_settled(d_ctx.now,
                          rejected,
                          d_ctx.now + std::max(s->options.outage_max, c.open_wait));
    } else if (never) {
        d_ends.fail(*s, reason_not_supported, true);
        return;
    } else {
        s->data_settled(
            d_ctx.now, o.number, rejected, d_ctx.now + d_ctx.config.open_wait);
    }
    d_scheduler.make_ready(*s);
    d_ends.end_if_done(*s);
}

void endpoint::impl::indication(const s5066::s_unidata_indication& u)
{
    const bool for_us = u.dst_sap == d_ctx.config.sap && u.errored.empty() &&
                        u.missing.empty() && !u.src.is_group();
    auto body = for_us ? decode(u.u_pdu) : std::nullopt;
    // Streams and reliable datagrams use ARQ only. Anybody could send the rest without
    // taking part in its numbers.
    if (body && u.mode != s5066::transmission_mode::arq &&
        !std::holds_alternative<unreliable_datagram>(body->body))
        body.reset();
    d_ctx.stats.pdus_received += body.has_value();
    peer_state* p = body ? d_peers.get({ u.src, u.src_sap, body->extended }) : nullptr;
    if (p == nullptr) {
        ++d_ctx.stats.bad_pdus;
        return;
    }
    // Only our own ARQ traffic shows that the way to the node works. But a node that is
    // heard is worth another attempt at once.
    p->node->link_alive(d_ctx.now);
    p->node->heard_at = d_ctx.now;
    p->used_at = d_ctx.now;
    // The answer has a priority one lower than the request (stream::priority()).
    const auto priority = static_cast<uint8_t>(u.priority > 0 ? u.priority - 1 : 0);
    std::visit(
        [&](auto&& d) {
            using kind = std::decay_t<decltype(d)>;
            if constexpr (std::is_same_v<kind, unreliable_datagram> ||
                          std::is_same_v<kind, reliable_datagram> ||
                          std::is_same_v<kind, datagram_answer>)
                d_datagrams_in.on_pdu(*p, std::move(d), priority);
            else
                d_reception.on_pdu(*p, std::move(d), priority);
        },
        std::move(body->body));
}

std::optional<octets> endpoint::impl::poll_sis()
{
    if (auto first = d_sis.client().poll())
        return first;
    if (auto back = d_sis.poll_withdrawal())
        return back;
    if (!d_sis.client().ready())
        return std::nullopt;
    for (auto& p : d_peers.all())
        if (p.second.notice_wanted && p.second.notice == peer_state::notice::due &&
            p.second.node->may_send(d_ctx.now))
            return d_sis.send_notice(p.second);
    if (auto out = d_control.poll())
        return out;
    for (uint8_t c = 0; c < service_classes; ++c) {
        if (auto out = d_datagrams.poll(c))
            return out;
        if (auto out = d_scheduler.poll_first(c))
            return out;
    }
    return d_scheduler.poll_shared();
}

std::optional<event> endpoint::impl::poll_event()
{
    if (d_ctx.events.empty())
        return std::nullopt;
    event e = std::move(d_ctx.events.front());
    d_ctx.events.pop_front();
    if (e.what == event::type::datagram)
        d_datagrams_in.taken(e.data.size());
    return e;
}

std::optional<station_time> endpoint::impl::next_deadline() const
{
    earliest first;
    first.add(d_sis.client().next_deadline());
    first.add(d_sis.next_deadline());
    first.add(d_timers.next_deadline());
    first.add(d_peers.next_deadline());
    for (const auto& p : d_peers.all()) {
        first.add(stream_reception::next_deadline(p.second));
        first.add(d_datagrams_in.next_deadline(p.second));
    }
    first.add(d_datagrams.next_deadline());
    return first.get();
}

void endpoint::impl::on_deadline()
{
    d_sis.client().on_deadline(d_ctx.now);
    while (const auto e = d_sis.give_up_overdue())
        settled(*e, no_answer);
    d_reception.end_doubts();
    d_timers.on_deadline();
    for (auto& p : d_peers.all()) {
        d_reception.on_deadline(p.second);
        d_datagrams_in.on_deadline(p.second);
    }
    d_datagrams.on_deadline();
}

} // namespace gr::hf::slep
