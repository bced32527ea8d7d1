/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/arq/c_pdu_queue.h"

#include <algorithm>

namespace gr::hf::s5066 {

void c_pdu_queue::push(outgoing_ptr o)
{
    ++d_count;
    d_turns[o->priority & 15].take(*o);
    auto& q = d_queue[o->priority & 15];
    const auto earlier = [](const outgoing_ptr& a, const outgoing_ptr& b) {
        return a->turn < b->turn;
    };
    q.insert(std::upper_bound(q.begin(), q.end(), o, earlier), o);
}

void c_pdu_queue::push_front(outgoing_ptr o)
{
    ++d_count;
    auto& q = d_queue[o->priority & 15];
    q.push_front(std::move(o));
}

const outgoing* c_pdu_queue::front() const
{
    const outgoing* first = nullptr;
    while_true([&first](const outgoing& o) {
        first = &o;
        return false;
    });
    return first;
}

outgoing_ptr c_pdu_queue::pop()
{
    for (size_t p = d_queue.size(); p-- > 0;) {
        if (!d_queue[p].empty()) {
            outgoing_ptr o = std::move(d_queue[p].front());
            d_queue[p].pop_front();
            d_turns[p].serve(*o);
            --d_count;
            return o;
        }
    }
    return nullptr;
}

bool c_pdu_queue::holds_below(uint8_t priority) const
{
    const auto end = d_queue.begin() + std::min<long>(priority, 16);
    return std::any_of(d_queue.begin(), end, [](const auto& q) { return !q.empty(); });
}

void c_pdu_queue::add_waiting(queue_states& all) const
{
    while_true([&all](const outgoing& o) {
        all.add(o);
        return true;
    });
}

std::vector<outgoing_ptr> c_pdu_queue::take_late(station_time now)
{
    std::vector<outgoing_ptr> late;
    if (empty())
        return late;
    for (auto& q : d_queue) {
        const auto is_late = [now](const outgoing_ptr& o) { return o->expires <= now; };
        std::copy_if(q.begin(), q.end(), std::back_inserter(late), is_late);
        q.erase(std::remove_if(q.begin(), q.end(), is_late), q.end());
    }
    d_count -= late.size();
    return late;
}

std::vector<outgoing_ptr> c_pdu_queue::take_all()
{
    std::vector<outgoing_ptr> all;
    for (auto q = d_queue.rbegin(); q != d_queue.rend(); ++q) {
        std::move(q->begin(), q->end(), std::back_inserter(all));
        q->clear();
    }
    d_count = 0;
    return all;
}

} // namespace gr::hf::s5066
