/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ip/address.h"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <cstring>
#include <stdexcept>

namespace gr::hf::ip {

address::address(const std::string& text)
{
    const auto a = parse(text);
    if (!a)
        throw std::invalid_argument("IP address \"" + text +
                                    "\": expected a form like 10.66.0.1 or fd00::1");
    *this = *a;
}

address address::v4(const uint8_t* octets)
{
    address a;
    std::copy_n(octets, 4, a.d_octets.begin());
    return a;
}

address address::v6(const uint8_t* octets)
{
    address a;
    a.d_v6 = true;
    std::copy_n(octets, 16, a.d_octets.begin());
    return a;
}

std::optional<address> address::parse(const std::string& text)
{
    uint8_t raw[16];
    if (std::strlen(text.c_str()) != text.size()) // an embedded NUL
        return std::nullopt;
    if (inet_pton(AF_INET, text.c_str(), raw) == 1)
        return v4(raw);
    if (inet_pton(AF_INET6, text.c_str(), raw) == 1)
        return v6(raw);
    return std::nullopt;
}

bool address::is_multicast() const
{
    return d_v6 ? d_octets[0] == 0xff : (d_octets[0] & 0xf0) == 0xe0;
}

bool address::is_link_local() const
{
    return d_v6 ? d_octets[0] == 0xfe && (d_octets[1] & 0xc0) == 0x80
                : d_octets[0] == 169 && d_octets[1] == 254;
}

bool address::is_public() const
{
    static const prefix translated("64:ff9b::/96"), unicast("2000::/3");
    static const prefix special[] = {
        prefix("0.0.0.0/8"),      prefix("10.0.0.0/8"),     prefix("100.64.0.0/10"),
        prefix("127.0.0.0/8"),    prefix("169.254.0.0/16"), prefix("172.16.0.0/12"),
        prefix("192.0.0.0/24"),   prefix("192.0.2.0/24"),   prefix("192.88.99.0/24"),
        prefix("192.168.0.0/16"), prefix("198.18.0.0/15"),  prefix("198.51.100.0/24"),
        prefix("203.0.113.0/24"), prefix("224.0.0.0/3"),    prefix("2001::/23"),
        prefix("2001:db8::/32"),  prefix("2002::/16"),      prefix("3fff::/20"),
    };
    const address a = translated.contains(*this) ? v4(d_octets.data() + 12) : unmapped();
    return (!a.d_v6 || unicast.contains(a)) &&
           std::none_of(std::begin(special), std::end(special), [&a](const prefix& p) {
               return p.contains(a);
           });
}

address address::unmapped() const
{
    constexpr uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
    const bool is = d_v6 && std::equal(mapped, mapped + 12, d_octets.begin());
    return is ? v4(d_octets.data() + 12) : *this;
}

std::string address::to_string() const
{
    char text[INET6_ADDRSTRLEN] = {};
    inet_ntop(d_v6 ? AF_INET6 : AF_INET, d_octets.data(), text, sizeof(text));
    return text;
}

prefix::prefix(const address& a, int length) : d_base(a), d_length(length)
{
    if (length < 0 || length > a.bits())
        throw std::invalid_argument("prefix length " + std::to_string(length) + " of " +
                                    a.to_string() + ": expected 0 to " +
                                    std::to_string(a.bits()));
}

prefix::prefix(const std::string& text)
{
    const size_t slash = text.find('/');
    const auto base = address::parse(text.substr(0, slash));
    int length = base ? base->bits() : 0;
    bool ok = base.has_value();
    if (ok && slash != std::string::npos) {
        const char* end = text.data() + text.size();
        const auto r = std::from_chars(text.data() + slash + 1, end, length);
        ok = r.ec == std::errc() && r.ptr == end && length >= 0 && length <= base->bits();
    }
    if (!ok)
        throw std::invalid_argument("IP prefix \"" + text +
                                    "\": expected a form like 10.66.0.0/16 or fd00::/8");
    d_base = *base;
    d_length = length;
}

bool prefix::contains(const address& a) const
{
    if (a.is_v6() != d_base.is_v6())
        return false;
    const int whole = d_length / 8, rest = d_length % 8;
    if (std::memcmp(a.data(), d_base.data(), static_cast<size_t>(whole)) != 0)
        return false;
    if (rest == 0)
        return true;
    const int mask = 0xff00 >> rest;
    return ((a.data()[whole] ^ d_base.data()[whole]) & mask & 0xff) == 0;
}

std::string prefix::to_string() const
{
    return d_base.to_string() + "/" + std::to_string(d_length);
}

} // namespace gr::hf::ip
