/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/words/address.h"

#include <stdexcept>

namespace gr::hf::s5066 {

std::optional<address> address::parse(const std::string& text)
{
    uint32_t raw = 0;
    size_t i = 0;
    for (int part = 0; part < 4; ++part) {
        if (part > 0 && (i >= text.size() || text[i++] != '.'))
            return std::nullopt;
        uint32_t v = 0;
        size_t digits = 0;
        while (i < text.size() && text[i] >= '0' && text[i] <= '9' && digits < 4) {
            v = v * 10 + static_cast<uint32_t>(text[i++] - '0');
            ++digits;
        }
        if (digits == 0 || digits > 3 || v > (part == 0 ? 31u : 255u))
            return std::nullopt;
        raw = raw << 8 | v;
    }
    if (i != text.size())
        return std::nullopt;
    return address(raw);
}

address::address(const std::string& text)
{
    const auto a = parse(text);
    if (!a) {
        throw std::invalid_argument(
            "STANAG 5066 address '" + text +
            "': must be w.x.y.z with w 0 to 15 (node) or 16 to 31 "
            "(group) and x, y, z 0 to 255");
    }
    d_raw = a->d_raw;
}

int address::half_octets() const
{
    int n = 1;
    while (n < 7 && bits() >> (4 * n) != 0)
        ++n;
    return n;
}

std::string address::to_string() const
{
    return std::to_string(d_raw >> 24) + '.' + std::to_string(d_raw >> 16 & 0xff) + '.' +
           std::to_string(d_raw >> 8 & 0xff) + '.' + std::to_string(d_raw & 0xff);
}

} // namespace gr::hf::s5066
