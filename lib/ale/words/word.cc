/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/words/word.h"

#include <cstdio>

namespace gr::hf::ale {

namespace {

const std::array<const char*, 8> names{ "DATA", "THRU", "TO",  "TWAS",
                                        "FROM", "TIS",  "CMD", "REP" };

std::optional<int> hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return std::nullopt;
}

// One character at text[at], or its escape. Advances \p at.
std::optional<char> character(const std::string& text, size_t& at)
{
    if (at >= text.size())
        return std::nullopt;
    const char c = text[at++];
    if (c != '\\')
        return c >= 0x20 && c < 0x7f ? std::optional(c) : std::nullopt;
    if (at < text.size() && text[at] == '\\') {
        ++at;
        return '\\';
    }
    if (at + 3 > text.size() || text[at] != 'x')
        return std::nullopt;
    const auto high = hex_digit(text[at + 1]), low = hex_digit(text[at + 2]);
    at += 3;
    if (!high || !low || *high > 7)
        return std::nullopt;
    return static_cast<char>(*high << 4 | *low);
}

} // namespace

const char* to_string(preamble p) { return names[static_cast<size_t>(p) & 7]; }

uint32_t word::bits() const
{
    uint32_t b = static_cast<uint32_t>(kind) & 7;
    for (const char c : text)
        b = b << 7 | (static_cast<uint32_t>(c) & 0x7f);
    return b;
}

word word::of(uint32_t bits)
{
    word w;
    w.kind = static_cast<preamble>(bits >> 21 & 7);
    for (size_t k = 0; k < 3; ++k)
        w.text[k] = static_cast<char>(bits >> (14 - 7 * k) & 0x7f);
    return w;
}

std::string word::to_string() const
{
    std::string s = std::string(ale::to_string(kind)) + ":";
    for (const char c : text) {
        if (c == '\\') {
            s += "\\\\";
        } else if (c >= 0x20 && c < 0x7f) {
            s += c;
        } else {
            std::array<char, 8> escaped{};
            std::snprintf(escaped.data(), escaped.size(), "\\x%02x", c & 0x7f);
            s += escaped.data();
        }
    }
    return s;
}

std::optional<word> word::parse(const std::string& text)
{
    const size_t colon = text.find(':');
    for (size_t p = 0; colon != std::string::npos && p < names.size(); ++p) {
        if (text.compare(0, colon, names[p]) != 0)
            continue;
        word w;
        w.kind = static_cast<preamble>(p);
        size_t at = colon + 1;
        for (char& c : w.text) {
            const auto found = character(text, at);
            if (!found)
                return std::nullopt;
            c = *found;
        }
        return at == text.size() ? std::optional(w) : std::nullopt;
    }
    return std::nullopt;
}

bool is_basic(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '@' || c == '?';
}

bool is_expanded(char c) { return c >= 0x20 && c <= 0x5f; }

bool is_routing(preamble p)
{
    return p != preamble::data && p != preamble::rep && p != preamble::cmd;
}

bool is_extension(preamble p) { return p == preamble::data || p == preamble::rep; }

} // namespace gr::hf::ale
