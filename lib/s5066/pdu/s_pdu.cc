/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/pdu/s_pdu.h"

#include "s5066/words/octets.h"

namespace gr::hf::s5066 {

namespace {

// True for types with two SAPs: 0 to 3 and those of EP9. Types 4 to 7 are one octet.
bool names_saps(s_pdu_type t)
{
    return t <= s_pdu_type::hard_link_request || t >= s_pdu_type::data_with_id;
}

bool has_id(s_pdu_type t) { return t >= s_pdu_type::data_with_id; }

bool has_u_pdu(s_pdu_type t)
{
    return t <= s_pdu_type::delivery_fail || t == s_pdu_type::data_with_id;
}

} // namespace

std::vector<uint8_t> encode(const s_pdu& s)
{
    if (s.low > 15 || s.src_sap > 15 || s.dst_sap > 15)
        return {};
    octet_writer w;
    w.u8(static_cast<unsigned>(s.type) << 4 | s.low);
    if (names_saps(s.type))
        w.u8(static_cast<unsigned>(s.src_sap) << 4 | s.dst_sap);
    if (s.is_data()) {
        if (s.ttd && s.ttd->day_mod_16 > 15)
            return {};
        w.u8((s.confirm_required ? 0x80u : 0u) |
             (s.ttd ? 0x40u | s.ttd->day_mod_16 : 0u));
        if (s.ttd)
            w.u16(s.ttd->half_gmt_s);
    }
    if (has_id(s.type))
        w.u32(s.id);
    if (has_u_pdu(s.type))
        w.bytes(s.u_pdu);
    return std::move(w.out());
}

std::optional<s_pdu> decode_s_pdu(const uint8_t* p, size_t n)
{
    octet_reader r(p, n);
    s_pdu s;
    const uint8_t o = r.u8();
    if (o >> 4 > static_cast<uint8_t>(s_pdu_type::compact_confirm))
        return std::nullopt;
    s.type = static_cast<s_pdu_type>(o >> 4);
    s.low = o & 0xf;
    if (names_saps(s.type)) {
        const uint8_t saps = r.u8();
        s.src_sap = saps >> 4;
        s.dst_sap = saps & 0xf;
    }
    if (s.is_data()) {
        const uint8_t f = r.u8();
        s.confirm_required = f & 0x80;
        if (f & 0x40) {
            time_to_die ttd;
            ttd.day_mod_16 = f & 0xf;
            ttd.half_gmt_s = r.u16();
            s.ttd = ttd;
        }
    }
    if (has_id(s.type))
        s.id = r.u32();
    if (has_u_pdu(s.type))
        s.u_pdu = r.rest();
    if (!r.ok())
        return std::nullopt;
    return s;
}

unsigned u_pdu_priority(const uint8_t* p, size_t n)
{
    const auto type = static_cast<s_pdu_type>(n == 0 ? 0xf : p[0] >> 4);
    const bool u_pdu = type == s_pdu_type::data || type == s_pdu_type::data_with_id;
    return u_pdu ? p[0] & 15u : 0;
}

} // namespace gr::hf::s5066
