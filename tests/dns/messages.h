/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "dns/message.h"

#include <random>
#include <string>

namespace gr::hf::test {

using dns::octets;

inline void add16(octets& v, unsigned x)
{
    v.push_back(uint8_t(x >> 8));
    v.push_back(uint8_t(x));
}
inline void add32(octets& v, uint32_t x)
{
    add16(v, x >> 16);
    add16(v, x & 0xffff);
}
inline void add_name(octets& v, const std::string& name)
{
    for (size_t at = 0; at < name.size();) {
        const size_t dot = std::min(name.find('.', at), name.size());
        v.push_back(uint8_t(dot - at));
        v.insert(v.end(), name.begin() + long(at), name.begin() + long(dot));
        at = dot + 1;
    }
    v.push_back(0);
}

//! A query as a stub resolver sends it.
inline octets ask(const std::string& name,
                  uint16_t type = dns::type_a,
                  uint16_t id = 0x1234,
                  bool edns = false,
                  bool dnssec = false)
{
    octets v;
    add16(v, id);
    add16(v, 0x0100);
    add16(v, 1);
    add32(v, 0);
    add16(v, edns || dnssec);
    add_name(v, name);
    add16(v, type);
    add16(v, 1);
    if (edns || dnssec) {
        v.push_back(0);
        add16(v, 41);
        add16(v, 1400);
        add32(v, dnssec ? 0x8000 : 0);
        add16(v, 0);
    }
    return v;
}

//! A response of a resolver to \p query, with a CNAME ahead of the addresses.
inline octets respond(const octets& query,
                      const std::vector<ip::address>& addresses,
                      uint32_t ttl = 3600,
                      unsigned code = 0)
{
    size_t end = 12;
    while (query[end] != 0)
        end += size_t(1) + query[end];
    end += 5;
    octets v(query.begin(), query.begin() + long(end));
    v[2] = 0x81;
    v[3] = uint8_t(0x80 | code);
    const unsigned count = addresses.empty() ? 0 : unsigned(addresses.size()) + 1;
    v[6] = 0;
    v[7] = uint8_t(count);
    v[8] = v[10] = v[11] = 0;
    v[9] = addresses.empty() ? 1 : 0;
    if (addresses.empty()) {
        add16(v, 0xc00c);
        add16(v, dns::type_soa);
        add16(v, 1);
        add32(v, ttl);
        add16(v, 22);
        add16(v, 0); // MNAME, RNAME: the root
        for (int k = 0; k < 4; ++k)
            add32(v, 1);
        add32(v, 400); // MINIMUM
        return v;
    }
    add16(v, 0xc00c);
    add16(v, 5);
    add16(v, 1);
    add32(v, ttl);
    octets alias;
    add_name(alias, "alias.example.net");
    add16(v, unsigned(alias.size()));
    const unsigned alias_at = unsigned(v.size());
    v.insert(v.end(), alias.begin(), alias.end());
    for (const auto& a : addresses) {
        add16(v, 0xc000 | alias_at);
        add16(v, a.is_v6() ? dns::type_aaaa : dns::type_a);
        add16(v, 1);
        add32(v, ttl / 2);
        add16(v, unsigned(a.size()));
        v.insert(v.end(), a.data(), a.data() + a.size());
    }
    return v;
}

//! Octets of \p from with some of them changed, cut or added.
inline octets damage(const octets& from, std::mt19937& rng)
{
    octets v = from;
    for (unsigned k = 1 + rng() % 4; k > 0 && !v.empty(); --k) {
        const size_t at = rng() % v.size();
        switch (rng() % 4) {
        case 0:
            v[at] = uint8_t(rng());
            break;
        case 1:
            v.resize(at);
            break;
        case 2:
            v.insert(v.begin() + long(at), uint8_t(rng()));
            break;
        default:
            v[at] = rng() % 2 ? 0xc0 : 0xff;
        }
    }
    return v;
}

} // namespace gr::hf::test
