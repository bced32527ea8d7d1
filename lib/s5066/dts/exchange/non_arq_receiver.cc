/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/exchange/non_arq_receiver.h"

#include <algorithm>
#include <iterator>

namespace gr::hf::s5066 {

namespace {
// True if a is earlier than b; identifications count modulo 4096.
bool earlier(uint16_t a, uint16_t b) { return a != b && ((b - a) & 0xfff) < 2048; }
} // namespace

void non_arq_receiver::take(station_time now,
                            const d_pdu& d,
                            std::vector<non_arq_c_pdu>& out)
{
    const auto& h = d.non_arq;
    const size_t end = size_t(h.offset) + d.segment.size();
    if (h.c_pdu_size == 0 || d.segment.empty() || end > h.c_pdu_size)
        return;
    const key k{
        d.src.raw(), d.dst.raw(), d.type == d_pdu_type::expedited_non_arq_data, h.c_pdu_id
    };
    // The window may be short or zero at the very end. The number is kept for 2 s more,
    // so that a late copy is not delivered as a new C_PDU.
    const station_time deadline = now + from_seconds(eot_unit_s * h.window + 2.0);
    const auto known = std::find_if(d_delivered.begin(),
                                    d_delivered.end(),
                                    [&k](const auto& e) { return e.first == k; });
    if (known != d_delivered.end()) {
        known->second = std::max(known->second, deadline);
        return;
    }
    if (d_entries.find(k) == d_entries.end())
        while (d_entries.size() >= max_entries ||
               (!d_entries.empty() && d_octets + h.c_pdu_size > max_octets))
            evict();
    entry& e = d_entries[k];
    if (e.size != 0 && e.size != h.c_pdu_size)
        return;
    e.size = h.c_pdu_size;
    e.in_order = h.in_order;
    e.deadline = std::max(e.deadline, deadline);
    segment& s = e.segments[h.offset];
    if (!s.ok) {
        d_octets -= s.octets.size();
        e.octets -= s.octets.size();
        s.octets = d.segment;
        s.ok = d.segment_ok;
        d_octets += s.octets.size();
        e.octets += s.octets.size();
    }
    deliver_ready(out);
}

void non_arq_receiver::evict()
{
    const auto it = std::min_element(
        d_entries.begin(), d_entries.end(), [](const auto& a, const auto& b) {
            return a.second.deadline < b.second.deadline;
        });
    d_octets -= it->second.octets;
    d_entries.erase(it);
}

bool non_arq_receiver::complete(const entry& e)
{
    size_t at = 0;
    for (const auto& [offset, s] : e.segments) {
        if (offset > at)
            return false;
        if (s.ok)
            at = std::max(at, offset + s.octets.size());
    }
    return at >= e.size;
}

bool non_arq_receiver::must_wait(const key& k, const entry& e) const
{
    if (!e.in_order)
        return false;
    return std::any_of(d_entries.begin(), d_entries.end(), [&](const auto& other) {
        const auto& [ok, oe] = other;
        return oe.in_order && std::get<0>(ok) == std::get<0>(k) &&
               std::get<1>(ok) == std::get<1>(k) && std::get<2>(ok) == std::get<2>(k) &&
               earlier(std::get<3>(ok), std::get<3>(k));
    });
}

void non_arq_receiver::deliver_ready(std::vector<non_arq_c_pdu>& out)
{
    bool again = true;
    while (again) {
        again = false;
        for (auto it = d_entries.begin(); it != d_entries.end();) {
            if (complete(it->second) && !must_wait(it->first, it->second)) {
                it = deliver(it, out);
                again = true;
            } else {
                ++it;
            }
        }
    }
}

non_arq_c_pdu non_arq_receiver::assemble(const key& k, const entry& e)
{
    non_arq_c_pdu c;
    c.src = address::node(std::get<0>(k));
    const uint32_t dst = std::get<1>(k);
    c.dst = dst & 0x10000000u ? address::group(dst) : address::node(dst);
    c.expedited = std::get<2>(k);
    c.octets.assign(e.size, 0);
    const auto gap = [](size_t from, size_t to) {
        return std::make_pair(static_cast<uint16_t>(from),
                              static_cast<uint16_t>(to - from));
    };
    size_t at = 0;
    for (const auto& [offset, s] : e.segments) {
        if (offset > at)
            c.missing.push_back(gap(at, offset));
        std::copy(s.octets.begin(), s.octets.end(), c.octets.begin() + offset);
        const size_t end = offset + s.octets.size();
        if (!s.ok)
            c.errored.push_back(gap(offset, end));
        at = std::max(at, end);
    }
    if (at < e.size)
        c.missing.push_back(gap(at, e.size));
    return c;
}

non_arq_receiver::place non_arq_receiver::deliver(place at,
                                                  std::vector<non_arq_c_pdu>& out)
{
    const auto& [k, e] = *at;
    out.push_back(assemble(k, e));
    if (d_delivered.size() >= max_delivered)
        d_delivered.pop_front();
    d_delivered.emplace_back(k, e.deadline);
    d_octets -= e.octets;
    return d_entries.erase(at);
}

void non_arq_receiver::expire(station_time now, std::vector<non_arq_c_pdu>& ended)
{
    for (auto it = d_entries.begin(); it != d_entries.end();)
        it = it->second.deadline > now ? std::next(it) : deliver(it, ended);
    const auto over = [now](const auto& e) { return e.second <= now; };
    d_delivered.erase(std::remove_if(d_delivered.begin(), d_delivered.end(), over),
                      d_delivered.end());
    deliver_ready(ended);
}

} // namespace gr::hf::s5066
