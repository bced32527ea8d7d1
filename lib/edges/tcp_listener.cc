/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges/tcp_listener.h"
#include "pep/reach.h"

#include <map>
#include <stdexcept>

namespace gr::hf {
namespace {

uint16_t port_of(const std::string& text, const std::string& whole, int least)
{
    const auto port = hfpep::parse_port(text);
    if (!port || *port < least)
        throw std::invalid_argument("listener '" + whole + "': port '" + text +
                                    "' is not one of " + std::to_string(least) +
                                    " to 65535");
    return *port;
}

// Parses "[ADDRESS:]PORT" into the listener.
void bind_to(tcp_listener& l, const std::string& where, const std::string& whole)
{
    const auto [host, port] = hfpep::split_host_port(where);
    if (!host.empty())
        l.bind_address = host;
    if (!ip::address::parse(l.bind_address))
        throw std::invalid_argument("listener '" + whole + "': '" + l.bind_address +
                                    "' is not an IP address");
    // Rules of nftables must know the port.
    const bool by_rule =
        l.how == tcp_listener::kind::redirect || l.how == tcp_listener::kind::tproxy;
    l.port = port_of(port, whole, by_rule ? 1 : 0);
}

} // namespace

tcp_listener tcp_listener::parse(const std::string& text)
{
    static const std::map<std::string, kind> words = { { "redirect", kind::redirect },
                                                       { "tproxy", kind::tproxy },
                                                       { "socks5", kind::socks5 },
                                                       { "connect", kind::connect } };
    tcp_listener l;
    const auto eq = text.find('=');
    if (eq == std::string::npos) {
        const auto colon = text.find(':');
        const auto word = words.find(text.substr(0, colon));
        if (colon == std::string::npos || word == words.end())
            throw std::invalid_argument(
                "listener '" + text +
                "': allowed are redirect:, tproxy:, socks5: and connect: with "
                "[ADDRESS:]PORT behind it, and [ADDRESS:]PORT=HOST:PORT");
        l.how = word->second;
        // The kernel passes on connections to any address.
        if (l.how == kind::tproxy)
            l.bind_address = "0.0.0.0";
        bind_to(l, text.substr(colon + 1), text);
        return l;
    }
    bind_to(l, text.substr(0, eq), text);
    const auto [host, port] = hfpep::split_host_port(text.substr(eq + 1));
    if (host.empty() || host.size() > 210)
        throw std::invalid_argument("listener '" + text +
                                    "': the destination must be HOST:PORT");
    l.to.port = port_of(port, text, 1);
    if (const auto a = ip::address::parse(host))
        l.to.host = *a;
    else
        l.to.host = host;
    return l;
}

} // namespace gr::hf
