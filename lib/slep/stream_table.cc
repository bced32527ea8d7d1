/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/stream_table.h"

#include "slep/sis_queue.h"

namespace gr::hf::slep {

namespace {

// A request with its answer of 5 kB, or the first messages of a protocol. This many
// octets of a burst go before all bulk, in any class.
constexpr size_t first_exchange = 5000;

size_t hard_limit(const endpoint_config& c)
{
    // The sender gets our stop only at the end of its transmission. Until then it fills
    // the queue in its SIS, and all of that still arrives here.
    return c.held_high + 2 * c.queue_octets + 65536;
}

} // namespace

stream::stream(const endpoint_config& c, const stream_options& o)
    : options(o), tx(c.send_buffer, c.partial_hold, o.compress, o.dictionary),
      rx(c.buffer_high, hard_limit(c)), burst{ fresh_octets(c) }
{
}

freshness stream_burst::how_fresh() const
{
    return octets < first_exchange ? freshness::first
           : octets < fresh_octets ? freshness::fresh
                                   : freshness::bulk;
}

uint8_t stream::priority(bool asks) const
{
    // Goes before bulk already in SIS. The different priorities let the data link tell
    // requests, answers and bulk apart (s5066::node_config::prompt_priority). The data
    // link serves priorities strictly, our order of service does not. So bulk of all
    // classes has one priority.
    const int more = burst.how_fresh() == freshness::bulk ? 0 : asks ? 2 : 1;
    const int base = std::max(options.priority, p->node->bulk_priority());
    return static_cast<uint8_t>(std::min(base + more, 15));
}

void stream::data_settled(station_time now,
                          uint64_t pdu_number,
                          bool rejected,
                          station_time answer_until)
{
    if (rejected) {
        tx.rejected(pdu_number);
        life.stalled(now);
        return;
    }
    tx.confirmed(pdu_number);
    life.went_through(now);
    if (pdu_number == 0 && state == stream_state::opening)
        due.answer_by = answer_until;
}

void stream::window_settled(station_time now, bool rejected, station_time answer_until)
{
    control.in_sis = false;
    if (!rejected) {
        life.went_through(now);
        // The far node is there. Whether its SLEP is, only an answer shows.
        if (control.asks && state == stream_state::open && !due.answer_by)
            due.answer_by = answer_until;
        return;
    }
    // Send the newest state, not the lost one.
    control.due = true;
    control.ask = control.ask || life.asked;
    life.stalled(now);
}

stream_info stream::info() const
{
    stream_info i;
    i.id = id;
    i.other = p->who;
    i.opener = name.opener;
    i.state = state != stream_state::open ? "opening"
              : rx.fin_delivered()        ? "half remote"
              : tx.finished()             ? "half local"
                                          : "open";
    i.octets_sent = count.sent;
    i.octets_received = count.received;
    i.waiting = tx.waiting();
    i.unconfirmed = tx.unconfirmed();
    i.sent_all = tx.sent_all();
    i.unread = rx.unread() + rx.held_octets();
    return i;
}

stream* stream_table::find(stream_id id)
{
    const auto it = d_streams.find(id);
    return it != d_streams.end() ? &it->second : nullptr;
}

const stream* stream_table::find(stream_id id) const
{
    const auto it = d_streams.find(id);
    return it != d_streams.end() ? &it->second : nullptr;
}

stream* stream_table::by_sid(const peer_state& p, uint8_t sid)
{
    const side w = sid & sid_responder ? opened_here : opened_there;
    return find(p.streams[w][sid & 0x7f]);
}

stream&
stream_table::add(peer_state& p, side who, uint8_t number, const stream_options& o)
{
    const stream_id id = d_ctx.new_id();
    stream& s = d_streams
                    .emplace(std::piecewise_construct,
                             std::forward_as_tuple(id),
                             std::forward_as_tuple(d_ctx.config, o))
                    .first->second;
    s.id = id;
    s.p = &p;
    s.life.at = d_ctx.now;
    s.name.number = number;
    p.streams[who][number] = id;
    ++p.stream_count;
    return s;
}

void stream_table::remove(const stream& s, const resting& rest)
{
    peer_state& p = *s.p;
    p.streams[s.name.which()][s.name.number] = 0;
    p.rest[s.name.which()][s.name.number] = rest;
    --p.stream_count;
    d_streams.erase(s.id);
}

std::vector<stream_id> stream_table::ids() const
{
    std::vector<stream_id> all;
    all.reserve(d_streams.size());
    for (const auto& s : d_streams)
        all.push_back(s.first);
    return all;
}

} // namespace gr::hf::slep
