/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/pdu/s_primitive.h"

#include "s5066/words/octets.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {

constexpr uint8_t preamble_0 = 0x90;
constexpr uint8_t preamble_1 = 0xeb;

//! Writes the fields of one primitive; a value that does not fit makes ok() false.
class body_writer
{
public:
    explicit body_writer(int address_size) : d_address_size(address_size) {}
    bool ok() const { return d_ok; }
    std::vector<uint8_t>& out() { return d_w.out(); }

    void operator()(const s_bind_request& p)
    {
        d_w.u8(nibbles(p.sap, p.rank));
        const unsigned s = service_bits(p.service);
        d_w.u8(s >> 4);
        d_w.u8((s & 0xf) << 4);
    }
    void operator()(const s_unbind_request&) {}
    void operator()(const s_bind_accepted& p)
    {
        d_w.u8(nibbles(p.sap, 0));
        d_w.u16(p.mtu);
    }
    void operator()(const s_bind_rejected& p) { d_w.u8(p.reason); }
    void operator()(const s_unbind_indication& p) { d_w.u8(p.reason); }
    void operator()(const s_hard_link_establish& p) { link(p.link); }
    void operator()(const s_hard_link_terminate& p) { addr(p.remote); }
    void operator()(const s_hard_link_established& p) { code_and_link(p.status, p.link); }
    void operator()(const s_hard_link_rejected& p) { code_and_link(p.reason, p.link); }
    void operator()(const s_hard_link_terminated& p) { code_and_link(p.reason, p.link); }
    void operator()(const s_hard_link_indication& p) { code_and_link(p.status, p.link); }
    void operator()(const s_hard_link_accept& p) { link(p.link); }
    void operator()(const s_hard_link_reject& p) { code_and_link(p.reason, p.link); }
    void operator()(const s_subnet_availability& p)
    {
        d_w.u8(p.status);
        d_w.u8(p.reason);
    }
    void operator()(const s_data_flow_on&) {}
    void operator()(const s_data_flow_off&) {}
    void operator()(const s_keep_alive&) {}
    void operator()(const s_management_msg_request& p)
    {
        d_w.u8(p.message_type);
        d_w.bytes(p.body);
    }
    void operator()(const s_management_msg_indication& p)
    {
        d_w.u8(p.message_type);
        d_w.bytes(p.body);
    }
    void operator()(const s_unidata_request& p)
    {
        d_w.u8(nibbles(p.priority, p.dst_sap));
        addr(p.dst);
        const unsigned s = service_bits(p.mode);
        d_ok &= p.ttl <= 0xfffff;
        d_w.u8(s >> 4);
        d_w.u8((s & 0xf) << 4 | (p.ttl >> 16 & 0xf));
        d_w.u16(p.ttl & 0xffff);
        u_pdu(p.u_pdu);
    }
    void operator()(const s_unidata_indication& p)
    {
        d_w.u8(nibbles(p.priority, p.dst_sap));
        addr(p.dst);
        d_w.u8(nibbles(static_cast<uint8_t>(p.mode), p.src_sap));
        addr(p.src);
        d_ok &= p.u_pdu.size() <= 0xffff;
        d_w.u16(static_cast<unsigned>(p.u_pdu.size()));
        if (p.mode == transmission_mode::non_arq_with_errors) {
            blocks(p.errored);
            blocks(p.missing);
        }
        d_w.bytes(p.u_pdu);
    }
    void operator()(const s_unidata_request_confirm& p)
    {
        d_w.u8(nibbles(0, p.dst_sap));
        addr(p.dst);
        u_pdu(p.u_pdu);
    }
    void operator()(const s_unidata_request_rejected& p)
    {
        d_w.u8(nibbles(p.reason, p.dst_sap));
        addr(p.dst);
        u_pdu(p.u_pdu);
    }

private:
    unsigned nibbles(unsigned hi, unsigned lo)
    {
        d_ok &= hi < 16 && lo < 16;
        return (hi & 0xf) << 4 | (lo & 0xf);
    }
    unsigned service_bits(const delivery_mode& m)
    {
        d_ok &= m.retransmissions < 16 && static_cast<unsigned>(m.mode) < 16 &&
                static_cast<unsigned>(m.confirmation) < 4;
        return (static_cast<unsigned>(m.mode) & 0xf) << 8 |
               (static_cast<unsigned>(m.confirmation) & 3) << 6 |
               (static_cast<unsigned>(m.order) & 1) << 5 | (m.extended ? 1u : 0u) << 4 |
               (m.retransmissions & 0xfu);
    }
    void addr(const address& a)
    {
        d_ok &= d_address_size >= 1 && d_address_size <= 7 &&
                a.half_octets() <= d_address_size;
        d_w.u32(static_cast<uint32_t>(d_address_size & 7) << 29 | a.raw());
    }
    void link(const hard_link& l)
    {
        d_ok &= l.type < 4 && l.priority < 4 && l.remote_sap < 16;
        d_w.u8((l.type & 3u) << 6 | (l.priority & 3u) << 4 | (l.remote_sap & 0xfu));
        addr(l.remote);
    }
    void code_and_link(uint8_t code, const hard_link& l)
    {
        d_w.u8(code);
        link(l);
    }
    void u_pdu(const std::vector<uint8_t>& u)
    {
        d_ok &= u.size() <= 0xffff;
        d_w.u16(static_cast<unsigned>(u.size()));
        d_w.bytes(u);
    }
    void blocks(const std::vector<std::pair<uint16_t, uint16_t>>& b)
    {
        d_ok &= b.size() <= 0xffff;
        d_w.u16(static_cast<unsigned>(b.size()));
        for (const auto& [offset, length] : b) {
            d_w.u16(offset);
            d_w.u16(length);
        }
    }

    octet_writer d_w;
    int d_address_size;
    bool d_ok = true;
};

delivery_mode read_service(unsigned bits)
{
    delivery_mode m;
    m.mode = static_cast<transmission_mode>(bits >> 8 & 0xf);
    m.confirmation = static_cast<delivery_confirmation>(bits >> 6 & 3);
    m.order = static_cast<delivery_order>(bits >> 5 & 1);
    m.extended = (bits & 0x10) != 0;
    m.retransmissions = static_cast<uint8_t>(bits & 0xf);
    return m;
}

address read_address(octet_reader& r)
{
    const uint32_t v = r.u32();
    return v & 0x10000000u ? address::group(v) : address::node(v);
}

hard_link read_link(octet_reader& r)
{
    hard_link l;
    const uint8_t o = r.u8();
    l.type = o >> 6;
    l.priority = o >> 4 & 3;
    l.remote_sap = o & 0xf;
    l.remote = read_address(r);
    return l;
}

template <typename P>
P read_code_and_link(octet_reader& r, uint8_t P::*code)
{
    P p;
    p.*code = r.u8();
    p.link = read_link(r);
    return p;
}

//! Reads the last field, whose length must match the octets left.
bool read_u_pdu(octet_reader& r, size_t n, std::vector<uint8_t>& u)
{
    if (!r.ok() || n != r.left())
        return false;
    u = r.bytes(n);
    return true;
}

std::optional<s_primitive> read_unidata_request(octet_reader& r, bool expedited)
{
    s_unidata_request p;
    p.expedited = expedited;
    const uint8_t o = r.u8();
    p.priority = o >> 4;
    p.dst_sap = o & 0xf;
    p.dst = read_address(r);
    const unsigned hi = r.u8();
    const unsigned lo = r.u8();
    p.mode = read_service(hi << 4 | lo >> 4);
    p.ttl = (lo & 0xf) << 16 | r.u16();
    const size_t n = r.u16();
    if (!read_u_pdu(r, n, p.u_pdu))
        return std::nullopt;
    return p;
}

void read_blocks(octet_reader& r, std::vector<std::pair<uint16_t, uint16_t>>& b)
{
    const size_t n = r.u16();
    for (size_t i = 0; i < n && r.ok(); ++i) {
        const uint16_t offset = r.u16();
        b.emplace_back(offset, r.u16());
    }
}

std::optional<s_primitive> read_unidata_indication(octet_reader& r, bool expedited)
{
    s_unidata_indication p;
    p.expedited = expedited;
    uint8_t o = r.u8();
    p.priority = o >> 4;
    p.dst_sap = o & 0xf;
    p.dst = read_address(r);
    o = r.u8();
    p.mode = static_cast<transmission_mode>(o >> 4);
    p.src_sap = o & 0xf;
    p.src = read_address(r);
    const size_t n = r.u16();
    if (p.mode == transmission_mode::non_arq_with_errors) {
        read_blocks(r, p.errored);
        read_blocks(r, p.missing);
    } else if (r.left() == n + 4) {
        r.u32(); // the two empty counts that Edition 1 servers send
    }
    if (!read_u_pdu(r, n, p.u_pdu))
        return std::nullopt;
    return p;
}

template <typename P>
std::optional<P> read_response(octet_reader& r, bool expedited, uint8_t* reason)
{
    P p;
    p.expedited = expedited;
    const uint8_t o = r.u8();
    p.dst_sap = o & 0xf;
    if (reason)
        *reason = o >> 4;
    p.dst = read_address(r);
    const size_t n = r.u16();
    if (!read_u_pdu(r, n, p.u_pdu))
        return std::nullopt;
    return p;
}

s_bind_request read_bind_request(octet_reader& r)
{
    s_bind_request p;
    const uint8_t o = r.u8();
    p.sap = o >> 4;
    p.rank = o & 0xf;
    const unsigned hi = r.u8();
    p.service = read_service(hi << 4 | r.u8() >> 4);
    return p;
}

s_subnet_availability read_availability(octet_reader& r)
{
    s_subnet_availability p;
    p.status = r.u8();
    p.reason = r.u8();
    return p;
}

template <typename P>
P read_message(octet_reader& r)
{
    P p;
    p.message_type = r.u8();
    p.body = r.rest();
    return p;
}

std::optional<s_primitive> read_rejected(octet_reader& r, bool expedited)
{
    uint8_t reason = 0;
    auto p = read_response<s_unidata_request_rejected>(r, expedited, &reason);
    if (p)
        p->reason = reason;
    return p;
}

std::optional<s_primitive> read_body(uint8_t type, octet_reader& r)
{
    switch (type) {
    case 1:
        return read_bind_request(r);
    case 2:
        return s_unbind_request{};
    case 3: {
        s_bind_accepted p;
        p.sap = r.u8() >> 4;
        p.mtu = r.u16();
        return p;
    }
    case 4:
        return s_bind_rejected{ r.u8() };
    case 5:
        return s_unbind_indication{ r.u8() };
    case 6:
        return s_hard_link_establish{ read_link(r) };
    case 7:
        return s_hard_link_terminate{ read_address(r) };
    case 8:
        return read_code_and_link(r, &s_hard_link_established::status);
    case 9:
        return read_code_and_link(r, &s_hard_link_rejected::reason);
    case 10:
        return read_code_and_link(r, &s_hard_link_terminated::reason);
    case 11:
        return read_code_and_link(r, &s_hard_link_indication::status);
    case 12:
        return s_hard_link_accept{ read_link(r) };
    case 13:
        return read_code_and_link(r, &s_hard_link_reject::reason);
    case 14:
        return read_availability(r);
    case 15:
        return s_data_flow_on{};
    case 16:
        return s_data_flow_off{};
    case 17:
        return s_keep_alive{};
    case 18:
        return read_message<s_management_msg_request>(r);
    case 19:
        return read_message<s_management_msg_indication>(r);
    case 20:
    case 24:
        return read_unidata_request(r, type == 24);
    case 21:
    case 25:
        return read_unidata_indication(r, type == 25);
    case 22:
    case 26:
        return read_response<s_unidata_request_confirm>(r, type == 26, nullptr);
    case 23:
    case 27:
        return read_rejected(r, type == 27);
    default:
        return std::nullopt;
    }
}

} // namespace

bool delivery_mode::operator==(const delivery_mode& o) const
{
    return mode == o.mode && confirmation == o.confirmation && order == o.order &&
           extended == o.extended && retransmissions == o.retransmissions;
}

uint8_t primitive_type(const s_primitive& p)
{
    // Alternatives are in the order of their numbers; expedited forms share a type.
    uint8_t type = static_cast<uint8_t>(p.index() + 1);
    std::visit(
        [&type](const auto& v) {
            using T = std::decay_t<decltype(v)>;
            if constexpr (std::is_same_v<T, s_unidata_request> ||
                          std::is_same_v<T, s_unidata_indication> ||
                          std::is_same_v<T, s_unidata_request_confirm> ||
                          std::is_same_v<T, s_unidata_request_rejected>)
                type = static_cast<uint8_t>(type + (v.expedited ? 4 : 0));
        },
        p);
    return type;
}

const char* primitive_name(uint8_t type)
{
    static constexpr const char* names[] = {
        "S_BIND_REQUEST",
        "S_UNBIND_REQUEST",
        "S_BIND_ACCEPTED",
        "S_BIND_REJECTED",
        "S_UNBIND_INDICATION",
        "S_HARD_LINK_ESTABLISH",
        "S_HARD_LINK_TERMINATE",
        "S_HARD_LINK_ESTABLISHED",
        "S_HARD_LINK_REJECTED",
        "S_HARD_LINK_TERMINATED",
        "S_HARD_LINK_INDICATION",
        "S_HARD_LINK_ACCEPT",
        "S_HARD_LINK_REJECT",
        "S_SUBNET_AVAILABILITY",
        "S_DATA_FLOW_ON",
        "S_DATA_FLOW_OFF",
        "S_KEEP_ALIVE",
        "S_MANAGEMENT_MSG_REQUEST",
        "S_MANAGEMENT_MSG_INDICATION",
        "S_UNIDATA_REQUEST",
        "S_UNIDATA_INDICATION",
        "S_UNIDATA_REQUEST_CONFIRM",
        "S_UNIDATA_REQUEST_REJECTED",
        "S_EXPEDITED_UNIDATA_REQUEST",
        "S_EXPEDITED_UNIDATA_INDICATION",
        "S_EXPEDITED_UNIDATA_REQUEST_CONFIRM",
        "S_EXPEDITED_UNIDATA_REQUEST_REJECTED",
    };
    return type >= 1 && type <= 27 ? names[type - 1] : "S_UNKNOWN";
}

std::vector<uint8_t> encode(const s_primitive& p, int address_size)
{
    body_writer w(address_size);
    std::visit(w, p);
    const size_t size = w.out().size() + 1;
    if (!w.ok() || size > 0xffff)
        return {};
    octet_writer f;
    f.u8(preamble_0);
    f.u8(preamble_1);
    f.u8(0);
    f.u16(static_cast<unsigned>(size));
    f.u8(primitive_type(p));
    f.bytes(w.out());
    return std::move(f.out());
}

std::optional<s_primitive> decode_primitive(const uint8_t* p, size_t n)
{
    if (n < sis_header_octets + 1 || p[0] != preamble_0 || p[1] != preamble_1 ||
        p[2] != 0 || n != sis_header_octets + (size_t(p[3]) << 8 | p[4]))
        return std::nullopt;
    octet_reader r(p + sis_header_octets, n - sis_header_octets);
    const uint8_t type = r.u8();
    auto v = read_body(type, r);
    if (!v || !r.ok() || r.left() != 0)
        return std::nullopt;
    return v;
}

} // namespace gr::hf::s5066
