/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/arq_receiver.h"

#include "s5066/combine.h"

namespace gr::hf::s5066 {

namespace {

// x lies between lo and hi, counted modulo 256 (dts 9.2)
bool in(uint8_t lo, uint8_t x, uint8_t hi)
{
    return static_cast<uint8_t>(x - lo) <= static_cast<uint8_t>(hi - lo);
}

uint8_t u8(int v) { return static_cast<uint8_t>(v); }

} // namespace

void arq_receiver::reset(uint8_t lwe)
{
    d_slots.fill(slot());
    d_lwe = lwe;
    d_uwe = u8(lwe - 1);
    d_advanced = false;
    d_partial.clear();
    d_inside = false;
    d_discard = false;
}

bool arq_receiver::in_sync(const arq_header& h) const
{
    if (h.uwe && !in(d_uwe, h.fsn, u8(d_lwe + 127))) {
        return false;
    }
    if (h.lwe && !in(u8(d_uwe - 127), h.fsn, d_lwe)) {
        return false;
    }
    return in(u8(d_uwe - 127), h.fsn, u8(d_lwe + 127));
}

bool arq_receiver::take(const arq_header& h,
                        const std::vector<uint8_t>& segment,
                        bool ok,
                        std::vector<std::vector<uint8_t>>& delivered)
{
    slot& s = d_slots[h.fsn];
    if ((!ok && !h.drop) || u8(h.fsn - d_lwe) >= 128 || s.have) {
        return false;
    }
    s.have = true;
    s.damaged.clear();
    s.start = h.start;
    s.end = h.end;
    s.in_order = h.in_order;
    s.drop = h.drop;
    s.delivered = false;
    if (!h.drop) {
        s.segment = segment;
    }
    d_advanced = true;
    if (u8(h.fsn - d_lwe) > u8(d_uwe - d_lwe) || u8(d_uwe - d_lwe) >= 128) {
        d_uwe = h.fsn;
    }
    if (h.fsn == d_lwe) {
        move_lwe(delivered);
    } else if (!h.in_order) {
        deliver_early(h.fsn, delivered);
    }
    return true;
}

std::optional<std::vector<uint8_t>>
arq_receiver::repair(const arq_header& h, const std::vector<uint8_t>& octets)
{
    slot& s = d_slots[h.fsn];
    if (u8(h.fsn - d_lwe) >= 128 || s.have) {
        return std::nullopt;
    }
    auto good = combine_copies(s.damaged, octets);
    if (!good) {
        s.damaged = octets;
        return std::nullopt;
    }
    good->resize(good->size() - 4);
    return good;
}

void arq_receiver::move_lwe(std::vector<std::vector<uint8_t>>& delivered)
{
    while (d_slots[d_lwe].have) {
        slot& s = d_slots[d_lwe];
        if (s.start) {
            d_partial.clear();
            d_inside = true;
            d_discard = false;
        }
        d_discard = d_discard || s.drop || s.delivered ||
                    d_partial.size() + s.segment.size() > max_c_pdu;
        if (d_inside && !d_discard) {
            d_partial.insert(d_partial.end(), s.segment.begin(), s.segment.end());
        }
        if (s.end) {
            if (d_inside && !d_discard) {
                delivered.push_back(std::move(d_partial));
            }
            d_partial.clear();
            d_inside = false;
        }
        s = slot();
        ++d_lwe;
    }
}

void arq_receiver::deliver_early(uint8_t fsn,
                                 std::vector<std::vector<uint8_t>>& delivered)
{
    uint8_t first = fsn;
    while (!d_slots[first].start) {
        if (first == d_lwe || !d_slots[u8(first - 1)].have) {
            return;
        }
        --first;
    }
    uint8_t last = fsn;
    while (!d_slots[last].end) {
        if (last == d_uwe || !d_slots[u8(last + 1)].have) {
            return;
        }
        ++last;
    }
    std::vector<uint8_t> c_pdu;
    for (uint8_t i = first;; ++i) {
        slot& s = d_slots[i];
        if (s.drop || s.in_order) {
            return;
        }
        c_pdu.insert(c_pdu.end(), s.segment.begin(), s.segment.end());
        if (i == last) {
            break;
        }
    }
    for (uint8_t i = first;; ++i) {
        d_slots[i].delivered = true;
        d_slots[i].segment.clear();
        if (i == last) {
            break;
        }
    }
    delivered.push_back(std::move(c_pdu));
}

ack_header arq_receiver::ack() const
{
    ack_header a;
    a.rx_lwe = d_lwe;
    const unsigned ahead = u8(d_uwe - d_lwe);
    if (ahead >= 128) {
        return a; // RX UWE is behind: nothing is missing
    }
    a.selective.assign((ahead + 7) / 8, 0);
    for (unsigned i = 1; i <= ahead; ++i) {
        if (d_slots[u8(static_cast<int>(d_lwe + i))].have) {
            a.selective[(i - 1) / 8] |= u8(1 << ((i - 1) % 8));
        }
    }
    return a;
}

} // namespace gr::hf::s5066
