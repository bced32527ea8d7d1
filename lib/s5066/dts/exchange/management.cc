/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/exchange/management.h"

namespace gr::hf::s5066 {

void management_exchange::reset() { *this = management_exchange(); }

void management_exchange::send(management_message m)
{
    if (d_queue.size() < max_queue)
        d_queue.push_back(std::move(m));
}

management_exchange::out management_exchange::take()
{
    out o;
    o.header.ack = d_ack_due;
    o.header.frame_id = d_id;
    if (active() && !d_sent) {
        o.eow = d_queue.front().eow;
        o.header.valid = true;
        o.header.extended = d_queue.front().extended;
        o.header.has_extended = !o.header.extended.empty();
        d_sent = true;
        ++d_tries;
    }
    d_ack_due = false;
    return o;
}

management_exchange::in management_exchange::on_received(uint16_t eow,
                                                         const management_header& h)
{
    in r;
    if (h.ack && d_sent) {
        r.acked = d_queue.front().eow;
        d_queue.pop_front();
        d_sent = false;
        d_tries = 0;
        ++d_id;
    }
    if (h.valid) {
        d_ack_due = true;
        r.repeated = d_heard_id == h.frame_id;
        d_heard_id = h.frame_id;
        if (!r.repeated)
            r.message = management_message{ eow, h.extended };
    }
    return r;
}

void management_exchange::withdraw()
{
    // The peer may have received the message: its number must not be used for another
    // one.
    d_id = static_cast<uint8_t>(d_id + (d_tries > 0 ? 1 : 0));
    d_queue.clear();
    d_sent = false;
    d_tries = 0;
}

unsigned management_exchange::on_silence()
{
    d_sent = false;
    return d_tries;
}

} // namespace gr::hf::s5066
