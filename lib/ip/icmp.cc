/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ip/packet.h"

#include "s5066/words/octets.h"

#include <algorithm>

namespace gr::hf::ip {

namespace {

// Limits of error messages: RFC 1812 4.3.2.3 and RFC 4443 2.4.
constexpr size_t v4_max = 576, v6_max = 1280;
constexpr size_t v4_header = 20, v6_header = 40, icmp_header = 8;
constexpr uint8_t hops = 64;

struct type_code {
    uint8_t type, code;
};

type_code numbers(icmp_error e, bool v6)
{
    switch (e) {
    case icmp_error::net_unreachable:
        return v6 ? type_code{ 1, 0 } : type_code{ 3, 0 };
    case icmp_error::port_unreachable:
        return v6 ? type_code{ 1, 4 } : type_code{ 3, 3 };
    case icmp_error::too_big:
        return v6 ? type_code{ 2, 0 } : type_code{ 3, 4 };
    case icmp_error::time_exceeded:
        break;
    }
    return v6 ? type_code{ 3, 0 } : type_code{ 11, 0 };
}

bool is_error_message(const packet_view& v)
{
    if (v.protocol == proto_icmp6)
        return v.icmp_type >= 0 && v.icmp_type < 128;
    if (v.protocol != proto_icmp)
        return false;
    const int t = v.icmp_type;
    return t == 3 || t == 4 || t == 5 || t == 11 || t == 12;
}

bool may_answer(const packet_view& v)
{
    const bool unspecified = std::all_of(
        v.src.data(), v.src.data() + v.src.size(), [](uint8_t o) { return o == 0; });
    return !is_error_message(v) && !v.later_fragment && !unspecified &&
           !v.src.is_multicast() && !v.dst.is_multicast() &&
           v.src != address("255.255.255.255") && v.dst != address("255.255.255.255");
}

void set_checksum(octets& d, size_t at, uint32_t sum)
{
    const uint16_t c = checksum_fold(sum);
    d[at] = static_cast<uint8_t>(c >> 8);
    d[at + 1] = static_cast<uint8_t>(c);
}

} // namespace

std::optional<octets>
make_icmp_error(icmp_error e, const packet_view& about, const address& from, size_t mtu)
{
    const bool v6 = about.version == 6;
    if (from.is_v6() != v6 || !may_answer(about))
        return std::nullopt;
    const size_t header = v6 ? v6_header : v4_header;
    const size_t quoted =
        std::min(about.size, (v6 ? v6_max : v4_max) - header - icmp_header);
    const type_code tc = numbers(e, v6);
    const auto mtu_value = static_cast<uint32_t>(e == icmp_error::too_big ? mtu : 0);
    const size_t message = icmp_header + quoted;

    s5066::octet_writer w;
    if (v6) {
        w.u32(0x60000000u);
        w.u16(static_cast<unsigned>(message));
        w.u8(proto_icmp6);
        w.u8(hops);
    } else {
        w.u16(0x4500);
        w.u16(static_cast<unsigned>(header + message));
        w.u32(0); // identification, no fragment
        w.u8(hops);
        w.u8(proto_icmp);
        w.u16(0);
    }
    w.bytes(from.data(), from.size());
    w.bytes(about.src.data(), about.src.size());
    w.u8(tc.type);
    w.u8(tc.code);
    w.u16(0);
    // RFC 1191 has 16 unused bits and a 16-bit MTU, RFC 4443 a 32-bit MTU.
    w.u32(mtu_value);
    w.bytes(about.data, quoted);

    octets d = std::move(w.out());
    uint32_t sum = 0;
    if (v6) {
        // Pseudo header (RFC 8200 8.1): both addresses, length, next header.
        sum = checksum_add(0, &d[8], 32) + static_cast<uint32_t>(message) + proto_icmp6;
    } else {
        set_checksum(d, 10, checksum_add(0, d.data(), header));
    }
    set_checksum(d, header + 2, checksum_add(sum, &d[header], message));
    return d;
}

} // namespace gr::hf::ip
