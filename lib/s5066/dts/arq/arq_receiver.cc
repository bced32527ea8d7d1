/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/arq/arq_receiver.h"

#include "s5066/dts/arq/combine.h"
#include "s5066/pdu/crc.h"

#include <algorithm>

namespace gr::hf::s5066 {

void arq_receiver::reset(uint16_t lwe)
{
    d_slots.clear();
    d_past.clear();
    d_held = 0;
    d_lwe = lwe;
    d_uwe = d_space.add(lwe, -1);
    d_advanced = false;
    d_partial.clear();
    d_inside = false;
    d_discard = false;
    same_numbering();
}

void arq_receiver::begin_reception()
{
    ++d_reception;
    d_doubts = d_doubted ? d_doubts + 1 : 0;
    d_doubted = false;
    d_same = d_doubts >= max_doubts;
    d_last.end_bit = 0;
    d_unproven.clear();
}

void arq_receiver::same_numbering()
{
    d_same = true;
    d_doubted = false;
    d_unproven.clear();
}

void arq_receiver::restart()
{
    const auto taken = std::move(d_unproven);
    reset();
    for (const unproven& u : taken) {
        arq_header h = u.h;
        // Delivered once, on the link before: it counts as received only.
        h.drop = h.drop || u.delivered;
        take(h, u.segment, true, d_ready);
    }
}

// Numbers first to last make a C_PDU that was delivered.
void arq_receiver::note_delivered(uint16_t first, uint16_t last)
{
    const unsigned length = d_space.ahead(last, first);
    for (unproven& u : d_unproven)
        u.delivered = u.delivered || d_space.ahead(u.h.fsn, first) <= length;
}

void arq_receiver::took_place(const arq_header& h, uint64_t begin_bit, uint64_t end_bit)
{
    const unsigned skipped = d_space.ahead(h.fsn, d_last.fsn) - 1u;
    if (d_last.end_bit > 0 && begin_bit == d_last.end_bit && skipped > 0 &&
        skipped < d_space.half()) {
        bool all = true;
        for (unsigned k = 1; k <= skipped && all; ++k) {
            const size_t at = d_space.ahead(d_last.fsn + k, d_lwe);
            all = at >= d_space.half() || have(at);
        }
        if (all)
            same_numbering();
    }
    d_last.fsn = h.fsn;
    d_last.end_bit = end_bit;
}

bool arq_receiver::may_join(const arq_header& h)
{
    const size_t at = d_space.ahead(h.fsn, d_lwe);
    const bool before = !h.start && (at == 0 ? d_inside && d_partial_from != d_reception
                                             : of_earlier_reception(at - 1));
    const bool joins = before || (!h.end && of_earlier_reception(at + 1));
    const bool doubtful = !d_same && joins && !have(at);
    d_doubted = d_doubted || doubtful;
    return !doubtful;
}

uint32_t arq_receiver::digest(const arq_header& h, const std::vector<uint8_t>& segment)
{
    if (h.drop || segment.empty())
        return 0; // dropped, or an empty request for an ACK
    const uint32_t crc = crc32(segment.data(), segment.size());
    return (crc ^ (h.start ? 1u : 0u) ^ (h.end ? 2u : 0u)) | 4u;
}

bool arq_receiver::contradicts(const arq_header& h,
                               const std::vector<uint8_t>& segment) const
{
    const size_t ahead = d_space.ahead(h.fsn, d_lwe);
    const size_t behind = d_space.ahead(d_lwe, h.fsn); // 1: the last one before RX LWE
    uint32_t before = 0;
    if (ahead < d_space.half())
        before = have(ahead) ? d_slots[ahead].digest : 0;
    else if (behind <= d_past.size())
        before = d_past[behind - 1];
    const uint32_t now = digest(h, segment);
    return before != 0 && now != 0 && before != now;
}

bool arq_receiver::in_sync(const arq_header& h) const
{
    const int reach = static_cast<int>(d_space.half()) - 1;
    const auto lowest = d_space.add(d_uwe, -reach);
    const auto highest = d_space.add(d_lwe, reach);
    if (h.uwe && !d_space.in(d_uwe, h.fsn, highest))
        return false;
    if (h.lwe && !d_space.in(lowest, h.fsn, d_lwe))
        return false;
    return d_space.in(lowest, h.fsn, highest);
}

bool arq_receiver::room_for(size_t at, size_t octets) const
{
    return at == 0 || !d_space.large() || d_held + octets <= max_held_octets;
}

bool arq_receiver::take(const arq_header& h,
                        const std::vector<uint8_t>& segment,
                        bool ok,
                        std::vector<std::vector<uint8_t>>& delivered)
{
    const size_t at = d_space.ahead(h.fsn, d_lwe);
    if ((!ok && !h.drop) || at >= d_space.half() || have(at) ||
        !room_for(at, segment.size()))
        return false;
    if (at >= d_slots.size())
        d_slots.resize(at + 1);
    slot& s = d_slots[at];
    s.have = true;
    d_held -= s.damaged.size();
    s.damaged.clear();
    s.start = h.start;
    s.end = h.end;
    s.drop = h.drop;
    s.delivered = false;
    s.reception = d_reception;
    s.digest = digest(h, segment);
    if (!h.drop) {
        s.segment = segment;
        d_held += segment.size();
    }
    if (!d_same)
        d_unproven.push_back({ h, segment, false });
    d_advanced = true;
    const unsigned furthest = d_space.ahead(d_uwe, d_lwe);
    if (at > furthest || furthest >= d_space.half())
        d_uwe = h.fsn;
    if (at == 0)
        move_lwe(delivered);
    else if (!h.in_order)
        deliver_early(at, delivered);
    return true;
}

bool arq_receiver::wants(const arq_header& h, size_t octets) const
{
    const size_t at = d_space.ahead(h.fsn, d_lwe);
    return at < d_space.half() && !have(at) && room_for(at, octets);
}

std::optional<std::vector<uint8_t>>
arq_receiver::repair(const arq_header& h, const std::vector<uint8_t>& octets)
{
    const size_t at = d_space.ahead(h.fsn, d_lwe);
    if (!wants(h, octets.size()))
        return std::nullopt;
    if (at >= d_slots.size())
        d_slots.resize(at + 1);
    slot& s = d_slots[at];
    auto good = combine_copies(s.damaged, octets);
    if (!good) {
        d_held += octets.size() - s.damaged.size();
        s.damaged = octets;
        return std::nullopt;
    }
    good->resize(good->size() - 4);
    return good;
}

void arq_receiver::move_lwe(std::vector<std::vector<uint8_t>>& delivered)
{
    while (have(0)) {
        slot& s = d_slots.front();
        if (s.start) {
            d_partial.clear();
            d_partial_begin = d_lwe;
            d_inside = true;
            d_discard = false;
        }
        d_discard = d_discard || s.drop || s.delivered ||
                    d_partial.size() + s.segment.size() > max_c_pdu;
        if (d_inside && !d_discard) {
            d_partial.insert(d_partial.end(), s.segment.begin(), s.segment.end());
            d_partial_from = s.reception;
        }
        if (s.end) {
            if (d_inside && !d_discard) {
                delivered.push_back(std::move(d_partial));
                note_delivered(d_partial_begin, d_lwe);
            }
            d_partial.clear();
            d_inside = false;
        }
        d_held -= s.segment.size() + s.damaged.size();
        d_past.push_front(s.digest);
        if (d_past.size() > std::min<size_t>(max_past, d_space.half() - 1))
            d_past.pop_back();
        d_slots.pop_front();
        d_lwe = d_space.add(d_lwe, 1);
    }
}

void arq_receiver::deliver_early(size_t at, std::vector<std::vector<uint8_t>>& delivered)
{
    size_t first = at;
    while (!d_slots[first].start) {
        if (first == 0 || !have(first - 1))
            return;
        --first;
    }
    size_t last = at;
    while (!d_slots[last].end) {
        if (!have(last + 1))
            return;
        ++last;
    }
    std::vector<uint8_t> c_pdu;
    for (size_t i = first; i <= last; ++i) {
        const slot& s = d_slots[i];
        if (s.drop)
            return;
        c_pdu.insert(c_pdu.end(), s.segment.begin(), s.segment.end());
    }
    for (size_t i = first; i <= last; ++i) {
        d_slots[i].delivered = true;
        d_held -= d_slots[i].segment.size();
        d_slots[i].segment.clear();
    }
    delivered.push_back(std::move(c_pdu));
    note_delivered(d_space.add(d_lwe, static_cast<int>(first)),
                   d_space.add(d_lwe, static_cast<int>(last)));
}

unsigned arq_receiver::missing() const
{
    const unsigned ahead = d_space.ahead(d_uwe, d_lwe);
    // RX UWE is before RX LWE: nothing is missing.
    return ahead >= d_space.half() ? 0 : ahead;
}

std::vector<uint8_t> arq_receiver::selective(unsigned from, size_t octets) const
{
    std::vector<uint8_t> bits;
    const unsigned ahead = missing();
    if (from >= ahead)
        return bits;
    const size_t n = std::min<size_t>(ahead - from, 8 * octets);
    bits.assign((n + 7) / 8, 0);
    for (size_t i = 0; i < n; ++i)
        if (have(from + i + 1))
            bits[i / 8] = static_cast<uint8_t>(bits[i / 8] | 1u << (i % 8));
    while (!bits.empty() && bits.back() == 0)
        bits.pop_back(); // trailing zeros: the bitmap ends before RX UWE
    return bits;
}

ack_header arq_receiver::ack() const
{
    return { d_lwe,
             selective(0, d_space.large() ? max_selective_large : max_selective_small) };
}

std::vector<ack_header> arq_receiver::acks() const
{
    if (missing() <= 8 * (d_space.large() ? max_selective_large : max_selective_small))
        return { ack() };
    std::vector<ack_header> all = { { d_lwe, selective(0, max_selective_alone) } };
    for (unsigned at = 8 * max_selective_alone; at < missing();
         at += 8 * max_continuation) {
        ack_header more{ d_lwe,
                         selective(at, max_continuation),
                         static_cast<uint16_t>(at) };
        if (!more.selective.empty())
            all.push_back(std::move(more));
    }
    return all;
}

} // namespace gr::hf::s5066
