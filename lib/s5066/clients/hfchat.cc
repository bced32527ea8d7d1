/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/clients/hfchat.h"

namespace gr::hf::s5066 {

std::vector<std::vector<uint8_t>> hfchat_u_pdus(const std::string& text, size_t mtu)
{
    std::vector<std::vector<uint8_t>> all;
    if (mtu < 3)
        return all;
    std::vector<uint8_t> line;
    const auto end_line = [&] {
        if (line.empty())
            return;
        line.push_back('\r');
        line.push_back('\n');
        all.push_back(std::move(line));
        line.clear();
    };
    for (const char c : text) {
        const auto octet = static_cast<uint8_t>(c);
        if (c == '\r' || c == '\n') {
            end_line();
            continue;
        }
        if ((octet & 0xc0) == 0x80)
            continue; // rest of a UTF-8 character that has become '?'
        if (line.size() + 2 == mtu)
            end_line();
        line.push_back(octet >= 0x80 ? '?' : octet < ' ' || octet == 0x7f ? ' ' : octet);
    }
    end_line();
    return all;
}

std::optional<std::string> decode_hfchat(const uint8_t* p, size_t n)
{
    if (n < 2 || p[n - 2] != '\r' || p[n - 1] != '\n')
        return std::nullopt;
    std::string text;
    for (size_t k = 0; k + 2 < n; ++k)
        text += p[k] >= ' ' && p[k] <= '~' ? static_cast<char>(p[k]) : '?';
    return text;
}

} // namespace gr::hf::s5066
