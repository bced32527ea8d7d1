/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pep/codec.h"

#include "s5066/words/octets.h"

#include <algorithm>

namespace gr::hf::hfpep {

namespace {

using s5066::octet_reader;
using s5066::octet_writer;

enum request_kind : unsigned { kind_tcp = 0, kind_tls = 1 };
enum address_type : unsigned { type_v4 = 1, type_v6 = 2, type_name = 3 };
enum option_type : unsigned {
    option_address = 1, // source in a request, connected address in an answer
    option_dscp = 2,
    option_idle = 3,
    option_alpn = 4, // one protocol; repeated for more
    option_server_name = 5,
    option_connect_limit = 6,
    option_answer_first = 7
};

constexpr size_t open_data_max = 255;
// Leaves room for every option of a request besides the name.
constexpr size_t name_max = 210;

void put_address(octet_writer& w, const endpoint_address& a)
{
    w.u8(option_address);
    w.u8(static_cast<unsigned>(a.host.size() + 2));
    w.bytes(a.host.data(), a.host.size());
    w.u16(a.port);
}

//! Empty texts and those that do not fit into an option are left out.
void put_text(octet_writer& w, unsigned type, const std::string& text)
{
    if (text.empty() || text.size() > 255)
        return;
    w.u8(type);
    w.u8(static_cast<unsigned>(text.size()));
    w.bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

std::optional<endpoint_address> get_address(const octets& value)
{
    if (value.size() != 6 && value.size() != 18)
        return std::nullopt;
    endpoint_address a;
    a.host =
        value.size() == 6 ? ip::address::v4(value.data()) : ip::address::v6(value.data());
    a.port = static_cast<uint16_t>(value[value.size() - 2] << 8 | value.back());
    return a;
}

//! A resolver and a trust store may only get a plain name.
std::optional<std::string> get_name(const octets& value)
{
    const bool plain = std::all_of(
        value.begin(), value.end(), [](uint8_t c) { return c > 0x20 && c < 0x7f; });
    if (value.empty() || !plain)
        return std::nullopt;
    return std::string(value.begin(), value.end());
}

//! Calls \p f with type and value of each option. False: the list is truncated.
template <typename F>
bool each_option(octet_reader& r, F f)
{
    while (r.left() > 0) {
        const unsigned type = r.u8();
        const size_t length = r.u8();
        const octets value = r.bytes(length);
        if (!r.ok())
            return false;
        f(type, value);
    }
    return true;
}

} // namespace

const char* to_string(status s)
{
    switch (s) {
    case status::connected:
        return "connected";
    case status::general_failure:
        return "general failure";
    case status::forbidden:
        return "forbidden by rule";
    case status::network_unreachable:
        return "network unreachable";
    case status::host_unreachable:
        return "host unreachable";
    case status::refused:
        return "connection refused";
    case status::timed_out:
        return "connect timed out";
    case status::kind_not_supported:
        return "kind not supported";
    case status::address_type_not_supported:
        return "address type not supported";
    case status::name_not_found:
        return "name not found";
    case status::too_many_connections:
        return "too many connections";
    case status::tls_failed:
        return "TLS failed";
    case status::malformed_request:
        return "malformed request";
    case status::going_down:
        return "proxy going down";
    case status::peer_not_allowed:
        return "peer not allowed";
    case status::reset_by_endpoint:
        return "reset by endpoint";
    case status::certificate_expired:
        return "the certificate of the server has expired";
    case status::certificate_not_trusted:
        return "the certificate of the server is self signed or of an unknown issuer";
    case status::certificate_wrong_name:
        return "the certificate of the server is for another name";
    case status::certificate_refused:
        return "the certificate of the server is not valid";
    case status::link_lost:
        return "link lost";
    case status::peer_restarted:
        return "peer restarted";
    }
    return "unknown";
}

std::string endpoint_address::to_string() const
{
    return (host.is_v6() ? "[" + host.to_string() + "]" : host.to_string()) + ":" +
           std::to_string(port);
}

std::string destination::to_string() const
{
    if (const auto* a = std::get_if<ip::address>(&host))
        return endpoint_address{ *a, port }.to_string();
    return std::get<std::string>(host) + ":" + std::to_string(port);
}

std::string destination::host_string() const
{
    const auto* a = std::get_if<ip::address>(&host);
    return a != nullptr ? a->to_string() : std::get<std::string>(host);
}

octets encode(const connect_request& q)
{
    octet_writer w;
    const unsigned kind = q.tls ? kind_tls : kind_tcp;
    if (const auto* a = std::get_if<ip::address>(&q.to.host)) {
        w.u8(kind << 4 | (a->is_v6() ? type_v6 : type_v4));
        w.u16(q.to.port);
        w.bytes(a->data(), a->size());
    } else {
        const auto& name = std::get<std::string>(q.to.host);
        if (name.empty() || name.size() > name_max)
            return {};
        w.u8(kind << 4 | type_name);
        w.u16(q.to.port);
        w.u8(static_cast<unsigned>(name.size()));
        w.bytes(reinterpret_cast<const uint8_t*>(name.data()), name.size());
    }
    if (q.source)
        put_address(w, *q.source);
    if (q.dscp) {
        w.u8(option_dscp);
        w.u8(1);
        w.u8(*q.dscp);
    }
    if (q.idle_limit_s) {
        w.u8(option_idle);
        w.u8(2);
        w.u16(*q.idle_limit_s);
    }
    if (q.connect_limit_s) {
        w.u8(option_connect_limit);
        w.u8(1);
        w.u8(*q.connect_limit_s);
    }
    if (q.answer_first) {
        w.u8(option_answer_first);
        w.u8(0);
    }
    if (q.tls) {
        put_text(w, option_server_name, q.tls->server_name);
        for (const auto& protocol : q.tls->alpn)
            put_text(w, option_alpn, protocol);
    }
    if (w.out().size() > open_data_max)
        return {};
    return std::move(w.out());
}

octets encode(const connect_answer& a)
{
    octet_writer w;
    w.u8(static_cast<unsigned>(a.code));
    if (a.actual)
        put_address(w, *a.actual);
    put_text(w, option_alpn, a.alpn);
    return std::move(w.out());
}

std::variant<connect_request, status> decode_request(const uint8_t* p, size_t n)
{
    octet_reader r(p, n);
    const unsigned first = r.u8();
    connect_request q;
    q.to.port = r.u16();
    if (!r.ok() || first >> 6 != 0)
        return status::malformed_request;
    if ((first >> 4 & 3) > kind_tls)
        return status::kind_not_supported;
    if ((first >> 4 & 3) == kind_tls)
        q.tls.emplace();
    switch (first & 15) {
    case type_v4:
    case type_v6: {
        const bool v6 = (first & 15) == type_v6;
        const octets a = r.bytes(v6 ? 16 : 4);
        if (!r.ok())
            return status::malformed_request;
        q.to.host = v6 ? ip::address::v6(a.data()) : ip::address::v4(a.data());
        break;
    }
    case type_name: {
        auto name = get_name(r.bytes(r.u8()));
        if (!r.ok() || !name)
            return status::malformed_request;
        q.to.host = std::move(*name);
        break;
    }
    default:
        return status::address_type_not_supported;
    }
    std::optional<std::string> name;
    bool named = true;
    const bool whole = each_option(r, [&](unsigned type, const octets& value) {
        if (type == option_address)
            q.source = get_address(value);
        else if (type == option_dscp && value.size() == 1)
            q.dscp = value[0];
        else if (type == option_idle && value.size() == 2)
            q.idle_limit_s = static_cast<uint16_t>(value[0] << 8 | value[1]);
        else if (type == option_connect_limit && value.size() == 1)
            q.connect_limit_s = value[0];
        else if (type == option_answer_first)
            q.answer_first = true;
        else if (type == option_alpn && q.tls && !value.empty())
            q.tls->alpn.emplace_back(value.begin(), value.end());
        else if (type == option_server_name && q.tls)
            named = (name = get_name(value)) && named;
    });
    if (!whole || !named)
        return status::malformed_request;
    if (name)
        q.tls->server_name = std::move(*name);
    return q;
}

std::optional<connect_answer> decode_answer(const uint8_t* p, size_t n)
{
    octet_reader r(p, n);
    connect_answer a;
    a.code = static_cast<status>(r.u8());
    const bool whole = each_option(r, [&](unsigned type, const octets& value) {
        if (type == option_address)
            a.actual = get_address(value);
        else if (type == option_alpn)
            a.alpn.assign(value.begin(), value.end());
    });
    if (!whole || !r.ok())
        return std::nullopt;
    return a;
}

} // namespace gr::hf::hfpep
