/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pep/reach.h"
#include "pep/rules.h"

#include <algorithm>
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

reach reach::parse(const std::string& text)
{
    const auto fail = [&text] {
        throw std::invalid_argument(
            "allow '" + text +
            "': allowed is HOST:PORTS with an address, a prefix, a "
            "name or * and PORT, FIRST-LAST or *, for example "
            "10.66.0.0/24:80-90 or [fd00::/8]:22");
    };
    const auto [host, ports] = split_host_port(text);
    reach r;
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
    if (host == "*") {
        r.suffix = ".";
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
    return r;
}

bool reach::permits(const destination& to) const
{
    if (to.port < port_first || to.port > port_last)
        return false;
    if (const auto* a = std::get_if<ip::address>(&to.host))
        return prefix ? prefix->contains(*a) : suffix == ".";
    return !prefix && name_matches(suffix, std::get<std::string>(to.host)) >= 0;
}

bool permits(const std::vector<reach>& list, const destination& to)
{
    return std::any_of(
        list.begin(), list.end(), [&to](const reach& r) { return r.permits(to); });
}

bool may_resolve(const std::vector<reach>& list, const destination& to)
{
    return std::any_of(list.begin(), list.end(), [&to](const reach& r) {
        return r.permits(to) ||
               (r.prefix && to.port >= r.port_first && to.port <= r.port_last);
    });
}

} // namespace gr::hf::hfpep
