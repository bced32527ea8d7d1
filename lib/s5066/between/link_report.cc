/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/between/link_report.h"

#include "s5066/words/octets.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {

// The mark tells our messages from those of other makers.
constexpr uint8_t message_type = 'L', greeting_type = 'G', withdrawal_type = 'W';
constexpr uint16_t mark = 0x4846; // HF
constexpr size_t body_octets = 9;
constexpr uint16_t never = 0xffff;

} // namespace

s_management_msg_indication greeting()
{
    octet_writer w;
    w.u16(mark);
    return { greeting_type, std::move(w.out()) };
}

bool is_greeting(const s_management_msg_indication& m)
{
    return m.message_type == greeting_type && m.body == greeting().body;
}

s_management_msg_request encode(const withdrawal& x)
{
    octet_writer w;
    w.u16(mark);
    w.u32(x.dst.raw());
    w.u8(x.dst_sap);
    for (const auto& head : x.heads) {
        const size_t n = std::min<size_t>(head.size(), 255);
        w.u8(static_cast<unsigned>(n));
        w.bytes(head.data(), n);
    }
    return { withdrawal_type, std::move(w.out()) };
}

std::optional<withdrawal> decode_withdrawal(const s_management_msg_request& m)
{
    octet_reader r(m.body.data(), m.body.size());
    if (m.message_type != withdrawal_type || r.u16() != mark)
        return std::nullopt;
    withdrawal x;
    x.dst = address::node(r.u32());
    x.dst_sap = r.u8();
    while (r.ok() && r.left() > 0)
        x.heads.push_back(r.bytes(r.u8()));
    return r.ok() ? std::optional(std::move(x)) : std::nullopt;
}

s_management_msg_indication encode(const link_report& r)
{
    octet_writer w;
    w.u16(mark);
    w.u32(r.node.raw());
    w.u8(std::min(r.unanswered, 255u));
    w.u16(r.silent_for
              ? static_cast<unsigned>(std::clamp<int64_t>(
                    static_cast<int64_t>(to_seconds(*r.silent_for)), 0, never - 1))
              : never);
    return { message_type, std::move(w.out()) };
}

std::optional<link_report> decode_link_report(const s_management_msg_indication& m)
{
    octet_reader r(m.body.data(), m.body.size());
    if (m.message_type != message_type || m.body.size() != body_octets || r.u16() != mark)
        return std::nullopt;
    link_report l;
    l.node = address::node(r.u32());
    l.unanswered = r.u8();
    const uint16_t silent_s = r.u16();
    if (silent_s != never)
        l.silent_for = std::chrono::seconds(silent_s);
    return l;
}

} // namespace gr::hf::s5066
