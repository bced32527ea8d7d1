/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/exchange/non_arq_sender.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace gr::hf::s5066 {

void non_arq_sender::submit(outgoing_ptr o, uint16_t id)
{
    entry n;
    n.expedited = o->expedited;
    n.id = id;
    n.rounds = o->mode.retransmissions;
    d_unsent.add(*o, o->c_pdu.size());
    d_turns[o->priority & 15].take(*o);
    const auto at = std::find_if(d_queue.begin(), d_queue.end(), [&o](const auto& q) {
        const bool later = q.expedited != o->expedited    ? o->expedited
                           : q.o->priority != o->priority ? q.o->priority < o->priority
                                                          : q.o->turn > o->turn;
        return later && q.offset == 0;
    });
    n.o = std::move(o);
    d_queue.insert(at, std::move(n));
}

size_t non_arq_sender::pending_octets(size_t need,
                                      size_t cap,
                                      size_t segment,
                                      size_t overhead) const
{
    for (const auto& n : d_queue) {
        if (need > cap)
            break;
        const size_t size = n.o->c_pdu.size();
        const size_t parts = (size + segment - 1) / segment;
        need += (size + parts * overhead) * (n.rounds + 1);
    }
    return need;
}

size_t non_arq_sender::next_octets(size_t segment, size_t overhead, size_t room) const
{
    const entry& n = d_queue.front();
    const size_t octets = std::min(segment, n.o->c_pdu.size() - n.offset);
    if (octets + overhead <= room)
        return octets;
    // Any division is allowed, but very short parts are not worth their headers.
    constexpr size_t min_part = 64;
    return room < overhead + min_part ? 0 : room - overhead;
}

void non_arq_sender::next(size_t octets, station_time air_time, d_pdu& d)
{
    entry& n = d_queue.front();
    const size_t size = n.o->c_pdu.size();
    const double left = to_seconds(n.window_end - air_time) / eot_unit_s;
    d.non_arq.c_pdu_id = n.id;
    d.non_arq.in_order = n.o->mode.order == delivery_order::in_order;
    d.non_arq.c_pdu_size = static_cast<uint16_t>(size);
    d.non_arq.offset = static_cast<uint16_t>(n.offset);
    d.non_arq.window = static_cast<uint16_t>(std::clamp(std::ceil(left), 0.0, 65535.0));
    d_turns[n.o->priority & 15].serve(*n.o);
    const auto from = n.o->c_pdu.begin() + static_cast<std::ptrdiff_t>(n.offset);
    d.segment.assign(from, from + static_cast<std::ptrdiff_t>(octets));
    n.offset += octets;
    if (n.offset < size)
        return;
    // After a round the C_PDU goes to the end of the queue, so that one fade does not hit
    // all rounds.
    entry again = std::move(n);
    d_queue.pop_front();
    again.offset = 0;
    if (again.rounds-- > 0)
        d_queue.push_back(std::move(again));
    else
        d_unsent.remove(*again.o, size);
}

non_arq_sender::place non_arq_sender::drop(place at, std::vector<outgoing_ptr>& dropped)
{
    d_unsent.remove(*at->o, at->o->c_pdu.size());
    dropped.push_back(at->o);
    return d_queue.erase(at);
}

void non_arq_sender::expire_first(station_time now, std::vector<outgoing_ptr>& expired)
{
    while (!d_queue.empty() && d_queue.front().over(now))
        drop(d_queue.begin(), expired);
}

void non_arq_sender::expire(station_time now, std::vector<outgoing_ptr>& expired)
{
    for (auto it = d_queue.begin(); it != d_queue.end();)
        it = it->over(now) ? drop(it, expired) : std::next(it);
}

std::vector<outgoing_ptr> non_arq_sender::withdraw()
{
    std::vector<outgoing_ptr> all;
    for (auto it = d_queue.begin(); it != d_queue.end();) {
        const bool begun = it->offset > 0 || it->window_end > station_time::zero();
        it = begun ? std::next(it) : drop(it, all);
    }
    return all;
}

} // namespace gr::hf::s5066
