/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pep/rules.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace gr::hf::hfpep {
namespace {

[[noreturn]] void fail(const std::string& word, const std::string& allowed)
{
    throw std::invalid_argument("rule word '" + word + "': allowed is " + allowed);
}

double number(const std::string& word, const std::string& text, double least, double most)
{
    double v = 0;
    const char* end = text.data() + text.size();
    const auto r = std::from_chars(text.data(), end, v);
    if (r.ec != std::errc{} || r.ptr != end || !(v >= least && v <= most)) {
        std::ostringstream allowed;
        allowed << "a number from " << least << " to " << most;
        fail(word, allowed.str());
    }
    return v;
}

template <typename T>
T whole(const std::string& word, const std::string& text, double most)
{
    const double v = number(word, text, 0, most);
    if (v != std::floor(v))
        fail(word, "a whole number");
    return static_cast<T>(v);
}

ip::prefix prefix_of(const std::string& word, const std::string& text)
{
    try {
        return ip::prefix(text);
    } catch (const std::invalid_argument&) {
        fail(word, "an address or a prefix such as 10.66.0.0/24");
    }
}

//! Parses one of two words.
bool choice(const std::string& word,
            const std::string& text,
            const std::string& yes,
            const std::string& no)
{
    if (text != yes && text != no)
        fail(word, yes + " or " + no);
    return text == yes;
}

std::vector<std::string> names_of(const std::string& word, const std::string& text)
{
    std::vector<std::string> names;
    std::istringstream in(text + ",");
    for (std::string name; std::getline(in, name, ',');) {
        const bool good =
            !name.empty() && name.size() <= 210 && name.front() != '.' &&
            std::all_of(name.begin(), name.end(), [](unsigned char c) {
                return (c >= 'a' && c <= 'z') || std::isdigit(c) || c == '-' || c == '.';
            });
        if (!good)
            fail(word, "host names in small letters, such as shop.example,news.example");
        names.push_back(name);
    }
    return names;
}

void set_ports(rule& r, const std::string& word, const std::string& text)
{
    const auto dash = text.find('-');
    const auto first = parse_port(text.substr(0, dash));
    const auto last =
        dash == std::string::npos ? first : parse_port(text.substr(dash + 1));
    if (!first || !last || *first > *last)
        fail(word, "port=PORT or port=FIRST-LAST");
    r.port_first = *first;
    r.port_last = *last;
}

void set(rule& r, const std::string& word, const std::string& key, const std::string& v)
{
    constexpr double day = 86400;
    if (key == "port") {
        set_ports(r, word, v);
    } else if (key == "to") {
        r.to = prefix_of(word, v);
    } else if (key == "from") {
        r.from = prefix_of(word, v);
    } else if (key == "node") {
        r.node = s5066::address::parse(v);
        if (!r.node)
            fail(word, "a STANAG 5066 address such as 1.2.0.2");
    } else if (key == "rate_min") {
        r.rate_min = number(word, v, 0, 1e12);
    } else if (key == "rate_max") {
        r.rate_max = number(word, v, 0, 1e12);
    } else if (key == "action") {
        if (v != "proxy" && v != "ip_client" && v != "reject" && v != "drop")
            fail(word, "action=proxy, ip_client, reject or drop");
        r.action = v == "proxy"       ? rule_action::proxy
                   : v == "ip_client" ? rule_action::ip_client
                   : v == "reject"    ? rule_action::reject
                                      : rule_action::drop;
    } else if (key == "max") {
        r.max_connections = whole<size_t>(word, v, 4096);
    } else if (key == "load_max") {
        r.load_max = whole<size_t>(word, v, 1e9);
    } else if (key == "over") {
        r.over_waits = choice(word, v, "wait", "reject");
    } else if (key == "class") {
        r.service_class = whole<uint8_t>(word, v, 7);
    } else if (key == "priority") {
        r.priority = whole<uint8_t>(word, v, 15);
    } else if (key == "compress") {
        if (v != "auto" && v != "on" && v != "off")
            fail(word, "compress=auto, on or off");
        r.compress = v == "auto" ? compression::automatic
                     : v == "on" ? compression::on
                                 : compression::off;
    } else if (key == "accept") {
        r.late_accept = choice(word, v, "late", "early");
    } else if (key == "tls") {
        r.tls_apart = choice(word, v, "apart", "through");
    } else if (key == "names") {
        r.tls_names = names_of(word, v);
    } else if (key == "hold_ms") {
        r.hold = from_seconds(number(word, v, 0, 10000) / 1000);
    } else if (key == "idle_s") {
        r.idle_max = from_seconds(number(word, v, 0, 30 * day));
    } else if (key == "outage_s") {
        r.outage_max = from_seconds(number(word, v, 1, 30 * day));
    } else {
        fail(word,
             "port, to, from, node, rate_min, rate_max, action, max, load_max, "
             "over, class, priority, compress, accept, tls, names, hold_ms, idle_s or "
             "outage_s, each with = and a value");
    }
}

} // namespace

rule parse_rule(const std::string& words)
{
    rule r;
    bool with_port = false;
    std::istringstream in(words);
    for (std::string word; in >> word;) {
        const auto eq = word.find('=');
        with_port = with_port || word.substr(0, eq) == "port";
        set(r,
            word,
            word.substr(0, eq),
            eq == std::string::npos ? "" : word.substr(eq + 1));
    }
    if (!r.tls_names.empty() && !r.tls_apart)
        throw std::invalid_argument("rule '" + words + "': names needs tls=apart");
    if (r.tls_apart && !with_port)
        r.port_first = r.port_last = 443;
    return r;
}

std::vector<std::string> apart_names(const std::vector<rule>& rules)
{
    std::vector<std::string> names;
    for (const rule& r : rules) {
        if (r.tls_apart && r.tls_names.empty())
            return {};
        names.insert(names.end(), r.tls_names.begin(), r.tls_names.end());
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

std::vector<rule> rules_from(const std::vector<std::string>& words, bool with_default)
{
    std::vector<rule> all;
    for (const auto& w : words)
        all.push_back(parse_rule(w));
    if (with_default)
        for (const rule& r : default_rules())
            all.push_back(r);
    return all;
}

} // namespace gr::hf::hfpep
