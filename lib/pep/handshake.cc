/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pep/handshake.h"
#include "pep/reach.h"

#include <algorithm>

namespace gr::hf::hfpep {
namespace {

// RFC 1928
constexpr uint8_t socks_version = 5, socks_connect = 1, socks_no_authentication = 0,
                  socks_no_method = 0xff;
constexpr uint8_t socks_v4 = 1, socks_name = 3, socks_v6 = 4;
constexpr uint8_t reply_general = 1, reply_host = 4, reply_command = 7, reply_type = 8;
// SOCKS4 and SOCKS4a. The standard of Y.-D. Lee has no RFC.
constexpr uint8_t socks4_version = 4, socks4_granted = 90, socks4_rejected = 91;
constexpr size_t socks4_fixed = 8; // version, command, port, address
constexpr size_t name_max = 210;

uint8_t socks_code(status s)
{
    switch (s) {
    case status::name_not_found:
        return reply_host;
    case status::too_many_connections:
    case status::going_down:
    case status::tls_failed:
    case status::malformed_request:
        return reply_general;
    case status::peer_not_allowed:
        return uint8_t(status::forbidden);
    case status::link_lost:
    case status::peer_restarted:
        return uint8_t(status::network_unreachable);
    default:
        return uint8_t(s) <= reply_type ? uint8_t(s) : reply_general;
    }
}

const char* http_status(status s)
{
    switch (s) {
    case status::connected:
        return "200 Connection established";
    case status::forbidden:
    case status::peer_not_allowed:
        return "403 Forbidden";
    case status::timed_out:
    case status::link_lost:
        return "504 Gateway Timeout";
    case status::too_many_connections:
    case status::going_down:
        return "503 Service Unavailable";
    case status::malformed_request:
        return "400 Bad Request";
    default:
        return "502 Bad Gateway";
    }
}

} // namespace

handshake::state handshake::feed(const uint8_t* p, size_t n)
{
    if (d_state != state::asking) {
        if (d_state == state::requested)
            d_in.insert(d_in.end(), p, p + n);
        return d_state;
    }
    d_in.insert(d_in.end(), p, p + n);
    if (d_protocol == protocol::socks5 && !d_greeted && !d_in.empty() &&
        d_in[0] == socks4_version)
        d_protocol = protocol::socks4;
    d_state = d_protocol == protocol::socks5   ? feed_socks5()
              : d_protocol == protocol::socks4 ? feed_socks4()
                                               : feed_connect();
    if (d_state == state::asking && d_in.size() > octets_max)
        d_state = d_protocol == protocol::socks5 ? refuse_socks5(reply_general)
                  : d_protocol == protocol::socks4
                      ? refuse_socks4()
                      : refuse_connect("431 Request Header Fields Too Large");
    return d_state;
}

octets handshake::early_data()
{
    octets v;
    v.swap(d_in);
    return v;
}

octets handshake::poll_reply()
{
    octets v;
    v.swap(d_out);
    return v;
}

bool handshake::take_name(const std::string& name, uint16_t port)
{
    if (name.empty() || name.size() > name_max || port == 0)
        return false;
    d_request.port = port;
    if (const auto a = ip::address::parse(name)) {
        d_request.host = *a;
        return true;
    }
    // Only characters of a host name, because it goes into logs and to the far resolver.
    const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
    });
    if (plain)
        d_request.host = name;
    return plain;
}

handshake::state handshake::refuse_socks5(uint8_t code)
{
    if (d_greeted)
        d_out.insert(d_out.end(), { socks_version, code, 0, socks_v4, 0, 0, 0, 0, 0, 0 });
    else
        d_out.insert(d_out.end(), { socks_version, socks_no_method });
    return state::failed;
}

handshake::state handshake::refuse_socks4()
{
    d_out.insert(d_out.end(), { 0, socks4_rejected, 0, 0, 0, 0, 0, 0 });
    return state::failed;
}

handshake::state handshake::refuse_connect(const std::string& status_line)
{
    const std::string text =
        "HTTP/1.1 " + status_line + "\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    d_out.insert(d_out.end(), text.begin(), text.end());
    return state::failed;
}

handshake::state handshake::feed_socks5()
{
    if (!d_greeted) {
        if (d_in.size() < 2)
            return d_in.empty() || d_in[0] == socks_version
                       ? state::asking
                       : refuse_socks5(reply_general);
        const size_t methods = d_in[1];
        if (d_in[0] != socks_version)
            return refuse_socks5(reply_general);
        if (d_in.size() < 2 + methods)
            return state::asking;
        const auto first = d_in.begin() + 2, last = first + static_cast<long>(methods);
        if (std::find(first, last, socks_no_authentication) == last)
            return refuse_socks5(reply_general);
        d_in.erase(d_in.begin(), last);
        d_greeted = true;
        d_out.insert(d_out.end(), { socks_version, socks_no_authentication });
    }
    if (d_in.size() < 5)
        return state::asking;
    if (d_in[0] != socks_version)
        return refuse_socks5(reply_general);
    if (d_in[1] != socks_connect)
        return refuse_socks5(reply_command);
    const uint8_t type = d_in[3];
    if (type != socks_v4 && type != socks_name && type != socks_v6)
        return refuse_socks5(reply_type);
    const size_t host = type == socks_name ? 5 : 4;
    const size_t size = type == socks_v4 ? 4 : type == socks_v6 ? 16 : d_in[4];
    if (d_in.size() < host + size + 2)
        return state::asking;
    const auto* at = d_in.data() + host;
    const auto port = static_cast<uint16_t>(at[size] << 8 | at[size + 1]);
    const std::string name = type == socks_v4   ? ip::address::v4(at).to_string()
                             : type == socks_v6 ? ip::address::v6(at).to_string()
                                                : std::string(at, at + size);
    if (!take_name(name, port))
        return refuse_socks5(reply_general);
    d_in.erase(d_in.begin(), d_in.begin() + static_cast<long>(host + size + 2));
    return state::requested;
}

handshake::state handshake::feed_socks4()
{
    if (d_in.size() >= 2 && (d_in[0] != socks4_version || d_in[1] != socks_connect))
        return refuse_socks4();
    if (d_in.size() < socks4_fixed)
        return state::asking;
    // The end of the user id, then that of the name.
    auto end = std::find(d_in.begin() + static_cast<long>(socks4_fixed), d_in.end(), 0);
    if (end == d_in.end())
        return state::asking;
    const auto* at = d_in.data() + 4;
    std::string host = ip::address::v4(at).to_string();
    // SOCKS4a: an address 0.0.0.x says that a name follows the user id.
    if (at[0] == 0 && at[1] == 0 && at[2] == 0 && at[3] != 0) {
        const auto name = end + 1;
        end = std::find(name, d_in.end(), 0);
        if (end == d_in.end())
            return state::asking;
        host.assign(name, end);
    }
    if (!take_name(host, static_cast<uint16_t>(d_in[2] << 8 | d_in[3])))
        return refuse_socks4();
    d_in.erase(d_in.begin(), end + 1);
    return state::requested;
}

handshake::state handshake::feed_connect()
{
    const std::string end = "\r\n\r\n";
    const auto found = std::search(d_in.begin(), d_in.end(), end.begin(), end.end());
    if (found == d_in.end())
        return state::asking;
    const std::string head(d_in.begin(), found);
    const std::string line = head.substr(0, head.find("\r\n"));
    const auto first = line.find(' '), second = line.rfind(' ');
    if (first == std::string::npos || second <= first ||
        line.compare(second + 1, 7, "HTTP/1.") != 0)
        return refuse_connect("400 Bad Request");
    if (line.substr(0, first) != "CONNECT")
        return refuse_connect("405 Method Not Allowed\r\nAllow: CONNECT");
    const auto [host, port] = split_host_port(line.substr(first + 1, second - first - 1));
    if (!take_name(host, parse_port(port).value_or(0)))
        return refuse_connect("400 Bad Request");
    d_in.erase(d_in.begin(), found + static_cast<long>(end.size()));
    return state::requested;
}

void handshake::answer(status code, const std::optional<endpoint_address>& actual)
{
    if (d_state != state::requested)
        return;
    d_state = state::done;
    if (d_protocol == protocol::http_connect) {
        if (code != status::connected) {
            refuse_connect(http_status(code));
            return;
        }
        const std::string text =
            std::string("HTTP/1.1 ") + http_status(code) + "\r\n\r\n";
        d_out.insert(d_out.end(), text.begin(), text.end());
        return;
    }
    const endpoint_address shown = actual.value_or(endpoint_address{});
    if (d_protocol == protocol::socks4) {
        if (code != status::connected) {
            refuse_socks4();
            return;
        }
        d_out.insert(
            d_out.end(),
            { 0, socks4_granted, uint8_t(shown.port >> 8), uint8_t(shown.port) });
        const bool v4 = !shown.host.is_v6();
        for (size_t k = 0; k < 4; ++k)
            d_out.push_back(v4 ? shown.host.data()[k] : 0);
        return;
    }
    d_out.insert(
        d_out.end(),
        { socks_version, socks_code(code), 0, shown.host.is_v6() ? socks_v6 : socks_v4 });
    d_out.insert(d_out.end(), shown.host.data(), shown.host.data() + shown.host.size());
    d_out.push_back(static_cast<uint8_t>(shown.port >> 8));
    d_out.push_back(static_cast<uint8_t>(shown.port));
}

} // namespace gr::hf::hfpep
