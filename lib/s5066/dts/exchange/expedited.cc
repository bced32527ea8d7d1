/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/exchange/expedited.h"

#include "s5066/pdu/crc.h"

#include <algorithm>

namespace gr::hf::s5066 {

void expedited_sender::submit(outgoing_ptr o)
{
    d_unsent.add(*o, o->c_pdu.size());
    d_queue.push_back(std::move(o));
}

void expedited_sender::set_segment(size_t octets, bool equal_parts)
{
    d_arq.set_segment(octets, equal_parts);
}

void expedited_sender::begin_transmission()
{
    if (d_arq.idle() && !d_queue.empty()) {
        d_arq.rewind(0);
        d_unsent.remove(*d_queue.front(), d_queue.front()->c_pdu.size());
        d_arq.submit(std::move(d_queue.front()));
        d_queue.pop_front();
        d_id = d_next_id;
        d_next_id = (d_next_id + 1) & 0xf;
    }
    d_arq.begin_transmission();
}

size_t expedited_sender::pending_octets(size_t overhead, size_t limit) const
{
    return d_arq.pending_octets(overhead, limit, true);
}

std::optional<expedited_sender::out>
expedited_sender::convert(const std::optional<arq_sender::out>& o) const
{
    if (!o)
        return std::nullopt;
    out e;
    e.header.start = o->header.start;
    e.header.end = o->header.end;
    e.header.c_pdu_id = d_id;
    e.header.fsn = o->header.fsn;
    e.segment = o->segment;
    e.size = o->size;
    e.repeat = o->repeat;
    return e;
}

std::optional<expedited_sender::out> expedited_sender::next(size_t room, size_t overhead)
{
    return convert(d_arq.next(room, overhead, true));
}

std::optional<expedited_sender::out> expedited_sender::copy(size_t room, size_t overhead)
{
    return convert(d_arq.copy(room, overhead));
}

bool expedited_sender::in_sync(const ack_header& a) const { return d_arq.in_sync(a); }

unsigned expedited_sender::acknowledge(const ack_header& a,
                                       std::vector<outgoing_ptr>& done)
{
    return d_arq.acknowledge(a, done);
}

void expedited_sender::expire(station_time now, std::vector<outgoing_ptr>& expired)
{
    const auto late = [now](const outgoing_ptr& o) { return o->expires <= now; };
    for (const auto& o : d_queue) {
        if (late(o)) {
            d_unsent.remove(*o, o->c_pdu.size());
            expired.push_back(o);
        }
    }
    d_queue.erase(std::remove_if(d_queue.begin(), d_queue.end(), late), d_queue.end());
    // There is no DROP flag: at the next identification the receiver discards the rest.
    const size_t before = expired.size();
    d_arq.expire(now, expired);
    if (expired.size() > before)
        d_arq.take_all();
}

void expedited_sender::restart()
{
    for (auto& o : d_arq.take_all()) {
        d_unsent.add(*o, o->c_pdu.size());
        d_queue.push_front(std::move(o));
    }
    d_next_id = 0;
}

std::vector<outgoing_ptr> expedited_sender::take_all()
{
    restart();
    return take_queued();
}

std::vector<outgoing_ptr> expedited_sender::take_queued()
{
    std::vector<outgoing_ptr> all(d_queue.begin(), d_queue.end());
    d_queue.clear();
    d_unsent.clear();
    return all;
}

void expedited_receiver::reset()
{
    d_arq.reset();
    d_id.reset();
    d_complete = false;
    d_crcs.clear();
}

bool expedited_receiver::take(const expedited_header& h,
                              const std::vector<uint8_t>& segment,
                              bool ok,
                              std::vector<std::vector<uint8_t>>& delivered)
{
    // The header is good even if the segment is not. A new number starts a new C_PDU;
    // otherwise the ACK would still be that of the old one.
    if (d_id != h.c_pdu_id) {
        reset();
        d_id = h.c_pdu_id;
    }
    if (!ok)
        return false;
    const uint32_t crc = crc32(segment.data(), segment.size());
    const auto held = d_crcs.find(h.fsn);
    if (d_complete && (held == d_crcs.end() || held->second != crc)) {
        reset();
        d_id = h.c_pdu_id;
    }
    arq_header a;
    a.start = h.start;
    a.end = h.end;
    a.in_order = true;
    a.fsn = h.fsn;
    const size_t before = delivered.size();
    if (!d_arq.take(a, segment, true, delivered))
        return false;
    d_crcs[h.fsn] = crc;
    d_complete = delivered.size() > before;
    return true;
}

} // namespace gr::hf::s5066
