/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/arq/arq_sender.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {
// Copies of one segment in otherwise empty room.
constexpr unsigned max_copies = 3;
// Octets of a data D_PDU besides its segment, with the longest addresses.
constexpr size_t header_octets = 22;
// Shortest segment cut to fill room.
constexpr size_t min_part = 64;
} // namespace

struct arq_sender::c_pdu_fates {
    static void note_missed(std::deque<frame>& frames, const ack_header& a, size_t ahead);
    static size_t end_of(const std::deque<frame>& frames, size_t first);
    static fate of(const std::deque<frame>& frames, size_t first, size_t end);
};

void arq_sender::submit(outgoing_ptr o)
{
    d_unsent.add(*o, o->c_pdu.size());
    d_queue.push(std::move(o));
}

bool arq_sender::holds_below(uint8_t priority) const
{
    return (d_current && d_current->priority < priority) ||
           d_queue.holds_below(priority) ||
           std::any_of(
               d_frames.begin(),
               d_frames.end(),
               [priority](const frame& f) {
                   return !f.acked && f.o->priority < priority;
               });
}

uint8_t arq_sender::next_priority() const
{
    const outgoing* queued = d_queue.front();
    return std::max<uint8_t>(d_current ? d_current->priority : 0,
                             queued ? queued->priority : 0);
}

uint8_t arq_sender::urgency() const
{
    uint8_t highest = next_priority();
    for (const auto& f : d_frames)
        if (!f.acked)
            highest = std::max(highest, f.o->priority);
    return highest;
}

void arq_sender::set_segment(size_t octets, bool equal_parts)
{
    d_segment = std::clamp<size_t>(octets, 1, max_segment);
    d_equal_parts = equal_parts;
}

size_t arq_sender::segment_for(size_t c_pdu) const
{
    if (!d_equal_parts || c_pdu <= d_segment)
        return d_segment;
    const size_t parts = (c_pdu + d_segment - 1) / d_segment;
    return (c_pdu + parts - 1) / parts;
}

void arq_sender::begin_transmission()
{
    for (auto& f : d_frames) {
        f.due = !f.acked;
        f.repeated = true;
        f.in_tx = false;
        f.copies = 0;
    }
    d_copy_at = 0;
    d_due_at = 0;
    d_sent_in_tx = 0;
    d_octets_in_tx = 0;
    // A C_PDU with no room in an earlier transmission has the segment length of that one.
    if (d_current && d_current->cut == 0)
        d_current->segment = segment_for(d_current->c_pdu.size());
}

size_t arq_sender::pending_octets(size_t overhead, size_t limit, bool with_new) const
{
    size_t sum = 0;
    for (const auto& f : d_frames)
        sum += f.due && sum + f.size + overhead <= limit ? f.size + overhead : 0;
    size_t left = with_new && window_open() ? d_window_limit - d_frames.size() : 0;
    size_t octets_left = with_new && window_open() ? d_window_octets - d_in_window : 0;
    // Counts the segments of one C_PDU; false if no more fit.
    const auto add = [&](size_t octets, size_t segment) {
        do {
            const size_t n = std::min(octets, segment);
            if (left == 0 || octets_left == 0)
                return false;
            if (sum + n + overhead > limit) {
                if (d_variable && sum + min_part + overhead <= limit &&
                    sum + n + overhead >= limit + min_part)
                    sum = limit;
                return false;
            }
            sum += n + overhead;
            octets -= n;
            octets_left -= std::min(octets_left, n);
            --left;
        } while (octets > 0);
        return true;
    };
    if (d_current &&
        !add(d_current->dropped ? 0 : d_current->c_pdu.size() - d_current->cut,
             d_current->segment))
        return sum;
    d_queue.while_true([&](const outgoing& o) {
        return add(o.c_pdu.size(), segment_for(o.c_pdu.size()));
    });
    return sum;
}

size_t arq_sender::first_octets(size_t overhead) const
{
    for (const auto& f : d_frames)
        if (f.due)
            return f.size + overhead;
    if (d_current)
        return next_new_size() + overhead;
    const outgoing* next = d_queue.front();
    if (next == nullptr)
        return 0;
    const size_t n = next->c_pdu.size();
    return std::min(n, segment_for(n)) + overhead;
}

size_t arq_sender::next_new_size() const
{
    return d_current->dropped
               ? 0
               : std::min(d_current->segment, d_current->c_pdu.size() - d_current->cut);
}

arq_sender::frame& arq_sender::cut_new(size_t octets)
{
    frame f;
    f.o = d_current;
    f.offset = d_current->cut;
    f.size = octets;
    f.start = d_current->cut == 0;
    d_unsent.remove(*d_current,
                    d_current->dropped ? d_current->c_pdu.size() - d_current->cut
                                       : f.size);
    d_current->cut += f.size;
    f.end = d_current->dropped || d_current->cut == d_current->c_pdu.size();
    ++d_current->in_flight;
    if (f.end) {
        d_current->fully_cut = true;
        d_current.reset();
    }
    d_in_window += f.size;
    ++d_unacknowledged;
    d_frames.push_back(std::move(f));
    return d_frames.back();
}

arq_sender::out arq_sender::give(size_t index, bool repeat)
{
    frame& f = d_frames[index];
    f.due = f.missed = false;
    d_sent_in_tx += f.in_tx ? 0 : 1;
    d_octets_in_tx += f.in_tx ? 0 : f.size + header_octets;
    f.in_tx = true;
    out o;
    o.header.start = f.start;
    o.header.end = f.end;
    o.header.in_order = f.o->mode.order == delivery_order::in_order;
    o.header.drop = f.o->dropped;
    o.header.fsn = d_space.add(d_lwe, static_cast<int>(index));
    o.header.lwe = index == 0;
    o.header.uwe = index + 1 == d_frames.size();
    o.segment = f.o->c_pdu.data() + f.offset;
    o.size = f.o->dropped ? 0 : f.size;
    o.repeat = repeat;
    return o;
}

std::optional<arq_sender::out>
arq_sender::next(size_t room, size_t overhead, bool with_new)
{
    if (room < overhead)
        return std::nullopt;
    while (d_due_at < d_frames.size() && !d_frames[d_due_at].due)
        ++d_due_at;
    for (size_t i = d_due_at; i < d_frames.size(); ++i)
        if (d_frames[i].due && d_frames[i].size + overhead <= room)
            return give(i, true);
    if (!with_new || !window_open())
        return std::nullopt;
    if (!d_current) {
        d_current = d_queue.pop();
        if (!d_current)
            return std::nullopt;
        d_current->segment = segment_for(d_current->c_pdu.size());
    }
    size_t octets = next_new_size();
    if (octets + overhead > room) {
        // The rest after this part must be worth a D_PDU of its own.
        const size_t part = room - overhead;
        if (!d_variable || part < min_part || octets - part < min_part)
            return std::nullopt;
        octets = part;
    }
    cut_new(octets);
    return give(d_frames.size() - 1, false);
}

std::optional<arq_sender::out> arq_sender::copy(size_t room, size_t overhead)
{
    for (const bool repeated : { true, false }) {
        for (size_t n = d_frames.size(); n > 0; --n) {
            const size_t i = d_copy_at++ % d_frames.size();
            frame& f = d_frames[i];
            if (!f.acked && f.in_tx && f.repeated == repeated && f.copies < max_copies &&
                f.size + overhead <= room) {
                ++f.copies;
                return give(i, true);
            }
        }
    }
    return std::nullopt;
}

bool arq_sender::in_sync(const ack_header& a) const
{
    const size_t ahead = d_space.ahead(a.rx_lwe, d_lwe);
    if (ahead > d_frames.size())
        return false;
    for (size_t i = 0; i < 8 * a.selective.size(); ++i) {
        if (a.selective[i / 8] >> (i % 8) & 1) {
            const size_t k = d_space.ahead(a.rx_lwe + 1 + a.from + i, d_lwe);
            if (k < 1 || k >= std::max<size_t>(d_frames.size(), 1))
                return false;
        }
    }
    return true;
}

void arq_sender::settle(const frame& f, std::vector<outgoing_ptr>& done)
{
    if (--f.o->in_flight == 0 && f.o->fully_cut)
        done.push_back(f.o);
}

void arq_sender::mark_acked(frame& f, std::vector<outgoing_ptr>& done, unsigned& n)
{
    if (f.acked)
        return;
    f.acked = true;
    f.due = false;
    --d_unacknowledged;
    ++n;
    if (f.o->mode.order == delivery_order::as_they_arrive)
        settle(f, done);
}

// Marks the segments that the ACK shows as not received. A long ACK is one part of
// several, and shows only its own.
void arq_sender::c_pdu_fates::note_missed(std::deque<frame>& frames,
                                          const ack_header& a,
                                          size_t ahead)
{
    constexpr size_t max_alone = 19; // arq_receiver::acks()
    const bool part = a.from > 0 || a.selective.size() > max_alone;
    const size_t end = part ? ahead + 1 + a.from + 8 * a.selective.size() : SIZE_MAX;
    const size_t begin = a.from > 0 ? ahead + 1 + a.from : ahead;
    for (size_t i = begin; i < std::min(end, frames.size()); ++i)
        frames[i].missed = !frames[i].acked;
}

unsigned arq_sender::acknowledge(const ack_header& a, std::vector<outgoing_ptr>& done)
{
    unsigned n = 0;
    const size_t ahead = d_space.ahead(a.rx_lwe, d_lwe);
    for (size_t i = 0; i < ahead && i < d_frames.size(); ++i)
        mark_acked(d_frames[i], done, n);
    for (size_t i = 0; i < 8 * a.selective.size(); ++i) {
        const size_t k = d_space.ahead(a.rx_lwe + 1 + a.from + i, d_lwe);
        if ((a.selective[i / 8] >> (i % 8) & 1) && k < d_frames.size())
            mark_acked(d_frames[k], done, n);
    }
    c_pdu_fates::note_missed(d_frames, a, ahead);
    // Numbers become free only at the front: the window is counted from TX LWE. Data
    // delivered in order reach the client only then, so they count as done only then.
    // Until then the peer loses them if it restarts or resets its window.
    while (!d_frames.empty() && d_frames.front().acked) {
        if (d_frames.front().o->mode.order == delivery_order::in_order)
            settle(d_frames.front(), done);
        d_in_window -= d_frames.front().size;
        d_frames.pop_front();
        d_lwe = d_space.add(d_lwe, 1);
    }
    d_due_at = 0;
    return n;
}

arq_sender::tally arq_sender::last_transmission() const
{
    tally t;
    t.sent = d_sent_in_tx;
    t.octets = d_octets_in_tx;
    for (const auto& f : d_frames) {
        if (!f.in_tx)
            continue;
        t.lost += f.acked ? 0 : 1;
        t.runs += !f.acked && t.lost_at_end == 0 ? 1 : 0;
        t.lost_at_end = f.acked ? 0 : t.lost_at_end + 1;
    }
    return t;
}

size_t arq_sender::longest_in_flight() const
{
    size_t longest = 0;
    for (const auto& f : d_frames)
        longest = std::max(longest, f.acked || f.o->dropped ? 0 : f.size);
    return longest;
}

void arq_sender::expire(station_time now, std::vector<outgoing_ptr>& expired)
{
    for (auto& o : d_queue.take_late(now)) {
        d_unsent.remove(*o, o->c_pdu.size());
        expired.push_back(std::move(o));
    }
    const auto drop = [&](const outgoing_ptr& o) {
        if (!o->dropped && o->expires <= now) {
            o->dropped = true;
            expired.push_back(o);
        }
    };
    for (size_t i = 0, end = 0; i < d_frames.size(); i = end) {
        end = c_pdu_fates::end_of(d_frames, i);
        const outgoing_ptr o = d_frames[i].o;
        const fate f = c_pdu_fates::of(d_frames, i, end);
        if (f.open && (f.missed || f.again || !o->fully_cut)) {
            o->known.in_doubt |= o->fully_cut && !f.missed;
            drop(o);
        }
    }
    if (d_current)
        drop(d_current);
}

// Index after the last segment of the C_PDU that has this one.
size_t arq_sender::c_pdu_fates::end_of(const std::deque<frame>& frames, size_t first)
{
    size_t end = first;
    while (end < frames.size() && frames[end].o == frames[first].o)
        ++end;
    return end;
}

// What is known of the segments from one index up to another, all of one C_PDU.
arq_sender::fate
arq_sender::c_pdu_fates::of(const std::deque<frame>& frames, size_t first, size_t end)
{
    fate x;
    for (size_t i = first; i < end; ++i) {
        const frame& f = frames[i];
        x.open |= !f.acked;
        x.missed |= !f.acked && f.missed;
        x.again |= !f.acked && f.due;
    }
    return x;
}

bool arq_sender::doubts(station_time now) const
{
    for (size_t i = 0, end = 0; i < d_frames.size(); i = end) {
        end = c_pdu_fates::end_of(d_frames, i);
        const outgoing& o = *d_frames[i].o;
        const fate f = c_pdu_fates::of(d_frames, i, end);
        if (f.open && !f.missed && o.fully_cut && !o.dropped && o.expires <= now)
            return true;
    }
    return false;
}

void arq_sender::set_window(unsigned window, bool large)
{
    d_window_limit = window;
    d_space = fsn_space(large);
    rewind(0);
}

void arq_sender::rewind(uint16_t lwe)
{
    std::vector<outgoing_ptr> again;
    const auto add = [&again](const outgoing_ptr& o) {
        const bool complete = o->fully_cut && o->in_flight == 0;
        if (!complete && !o->dropped && (again.empty() || again.back() != o))
            again.push_back(o);
    };
    for (const auto& f : d_frames)
        add(f.o);
    if (d_current) {
        d_unsent.remove(*d_current, d_current->c_pdu.size() - d_current->cut);
        add(d_current);
    }
    d_current.reset();
    d_frames.clear();
    d_in_window = 0;
    d_unacknowledged = 0;
    d_due_at = 0;
    d_lwe = lwe;
    for (auto it = again.rbegin(); it != again.rend(); ++it) {
        outgoing& o = **it;
        o.known.in_doubt |= o.fully_cut;
        o.cut = 0;
        o.segment = 0;
        o.fully_cut = false;
        o.in_flight = 0;
        d_unsent.add(o, o.c_pdu.size());
        d_queue.push_front(*it);
    }
}

std::vector<outgoing_ptr> arq_sender::take_all()
{
    rewind(0);
    return take_queued();
}

std::vector<outgoing_ptr> arq_sender::take_queued()
{
    std::vector<outgoing_ptr> all = d_queue.take_all();
    for (const auto& o : all)
        d_unsent.remove(*o, o->c_pdu.size());
    return all;
}

} // namespace gr::hf::s5066
