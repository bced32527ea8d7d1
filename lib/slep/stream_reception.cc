/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/stream_reception.h"

namespace gr::hf::slep {

namespace {

// Wait before a restarted peer is asked whether it knows a stream just opened. Its answer
// may have to wait for the end of a longest transmission.
constexpr station_time probe_wait = std::chrono::seconds(130);
// One SX for the same unknown stream per minute.
constexpr station_time answer_gap = std::chrono::minutes(1);
// Early data waits this long for its SO.
constexpr station_time orphan_wait = std::chrono::minutes(2);
// Limit of orphans of one peer, and the overhead of each in octets.
constexpr size_t orphans_max = 32;
constexpr size_t orphan_allowance = 64;

} // namespace

void stream_reception::unknown_stream(peer_state& p,
                                      uint8_t sid,
                                      uint8_t priority,
                                      uint16_t mark)
{
    resting& rest = p.rest_of(sid);
    uint8_t code = reason_unknown_stream;
    if (d_ctx.now < rest.until) {
        // A late repeat after a clean end needs no answer.
        if (rest.answer == 0) {
            ++d_ctx.stats.duplicates;
            return;
        }
        code = rest.answer;
    } else if ((sid & sid_responder) != 0) {
        // An earlier start of ours opened the stream. More of it may follow.
        rest.until = d_ctx.now + d_ctx.config.number_rest;
        rest.answer = code;
    }
    if (p.notice == peer_state::notice::due) {
        // We started after the peer opened it. The notice ends all such streams at once.
        p.notice_wanted = true;
        return;
    }
    if (rest.answered >= station_time(0) && d_ctx.now - rest.answered < answer_gap)
        return;
    rest.answered = d_ctx.now;
    d_control.add(p,
                  stream_abort{ static_cast<uint8_t>(sid ^ sid_responder), code, mark },
                  priority);
}

void stream_reception::refuse_open(peer_state& p,
                                   const stream_open& d,
                                   uint8_t code,
                                   uint8_t priority)
{
    stream_refuse r;
    r.sid = d.number | sid_responder;
    r.reason = code;
    r.answers = incarnation::of_opener(d.instance, d.number, d.use).name();
    d_control.add(p, std::move(r), priority);
}

bool stream_reception::not_new(peer_state& p, const stream_open& d, uint8_t priority)
{
    const auto in = incarnation::of_opener(d.instance, d.number, d.use);
    const stream* const known = d_streams.find(p.streams[opened_there][d.number]);
    if (known != nullptr && known->incarnations.in.base == in.base) {
        ++d_ctx.stats.duplicates;
        return true;
    }
    // Left over from an earlier start of the peer. If the peer still waits for an answer,
    // it gets one. Otherwise the name shows it that the answer is for none of its
    // streams.
    const bool earlier = in.used && p.instance != 0 && d.instance != p.instance;
    if (known != nullptr || earlier) {
        ++d_ctx.stats.stale;
        refuse_open(p, d, reason_peer_restarted, priority);
        return true;
    }
    const resting& rest = p.rest[opened_there][d.number];
    const bool repeated = in.used && rest.open == in.name();
    if (repeated || (d_ctx.now < rest.until && (rest.open == 0 || !in.used))) {
        unknown_stream(p, d.number, priority, in.name());
        return true;
    }
    return false;
}

bool stream_reception::not_wanted(peer_state& p, const stream_open& d, uint8_t priority)
{
    const bool full = d_streams.full();
    const bool foreign = d.compressed && !preset_known(d.par.dictionary);
    if (!full && !foreign && !d.outdated && d_ctx.listening.test(p.who.extended))
        return false;
    const uint8_t code = full                    ? reason_too_many_streams
                         : foreign || d.outdated ? reason_not_supported
                                                 : reason_no_listener;
    refuse_open(p, d, code, priority);
    const auto in = incarnation::of_opener(d.instance, d.number, d.use);
    p.rest[opened_there][d.number] = {
        d_ctx.now + d_ctx.config.number_rest, 0, d_ctx.now, in.name()
    };
    p.orphans.erase(d.number);
    ++d_ctx.stats.streams_refused;
    return true;
}

void stream_reception::on_pdu(peer_state& p, stream_open d, uint8_t priority)
{
    if (not_new(p, d, priority) || not_wanted(p, d, priority))
        return;
    p.rest[opened_there][d.number] = resting{};
    stream_options o;
    o.priority = priority;
    o.one_way = d.par.one_way;
    if (preset_known(d.par.dictionary))
        o.dictionary = d.par.dictionary;
    o.outage_max = d_ctx.config.outage_max;
    stream& s = d_streams.add(p, opened_there, d.number, o);
    s.state = stream_state::offered;
    s.incarnations.in = incarnation::of_opener(d.instance, d.number, d.use);
    if (s.incarnations.in.used)
        s.incarnations.out =
            incarnation::of_responder(d_ctx.config.instance, s.incarnations.in);
    s.due.answer_by = d_ctx.now + d_ctx.config.open_wait;
    ++d_ctx.stats.streams_received;
    if (d.compressed)
        s.rx.set_compressed(o.dictionary);
    d_ctx.tell(event::type::open, s.id, p.who, std::move(d.open_data));
    const stream_id id = s.id;
    receive_first(s, d);
    if (auto early = p.orphans.extract(d.number))
        receive_early(id, std::move(early.mapped().pdus));
}

void stream_reception::on_pdu(peer_state& p, stream_accept d, uint8_t priority)
{
    stream* s = d_streams.by_sid(p, d.sid);
    if (s == nullptr) {
        unknown_stream(p, d.sid, priority, d.answers);
        return;
    }
    if (d.instance != 0 && d.answers != s->incarnations.out.name()) {
        ++d_ctx.stats.stale;
        unknown_stream(p, d.sid, priority, d.answers);
        return;
    }
    if (d.instance != 0 && p.instance != 0 && d.instance != p.instance) {
        ++d_ctx.stats.stale;
        // It is from an earlier start of the peer, or somebody else sent the notice. If a
        // new start knows the stream, its own acceptance is on its way.
        if (s->name.opener && s->state == stream_state::opening &&
            s->tx.next_number() > 0 && !s->doubted) {
            s->doubted = std::move(d);
            s->due.probe_at = d_ctx.now + probe_wait;
            s->due.doubt_until = d_ctx.now + 2 * probe_wait;
        }
        return;
    }
    if (!s->name.opener || s->state != stream_state::opening ||
        s->tx.next_number() == 0) {
        ++d_ctx.stats.duplicates;
        return;
    }
    if (d.compressed && !preset_known(d.par.dictionary)) {
        d_ends.fail(*s, reason_not_supported, true);
        return;
    }
    s->state = stream_state::open;
    s->life.alive(d_ctx.now);
    s->due.answer_by.reset();
    s->due.probe_at.reset();
    s->doubted.reset();
    s->due.doubt_until.reset();
    if (s->incarnations.out.used)
        s->incarnations.in = incarnation::of_responder(d.instance, s->incarnations.out);
    s->incarnations.in_known = true;
    s->ending.said(d.other_ended);
    if (d.par.window != window_unlimited)
        s->tx.window(0, d.par.window);
    if (d.compressed)
        s->rx.set_compressed(d.par.dictionary);
    d_ctx.tell(event::type::opened, s->id, p.who, std::move(d.open_data));
    const stream_id id = s->id;
    std::vector<stream_data> early = std::move(s->early.pdus);
    receive_first(*s, d);
    receive_early(id, std::move(early));
}

void stream_reception::on_pdu(peer_state& p, const stream_refuse& d, uint8_t)
{
    stream* s = d_streams.by_sid(p, d.sid);
    if (s == nullptr || !s->name.opener || s->state != stream_state::opening) {
        ++d_ctx.stats.duplicates;
        return;
    }
    if (d.answers != 0 && d.answers != s->incarnations.out.name()) {
        ++d_ctx.stats.stale;
        return;
    }
    // The peer has another instance of ours in mind than this one: say again which it is.
    if (d.reason == reason_peer_restarted && p.notice == peer_state::notice::done)
        p.notice = peer_state::notice::due;
    d_ends.refused(*s, d);
}

void stream_reception::on_pdu(peer_state& p, stream_data d, uint8_t priority)
{
    const uint8_t sid = d.sid;
    if (stream* s = d_streams.by_sid(p, sid)) {
        if (s->incarnations.in_known)
            receive(*s, std::move(d));
        else
            keep(s->early, std::move(d));
        return;
    }
    if (d_ctx.now < p.rest_of(sid).until || (sid & sid_responder) != 0 ||
        !d_ctx.listening.test(p.who.extended)) {
        unknown_stream(p, sid, priority, d.seq);
        return;
    }
    // With delivery in order of arrival, data may come before its SO.
    if (p.notice == peer_state::notice::due)
        p.notice_wanted = true;
    if (p.orphans.count(sid) == 0 && p.orphans.size() >= orphans_max) {
        ++d_ctx.stats.bad_pdus;
        return;
    }
    keep(p.orphans[sid], std::move(d));
}

void stream_reception::keep(orphan& o, stream_data d)
{
    if (o.pdus.empty())
        o.since = d_ctx.now;
    const size_t cost = d.data.size() + orphan_allowance;
    if (o.size + cost > 2 * d_ctx.config.queue_octets) {
        ++d_ctx.stats.bad_pdus;
        return;
    }
    o.size += cost;
    o.pdus.push_back(std::move(d));
}

template <typename T>
void stream_reception::receive_first(stream& s, T& open_or_accept)
{
    stream_data d;
    d.seq = s.incarnations.in.base;
    if (s.incarnations.in.used)
        d.check = s.incarnations.in.check;
    d.fin = open_or_accept.fin;
    d.digest = open_or_accept.digest;
    d.data = std::move(open_or_accept.data);
    receive(s, std::move(d));
}

void stream_reception::receive_early(stream_id id, std::vector<stream_data> pdus)
{
    // Any of these PDUs may end the stream.
    for (stream_data& d : pdus)
        if (stream* s = d_streams.find(id))
            receive(*s, std::move(d));
}

void stream_reception::receive(stream& s, stream_data d)
{
    if (d.check != (s.incarnations.in.used ? std::optional(s.incarnations.in.check)
                                           : std::nullopt)) {
        ++d_ctx.stats.stale;
        return;
    }
    s.life.alive(d_ctx.now);
    if (s.state == stream_state::open)
        s.due.answer_by.reset();
    const auto number = static_cast<uint16_t>(d.seq - s.incarnations.in.base);
    const auto digest = s.incarnations.in.used ? std::optional(d.digest) : std::nullopt;
    const auto verdict = s.rx.put(number, std::move(d.data), d.fin, digest);
    if (verdict == stream_receiver::verdict::beyond && s.incarnations.in.used) {
        ++d_ctx.stats.stale;
        return;
    }
    s.control.due = s.control.due || d.control_wanted;
    s.ending.said(d.other_ended);
    switch (verdict) {
    case stream_receiver::verdict::duplicate:
        ++d_ctx.stats.duplicates;
        d_scheduler.make_ready(s);
        return;
    case stream_receiver::verdict::beyond:
    case stream_receiver::verdict::violation:
        ++d_ctx.stats.bad_pdus;
        d_ends.fail(s, reason_protocol_error, true);
        return;
    case stream_receiver::verdict::taken:
        break;
    }
    if (!s.rx.gap()) {
        s.gap.since.reset();
        s.gap.ask_at.reset();
    } else if (!s.gap.since || s.gap.at != s.rx.received()) {
        s.gap.since = d_ctx.now;
        s.gap.ask_at = d_ctx.now + d_ctx.config.gap_max / 3;
        s.gap.at = s.rx.received();
    }
    d_delivery.update_window(s);
    d_scheduler.make_ready(s);
    d_delivery.deliver(s);
}

// An acceptance named another start of the peer than its last notice did. A peer that has
// really restarted answers a probe with SX, or has accepted the stream again. Otherwise
// the notice was not its own, and the acceptance counts.
void stream_reception::believe(stream& s, uint8_t priority)
{
    stream_accept accept = std::move(*s.doubted);
    s.doubted.reset();
    s.due.doubt_until.reset();
    s.p->instance = accept.instance;
    on_pdu(*s.p, std::move(accept), priority);
}

void stream_reception::end_doubts()
{
    for (const stream_id id : d_streams.ids()) {
        stream* s = d_streams.find(id);
        if (s != nullptr && s->due.doubt_until && *s->due.doubt_until <= d_ctx.now)
            believe(*s, s->options.priority);
    }
}

// Nothing confirmed can be missing, unless somebody else has sent data with the numbers of
// the data link that it had. The stream would wait for ever. An SC may have been built
// before the last PDUs arrived there. The peer has one on its way at a time, so the second
// one was not. Then the missing PDU is sent again, if it is still kept.
bool stream_reception::misses_pdus(stream& s, const stream_control& d, uint16_t ack) const
{
    if (d.window == window_closed)
        return false;
    if (!s.control.confirmed_below) {
        // The peer asks, perhaps because a PDU is missing there. Ask whether it still is.
        s.control.ask = s.control.ask || (d.answer_wanted && s.tx.holds_confirmed(ack));
        return false;
    }
    const bool unread = s.tx.fin_built() && d.window == window_end_unread;
    const uint64_t owed = *s.control.confirmed_below - (unread ? 1 : 0);
    if (static_cast<int16_t>(ack - static_cast<uint16_t>(owed)) >= 0) {
        s.control.confirmed_below.reset();
        return false;
    }
    s.control.due = s.control.ask = true;
    if (++s.control.behind <= 1)
        return false;
    if (!s.tx.send_again(ack))
        return true;
    s.control.confirmed_below.reset();
    return false;
}

void stream_reception::on_pdu(peer_state& p, const stream_control& d, uint8_t priority)
{
    stream* s = d_streams.by_sid(p, d.sid);
    if (s == nullptr) {
        // The numbers in it are not valid for the stream.
        if (d.answer_wanted)
            unknown_stream(p, d.sid, priority, 0);
        return;
    }
    const auto ack = static_cast<uint16_t>(d.ack - s->incarnations.out.base);
    // A peer that still waits for SR cannot know where our numbers start.
    if (!s->tx.window(ack, d.window) && !d.answer_wanted) {
        ++d_ctx.stats.stale;
        return;
    }
    s->life.alive(d_ctx.now);
    if (s->state == stream_state::open)
        s->due.answer_by.reset();
    if (!s->doubted) {
        s->due.probe_at.reset();
    } else if (!s->due.probe_at) {
        believe(*s, priority); // it answers the probe
        if ((s = d_streams.by_sid(p, d.sid)) == nullptr)
            return;
    }
    if (misses_pdus(*s, d, ack)) {
        ++d_ctx.stats.bad_pdus;
        d_ends.fail(*s, reason_protocol_error, true);
        return;
    }
    if (d.window != window_closed)
        s->due.ask_window_at.reset();
    else if (!s->due.ask_window_at)
        s->due.ask_window_at = d_ctx.now + std::chrono::minutes(10);
    s->control.due = s->control.due || d.answer_wanted;
    d_scheduler.make_ready(*s);
    if (s->tx.ends_at(ack) && !s->ending.confirmed) {
        s->ending.confirmed = true;
        d_delivery.deliver(*s);
    }
}

void stream_reception::on_pdu(peer_state& p, const stream_abort& d, uint8_t)
{
    if (d.sid == 0 && d.reason == reason_peer_restarted) {
        peer_restarted(p, d.mark);
        return;
    }
    if (stream* s = d_streams.by_sid(p, d.sid)) {
        const auto behind = static_cast<uint16_t>(d.mark - s->incarnations.out.base);
        if (d.mark != 0 && s->incarnations.out.used && d.mark != s->open_name() &&
            behind >= s->tx.next_number()) {
            ++d_ctx.stats.stale;
            return;
        }
        d_ends.fail(*s, d.reason, false);
        return;
    }
    // The SX may have overtaken the SO, which must not open the stream now.
    if ((d.sid & sid_responder) == 0) {
        p.rest_of(d.sid) = { d_ctx.now + d_ctx.config.number_rest, 0, d_ctx.now, d.mark };
        p.orphans.erase(d.sid);
    }
}

std::optional<station_time> stream_reception::next_deadline(const peer_state& p)
{
    earliest first;
    for (const auto& o : p.orphans)
        first.add(o.second.since + orphan_wait);
    return first.get();
}

void stream_reception::on_deadline(peer_state& p)
{
    for (auto it = p.orphans.begin(); it != p.orphans.end();) {
        const auto at = it++;
        if (at->second.since + orphan_wait > d_ctx.now)
            continue;
        const uint8_t sid = at->first;
        const uint16_t mark = at->second.pdus.front().seq;
        p.orphans.erase(at);
        unknown_stream(p, sid, 0, mark);
    }
}

void stream_reception::peer_restarted(peer_state& p, uint16_t instance)
{
    if (instance != 0 && instance == p.instance) {
        ++d_ctx.stats.duplicates;
        return;
    }
    p.instance = instance;
    // The peer has no streams of ours that a notice would have to end.
    if (p.notice == peer_state::notice::due) {
        p.notice = peer_state::notice::done;
        p.notice_wanted = false;
    }
    bool any = false;
    for (auto& numbers : p.streams)
        for (const stream_id id : numbers) {
            stream* s = d_streams.find(id);
            if (s == nullptr)
                continue;
            // The new instance may or may not know a stream without an answer yet, so
            // ask. If its SO is not confirmed, it will still arrive there.
            if (s->name.opener && s->state == stream_state::opening) {
                if (s->due.answer_by)
                    s->due.probe_at = d_ctx.now + probe_wait;
                continue;
            }
            any = true;
            d_ends.fail(*s, reason_peer_restarted, false);
        }
    if (any)
        ++d_ctx.stats.peer_restarts;
    p.rest[opened_there] = {};
    p.orphans.clear();
    p.datagrams.clear();
}

} // namespace gr::hf::slep
