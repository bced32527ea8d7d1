/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/stream_timers.h"

#include <algorithm>

namespace gr::hf::slep {

namespace {

// A peer whose window stays shut is asked again after this.
constexpr station_time window_again = std::chrono::minutes(5);
// A stream that only waits probes its peer after this, or half of its longest outage.
constexpr station_time life_again = std::chrono::minutes(15);

station_time ask_life_after(const stream& s)
{
    const station_time after = std::min(s.options.outage_max / 2, life_again);
    // The opener's probe also answers that of the other side, which waits for it.
    return s.name.opener ? after : after + after / 4;
}

// Empty: nothing shows that the peer is away. Rejected U_PDUs show it, and so does a data
// link without an answer. Long transmissions and other stations on the channel do not. A
// node of our own that takes no data is an outage, too.
std::optional<station_time> outage_end(const stream& s,
                                       const std::optional<station_time>& stopped_at)
{
    const node_state& n = *s.p->node;
    const station_time alive = std::max(s.life.at, n.alive_at);
    earliest end;
    // Without the restart notice no PDU of the stream can be rejected.
    if (s.life.stalled_since || n.silent || n.rejects_in_a_row > 0)
        end.add(alive + s.options.outage_max);
    if (stopped_at)
        end.add(std::max(alive, *stopped_at) + s.options.outage_max);
    return end.get();
}

} // namespace

std::optional<station_time> stream_timers::next_deadline() const
{
    earliest first;
    for (const auto& entry : d_streams.all()) {
        const stream& s = entry.second;
        first.add(s.tx.hold_until());
        if (s.due.accept_at &&
            *s.due.accept_at > d_ctx.now) // later it only waits for SIS
            first.add(s.due.accept_at);
        first.add(s.due.answer_by);
        first.add(s.due.probe_at);
        first.add(s.due.doubt_until);
        first.add(s.due.ask_window_at);
        first.add(s.gap.ask_at);
        if (s.gap.since)
            first.add(*s.gap.since + d_ctx.config.gap_max);
        first.add(outage_end(s, d_ctx.stopped_at));
        if (s.only_waits())
            first.add(s.life.at + ask_life_after(s));
    }
    return first.get();
}

void stream_timers::on_deadline()
{
    for (const stream_id id : d_streams.ids())
        if (stream* s = d_streams.find(id))
            check(*s);
}

void stream_timers::ask_life(const node_state& n)
{
    // Streams that would probe soon probe at once. One exchange serves them all.
    for (auto& entry : d_streams.all()) {
        stream& s = entry.second;
        if (s.p->node != &n || !s.only_waits() ||
            s.life.at + ask_life_after(s) / 2 > d_ctx.now)
            continue;
        s.life.asked = s.control.due = s.control.ask = true;
        d_scheduler.make_ready(s);
    }
}

void stream_timers::check(stream& s)
{
    const auto due = [this](std::optional<station_time>& t) {
        if (!t || *t > d_ctx.now)
            return false;
        t.reset();
        return true;
    };
    node_state& n = *s.p->node;
    if (const auto end = outage_end(s, d_ctx.stopped_at); end && *end <= d_ctx.now) {
        d_ends.fail(s, reason_lifetime_over, s.tx.next_number() > 0);
        return;
    }
    if (due(s.due.answer_by)) {
        d_ends.fail(s, reason_lifetime_over, true);
        return;
    }
    if (s.gap.since && *s.gap.since + d_ctx.config.gap_max <= d_ctx.now) {
        // Only time with a living link counts.
        if (n.heard_at >= *s.gap.since + d_ctx.config.gap_max / 2) {
            d_ends.fail(s, reason_protocol_error, true);
            return;
        }
        s.gap.since = d_ctx.now;
    }
    if (s.tx.hold_until() && *s.tx.hold_until() <= d_ctx.now)
        s.tx.hold_over();
    if (s.only_waits() && s.life.at + ask_life_after(s) <= d_ctx.now)
        ask_life(n);
    if (s.gap.ask_at && *s.gap.ask_at <= d_ctx.now) {
        s.gap.ask_at = d_ctx.now + d_ctx.config.gap_max / 3;
        s.control.due = s.control.ask = true;
    }
    if (due(s.due.probe_at))
        s.control.due = s.control.ask = true;
    if (due(s.due.ask_window_at)) {
        s.control.due = s.control.ask = true;
        s.due.ask_window_at = d_ctx.now + window_again;
    }
    d_scheduler.make_ready(s);
}

} // namespace gr::hf::slep
