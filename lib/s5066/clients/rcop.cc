/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/clients/rcop.h"

#include "s5066/clients/bftp.h"
#include "s5066/words/octets.h"

#include <algorithm>
#include <stdexcept>

namespace gr::hf::s5066 {

std::vector<uint8_t> encode(const rcop_segment& s)
{
    if (s.connection > 15)
        return {};
    octet_writer w;
    write(w, s);
    w.u16(s.application);
    w.bytes(s.data);
    return std::move(w.out());
}

std::optional<rcop_segment> decode_rcop(const uint8_t* p, size_t n)
{
    octet_reader r(p, n);
    rcop_segment s;
    const bool good = read(r, s);
    s.application = r.u16();
    if (!good || !r.ok())
        return std::nullopt;
    s.data = r.rest();
    return s;
}

std::vector<std::vector<uint8_t>> rcop_segments(uint8_t connection,
                                                uint8_t id,
                                                uint16_t application,
                                                const std::vector<uint8_t>& message,
                                                size_t mtu)
{
    if (connection > 15 || mtu <= rcop_header_octets)
        return {};
    const size_t room = mtu - rcop_header_octets;
    const size_t count = std::max<size_t>((message.size() + room - 1) / room, 1);
    if (count > rcop_max_segments)
        return {};
    std::vector<std::vector<uint8_t>> all;
    all.reserve(count);
    for (size_t k = 0; k < count; ++k) {
        const auto begin = message.begin() + static_cast<std::ptrdiff_t>(k * room);
        const size_t n = std::min(room, message.size() - k * room);
        all.push_back(
            encode(rcop_segment{ { connection, id, static_cast<uint16_t>(k) },
                                 application,
                                 { begin, begin + static_cast<std::ptrdiff_t>(n) } }));
    }
    return all;
}

rcop_assembler::rcop_assembler() : rcop_assembler(config{}, bftp_message_octets) {}

rcop_assembler::rcop_assembler(const config& c, length_function length)
    : d_config(c), d_length(std::move(length))
{
    if (c.max_messages == 0 || c.max_octets == 0 || c.forget_after <= station_time(0))
        throw std::invalid_argument("RCOP: max_messages " +
                                    std::to_string(c.max_messages) + ", max_octets " +
                                    std::to_string(c.max_octets) + ", forget_after " +
                                    std::to_string(to_seconds(c.forget_after)) +
                                    " s: allowed are values above 0");
}

std::optional<rcop_message> rcop_assembler::u_pdu_in(station_time now,
                                                     const address& source,
                                                     uint8_t source_sap,
                                                     const uint8_t* p,
                                                     size_t n)
{
    auto s = decode_rcop(p, n);
    if (!s) {
        ++d_stats.malformed;
        return std::nullopt;
    }
    const key k{ source.raw(), source_sap, s->connection, s->id };
    rcop_message whole{ source, source_sap, s->connection, s->id, s->application, {} };
    const auto it = d_partial.find(k);
    const bool known = it != d_partial.end() && same_message(it->second, *s);
    if (known && it->second.segments.count(s->segment) > 0) {
        ++d_stats.duplicates;
        it->second.touched = now;
        return std::nullopt;
    }
    if (it != d_partial.end() && !known)
        forget(it);
    std::optional<uint64_t> length;
    if (s->segment == 0) {
        length = d_length(s->application, s->data);
        const bool alone = !length || *length == s->data.size();
        const bool bad =
            !alone && (*length > d_config.max_octets || *length < s->data.size());
        if ((alone || bad) && known)
            forget(it); // segments after the end
        if (alone) {
            ++d_stats.messages;
            whole.data = std::move(s->data);
            return whole;
        }
        if (bad) {
            ++d_stats.too_long;
            return std::nullopt;
        }
    }
    if (s->data.empty()) {
        ++d_stats.malformed; // an empty segment never completes a message
        return std::nullopt;
    }
    const auto to = add(now, k, std::move(*s), length);
    const partial& m = to->second;
    if (m.octets > m.length.value_or(d_config.max_octets)) {
        ++d_stats.too_long;
        erase(to);
        return std::nullopt;
    }
    if (m.length && m.in_order == *m.length) {
        ++d_stats.messages;
        whole.data.reserve(m.octets);
        for (const auto& [number, data] : m.segments)
            whole.data.insert(whole.data.end(), data.begin(), data.end());
        erase(to);
        return whole;
    }
    make_room(now, k);
    return std::nullopt;
}

bool rcop_assembler::same_message(const partial& m, const rcop_segment& s)
{
    const auto old = m.segments.find(s.segment);
    return m.application == s.application &&
           (old == m.segments.end() || old->second == s.data);
}

rcop_assembler::messages::iterator rcop_assembler::add(station_time now,
                                                       const key& k,
                                                       rcop_segment s,
                                                       std::optional<uint64_t> length)
{
    const auto it = d_partial.try_emplace(k).first;
    partial& m = it->second;
    m.application = s.application;
    m.touched = now;
    if (length)
        m.length = length;
    m.octets += s.data.size();
    d_octets += s.data.size();
    m.segments.emplace(s.segment, std::move(s.data));
    for (auto next = m.segments.find(static_cast<uint16_t>(m.next));
         next != m.segments.end() && next->first == m.next;
         ++next) {
        m.in_order += next->second.size();
        ++m.next;
    }
    return it;
}

void rcop_assembler::erase(messages::iterator it)
{
    d_octets -= it->second.octets;
    d_partial.erase(it);
}

void rcop_assembler::forget(messages::iterator it)
{
    ++d_stats.forgotten;
    erase(it);
}

void rcop_assembler::make_room(station_time now, const key& keep)
{
    for (;;) {
        auto oldest = d_partial.end();
        for (auto it = d_partial.begin(); it != d_partial.end(); ++it)
            if (it->first != keep && (oldest == d_partial.end() ||
                                      it->second.touched < oldest->second.touched))
                oldest = it;
        if (oldest == d_partial.end())
            return;
        if (d_partial.size() <= d_config.max_messages &&
            d_octets <= d_config.max_octets &&
            now - oldest->second.touched < d_config.forget_after)
            return;
        forget(oldest);
    }
}

} // namespace gr::hf::s5066
