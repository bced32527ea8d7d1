/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/stream_scheduler.h"

#include <algorithm>
#include <numeric>

namespace gr::hf::slep {

void stream_scheduler::make_ready(stream& s)
{
    if (s.ring.taken || !has_work(s))
        return;
    s.ring.taken = true;
    s.ring.deficit = 0;
    d_ring[s.options.service_class].push_back(s.id);
}

bool stream_scheduler::open_due(const stream& s) const
{
    if (s.tx.next_number() > 0)
        return false;
    if (s.name.opener)
        return true;
    return s.state == stream_state::open &&
           (s.tx.has_first_data() || (s.due.accept_at && *s.due.accept_at <= d_ctx.now));
}

bool stream_scheduler::has_work(const stream& s) const
{
    if (s.state == stream_state::offered)
        return false;
    if (s.tx.next_number() == 0)
        return open_due(s);
    return s.tx.to_resend() || (s.control.due && !s.control.in_sis) ||
           s.tx.due(d_sis.u_pdu_octets() -
                    data_header_octets(s.p->who.extended, s.incarnations.out.used));
}

std::optional<octets> stream_scheduler::poll_shared()
{
    std::array<uint8_t, service_classes> order{};
    std::iota(order.begin(), order.end(), uint8_t{ 0 });
    const auto begin = [this](uint8_t c) {
        return std::max(d_class_end[c], d_virtual_time);
    };
    std::stable_sort(order.begin(), order.end(), [&begin](uint8_t a, uint8_t b) {
        return begin(a) < begin(b);
    });
    for (const uint8_t c : order)
        for (const auto how : { freshness::fresh, freshness::bulk })
            if (auto out = poll(c, how)) {
                d_virtual_time = begin(c);
                d_class_end[c] = d_virtual_time + (uint64_t{ out->size() } << c);
                return out;
            }
    return std::nullopt;
}

std::optional<octets> stream_scheduler::poll(uint8_t service_class, freshness how)
{
    auto& ring = d_ring[service_class];
    // Deficit round robin by octets. The unit is one PDU, the quantum a full one.
    for (size_t left = ring.size(); left > 0; --left) {
        stream* s = d_streams.find(ring.front());
        if (s == nullptr || !has_work(*s) || s->options.service_class != service_class) {
            ring.pop_front();
            if (s != nullptr) {
                s->ring.taken = false;
                make_ready(*s);
            }
            continue;
        }
        if (s->burst.how_fresh() != how ||
            !d_sis.may_send(*s->p->node, level(service_class, how))) {
            ring.push_back(ring.front());
            ring.pop_front();
            continue;
        }
        if (s->p->notice == peer_state::notice::due)
            return d_sis.send_notice(*s->p);
        if (s->ring.deficit <= 0)
            s->ring.deficit += static_cast<long>(d_sis.u_pdu_octets());
        octets out = next_of(*s);
        s->ring.deficit -= static_cast<long>(out.size());
        if (s->ring.deficit <= 0) {
            ring.push_back(ring.front());
            ring.pop_front();
        }
        return out;
    }
    return std::nullopt;
}

octets stream_scheduler::next_of(stream& s)
{
    if (const auto number = s.tx.to_resend()) {
        ++d_ctx.stats.pdus_resent;
        return d_sis.send(
            *s.p,
            s.tx.resend(*number),
            s.priority(s.name.opener),
            { owner::kind::data, s.id, *number, s.level(), s.options.priority });
    }
    const uint64_t number = s.tx.next_number();
    if (s.control.due && !s.control.in_sis && number > 0)
        return send_control(s);
    const owner who{ owner::kind::data, s.id, number, s.level(), s.options.priority };
    // An end without data asks for no answer, even if the compressor has octets left for
    // it.
    const bool asks = s.name.opener && (number == 0 || s.count.sent > s.count.asked);
    const uint8_t priority = s.priority(asks);
    const size_t size = d_sis.u_pdu_octets();
    octets wire = number > 0 ? build_data(s, size) : build_open(s, size);
    s.burst.octets += wire.size();
    if (s.tx.waiting() == 0)
        s.count.asked = s.count.sent;
    s.tx.keep(number, wire);
    if (s.want_writable && s.tx.waiting() <= d_ctx.config.send_buffer / 2) {
        s.want_writable = false;
        d_ctx.tell(event::type::writable, s.id, s.p->who);
    }
    return d_sis.send(*s.p, std::move(wire), priority, who);
}

octets stream_scheduler::send_control(stream& s)
{
    // One at a time: out of order, an old one would undo a newer one.
    s.control.due = false;
    s.control.in_sis = true;
    stream_control c;
    c.sid = s.name.sid();
    c.ack = static_cast<uint16_t>(s.rx.ack() + s.incarnations.in.base);
    s.ending.known_to_peer = s.ending.known_to_peer || s.owes_end();
    c.window = s.rx.end_unread() ? window_end_unread
               : s.control.shut  ? window_closed
                                 : window_unlimited;
    c.answer_wanted = s.control.asks = s.control.ask;
    s.control.ask = false;
    if (c.answer_wanted && !s.control.confirmed_below) {
        s.control.confirmed_below = s.tx.confirmed_below();
        s.control.behind = 0;
    }
    return d_sis.send(*s.p,
                      encode({ s.p->who.extended, c }),
                      std::max(s.options.priority, s.p->node->bulk_priority()),
                      { owner::kind::window, s.id, 0, s.level(), s.options.priority });
}

octets stream_scheduler::build_data(stream& s, size_t size)
{
    const uint8_t extended = s.p->who.extended;
    const uint64_t number = s.tx.next_number();
    auto part = s.tx.take(size - data_header_octets(extended, s.incarnations.out.used));
    stream_data d;
    d.sid = s.name.sid();
    d.seq = static_cast<uint16_t>(number + s.incarnations.out.base);
    d.fin = part.fin;
    d.digest = part.fin ? s.tx.digest() : 0;
    if (s.incarnations.out.used)
        d.check = s.incarnations.out.check;
    d.other_ended = s.owes_end();
    s.ending.known_to_peer = s.ending.known_to_peer || d.other_ended;
    d.data = std::move(part.data);
    return encode({ extended, std::move(d) });
}

octets stream_scheduler::build_open(stream& s, size_t size)
{
    const uint8_t extended = s.p->who.extended;
    const endpoint_config& c = d_ctx.config;
    // At most one segment, so that the far side can act on the first D_PDU.
    const size_t head =
        open_header_octets(extended, s.name.opener, s.incarnations.out.used) +
        s.open_data.size();
    const size_t added = d_sis.added_octets();
    const size_t segment = c.segment_octets > added ? c.segment_octets - added : 0;
    const size_t first = std::min(size, segment);
    size_t data = first > head ? first - head : 0;
    if (s.name.opener && s.tx.waiting() > 4 * c.open_octets)
        data = std::min(data, c.open_octets);
    auto part = s.tx.take(data);
    s.due.accept_at.reset();
    stream_parameters par;
    par.one_way = s.name.opener && s.options.one_way;
    par.dictionary = s.options.dictionary;
    if (s.name.opener) {
        stream_open d;
        d.number = s.name.number;
        d.fin = part.fin;
        d.digest = part.fin ? s.tx.digest() : 0;
        d.compressed = s.options.compress;
        d.par = par;
        d.instance = c.instance;
        d.use = s.name.use;
        d.open_data = std::move(s.open_data);
        d.data = std::move(part.data);
        return encode({ extended, std::move(d) });
    }
    stream_accept d;
    d.sid = s.name.sid();
    d.fin = part.fin;
    d.digest = part.fin ? s.tx.digest() : 0;
    d.compressed = s.options.compress && !s.options.one_way;
    d.par = par;
    if (s.incarnations.out.used) {
        d.instance = c.instance;
        d.answers = s.open_name();
        d.other_ended = s.owes_end();
        s.ending.known_to_peer = s.ending.known_to_peer || d.other_ended;
    }
    d.open_data = std::move(s.open_data);
    d.data = std::move(part.data);
    return encode({ extended, std::move(d) });
}

} // namespace gr::hf::slep
