/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/stream_delivery.h"

namespace gr::hf::slep {

void stream_delivery::deliver(stream& s)
{
    if (s.state == stream_state::offered)
        return;
    for (;;) {
        octets data;
        // Once our end is on its way, the peer's end is delivered only when the peer's
        // user certainly has all our data. Until then the stream can still fail.
        const bool hold_fin = s.confirms_end() && s.tx.fin_built() && !s.ending.confirmed;
        const auto step = s.rx.next(data, hold_fin);
        if (step == stream_receiver::step::none)
            break;
        if (step == stream_receiver::step::damaged) {
            d_ends.fail(s, reason_decompression, true);
            return;
        }
        if (step == stream_receiver::step::altered) {
            ++d_ctx.stats.altered;
            d_ends.fail(s, reason_altered, true);
            return;
        }
        if (step == stream_receiver::step::fin) {
            d_ctx.tell(event::type::fin, s.id, s.p->who);
            continue;
        }
        s.count.received += data.size();
        d_ctx.stats.octets_received += data.size();
        d_ctx.tell(event::type::data, s.id, s.p->who, std::move(data));
    }
    update_window(s);
    if (s.owes_end() && s.tx.next_number() > 0) {
        s.control.due = true;
        d_scheduler.make_ready(s);
    }
    d_ends.end_if_done(s);
}

void stream_delivery::update_window(stream& s)
{
    // Data held for a missing PDU is not the reader's fault. Most of a transmission may
    // have to wait for its first PDU.
    const endpoint_config& c = d_ctx.config;
    const size_t unread = s.rx.unread(), held = s.rx.held_octets();
    const bool shut = s.control.shut ? unread > c.buffer_low || held > c.held_high / 4
                                     : unread >= c.buffer_high || held > c.held_high;
    if (shut == s.control.shut)
        return;
    s.control.shut = shut;
    s.control.due = true;
    d_scheduler.make_ready(s);
}

} // namespace gr::hf::slep
