/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/endpoint_impl.h"

#include <algorithm>

namespace gr::hf::slep {

namespace {

// Peer states and control PDUs are bounded: sources may be invented.
constexpr size_t peers_max = 256;
constexpr size_t control_max = 1024;

size_t hard_limit(const endpoint_config& c)
{
    // The stop reaches the sender with the end of its transmission; then SIS still holds
    // its queue for us.
    return c.held_high + 2 * c.queue_octets + 65536;
}

} // namespace

stream::stream(const endpoint_config& c, const stream_options& o)
    : options(o), tx(c.send_buffer, c.partial_hold, o.compress, o.dictionary),
      rx(c.buffer_high, hard_limit(c))
{
}

endpoint::impl::impl(const endpoint_config& c)
    : d_config((c.validate(), c)),
      d_sis(s5066::sis_client::config::confirmed(c.sap, c.rank))
{
}

peer_state* endpoint::impl::peer_of(const peer& who, bool make)
{
    const auto it = d_peers.find(who);
    if (it != d_peers.end() || !make)
        return it != d_peers.end() ? &it->second : nullptr;
    if (d_peers.size() >= peers_max && !forget_one_peer())
        return nullptr;
    peer_state& p = d_peers.emplace(who, d_config.datagram_octets).first->second;
    p.who = who;
    // What the peer still has in SIS for streams of the start before must not meet new ones
    // of the same number: each start begins somewhere else.
    p.next_number = static_cast<uint8_t>(d_config.instance * 53u % stream_numbers);
    p.node = &d_nodes[who.node];
    p.used_at = d_now;
    return &p;
}

bool endpoint::impl::forget_one_peer()
{
    const auto in_use = [this](const peer_state& p) {
        const auto& in_sis = d_outstanding.entries();
        return p.stream_count > 0 ||
               std::any_of(in_sis.begin(),
                           in_sis.end(),
                           [&p](const auto& o) { return o.tag.p == &p; }) ||
               std::any_of(d_control.begin(),
                           d_control.end(),
                           [&p](const auto& c) { return c.second.p == &p; }) ||
               std::any_of(d_datagrams.begin(), d_datagrams.end(), [&p](const auto& d) {
                   return d.second.to == p.who;
               });
    };
    auto oldest = d_peers.end();
    for (auto it = d_peers.begin(); it != d_peers.end(); ++it)
        if (!in_use(it->second) &&
            (oldest == d_peers.end() || it->second.used_at < oldest->second.used_at))
            oldest = it;
    if (oldest == d_peers.end())
        return false;
    const s5066::address node = oldest->first.node;
    d_peers.erase(oldest);
    if (std::none_of(d_peers.begin(), d_peers.end(), [&node](const auto& p) {
            return p.first.node == node;
        }))
        d_nodes.erase(node);
    return true;
}

stream* endpoint::impl::find(stream_id id)
{
    const auto it = d_streams.find(id);
    return it != d_streams.end() ? &it->second : nullptr;
}

stream& endpoint::impl::add_stream(peer_state& p,
                                   side who,
                                   uint8_t number,
                                   const stream_options& o)
{
    const stream_id id = d_next_id++;
    stream& s = d_streams
                    .emplace(std::piecewise_construct,
                             std::forward_as_tuple(id),
                             std::forward_as_tuple(d_config, o))
                    .first->second;
    s.id = id;
    s.p = &p;
    s.number = number;
    p.streams[who][number] = id;
    ++p.stream_count;
    return s;
}

void endpoint::impl::tell(event::type t, const stream& s, octets data, uint8_t code)
{
    event e;
    e.what = t;
    e.stream = s.id;
    e.from = s.p->who;
    e.data = std::move(data);
    e.code = code;
    d_events.push_back(std::move(e));
}

std::optional<stream_id> endpoint::impl::open(const peer& to,
                                              const octets& open_data,
                                              const octets& data,
                                              bool fin,
                                              const stream_options& o)
{
    if (to.node.is_group() || to.sap > 15 || open_data.size() > 255 || o.priority > 15 ||
        o.service_class > 7 || !preset_known(o.dictionary) ||
        d_streams.size() >= d_config.streams_max || data.size() > d_config.send_buffer)
        return std::nullopt;
    peer_state* p = peer_of(to, true);
    if (p == nullptr)
        return std::nullopt;
    for (size_t k = 0; k < stream_numbers; ++k) {
        const size_t number = (p->next_number + k) % stream_numbers;
        resting& rest = p->rest[opened_here][number];
        if (p->streams[opened_here][number] != 0 || d_now < rest.until)
            continue;
        rest = resting{};
        p->next_number = static_cast<uint8_t>((number + 1) % stream_numbers);
        stream& s = add_stream(*p, opened_here, static_cast<uint8_t>(number), o);
        s.use = p->uses[number]++;
        s.opener = true;
        s.out = incarnation::of_opener(d_config.instance, s.number, s.use);
        s.in_known = !s.out.used;
        s.open_data = open_data;
        if (o.one_way)
            s.rx.set_ended();
        s.octets_sent += s.tx.write(d_now, data.data(), data.size(), true);
        if (fin)
            s.tx.finish();
        d_stats.octets_sent += data.size();
        ++d_stats.streams_opened;
        make_ready(s);
        return s.id;
    }
    return std::nullopt;
}

void endpoint::impl::accept(stream& s, const octets& open_data, const stream_options& o)
{
    if (s.state != stream_state::offered || open_data.size() > 255)
        return;
    const bool one_way = s.options.one_way;
    const uint8_t dictionary = s.options.dictionary;
    s.options = o;
    s.options.one_way = one_way;
    s.options.dictionary = dictionary;
    s.options.priority = std::min<uint8_t>(o.priority, 15);
    s.options.service_class = std::min<uint8_t>(o.service_class, 7);
    s.tx = stream_sender(
        d_config.send_buffer, d_config.partial_hold, o.compress && !one_way, dictionary);
    s.open_data = open_data;
    s.state = stream_state::open;
    if (one_way)
        s.tx.finish();
    // If the link is about to turn, SR rides on the acknowledgement. Else it would cost a
    // transmission of its own, so it waits longer for data to go with it.
    const bool turning = d_now - s.p->node->heard_at <= d_config.turn_ride;
    s.accept_at = d_now + (turning ? d_config.partial_hold : d_config.accept_hold);
    make_ready(s);
    deliver(s);
}

void endpoint::impl::refuse(stream& s, uint8_t code, const std::string& text)
{
    if (s.state != stream_state::offered)
        return;
    stream_refuse r;
    r.sid = s.sid();
    r.reason = code;
    r.answers = s.open_name();
    r.text = text.substr(0, 128);
    control(*s.p, { s.p->who.extended, std::move(r) }, s.options.priority);
    ++d_stats.streams_refused;
    end(s, 0);
}

void endpoint::impl::abort(stream& s, uint8_t code)
{
    ++d_stats.streams_aborted;
    // A peer that never heard of the stream need not hear of its end, nor one that may not
    // exist: should it have the stream after all, its answer is for a stream unknown here.
    if ((!s.opener || s.tx.next_number() > 0) && s.p->node->heard())
        send_abort(*s.p, s.sid(), code, priority_of(s, true), s.open_name());
    end(s, code);
}

void endpoint::impl::fail(stream& s, uint8_t code, bool tell_peer)
{
    tell(event::type::aborted, s, {}, code);
    if (tell_peer)
        abort(s, code);
    else {
        ++d_stats.streams_aborted;
        end(s, 0);
    }
}

void endpoint::impl::end(stream& s, uint8_t rest_answer)
{
    peer_state& p = *s.p;
    p.streams[s.which()][s.number] = 0;
    p.rest[s.which()][s.number] = {
        d_now + d_config.number_rest, rest_answer, d_now, s.open_name()
    };
    --p.stream_count;
    if (!s.tx.done())
        d_outstanding.for_each([&s](ledger::entry& o) {
            if (o.tag.who.what != owner::kind::data || o.tag.who.id != s.id)
                return;
            o.tag.dead = true;
            o.tag.p->node->dead += o.cost();
        });
    d_streams.erase(s.id);
}

void endpoint::impl::end_if_done(stream& s)
{
    // The peer may be waiting to hear that all of its direction arrived.
    if (!s.tx.done() || !s.rx.fin_delivered() || s.will_owe_end() || s.control_in_sis)
        return;
    tell(event::type::closed, s);
    ++d_stats.streams_closed;
    end(s, 0);
}

void endpoint::impl::deliver(stream& s)
{
    if (s.state == stream_state::offered)
        return;
    for (;;) {
        octets data;
        // With our end already under way, the peer's end is shown when it is certain that
        // its user has all of ours: until then the stream can still fail.
        const bool hold_fin = s.confirms_end() && s.tx.fin_built() && !s.end_confirmed;
        const auto step = s.rx.next(data, hold_fin);
        if (step == stream_receiver::step::none)
            break;
        if (step == stream_receiver::step::damaged) {
            fail(s, reason_decompression, true);
            return;
        }
        if (step == stream_receiver::step::fin) {
            tell(event::type::fin, s);
            continue;
        }
        s.octets_received += data.size();
        d_stats.octets_received += data.size();
        tell(event::type::data, s, std::move(data));
    }
    update_window(s);
    if (s.owes_end() && s.tx.next_number() > 0) {
        s.control_due = true;
        make_ready(s);
    }
    end_if_done(s);
}

void endpoint::impl::update_window(stream& s)
{
    // What is held because a PDU is missing is not the reader's fault: most of a transmission
    // may have to wait for its first one.
    const size_t unread = s.rx.unread(), held = s.rx.held_octets();
    const bool shut = s.shut
                          ? unread > d_config.buffer_low || held > d_config.held_high / 4
                          : unread >= d_config.buffer_high || held > d_config.held_high;
    if (shut == s.shut)
        return;
    s.shut = shut;
    s.control_due = true;
    make_ready(s);
}

void endpoint::impl::send_abort(peer_state& p,
                                uint8_t sid,
                                uint8_t code,
                                uint8_t priority,
                                uint16_t mark)
{
    control(p, { p.who.extended, stream_abort{ sid, code, mark } }, priority);
}

void endpoint::impl::control(peer_state& p, const pdu& body, uint8_t priority)
{
    if (d_control.size() >= control_max)
        d_control.pop_front();
    d_control.emplace_back(
        d_next_id++,
        control_pdu{ &p, encode(body), priority, d_now + d_config.outage_max });
}

bool endpoint::impl::queue_datagram(outgoing_datagram d)
{
    for (const octets& part : d.parts)
        d.size += part.size();
    if (d_datagram_octets + d.size > d_config.datagram_octets || d.priority > 15 ||
        d.to.sap > 15)
        return false;
    for (size_t k = 0; k < d.parts.size(); ++k)
        d.to_send.insert(k);
    d_datagram_octets += d.size;
    ++d_stats.datagrams_sent;
    d_datagrams.emplace(d.handle, std::move(d));
    return true;
}

outgoing_datagram
endpoint::impl::one_part(const peer& to, const octets& data, uint8_t priority)
{
    outgoing_datagram d;
    d.handle = d_next_id++;
    d.to = to;
    d.priority = priority;
    const auto small = deflate_whole(data);
    d.parts.push_back(encode(
        { to.extended, unreliable_datagram{ small.has_value(), small.value_or(data) } }));
    return d;
}

bool endpoint::impl::send_unreliable(const peer& to,
                                     const octets& data,
                                     uint8_t priority,
                                     bool arq)
{
    outgoing_datagram d = one_part(to, data, priority);
    d.arq = arq && !to.node.is_group();
    d.expires = d_now + d_config.unreliable_ttl;
    return d.parts.front().size() <= d_sis.mtu() && queue_datagram(std::move(d));
}

std::optional<stream_id> endpoint::impl::send_confirmed(const peer& to,
                                                        const octets& data,
                                                        uint8_t priority,
                                                        sim_time ttl)
{
    if (to.node.is_group() || peer_of(to, true) == nullptr)
        return std::nullopt;
    outgoing_datagram d = one_part(to, data, priority);
    d.how = outgoing_datagram::service::confirmed;
    d.expires = d_now + ttl;
    const stream_id handle = d.handle;
    if (d.parts.front().size() > d_sis.mtu() || !queue_datagram(std::move(d)))
        return std::nullopt;
    return handle;
}

std::optional<stream_id>
endpoint::impl::send_reliable(const peer& to, const octets& plain, uint8_t priority)
{
    peer_state* p = to.node.is_group() ? nullptr : peer_of(to, true);
    if (p == nullptr || plain.size() > d_config.datagram_octets)
        return std::nullopt;
    const auto small = deflate_whole(plain);
    const octets& data = small ? *small : plain;
    const size_t head = to.extended != 0 ? 4 : 3;
    const size_t whole = u_pdu_octets() - head, part = whole - 1;
    if (data.size() > 128 * part)
        return std::nullopt;
    outgoing_datagram d;
    d.handle = d_next_id++;
    d.to = to;
    d.priority = priority;
    d.how = outgoing_datagram::service::reliable;
    d.expires = d_now + d_config.reliable_ttl;
    reliable_datagram body;
    body.number = p->next_datagram;
    body.compressed = small.has_value();
    for (size_t at = 0; at == 0 || at < data.size();) {
        const size_t n = std::min(data.size() - at, data.size() > whole ? part : whole);
        if (data.size() > whole)
            body.seg = reliable_datagram::segment{ static_cast<uint8_t>(d.parts.size()),
                                                   at + n == data.size() };
        body.data.assign(data.begin() + static_cast<long>(at),
                         data.begin() + static_cast<long>(at + n));
        d.parts.push_back(encode({ to.extended, body }));
        at += n;
        if (n == 0)
            break;
    }
    const stream_id handle = d.handle;
    if (!queue_datagram(std::move(d)))
        return std::nullopt;
    ++p->next_datagram;
    return handle;
}

void endpoint::impl::datagram_over(std::map<uint64_t, outgoing_datagram>::iterator it,
                                   uint8_t code)
{
    if (it->second.how != outgoing_datagram::service::unreliable) {
        event e;
        e.what = event::type::datagram_done;
        e.stream = it->first;
        e.from = it->second.to;
        e.code = code;
        d_events.push_back(std::move(e));
    }
    if (code != 0)
        ++d_stats.datagrams_dropped;
    d_datagram_octets -= it->second.size;
    d_datagrams.erase(it);
}

} // namespace gr::hf::slep
