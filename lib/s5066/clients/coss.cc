/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/clients/coss.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {

constexpr uint8_t five_bits = 0x1f;
// Top bit of the odd octet: the pair holds three characters.
constexpr uint8_t three_in_two = 0x80;

bool all_within(const std::vector<uint8_t>& v, unsigned highest)
{
    return std::all_of(
        v.begin(), v.end(), [=](uint8_t c) { return c <= highest; });
}

} // namespace

std::vector<uint8_t> coss_loose(const std::vector<uint8_t>& characters, unsigned bits)
{
    if (bits < 5 || bits > 8 || !all_within(characters, (1u << bits) - 1))
        return {};
    return characters;
}

std::vector<uint8_t> coss_dense(const std::vector<uint8_t>& c)
{
    if (!all_within(c, five_bits))
        return {};
    std::vector<uint8_t> v;
    size_t k = 0;
    for (; c.size() - k >= 2; k += std::min<size_t>(3, c.size() - k)) {
        const bool third = c.size() - k >= 3;
        v.push_back(static_cast<uint8_t>(c[k] | (c[k + 1] & 7) << 5));
        v.push_back(static_cast<uint8_t>(c[k + 1] >> 3 |
                                         (third ? c[k + 2] << 2 | three_in_two : 0)));
    }
    if (k < c.size())
        v.push_back(c[k]);
    return v;
}

std::optional<std::vector<uint8_t>> decode_coss_dense(const uint8_t* p, size_t n)
{
    std::vector<uint8_t> c;
    for (size_t k = 0; k + 1 < n; k += 2) {
        const uint8_t even = p[k], odd = p[k + 1];
        c.push_back(even & five_bits);
        c.push_back(static_cast<uint8_t>(even >> 5 | (odd & 3) << 3));
        if (odd & three_in_two)
            c.push_back(odd >> 2 & five_bits);
        else if (odd >> 2 != 0)
            return std::nullopt;
    }
    if (n % 2 != 0) {
        if (p[n - 1] > five_bits)
            return std::nullopt;
        c.push_back(p[n - 1]);
    }
    return c;
}

} // namespace gr::hf::s5066
