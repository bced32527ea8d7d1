/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/stream_ends.h"

namespace gr::hf::slep {

void stream_ends::refuse(stream& s, uint8_t code, const std::string& text)
{
    if (s.state != stream_state::offered)
        return;
    stream_refuse r;
    r.sid = s.name.sid();
    r.reason = code;
    r.answers = s.open_name();
    r.text = text.substr(0, 128);
    d_control.add(*s.p, std::move(r), s.options.priority);
    ++d_ctx.stats.streams_refused;
    end(s, 0);
}

void stream_ends::refused(stream& s, const stream_refuse& d)
{
    d_ctx.tell(event::type::refused, s.id, s.p->who, {}, d.reason);
    d_ctx.events.back().text = d.text;
    ++d_ctx.stats.streams_refused;
    end(s, 0);
}

void stream_ends::abort(stream& s, uint8_t code)
{
    ++d_ctx.stats.streams_aborted;
    // A peer that never heard of the stream needs no SX, nor does a peer that may not
    // exist. If it does have the stream, its answer is for a stream unknown here.
    if ((!s.name.opener || s.tx.next_number() > 0) && s.p->node->heard())
        d_control.add(
            *s.p, stream_abort{ s.name.sid(), code, s.open_name() }, s.priority(true));
    end(s, code);
}

void stream_ends::fail(stream& s, uint8_t code, bool tell_peer)
{
    d_ctx.tell(event::type::aborted, s.id, s.p->who, {}, code);
    if (tell_peer) {
        abort(s, code);
    } else {
        ++d_ctx.stats.streams_aborted;
        end(s, 0);
    }
}

void stream_ends::end(stream& s, uint8_t rest_answer)
{
    if (!s.tx.done())
        d_sis.stream_gone(s.id);
    d_streams.remove(
        s,
        { d_ctx.now + d_ctx.config.number_rest, rest_answer, d_ctx.now, s.open_name() });
}

void stream_ends::end_if_done(stream& s)
{
    // The peer may be waiting for confirmation that all of its direction arrived.
    if (!s.tx.done() || !s.rx.fin_delivered() || s.will_owe_end() || s.control.in_sis)
        return;
    d_ctx.tell(event::type::closed, s.id, s.p->who);
    ++d_ctx.stats.streams_closed;
    end(s, 0);
}

} // namespace gr::hf::slep
