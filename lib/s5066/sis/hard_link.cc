/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/sis/hard_link.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {
// Reasons in TERMINATE S_PDUs
constexpr uint8_t end_client_request = 1;
constexpr uint8_t end_higher_priority = 2;
constexpr uint8_t end_sap_unbound = 4;
// The standard defines only the meanings for S_HARD_LINK_REJECT; the numbers are ours.
constexpr uint8_t client_has_higher_priority = 2;
// Hard links ending at the same time; far more than clients can cause.
constexpr size_t max_endings = 8;
} // namespace

bool hard_links::wins(const session& next) const
{
    const session& old = *d_session;
    if (next.rank != old.rank)
        return next.rank > old.rank;
    if (next.link.priority != old.link.priority)
        return next.link.priority > old.link.priority;
    return next.link.remote == old.link.remote && next.link.type > old.link.type;
}

void hard_links::send(station_time now, address a, s_pdu_type type, uint8_t low)
{
    s_pdu s;
    s.type = type;
    s.low = low;
    d_user.to_node(now, a, s);
}

void hard_links::refuse(station_time now, address a, uint8_t reason)
{
    send(now, a, s_pdu_type::hard_link_rejected, reason);
}

void hard_links::tell_rejected(const session& s, hard_link_reject_reason why)
{
    if (s.client)
        d_user.to_client(*s.client, s_hard_link_rejected{ uint8_t(why), s.link });
}

void hard_links::tell_terminated(const session& s, hard_link_end_reason why)
{
    if (s.client)
        d_user.to_client(*s.client, s_hard_link_terminated{ uint8_t(why), s.link });
}

void hard_links::establish(station_time now,
                           const hard_link_user::bound& by,
                           const hard_link& l)
{
    session next;
    next.link = l;
    next.caller = true;
    next.rank = by.rank;
    next.client = by.client;
    next.own_sap = by.sap;
    next.peer_sap = l.remote_sap;
    if (d_session && !wins(next)) {
        const hard_link& old = d_session->link;
        const bool shared = l.type == 0 && old.type == 0 && l.remote == old.remote &&
                            l.priority == old.priority && by.rank == d_session->rank;
        tell_rejected(next,
                      shared ? hard_link_reject_reason::type_0_exists
                             : hard_link_reject_reason::higher_priority);
        return;
    }
    take_over(now, std::move(next));
    d_user.rules_changed(now);
    d_user.make_link(now, l.remote);
}

// Replaces the present session by the one that wins.
void hard_links::take_over(station_time now, session next)
{
    if (d_session) {
        const session old = *d_session;
        switch (old.at) {
        case state::made:
            tell_terminated(old, hard_link_end_reason::higher_priority);
            give_up(now, end_higher_priority, false);
            break;
        case state::requesting:
            tell_rejected(old, hard_link_reject_reason::higher_priority);
            give_up(now, end_higher_priority, false);
            break;
        case state::asking:
            refuse(
                now, old.link.remote, uint8_t(hard_link_reject_reason::higher_priority));
            tell_terminated(old, hard_link_end_reason::higher_priority);
            break;
        case state::calling:
            tell_rejected(old, hard_link_reject_reason::higher_priority);
            break;
        }
        const bool stays = old.link.remote == next.link.remote;
        d_session.reset();
        if (!stays && (old.at == state::calling))
            d_user.break_link(now, old.link.remote);
    }
    d_session = std::move(next);
}

// Sends TERMINATE for the present session and removes it.
void hard_links::give_up(station_time now, uint8_t reason, bool tell_at_end)
{
    ending e;
    e.remote = d_session->link.remote;
    e.link = d_session->link;
    if (tell_at_end)
        e.client = d_session->client;
    e.deadline = now + from_seconds(d_config.hard_link_end_s);
    d_session.reset();
    send(now, e.remote, s_pdu_type::hard_link_terminate, reason);
    if (d_endings.size() == max_endings)
        ended(now, 0, hard_link_end_reason::not_responding);
    d_endings.push_back(e);
}

void hard_links::ended(station_time now, size_t index, hard_link_end_reason why)
{
    const ending e = d_endings[index];
    d_endings.erase(d_endings.begin() + static_cast<std::ptrdiff_t>(index));
    if (e.client)
        d_user.to_client(*e.client, s_hard_link_terminated{ uint8_t(why), e.link });
    release(now, e.remote);
}

// Breaks the physical link unless something else needs it.
void hard_links::release(station_time now, address a)
{
    if (!uses(a))
        d_user.break_link(now, a);
}

// Ends the present session without a handshake.
void hard_links::drop(station_time now)
{
    const address a = d_session->link.remote;
    d_session.reset();
    d_user.rules_changed(now);
    release(now, a);
}

bool hard_links::terminate(station_time now, client_id c, address remote)
{
    const bool ours =
        d_session && d_session->client == c && d_session->link.remote == remote;
    if (!ours) {
        // Repeated request: the client is notified when the link has ended.
        return std::any_of(d_endings.begin(), d_endings.end(), [&](const ending& e) {
            return e.client == c && e.remote == remote;
        });
    }
    switch (d_session->at) {
    case state::calling:
        tell_terminated(*d_session, hard_link_end_reason::link_broken);
        drop(now);
        return true;
    case state::asking:
        refuse(now, remote, uint8_t(hard_link_reject_reason::remote_busy));
        d_session.reset();
        break;
    default:
        give_up(now, end_client_request, true);
    }
    d_user.rules_changed(now);
    return true;
}

void hard_links::client_gone(station_time now, client_id c)
{
    for (auto& e : d_endings)
        if (e.client == c)
            e.client.reset();
    if (!d_session || d_session->client != c)
        return;
    const address remote = d_session->link.remote;
    switch (d_session->at) {
    case state::calling:
        drop(now);
        return;
    case state::asking:
        refuse(now, remote, uint8_t(hard_link_reject_reason::sap_not_bound));
        d_session.reset();
        break;
    default:
        give_up(now, d_session->caller ? end_client_request : end_sap_unbound, false);
    }
    d_user.rules_changed(now);
}

bool hard_links::accept(station_time now, client_id c, const hard_link& l)
{
    if (!d_session || d_session->at != state::asking || d_session->client != c ||
        d_session->link.remote != l.remote)
        return false;
    set_made(now);
    return true;
}

bool hard_links::reject(station_time now, client_id c, const hard_link& l, uint8_t reason)
{
    if (!d_session || d_session->at != state::asking || d_session->client != c ||
        d_session->link.remote != l.remote)
        return false;
    refuse(now,
           l.remote,
           uint8_t(reason == client_has_higher_priority
                       ? hard_link_reject_reason::higher_priority
                       : hard_link_reject_reason::remote_busy));
    d_session.reset();
    d_user.rules_changed(now);
    return true;
}

// Called side: accepted.
void hard_links::set_made(station_time now)
{
    d_session->at = state::made;
    send(now, d_session->link.remote, s_pdu_type::hard_link_confirm, 0);
    d_user.break_nonexclusive(now);
    d_user.rules_changed(now);
}

void hard_links::on_request(station_time now, address from, const s_pdu& s)
{
    session next;
    next.link.type = s.link_type();
    next.link.priority = s.link_priority();
    next.link.remote = from;
    next.link.remote_sap = s.src_sap;
    next.own_sap = s.dst_sap;
    next.peer_sap = s.src_sap;
    next.rank = static_cast<uint8_t>(d_config.remote_rank);
    if (next.link.type > 2) {
        refuse(now, from, uint8_t(hard_link_reject_reason::remote_busy));
        return;
    }
    if (next.link.type == 2) {
        const auto client = d_user.client_at(s.dst_sap);
        if (!client) {
            refuse(now, from, uint8_t(hard_link_reject_reason::sap_not_bound));
            return;
        }
        next.client = client->client;
        next.rank = client->rank;
    }
    if (d_session && d_session->link.remote == from && !d_session->caller &&
        d_session->link.type == next.link.type && d_session->peer_sap == next.peer_sap) {
        // Repeated request for the same hard link: the peer has missed our confirmation.
        if (d_session->at == state::made)
            send(now, from, s_pdu_type::hard_link_confirm, 0);
        return;
    }
    if (d_session) {
        const session& old = *d_session;
        const bool crossed = old.link.remote == from && old.at <= state::requesting;
        const bool equal =
            old.rank == next.rank && old.link.priority == next.link.priority;
        // If two equal requests cross, both sides keep that of the higher address.
        const bool tie = equal && old.link.type == next.link.type;
        if (crossed && tie ? from < d_config.own : !wins(next)) {
            refuse(now,
                   from,
                   uint8_t(equal ? hard_link_reject_reason::remote_busy
                                 : hard_link_reject_reason::higher_priority));
            return;
        }
        if (crossed) {
            // The peer refuses ours. It was never established, so no TERMINATE is sent.
            tell_rejected(old, hard_link_reject_reason::higher_priority);
            d_session.reset();
        }
    }
    const auto client = next.client;
    take_over(now, std::move(next));
    if (!client) {
        set_made(now);
        return;
    }
    d_session->at = state::asking;
    d_session->deadline = now + from_seconds(d_config.hard_link_client_s);
    d_user.rules_changed(now);
    d_user.to_client(*client, s_hard_link_indication{ 1, d_session->link });
}

void hard_links::on_s_pdu(station_time now, address from, const s_pdu& s)
{
    const bool waits =
        d_session && d_session->link.remote == from && d_session->at == state::requesting;
    switch (s.type) {
    case s_pdu_type::hard_link_request:
        on_request(now, from, s);
        break;
    case s_pdu_type::hard_link_confirm:
        if (waits) {
            d_session->at = state::made;
            d_user.to_client(*d_session->client,
                             s_hard_link_established{ 1, d_session->link });
            d_user.rules_changed(now);
        }
        break;
    case s_pdu_type::hard_link_rejected:
        if (waits) {
            d_user.to_client(*d_session->client,
                             s_hard_link_rejected{ s.low, d_session->link });
            drop(now);
        }
        break;
    case s_pdu_type::hard_link_terminate:
        send(now, from, s_pdu_type::hard_link_terminate_confirm, 0);
        // A new request of ours may be on its way. The TERMINATE is about the link before
        // it.
        if (d_session && d_session->link.remote == from &&
            d_session->at >= state::asking) {
            tell_terminated(
                *d_session,
                s.low == end_higher_priority ? hard_link_end_reason::higher_priority
                : s.low == end_sap_unbound   ? hard_link_end_reason::sap_unbound
                                             : hard_link_end_reason::remote_node);
            // The side that ended the hard link breaks or reuses the physical link.
            d_session.reset();
            d_user.rules_changed(now);
        }
        break;
    case s_pdu_type::hard_link_terminate_confirm:
        for (size_t i = 0; i < d_endings.size(); ++i) {
            if (d_endings[i].remote == from) {
                ended(now, i, hard_link_end_reason::remote_node);
                break;
            }
        }
        break;
    default:
        break;
    }
}

void hard_links::on_link_made(station_time now, address a)
{
    if (!d_session || d_session->link.remote != a || d_session->at != state::calling)
        return;
    d_session->at = state::requesting;
    d_session->deadline = now + from_seconds(d_config.hard_link_response_s);
    s_pdu s;
    s.type = s_pdu_type::hard_link_request;
    s.low = static_cast<uint8_t>(d_session->link.type << 2 | d_session->link.priority);
    s.src_sap = d_session->own_sap;
    s.dst_sap = d_session->link.type == 2 ? d_session->peer_sap : 0;
    d_user.to_node(now, a, s);
    d_user.rules_changed(now);
}

void hard_links::on_link_down(station_time now, address a)
{
    for (size_t i = d_endings.size(); i-- > 0;) {
        if (d_endings[i].remote == a) {
            const ending e = d_endings[i];
            d_endings.erase(d_endings.begin() + static_cast<std::ptrdiff_t>(i));
            if (e.client) {
                d_user.to_client(
                    *e.client,
                    s_hard_link_terminated{ uint8_t(hard_link_end_reason::link_broken),
                                            e.link });
            }
        }
    }
    if (!d_session || d_session->link.remote != a)
        return;
    const session old = *d_session;
    d_session.reset();
    if (old.at <= state::requesting)
        tell_rejected(old, hard_link_reject_reason::not_responding);
    else
        tell_terminated(old, hard_link_end_reason::link_broken);
    d_user.rules_changed(now);
}

void hard_links::end_all(station_time now)
{
    if (d_session)
        on_link_down(now, address(d_session->link.remote));
    while (!d_endings.empty())
        on_link_down(now, address(d_endings.back().remote));
}

bool hard_links::allows(const outgoing& o) const
{
    if (o.sets_up_hard_link || !d_session || d_session->at == state::calling)
        return true;
    const session& s = *d_session;
    if (o.dst != s.link.remote)
        return false;
    if (!o.client)
        return true; // answers of the node itself
    if (s.at != state::made)
        return false;
    switch (s.link.type) {
    case 0:
        return true;
    case 1:
        return s.caller ? o.src_sap == s.own_sap : o.dst_sap == s.peer_sap;
    default:
        return o.src_sap == s.own_sap && o.dst_sap == s.peer_sap;
    }
}

bool hard_links::open_to(const hard_link_user::bound& c) const
{
    if (!d_session || d_session->at != state::made || d_session->link.type == 0 ||
        (d_session->link.type == 1 && !d_session->caller))
        return true;
    return d_session->client == c.client;
}

bool hard_links::uses(address a) const
{
    const auto ending_with = [a](const ending& e) { return e.remote == a; };
    return (d_session && d_session->link.remote == a) ||
           std::any_of(d_endings.begin(), d_endings.end(), ending_with);
}

std::optional<hard_link> hard_links::established() const
{
    return d_session && d_session->at == state::made
               ? std::optional<hard_link>(d_session->link)
               : std::nullopt;
}

void hard_links::on_time(station_time now)
{
    for (size_t i = d_endings.size(); i-- > 0;)
        if (i < d_endings.size() && now >= d_endings[i].deadline)
            ended(now, i, hard_link_end_reason::not_responding);
    if (!d_session || now < d_session->deadline)
        return;
    if (d_session->at == state::requesting) {
        tell_rejected(*d_session, hard_link_reject_reason::not_responding);
        drop(now);
    } else if (d_session->at == state::asking) {
        refuse(now,
               d_session->link.remote,
               uint8_t(hard_link_reject_reason::not_responding));
        tell_terminated(*d_session, hard_link_end_reason::not_responding);
        d_session.reset();
        d_user.rules_changed(now);
    }
}

std::optional<due> hard_links::next_due() const
{
    earliest first;
    for (const auto& e : d_endings)
        first.add(timer::hard_link_end, e.deadline);
    if (d_session &&
        (d_session->at == state::requesting || d_session->at == state::asking))
        first.add(timer::hard_link_answer, d_session->deadline);
    return first.get();
}

} // namespace gr::hf::s5066
