/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pep/rules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>

namespace gr::hf::hfpep {

namespace {

char lower(char c)
{
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

template <typename T>
void require(bool ok, const char* name, T value, const char* allowed)
{
    if (!ok)
        throw std::invalid_argument(std::string(name) + " " + std::to_string(value) +
                                    ": expected " + allowed);
}

rule port_rule(uint16_t port, uint8_t service_class, uint8_t priority)
{
    rule r;
    r.port_first = r.port_last = port;
    r.service_class = service_class;
    r.priority = priority;
    return r;
}

// Ports of protocols that encrypt from the first message on (SSH, TLS, RDP). Their octets
// look like noise. The compressor itself detects other data that does not shrink.
constexpr std::array<uint16_t, 24> encrypting{ 22,   443,  465,  563,  636,  853,
                                               989,  990,  992,  993,  994,  995,
                                               3269, 3389, 5061, 5223, 5270, 5349,
                                               5671, 6514, 6697, 8443, 8883, 9443 };
constexpr std::array<uint16_t, 6> http{ 80, 3128, 8000, 8008, 8080, 8888 };
constexpr std::array<uint16_t, 2> xmpp{ 5222, 5269 };

template <typename A>
bool holds(const A& ports, uint16_t port)
{
    return std::find(ports.begin(), ports.end(), port) != ports.end();
}

} // namespace

bool compresses(compression how, uint16_t port, bool apart)
{
    return how == compression::on ||
           (how == compression::automatic && (apart || !holds(encrypting, port)));
}

uint8_t dictionary_for(uint16_t port)
{
    return holds(http, port)   ? slep::preset_http
           : holds(xmpp, port) ? slep::preset_xmpp
                               : slep::preset_none;
}

long name_matches(const std::string& suffix, std::string name)
{
    if (suffix == ".")
        return 0;
    if (!name.empty() && name.back() == '.') // the root, which a full name may end with
        name.pop_back();
    if (suffix.empty() || suffix.size() > name.size())
        return -1;
    const size_t at = name.size() - suffix.size();
    const bool same = std::equal(suffix.begin(),
                                 suffix.end(),
                                 name.begin() + static_cast<long>(at),
                                 [](char a, char b) { return lower(a) == lower(b); });
    const bool whole_label = at == 0 || suffix[0] == '.' || name[at - 1] == '.';
    return same && whole_label ? static_cast<long>(suffix.size()) : -1;
}

std::vector<rule> default_rules()
{
    std::vector<rule> rules{ port_rule(22, 1, 8) };
    for (const uint16_t port : { 80, 443, 8080 }) {
        rule web = port_rule(port, 3, 0);
        web.outage_max = std::chrono::seconds(300);
        rules.push_back(web);
    }
    for (const uint16_t port : { 25, 143, 993 })
        rules.push_back(port_rule(port, 5, 0));
    rules.push_back(rule{});
    return rules;
}

const stream_route* find_route(const std::vector<stream_route>& routes,
                               const destination& to)
{
    const stream_route* best = nullptr;
    long best_length = -1;
    for (const stream_route& r : routes) {
        long length = -1;
        if (const auto* a = std::get_if<ip::address>(&to.host)) {
            if (r.name_suffix.empty() && r.prefix.contains(*a))
                length = r.prefix.length();
        } else if (!r.name_suffix.empty()) {
            length = name_matches(r.name_suffix, std::get<std::string>(to.host));
        }
        if (length > best_length) {
            best = &r;
            best_length = length;
        }
    }
    return best;
}

std::optional<size_t> find_rule(const std::vector<rule>& rules,
                                const destination& to,
                                const std::optional<endpoint_address>& source,
                                const s5066::address& node,
                                double link_rate)
{
    const auto* address = std::get_if<ip::address>(&to.host);
    for (size_t k = 0; k < rules.size(); ++k) {
        const rule& r = rules[k];
        if (to.port < r.port_first || to.port > r.port_last ||
            (r.to && (address == nullptr || !r.to->contains(*address))) ||
            (r.from && (!source || !r.from->contains(source->host))) ||
            (r.node && *r.node != node) || link_rate < r.rate_min ||
            link_rate > r.rate_max)
            continue;
        return k;
    }
    return std::nullopt;
}

void proxy_config::validate() const
{
    slep.validate();
    opens.validate();
    require(max_connections >= 1 && max_connections <= 4096,
            "max_connections",
            max_connections,
            "1 to 4096");
    require(
        !extended.empty(), "number of extended addresses", extended.size(), "1 or more");
    for (size_t k = 0; k < extended.size(); ++k)
        require(std::count(extended.begin(), extended.end(), extended[k]) == 1,
                "extended address",
                unsigned(extended[k]),
                "each only once");
    const auto second = std::chrono::seconds(1);
    require(connect_limit >= second && connect_limit <= 255 * second,
            "connect_limit",
            to_seconds(connect_limit),
            "1 to 255 s");
    require(hold_max >= station_time(0) && hold_max <= 10 * second,
            "hold_max",
            to_seconds(hold_max),
            "0 to 10 s");
    require(hold_gap >= station_time(0) && hold_gap <= 10 * second,
            "hold_gap",
            to_seconds(hold_gap),
            "0 to 10 s");
    for (const stream_route& r : routes) {
        if (r.node.is_group())
            throw std::invalid_argument("route to " + r.node.to_string() +
                                        ": expected a node, not a group");
        require(r.sap <= 15, "SAP of a route", unsigned(r.sap), "0 to 15");
    }
    for (const rule& r : rules) {
        require(r.port_first <= r.port_last,
                "first port of a rule",
                r.port_first,
                "not more than the last");
        require(r.priority <= 15, "priority of a rule", unsigned(r.priority), "0 to 15");
        require(r.service_class <= 7,
                "service_class of a rule",
                unsigned(r.service_class),
                "0 to 7");
        require(r.hold >= station_time(0) && r.hold <= 10 * second,
                "hold of a rule",
                to_seconds(r.hold),
                "0 to 10 s");
        require(r.idle_max >= station_time(0) && r.outage_max > station_time(0),
                "outage_max of a rule",
                to_seconds(r.outage_max),
                "more than 0 s, and idle_max 0 s or more");
    }
}

} // namespace gr::hf::hfpep
