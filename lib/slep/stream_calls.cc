/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/stream_calls.h"

#include "slep/dictionaries.h"

#include <algorithm>

namespace gr::hf::slep {

namespace {

void fill_in(stream_options& o, const endpoint_config& c)
{
    if (o.outage_max <= station_time(0))
        o.outage_max = c.outage_max;
}

} // namespace

stream* stream_calls::accepted(stream_id id)
{
    stream* s = d_streams.find(id);
    return s != nullptr && s->state != stream_state::offered ? s : nullptr;
}

std::optional<uint8_t> stream_calls::free_number(const peer_state& p) const
{
    for (size_t k = 0; k < stream_numbers; ++k) {
        const size_t number = (p.next_number + k) % stream_numbers;
        if (p.streams[opened_here][number] == 0 &&
            d_ctx.now >= p.rest[opened_here][number].until)
            return static_cast<uint8_t>(number);
    }
    return std::nullopt;
}

std::optional<stream_id> stream_calls::open(const user_address& to,
                                            const octets& open_data,
                                            const octets& data,
                                            bool fin,
                                            stream_options o)
{
    fill_in(o, d_ctx.config);
    if (to.node.is_group() || to.sap > 15 || open_data.size() > 255 || o.priority > 15 ||
        o.service_class > 7 || !preset_known(o.dictionary) || d_streams.full() ||
        data.size() > d_ctx.config.send_buffer)
        return std::nullopt;
    peer_state* p = d_peers.get(to);
    const auto number = p != nullptr ? free_number(*p) : std::nullopt;
    if (!number)
        return std::nullopt;
    p->rest[opened_here][*number] = resting{};
    p->next_number = static_cast<uint8_t>((*number + 1u) % stream_numbers);
    stream& s = d_streams.add(*p, opened_here, *number, o);
    s.name.use = p->uses[*number]++;
    s.name.opener = true;
    s.incarnations.out =
        incarnation::of_opener(d_ctx.config.instance, s.name.number, s.name.use);
    s.incarnations.in_known = !s.incarnations.out.used;
    s.open_data = open_data;
    if (o.one_way)
        s.rx.set_ended();
    s.count.sent += s.tx.write(d_ctx.now, data.data(), data.size(), true);
    if (fin)
        s.tx.finish();
    d_ctx.stats.octets_sent += data.size();
    ++d_ctx.stats.streams_opened;
    d_scheduler.make_ready(s);
    return s.id;
}

void stream_calls::accept(stream_id id, const octets& open_data, stream_options o)
{
    stream* const found = d_streams.find(id);
    if (found == nullptr || found->state != stream_state::offered ||
        open_data.size() > 255)
        return;
    const endpoint_config& c = d_ctx.config;
    stream& s = *found;
    fill_in(o, c);
    o.one_way = s.options.one_way;
    o.dictionary = s.options.dictionary;
    o.priority = std::min<uint8_t>(o.priority, 15);
    o.service_class = std::min<uint8_t>(o.service_class, 7);
    s.options = o;
    s.tx = stream_sender(
        c.send_buffer, c.partial_hold, o.compress && !o.one_way, o.dictionary);
    s.open_data = open_data;
    s.state = stream_state::open;
    s.due.answer_by.reset();
    if (o.one_way)
        s.tx.finish();
    // If the link is about to turn, SR is sent with the acknowledgement. Otherwise it
    // would cost its own transmission, so it waits longer for data to go with it.
    const bool turning = d_ctx.now - s.p->node->heard_at <= c.turn_ride;
    s.due.accept_at = d_ctx.now + (turning ? c.partial_hold : c.accept_hold);
    d_scheduler.make_ready(s);
    d_delivery.deliver(s);
}

void stream_calls::refuse(stream_id id, uint8_t code, const std::string& text)
{
    if (stream* s = d_streams.find(id))
        d_ends.refuse(*s, code, text);
}

size_t stream_calls::writable(stream_id id) const
{
    const stream* s = std::as_const(d_streams).find(id);
    return s != nullptr && s->state != stream_state::offered ? s->tx.room() : 0;
}

size_t stream_calls::write(stream_id id, const uint8_t* p, size_t n, bool push)
{
    stream* s = accepted(id);
    if (s == nullptr)
        return 0;
    if (s->tx.waiting() == 0 && s->tx.unconfirmed() == 0)
        s->burst.octets = 0;
    const size_t taken = s->tx.write(d_ctx.now, p, n, push);
    s->want_writable = taken < n;
    s->count.sent += taken;
    d_ctx.stats.octets_sent += taken;
    d_scheduler.make_ready(*s);
    return taken;
}

void stream_calls::finish(stream_id id)
{
    if (stream* s = accepted(id)) {
        s->tx.finish();
        d_scheduler.make_ready(*s);
    }
}

void stream_calls::abort(stream_id id, uint8_t code)
{
    if (stream* s = d_streams.find(id))
        d_ends.abort(*s, code);
}

void stream_calls::consumed(stream_id id, size_t n)
{
    if (stream* s = d_streams.find(id)) {
        s->rx.consumed(n);
        d_delivery.deliver(*s);
    }
}

} // namespace gr::hf::slep
