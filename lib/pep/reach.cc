/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pep/reach.h"
#include "pep/rules.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace gr::hf::hfpep {

std::pair<std::string, std::string> split_host_port(const std::string& text)
{
    const auto colon = text.rfind(':');
    if (colon == std::string::npos)
        return { "", text };
    std::string host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    return { host, text.substr(colon + 1) };
}

std::optional<uint16_t> parse_port(const std::string& text)
{
    const bool digits = !text.empty() && text.size() <= 5 &&
                        text.find_first_not_of("0123456789") == std::string::npos;
    const int port = digits ? std::stoi(text) : -1;
    if (port < 0 || port > 65535)
        return std::nullopt;
    return static_cast<uint16_t>(port);
}

namespace {

const std::string from_word = " from ";

//! Nodes, separated by commas. Empty: one is not the address of a node.
std::vector<s5066::address> parse_nodes(const std::string& text)
{
    std::vector<s5066::address> nodes;
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find(',', at), text.size());
        const size_t first = std::min(text.find_first_not_of(' ', at), end);
        const auto node = s5066::address::parse(text.substr(first, end - first));
        if (!node || node->is_group())
            return {};
        nodes.push_back(*node);
        at = end + 1;
    }
    return nodes;
}

} // namespace

reach reach::parse(const std::string& text)
{
    const auto fail = [&text] {
        throw std::invalid_argument(
            "allow '" + text +
            "': allowed is HOST:PORTS with an address, a prefix, a name, internet or * "
            "and "
            "PORT, FIRST-LAST or *, for example 10.66.0.0/24:80-90 or [fd00::/8]:22, or "
            "NAME:PORTS=ADDRESS:PORT, and after it for some nodes only: from NODE, NODE");
    };
    reach r;
    const auto from = text.find(from_word);
    if (from != std::string::npos)
        r.peers = parse_nodes(text.substr(from + from_word.size()));
    if (from != std::string::npos && r.peers.empty())
        fail();
    const std::string what = text.substr(0, from);
    const auto equals = what.find('=');
    const auto [host, ports] = split_host_port(what.substr(0, equals));
    if (equals != std::string::npos) {
        const auto [server, server_port] = split_host_port(what.substr(equals + 1));
        const auto address = ip::address::parse(server);
        const auto port = parse_port(server_port);
        if (!address || !port || *port == 0)
            fail();
        r.server = endpoint_address{ *address, *port };
    }
    const auto dash = ports.find('-');
    if (ports != "*") {
        const auto first = parse_port(ports.substr(0, dash));
        const auto last =
            dash == std::string::npos ? first : parse_port(ports.substr(dash + 1));
        if (!first || !last || *first > *last)
            fail();
        r.port_first = *first;
        r.port_last = *last;
    }
    if (host.empty() || host.size() > 210)
        fail();
    const bool address_like =
        host.find('/') != std::string::npos || ip::address::parse(host).has_value();
    if (host == "*" || host == "internet") {
        r.suffix = ".";
        r.internet = host == "internet";
    } else if (address_like) {
        try {
            r.prefix = ip::prefix(host);
        } catch (const std::invalid_argument&) {
            fail();
        }
    } else if (host.find_first_of(":[] ") != std::string::npos) {
        fail();
    } else {
        r.suffix = host;
    }
    if (r.server && (r.prefix || r.suffix == "."))
        fail(); // an address says where it leads
    return r;
}

bool reach::permits(const destination& to) const
{
    if (to.port < port_first || to.port > port_last)
        return false;
    if (const auto* a = std::get_if<ip::address>(&to.host))
        return prefix ? prefix->contains(*a)
                      : suffix == "." && (!internet || a->is_public());
    return !prefix && name_matches(suffix, std::get<std::string>(to.host)) >= 0;
}

bool reach::is_for_all() const
{
    return prefix ? prefix->length() == 0 : suffix == "." && !internet;
}

std::vector<reach> for_peer(const std::vector<reach>& list, const s5066::address& node)
{
    std::vector<reach> found;
    std::copy_if(
        list.begin(), list.end(), std::back_inserter(found), [&node](const reach& r) {
            return r.peers.empty() ||
                   std::find(r.peers.begin(), r.peers.end(), node) != r.peers.end();
        });
    return found;
}

namespace {

//! Range of this host or its links that contains \p a. Null: none.
const ip::prefix* local_range(const ip::address& a)
{
    // ::/96 has the unspecified address, the loopback and the obsolete IPv4-compatible
    // addresses.
    static const ip::prefix ranges[] = {
        ip::prefix("0.0.0.0/8"), ip::prefix("127.0.0.0/8"), ip::prefix("169.254.0.0/16"),
        ip::prefix("::/96"),     ip::prefix("fe80::/10"),
    };
    const auto found = std::find_if(std::begin(ranges),
                                    std::end(ranges),
                                    [&a](const ip::prefix& p) { return p.contains(a); });
    return found != std::end(ranges) ? found : nullptr;
}

//! An entry contains \p a, and its prefix has \p length or is longer.
bool named(const std::vector<reach>& list,
           const ip::address& a,
           uint16_t port,
           int length)
{
    return std::any_of(
        list.begin(),
        list.end(),
        [&](const reach& r) {
            return r.prefix && r.prefix->length() >= length && r.permits({ a, port });
        });
}

} // namespace

bool permits(const std::vector<reach>& list, const destination& to)
{
    if (const auto* a = std::get_if<ip::address>(&to.host))
        return permits_at(list, to, *a, nearness::far);
    return std::any_of(
        list.begin(), list.end(), [&to](const reach& r) { return r.permits(to); });
}

bool permits_at(const std::vector<reach>& list,
                const destination& to,
                const ip::address& at,
                nearness where)
{
    const ip::address a = at.unmapped();
    const auto* name = std::get_if<std::string>(&to.host);
    if (const auto* range = local_range(a)) {
        const bool localhost =
            name != nullptr && name_matches("localhost", *name) >= 0 &&
            (ip::prefix("127.0.0.0/8").contains(a) || ip::prefix("::1/128").contains(a));
        return named(list, a, to.port, range->length()) ||
               (localhost && std::any_of(list.begin(), list.end(), [&](const reach& r) {
                    return name_matches("localhost", r.suffix) >= 0 && r.permits(to);
                }));
    }
    if (where == nearness::own)
        return named(list, a, to.port, a.bits());
    return std::any_of(list.begin(), list.end(), [&](const reach& r) {
        if (r.internet)
            return where == nearness::far && r.permits({ a, to.port });
        return r.permits({ a, to.port }) || (name != nullptr && r.permits(to));
    });
}

bool may_ask(const std::vector<reach>& list, const destination& to)
{
    if (std::holds_alternative<ip::address>(to.host))
        return permits(list, to);
    return std::any_of(list.begin(), list.end(), [&to](const reach& r) {
        return r.permits(to) ||
               (r.prefix && to.port >= r.port_first && to.port <= r.port_last);
    });
}

std::optional<endpoint_address> server_of(const std::vector<reach>& list,
                                          const destination& to)
{
    const auto found = std::find_if(
        list.begin(), list.end(), [&to](const reach& r) { return r.permits(to); });
    return found != list.end() ? found->server : std::nullopt;
}

} // namespace gr::hf::hfpep
