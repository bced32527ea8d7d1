/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ip/packet.h"

#include <algorithm>
#include <string>

namespace gr::hf::test {

using octets = std::vector<uint8_t>;

inline void put16(octets& v, size_t at, unsigned x)
{
    v[at] = uint8_t(x >> 8);
    v[at + 1] = uint8_t(x);
}

struct made {
    std::string src = "10.66.0.1", dst = "10.66.0.2";
    uint8_t protocol = ip::proto_udp;
    uint8_t tos = 0, hops = 64;
    bool dont_fragment = false;
    uint16_t id = 1;
    octets upper = octets(8); // UDP header, filled in by ports()
    made& ports(uint16_t from, uint16_t to, const octets& payload = {})
    {
        upper.assign(8, 0);
        put16(upper, 0, from);
        put16(upper, 2, to);
        put16(upper, 4, unsigned(8 + payload.size()));
        upper.insert(upper.end(), payload.begin(), payload.end());
        return *this;
    }
    made& echo(uint8_t type, uint16_t ident, uint16_t seq, size_t size = 56)
    {
        upper.assign(8 + size, 0);
        upper[0] = type;
        put16(upper, 4, ident);
        put16(upper, 6, seq);
        return *this;
    }
    //! The datagram, IPv4 or IPv6 by the address.
    octets packet() const
    {
        const ip::address a(src), b(dst);
        octets v;
        if (a.is_v6()) {
            v.assign(40, 0);
            v[0] = uint8_t(0x60 | tos >> 4);
            v[1] = uint8_t(tos << 4);
            put16(v, 4, unsigned(upper.size()));
            v[6] = protocol;
            v[7] = hops;
            std::copy_n(a.data(), 16, v.begin() + 8);
            std::copy_n(b.data(), 16, v.begin() + 24);
        } else {
            v.assign(20, 0);
            v[0] = 0x45;
            v[1] = tos;
            put16(v, 2, unsigned(20 + upper.size()));
            put16(v, 4, id);
            v[6] = dont_fragment ? 0x40 : 0;
            v[8] = hops;
            v[9] = protocol;
            std::copy_n(a.data(), 4, v.begin() + 12);
            std::copy_n(b.data(), 4, v.begin() + 16);
            put16(v, 10, ip::checksum_fold(ip::checksum_add(0, v.data(), 20)));
        }
        v.insert(v.end(), upper.begin(), upper.end());
        return v;
    }
};

inline made udp(uint16_t from, uint16_t to, const octets& payload = octets(20))
{
    made m;
    m.ports(from, to, payload);
    return m;
}

//! TCP or UDP or ICMPv6 checksum over pseudo header; 0 means right.
inline uint16_t upper_checksum(const octets& v)
{
    const auto p = ip::read_packet(v.data(), v.size());
    uint32_t sum = ip::checksum_add(0, p->src.data(), p->src.size());
    sum = ip::checksum_add(sum, p->dst.data(), p->dst.size());
    sum += uint32_t(v.size() - p->upper) + p->protocol;
    return ip::checksum_fold(ip::checksum_add(sum, &v[p->upper], v.size() - p->upper));
}

} // namespace gr::hf::test
