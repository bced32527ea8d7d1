/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/pdu/d_pdu.h"

#include "s5066/pdu/crc.h"
#include "s5066/pdu/eow.h"
#include "s5066/words/octets.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {

constexpr uint8_t sync_0 = 0x90;
constexpr uint8_t sync_1 = 0xeb;
constexpr size_t max_selective = 16;
constexpr size_t max_extended = 23;
// Limit of the header size field h: 31 octets, 6 of them common to all types.
constexpr size_t max_large_ack = 23;
constexpr size_t max_large_data_ack = 19;
// In a continuation: its offset (2) and the octet of zero (1).
constexpr size_t continuation_octets = 3;
constexpr size_t longest_unknown = 25; // h is at most 31

using t = d_pdu_type;

//! Least length of the type-specific part, in octets.
size_t fixed_part(d_pdu_type type)
{
    switch (type) {
    case t::data_only:
    case t::reset:
    case t::expedited_data_only:
        return 3;
    case t::large_data_only:
    case t::large_reset:
        return 4;
    case t::large_ack_only:
        return 2;
    case t::large_data_ack:
        return 6;
    case t::ack_only:
    case t::expedited_ack_only:
    case t::warning:
        return 1;
    case t::data_ack:
        return 4;
    case t::management:
        return 2;
    case t::non_arq_data:
    case t::expedited_non_arq_data:
        return 9;
    default:
        return 0;
    }
}

//! Greatest length of the type-specific part, in octets.
size_t longest_part(d_pdu_type type)
{
    switch (type) {
    case t::ack_only:
    case t::expedited_ack_only:
    case t::data_ack:
        return fixed_part(type) + max_selective;
    case t::large_ack_only:
        return fixed_part(type) + max_large_ack;
    case t::large_data_ack:
        return fixed_part(type) + max_large_data_ack;
    case t::management:
        return fixed_part(type) + max_extended;
    case t::data_only:
    case t::reset:
    case t::large_data_only:
    case t::large_reset:
    case t::expedited_data_only:
    case t::non_arq_data:
    case t::expedited_non_arq_data:
    case t::warning:
        return fixed_part(type);
    default:
        return longest_unknown;
    }
}

// Types 9 to 12 have a meaning only between nodes that agreed on large windows.
bool opaque(d_pdu_type type, bool large) { return is_large(type) && !large; }

size_t part_octets(const d_pdu& d)
{
    if (opaque(d.type, d.large))
        return d.other.size();
    switch (d.type) {
    case t::large_ack_only:
    case t::large_data_ack:
        return fixed_part(d.type) + d.ack.selective.size() +
               (d.ack.from > 0 ? continuation_octets : 0);
    case t::ack_only:
    case t::expedited_ack_only:
    case t::data_ack:
        return fixed_part(d.type) + d.ack.selective.size();
    case t::management:
        return fixed_part(d.type) + d.management.extended.size();
    case t::large_data_only:
    case t::large_reset:
    case t::data_only:
    case t::reset:
    case t::expedited_data_only:
    case t::non_arq_data:
    case t::expedited_non_arq_data:
    case t::warning:
        return fixed_part(d.type);
    default:
        return d.other.size();
    }
}

unsigned bit(bool b, int position) { return b ? 1u << position : 0u; }

//! Writes two addresses of m half octets each as m octets.
void write_addresses(octet_writer& w, uint32_t dst, uint32_t src, unsigned m)
{
    const uint64_t both = uint64_t(dst) << (4 * m) | src;
    for (unsigned i = m; i-- > 0;)
        w.u8(static_cast<unsigned>(both >> (8 * i) & 0xff));
}

void write_arq(octet_writer& w, const arq_header& a, size_t size)
{
    w.u8(bit(a.start, 7) | bit(a.end, 6) | bit(a.in_order, 5) | bit(a.drop, 4) |
         bit(a.uwe, 3) | bit(a.lwe, 2) | static_cast<unsigned>(size >> 8));
    w.u8(size & 0xff);
}

void write_selective(octet_writer& w, const ack_header& a)
{
    if (a.from > 0)
        w.u16(a.from);
    w.bytes(a.selective);
    if (a.from > 0)
        w.u8(0);
}

void write_part(octet_writer& w, const d_pdu& d)
{
    const size_t size = d.segment.size();
    if (opaque(d.type, d.large)) {
        w.bytes(d.other);
        return;
    }
    const auto number = [&w, &d](uint16_t n) { is_large(d.type) ? w.u16(n) : w.u8(n); };
    switch (is_large(d.type) ? small_type(d.type) : d.type) {
    case t::data_only:
        write_arq(w, d.arq, size);
        number(d.arq.fsn);
        break;
    case t::data_ack:
        write_arq(w, d.arq, size);
        number(d.arq.fsn);
        number(d.ack.rx_lwe);
        write_selective(w, d.ack);
        break;
    case t::ack_only:
    case t::expedited_ack_only:
        number(d.ack.rx_lwe);
        write_selective(w, d.ack);
        break;
    case t::reset:
        w.u8(bit(d.reset.full, 3) | bit(d.reset.tx_rqst, 2) | bit(d.reset.rx_cmnd, 1) |
             bit(d.reset.ack, 0));
        number(d.reset.new_rx_lwe);
        w.u8(d.reset.frame_id);
        break;
    case t::expedited_data_only:
        w.u8(bit(d.expedited.start, 7) | bit(d.expedited.end, 6) |
             (d.expedited.c_pdu_id & 0xfu) << 2 | static_cast<unsigned>(size >> 8));
        w.u8(size & 0xff);
        w.u8(d.expedited.fsn);
        break;
    case t::management:
        w.u8(bit(d.management.has_extended, 2) | bit(d.management.valid, 1) |
             bit(d.management.ack, 0));
        w.u8(d.management.frame_id);
        w.bytes(d.management.extended);
        break;
    case t::non_arq_data:
    case t::expedited_non_arq_data:
        w.u8((d.non_arq.c_pdu_id >> 8 & 0xfu) << 4 | bit(d.non_arq.in_order, 3) |
             bit(d.dst.is_group(), 2) | static_cast<unsigned>(size >> 8));
        w.u8(size & 0xff);
        w.u8(d.non_arq.c_pdu_id & 0xff);
        w.u16(d.non_arq.c_pdu_size);
        w.u16(d.non_arq.offset);
        w.u16(d.non_arq.window);
        break;
    case t::warning:
        w.u8((d.warning.received_type & 0xfu) << 4 | (d.warning.reason & 0xfu));
        break;
    default:
        w.bytes(d.other);
    }
}

void read_arq(octet_reader& r, arq_header& a)
{
    const unsigned f = r.u8();
    a.start = f & 0x80;
    a.end = f & 0x40;
    a.in_order = f & 0x20;
    a.drop = f & 0x10;
    a.uwe = f & 0x08;
    a.lwe = f & 0x04;
    r.u8(); // rest of the size
}

void read_selective(octet_reader& r, size_t octets, bool large, ack_header& a)
{
    a.selective = r.bytes(octets);
    auto& s = a.selective;
    if (!large || s.size() <= continuation_octets || s.back() != 0)
        return;
    const auto from = static_cast<uint16_t>(s[0] << 8 | s[1]);
    if (from > 0) {
        a.from = from;
        s.pop_back();
        s.erase(s.begin(), s.begin() + 2);
    }
}

void read_reset(octet_reader& r, reset_header& h)
{
    const unsigned f = r.u8();
    h.full = f & 8;
    h.tx_rqst = f & 4;
    h.rx_cmnd = f & 2;
    h.ack = f & 1;
}

void read_expedited(octet_reader& r, expedited_header& h)
{
    const unsigned f = r.u8();
    h.start = f & 0x80;
    h.end = f & 0x40;
    h.c_pdu_id = f >> 2 & 0xf;
    r.u8();
    h.fsn = r.u8();
}

void read_non_arq(octet_reader& r, non_arq_header& h)
{
    const unsigned f = r.u8();
    h.in_order = f & 8;
    h.group = f & 4;
    r.u8();
    h.c_pdu_id = static_cast<uint16_t>((f >> 4) << 8 | r.u8());
    h.c_pdu_size = r.u16();
    h.offset = r.u16();
    h.window = r.u16();
}

void read_part(octet_reader& r, size_t part, d_pdu& d)
{
    const size_t extra = part - std::min(part, fixed_part(d.type));
    if (opaque(d.type, d.large)) {
        d.other = r.bytes(part);
        return;
    }
    const auto number = [&r, &d]() -> uint16_t {
        return is_large(d.type) ? r.u16() : r.u8();
    };
    switch (is_large(d.type) ? small_type(d.type) : d.type) {
    case t::data_only:
        read_arq(r, d.arq);
        d.arq.fsn = number();
        break;
    case t::data_ack:
        read_arq(r, d.arq);
        d.arq.fsn = number();
        d.ack.rx_lwe = number();
        read_selective(r, extra, d.large, d.ack);
        break;
    case t::ack_only:
    case t::expedited_ack_only:
        d.ack.rx_lwe = number();
        read_selective(r, extra, d.large, d.ack);
        break;
    case t::reset:
        read_reset(r, d.reset);
        d.reset.new_rx_lwe = number();
        d.reset.frame_id = r.u8();
        break;
    case t::expedited_data_only:
        read_expedited(r, d.expedited);
        break;
    case t::management: {
        const unsigned f = r.u8();
        d.management.has_extended = f & 4;
        d.management.valid = f & 2;
        d.management.ack = f & 1;
        d.management.frame_id = r.u8();
        d.management.extended = r.bytes(extra);
        break;
    }
    case t::non_arq_data:
    case t::expedited_non_arq_data:
        read_non_arq(r, d.non_arq);
        break;
    case t::warning: {
        const unsigned f = r.u8();
        d.warning.received_type = f >> 4 & 0xf;
        d.warning.reason = f & 0xf;
        break;
    }
    default:
        d.other = r.bytes(part);
    }
}

//! Size of the segment from a header: 10 bits at the same place in all I frames.
size_t segment_size(const uint8_t* p, size_t m)
{
    return (p[6 + m] & 3u) << 8 | p[7 + m];
}

} // namespace

size_t d_pdu::header_octets() const
{
    return 2 + 4 + address_size + part_octets(*this) + 2;
}

size_t d_pdu::octets() const
{
    const bool segmented = has_segment(type) && !opaque(type, large);
    return header_octets() + (segmented ? segment.size() + 4 : 0);
}

std::vector<uint8_t> encode(const d_pdu& d)
{
    const unsigned m = d.address_size;
    const size_t part = part_octets(d);
    if (m < 1 || m > 7 || d.dst.half_octets() > static_cast<int>(m) ||
        d.src.half_octets() > static_cast<int>(m) ||
        part > (opaque(d.type, d.large) ? longest_unknown : longest_part(d.type)) ||
        d.segment.size() > max_segment || d.eow > 0xfff || d.non_arq.c_pdu_id > 0xfff ||
        (!d.large && std::max({ d.arq.fsn, d.ack.rx_lwe, d.reset.new_rx_lwe }) > 0xff) ||
        (!is_large(d.type) && d.ack.from > 0))
        return {};
    octet_writer w;
    w.u8(sync_0);
    w.u8(sync_1);
    w.u8(static_cast<unsigned>(d.type) << 4 | d.eow >> 8);
    w.u8(d.eow & 0xff);
    w.u8(d.eot);
    w.u8(m << 5 | static_cast<unsigned>(4 + part + 2));
    write_addresses(w, d.dst.bits(), d.src.bits(), m);
    write_part(w, d);
    const uint16_t c = crc16(w.out().data() + 2, w.out().size() - 2);
    w.u8(c & 0xff);
    w.u8(c >> 8);
    if (has_segment(d.type) && !opaque(d.type, d.large)) {
        w.bytes(d.segment);
        const uint32_t s = crc32(d.segment.data(), d.segment.size());
        for (int i = 0; i < 4; ++i)
            w.u8(s >> (8 * i) & 0xff);
    }
    return std::move(w.out());
}

std::optional<d_pdu_extent>
check_header(const uint8_t* p, size_t n, size_t& need, bool large)
{
    need = 0;
    if (n < 6) {
        need = 6;
        return std::nullopt;
    }
    const size_t m = p[5] >> 5;
    const size_t h = p[5] & 0x1f;
    const auto type = static_cast<d_pdu_type>(p[2] >> 4);
    const size_t least = opaque(type, large) ? 0 : fixed_part(type);
    const size_t most = opaque(type, large) ? longest_unknown : longest_part(type);
    if (p[0] != sync_0 || p[1] != sync_1 || m == 0 || h < 6 + least || h > 6 + most)
        return std::nullopt;
    d_pdu_extent e;
    e.header = 2 + h + m;
    if (n < e.header) {
        need = e.header;
        return std::nullopt;
    }
    if (crc16(p + 2, e.header - 2) != 0)
        return std::nullopt;
    const bool segmented = has_segment(type) && !opaque(type, large);
    e.total = e.header + (segmented ? segment_size(p, m) + 4 : 0);
    return e;
}

std::optional<d_pdu> decode_d_pdu(const uint8_t* p, size_t n, bool large)
{
    size_t need = 0;
    const auto e = check_header(p, n, need, large);
    if (!e)
        return std::nullopt;
    d_pdu d;
    d.type = static_cast<d_pdu_type>(p[2] >> 4);
    d.large = large && is_large(d.type);
    d.eow = static_cast<uint16_t>((p[2] & 0xfu) << 8 | p[3]);
    d.eot = p[4];
    const unsigned m = p[5] >> 5;
    d.address_size = static_cast<uint8_t>(m);
    uint64_t both = 0;
    for (unsigned i = 0; i < m; ++i)
        both = both << 8 | p[6 + i];
    const uint32_t mask = m == 7 ? 0x0fffffffu : (1u << (4 * m)) - 1;
    d.src = address::node(static_cast<uint32_t>(both) & mask);
    const auto dst = static_cast<uint32_t>(both >> (4 * m)) & mask;
    octet_reader r(p + 6 + m, e->header - 8 - m);
    read_part(r, e->header - 8 - m, d);
    const bool segmented = has_segment(d.type) && !opaque(d.type, large);
    d.dst = segmented && d.non_arq.group ? address::group(dst) : address::node(dst);
    if (segmented) {
        const size_t size = segment_size(p, m);
        const size_t there = std::min(size, n - e->header);
        d.segment.assign(p + e->header, p + e->header + there);
        d.segment_ok = n >= e->total && crc32(p + e->header, size + 4) == 0;
        if (n >= e->total)
            d.segment_crc.assign(p + e->header + size, p + e->total);
        if (there < size)
            d.segment.resize(size);
    }
    return d;
}

bool carries_data(const d_pdu& d)
{
    switch (d.large ? small_type(d.type) : d.type) {
    case d_pdu_type::data_only:
    case d_pdu_type::data_ack:
    case d_pdu_type::expedited_data_only:
    case d_pdu_type::non_arq_data:
    case d_pdu_type::expedited_non_arq_data:
        return d.segment.size() > 1; // a link control C_PDU has one octet
    default:
        return false;
    }
}

bool carries_arq_data(const d_pdu& d)
{
    const auto type = d.large ? small_type(d.type) : d.type;
    return type == d_pdu_type::data_only || type == d_pdu_type::data_ack;
}

} // namespace gr::hf::s5066
