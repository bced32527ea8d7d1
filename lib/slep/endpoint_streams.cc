/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/endpoint_impl.h"

namespace gr::hf::slep {

namespace {

// A peer that started anew is asked after this whether it knows a stream just opened; its
// answer may have to wait for the end of a longest transmission.
constexpr sim_time probe_wait = std::chrono::seconds(130);
// One SX for the same unknown stream per minute.
constexpr sim_time answer_gap = std::chrono::minutes(1);
// Orphans of one peer: numbers, and octets of each.
constexpr size_t orphans_max = 32;
constexpr size_t orphan_allowance = 64;

} // namespace

stream* endpoint::impl::by_sid(peer_state& p, uint8_t sid)
{
    const side w = sid & sid_responder ? opened_here : opened_there;
    return find(p.streams[w][sid & 0x7f]);
}

void endpoint::impl::unknown_stream(peer_state& p,
                                    uint8_t sid,
                                    uint8_t priority,
                                    uint16_t mark)
{
    resting& rest = p.rest_of(sid);
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
    send_abort(p, sid ^ sid_responder, code, priority, mark);
}

void endpoint::impl::refuse_open(peer_state& p,
                                 const stream_open& d,
                                 uint8_t code,
                                 uint8_t priority)
{
    stream_refuse r;
    r.sid = d.number | sid_responder;
    r.reason = code;
    r.answers = incarnation::of_opener(d.instance, d.number, d.use).name();
    control(p, { p.who.extended, std::move(r) }, priority);
}

void endpoint::impl::on_pdu(peer_state& p, stream_open d, uint8_t priority)
{
    const auto in = incarnation::of_opener(d.instance, d.number, d.use);
    const stream* const known = find(p.streams[opened_there][d.number]);
    if (known != nullptr && known->in.base == in.base) {
        ++d_stats.duplicates;
        return;
    }
    // Left over from an earlier start of the peer. Should the peer still wait for an answer,
    // it gets one; else it knows by the name that the answer is for none of its streams.
    const bool earlier = in.used && p.instance != 0 && d.instance != p.instance;
    if (known != nullptr || earlier) {
        ++d_stats.stale;
        refuse_open(p, d, reason_peer_restarted, priority);
        return;
    }
    resting& rest = p.rest[opened_there][d.number];
    const bool repeated = in.used && rest.open == in.name();
    if (repeated || (d_now < rest.until && (rest.open == 0 || !in.used))) {
        unknown_stream(p, d.number, priority, in.name());
        return;
    }
    const uint8_t extended = p.who.extended;
    const bool full = d_streams.size() >= d_config.streams_max;
    const bool foreign = d.compressed && !preset_known(d.par.dictionary);
    if (full || foreign || !d_listening.test(extended)) {
        const uint8_t code = full      ? reason_too_many_streams
                             : foreign ? reason_not_supported
                                       : reason_no_listener;
        refuse_open(p, d, code, priority);
        rest = { d_now + d_config.number_rest, 0, d_now, in.name() };
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
    stream& s = add_stream(p, opened_there, d.number, o);
    s.state = stream_state::offered;
    s.in = in;
    if (in.used)
        s.out = incarnation::of_responder(d_config.instance, in);
    ++d_stats.streams_received;
    if (d.compressed)
        s.rx.set_compressed(o.dictionary);
    tell(event::type::open, s, std::move(d.open_data));
    const stream_id id = s.id;
    receive_first(s, std::move(d.data), d.fin);
    if (auto early = p.orphans.extract(d.number))
        receive_early(id, std::move(early.mapped().pdus));
}

void endpoint::impl::on_pdu(peer_state& p, stream_accept d, uint8_t priority)
{
    stream* s = by_sid(p, d.sid);
    if (s == nullptr) {
        unknown_stream(p, d.sid, priority, d.answers);
        return;
    }
    if (d.instance != 0 && d.answers != s->out.name()) {
        ++d_stats.stale;
        unknown_stream(p, d.sid, priority, d.answers);
        return;
    }
    if (d.instance != 0 && p.instance != 0 && d.instance != p.instance) {
        ++d_stats.stale; // of an earlier start of the peer
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
    s->alive(d_now);
    s->answer_by.reset();
    s->probe_at.reset();
    if (s->out.used)
        s->in = incarnation::of_responder(d.instance, s->out);
    s->in_known = true;
    s->end_shown = s->end_shown || d.other_ended;
    s->end_confirmed = s->end_confirmed || d.other_ended;
    if (d.par.window != window_unlimited)
        s->tx.window(0, d.par.window);
    if (d.compressed)
        s->rx.set_compressed(d.par.dictionary);
    tell(event::type::opened, *s, std::move(d.open_data));
    const stream_id id = s->id;
    std::vector<stream_data> early = std::move(s->early.pdus);
    receive_first(*s, std::move(d.data), d.fin);
    receive_early(id, std::move(early));
}

void endpoint::impl::on_pdu(peer_state& p, const stream_refuse& d)
{
    stream* s = by_sid(p, d.sid);
    if (s == nullptr || !s->opener || s->state != stream_state::opening) {
        ++d_stats.duplicates;
        return;
    }
    if (d.answers != 0 && d.answers != s->out.name()) {
        ++d_stats.stale;
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
        if (s->in_known)
            receive(*s, std::move(d));
        else
            keep(s->early, std::move(d));
        return;
    }
    if (d_now < p.rest_of(sid).until || (sid & sid_responder) != 0 ||
        !d_listening.test(p.who.extended)) {
        unknown_stream(p, sid, priority, d.seq);
        return;
    }
    // Delivered as they arrive, data may come before the SO that it belongs to.
    if (p.notice == peer_state::notice::due)
        p.notice_wanted = true;
    if (p.orphans.count(sid) == 0 && p.orphans.size() >= orphans_max) {
        ++d_stats.bad_pdus;
        return;
    }
    keep(p.orphans[sid], std::move(d));
}

void endpoint::impl::keep(orphan& o, stream_data d)
{
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

void endpoint::impl::receive_first(stream& s, octets data, bool fin)
{
    stream_data d;
    d.seq = s.in.base;
    if (s.in.used)
        d.check = s.in.check;
    d.fin = fin;
    d.data = std::move(data);
    receive(s, std::move(d));
}

void endpoint::impl::receive_early(stream_id id, std::vector<stream_data> pdus)
{
    // Any of them may end the stream.
    for (stream_data& d : pdus)
        if (stream* s = find(id))
            receive(*s, std::move(d));
}

void endpoint::impl::receive(stream& s, stream_data d)
{
    if (d.check != (s.in.used ? std::optional(s.in.check) : std::nullopt)) {
        ++d_stats.stale;
        return;
    }
    s.alive(d_now);
    const auto number = static_cast<uint16_t>(d.seq - s.in.base);
    const auto verdict = s.rx.put(number, std::move(d.data), d.fin);
    if (verdict == stream_receiver::verdict::beyond && s.in.used) {
        ++d_stats.stale;
        return;
    }
    s.control_due = s.control_due || d.control_wanted;
    s.end_shown = s.end_shown || d.other_ended;
    s.end_confirmed = s.end_confirmed || d.other_ended;
    switch (verdict) {
    case stream_receiver::verdict::duplicate:
        ++d_stats.duplicates;
        make_ready(s);
        return;
    case stream_receiver::verdict::beyond:
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
        // Its numbers say nothing about the stream as a whole.
        if (d.answer_wanted)
            unknown_stream(p, d.sid, priority, 0);
        return;
    }
    const auto ack = static_cast<uint16_t>(d.ack - s->out.base);
    // Who still waits for SR cannot know where our numbers begin.
    if (!s->tx.window(ack, d.window) && !d.answer_wanted) {
        ++d_stats.stale;
        return;
    }
    s->alive(d_now);
    s->probe_at.reset();
    if (d.window != window_closed)
        s->ask_window_at.reset();
    else if (!s->ask_window_at)
        s->ask_window_at = d_now + std::chrono::minutes(10);
    s->control_due = s->control_due || d.answer_wanted;
    make_ready(*s);
    if (s->tx.ends_at(ack) && !s->end_confirmed) {
        s->end_confirmed = true;
        deliver(*s);
    }
}

void endpoint::impl::on_pdu(peer_state& p, const stream_abort& d)
{
    if (d.sid == 0 && d.reason == reason_peer_restarted) {
        peer_restarted(p, d.mark);
        return;
    }
    if (stream* s = by_sid(p, d.sid)) {
        const auto behind = static_cast<uint16_t>(d.mark - s->out.base);
        if (d.mark != 0 && s->out.used && d.mark != s->open_name() &&
            behind >= s->tx.next_number()) {
            ++d_stats.stale;
            return;
        }
        fail(*s, d.reason, false);
        return;
    }
    // It may have overtaken the SO, which must not open the stream now.
    if ((d.sid & sid_responder) == 0) {
        p.rest_of(d.sid) = { d_now + d_config.number_rest, 0, d_now, d.mark };
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
