/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/exchange/non_arq_sender.h"

#include <algorithm>
#include <cmath>

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
    const size_t kind = n.kind();
    d_queue.insert(at, std::move(n));
    begun_first(kind);
}

// Where new C_PDUs have to wait, repeats go before them.
void non_arq_sender::begun_first(size_t kind)
{
    if (d_open[kind] < max_open)
        return;
    const auto of_kind = [kind](const entry& e) {
        return e.kind() == kind && e.offset == 0;
    };
    const auto first = std::find_if(d_queue.begin(), d_queue.end(), of_kind);
    std::stable_partition(first,
                          std::find_if_not(first, d_queue.end(), of_kind),
                          [](const entry& e) { return e.begun > 0; });
}

// The last round of \p e is over, or will not be sent.
void non_arq_sender::settle(const entry& e)
{
    d_unsent.remove(*e.o, e.o->c_pdu.size());
    if (e.begun > 0 && e.repeated())
        --d_open[e.kind()];
}

void non_arq_sender::leave_out()
{
    while (!d_queue.empty() && outrun(d_queue.front())) {
        settle(d_queue.front());
        d_queue.pop_front();
    }
}

std::optional<station_time> non_arq_sender::repeat_at() const
{
    const auto first = std::min_element(
        d_later.begin(), d_later.end(), [](const auto& a, const auto& b) {
            return a.again_at < b.again_at;
        });
    return first == d_later.end() ? std::nullopt : std::optional(first->again_at);
}

void non_arq_sender::release(station_time now)
{
    for (auto it = d_later.begin(); it != d_later.end();) {
        if (it->again_at > now) {
            ++it;
            continue;
        }
        queue_again(std::move(*it));
        it = d_later.erase(it);
    }
    leave_out();
}

// Repeats go behind all that waits with their priority, and before what is submitted later.
// So neither starves the other.
void non_arq_sender::queue_again(entry e)
{
    const auto at = std::find_if(d_queue.begin(), d_queue.end(), [&e](const auto& q) {
        const bool later =
            q.expedited != e.expedited ? e.expedited : q.o->priority < e.o->priority;
        return later && q.offset == 0;
    });
    const size_t kind = e.kind();
    d_queue.insert(at, std::move(e));
    begun_first(kind);
}

size_t non_arq_sender::pending_octets(size_t need,
                                      size_t cap,
                                      size_t segment,
                                      size_t overhead,
                                      const next_start& again) const
{
    counts open = d_open;
    for (const auto& n : d_queue) {
        if (need > cap || waits(n, open))
            break;
        open[n.kind()] += n.begun == 0 && n.repeated() ? 1 : 0;
        const size_t size = n.o->c_pdu.size();
        const size_t parts = (size + segment - 1) / segment;
        const unsigned rounds = n.o->expires <= again.on_air ? n.rounds + 1 : 1;
        need += (size + parts * overhead) * rounds;
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

void non_arq_sender::next(size_t octets,
                          station_time air_time,
                          const next_start& again,
                          d_pdu& d)
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
    if (n.begun == 0) {
        n.begun = ++d_begun;
        d_open[n.kind()] += n.repeated() ? 1 : 0;
    }
    const auto from = n.o->c_pdu.begin() + static_cast<std::ptrdiff_t>(n.offset);
    d.segment.assign(from, from + static_cast<std::ptrdiff_t>(octets));
    n.offset += octets;
    if (n.offset < size)
        return;
    entry done = std::move(n);
    d_queue.pop_front();
    done.offset = 0;
    begun_first(done.kind());
    if (done.rounds-- == 0) {
        settle(done);
    } else if (done.over(again.on_air)) {
        queue_again(std::move(done));
    } else {
        done.again_at = again.keyed;
        d_later.push_back(std::move(done));
    }
}

// Moves the C_PDUs of \p from for which \p over is true to \p to.
template <class Over>
void non_arq_sender::drop(std::deque<entry>& from,
                          const Over& over,
                          std::vector<outgoing_ptr>& to)
{
    for (auto it = from.begin(); it != from.end();) {
        if (!over(*it)) {
            ++it;
            continue;
        }
        settle(*it);
        to.push_back(it->o);
        it = from.erase(it);
    }
}

void non_arq_sender::expire_first(station_time now, std::vector<outgoing_ptr>& expired)
{
    leave_out();
    while (!d_queue.empty() && d_queue.front().over(now)) {
        settle(d_queue.front());
        expired.push_back(d_queue.front().o);
        d_queue.pop_front();
        leave_out();
    }
}

void non_arq_sender::expire(station_time now, std::vector<outgoing_ptr>& expired)
{
    const auto over = [now](const entry& e) { return e.over(now); };
    drop(d_queue, over, expired);
    drop(d_later, over, expired);
}

std::vector<outgoing_ptr> non_arq_sender::withdraw()
{
    std::vector<outgoing_ptr> all;
    const auto untouched = [](const entry& e) {
        return e.offset == 0 && e.window_end == station_time::zero();
    };
    drop(d_queue, untouched, all);
    return all;
}

} // namespace gr::hf::s5066
