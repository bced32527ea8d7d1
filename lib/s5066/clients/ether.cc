/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/clients/ether.h"

#include "s5066/pdu/s_primitive.h"
#include "s5066/words/octets.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {
constexpr uint16_t prefix = 0x5066;
} // namespace

std::vector<uint8_t> encode(const ether_frame& f)
{
    if (f.data.size() + 2 > sis_mtu)
        return {};
    octet_writer w;
    w.u16(f.type);
    w.bytes(f.data);
    return std::move(w.out());
}

std::optional<ether_frame> decode_ether(const uint8_t* p, size_t n)
{
    octet_reader r(p, n);
    ether_frame f;
    f.type = r.u16();
    if (!r.ok())
        return std::nullopt;
    f.data = r.rest();
    return f;
}

std::optional<ether_address> to_ether(const address& a, int address_size)
{
    if (address_size < a.half_octets() || address_size > 7)
        return std::nullopt;
    octet_writer w;
    w.u16(prefix);
    w.u32(static_cast<uint32_t>(address_size) << 29 | a.raw());
    ether_address e{};
    std::copy(w.out().begin(), w.out().end(), e.begin());
    return e;
}

std::optional<address> from_ether(const ether_address& e)
{
    octet_reader r(e.data(), e.size());
    if (r.u16() != prefix)
        return std::nullopt;
    const uint32_t field = r.u32();
    const auto size = static_cast<int>(field >> 29);
    const auto a = field & 0x10000000u ? address::group(field) : address::node(field);
    if (size < a.half_octets())
        return std::nullopt;
    return a;
}

} // namespace gr::hf::s5066
