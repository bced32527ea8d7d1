/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ip/classifier.h"

#include <charconv>
#include <map>
#include <sstream>
#include <stdexcept>

namespace gr::hf::ip {
namespace {

[[noreturn]] void fail(const std::string& word, const std::string& allowed)
{
    throw std::invalid_argument("filter word '" + word + "': allowed is " + allowed);
}

long number(const std::string& word, const std::string& text, long most)
{
    long v = -1;
    const char* end = text.data() + text.size();
    const auto r = std::from_chars(text.data(), end, v);
    if (r.ec != std::errc{} || r.ptr != end || v < 0 || v > most)
        fail(word, "a whole number from 0 to " + std::to_string(most));
    return v;
}

//! NUMBER or FIRST-LAST.
std::pair<long, long> range(const std::string& word, const std::string& text, long most)
{
    const auto dash = text.find('-');
    const long first = number(word, text.substr(0, dash), most);
    const long last =
        dash == std::string::npos ? first : number(word, text.substr(dash + 1), most);
    if (first > last)
        fail(word, "FIRST-LAST with the smaller one first");
    return { first, last };
}

prefix prefix_of(const std::string& word, const std::string& text)
{
    try {
        return prefix(text);
    } catch (const std::invalid_argument&) {
        fail(word, "an address or a prefix such as 10.66.0.0/24");
    }
}

template <typename T>
T choice(const std::string& word,
         const std::string& text,
         const std::map<std::string, T>& words)
{
    const auto it = words.find(text);
    if (it != words.end())
        return it->second;
    std::string allowed;
    for (const auto& w : words)
        allowed += (allowed.empty() ? "" : ", ") + w.first;
    fail(word, allowed);
}

void set(filter_rule& r,
         const std::string& word,
         const std::string& key,
         const std::string& v)
{
    static const std::map<std::string, uint8_t> protocols = { { "tcp", proto_tcp },
                                                              { "udp", proto_udp },
                                                              { "icmp", proto_icmp },
                                                              { "icmp6", proto_icmp6 } };
    if (key == "name") {
        r.name = v;
    } else if (key == "version") {
        r.version = choice<int>(word, v, { { "4", 4 }, { "6", 6 } });
    } else if (key == "proto") {
        const auto known = protocols.find(v);
        r.protocol = known != protocols.end()
                         ? known->second
                         : static_cast<uint8_t>(number(word, v, 255));
    } else if (key == "port") {
        const auto [first, last] = range(word, v, 65535);
        if (first == 0)
            fail(word, "ports from 1 to 65535");
        r.port_first = static_cast<uint16_t>(first);
        r.port_last = static_cast<uint16_t>(last);
    } else if (key == "from") {
        r.from = prefix_of(word, v);
    } else if (key == "to") {
        r.to = prefix_of(word, v);
    } else if (key == "icmp") {
        const auto [first, last] = range(word, v, 255);
        r.icmp_first = static_cast<int>(first);
        r.icmp_last = static_cast<int>(last);
    } else if (key == "length_max") {
        r.length_max = static_cast<size_t>(number(word, v, 65535));
    } else if (key == "action") {
        r.what = choice<verdict>(word,
                                 v,
                                 { { "send", verdict::send },
                                   { "drop", verdict::drop },
                                   { "reject", verdict::port_unreachable } });
    } else if (key == "mode") {
        r.arq = choice<bool>(word, v, { { "arq", true }, { "non-arq", false } });
    } else if (key == "order") {
        r.in_order = choice<bool>(word, v, { { "in", true }, { "any", false } });
    } else if (key == "priority") {
        r.priority = static_cast<uint8_t>(number(word, v, 15));
    } else if (key == "repeats") {
        r.repeats = static_cast<uint8_t>(number(word, v, 15));
    } else if (key == "class") {
        r.interactive =
            choice<bool>(word, v, { { "interactive", true }, { "ordinary", false } });
    } else if (key == "dedup") {
        r.duplicates = choice<dedup>(word,
                                     v,
                                     { { "none", dedup::none },
                                       { "echo", dedup::echo_newest },
                                       { "payload", dedup::payload } });
    } else {
        fail(word,
             "name, version, proto, port, from, to, icmp, length_max, action, mode, "
             "order, "
             "priority, repeats, class or dedup, each with = and a value");
    }
}

} // namespace

filter_rule parse_filter_rule(const std::string& words)
{
    filter_rule r;
    r.name = words;
    std::istringstream in(words);
    for (std::string word; in >> word;) {
        const auto eq = word.find('=');
        set(r,
            word,
            word.substr(0, eq),
            eq == std::string::npos ? "" : word.substr(eq + 1));
    }
    r.validate();
    return r;
}

} // namespace gr::hf::ip
