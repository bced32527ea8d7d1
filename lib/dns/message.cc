/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dns/message.h"

#include "s5066/words/octets.h"

#include <algorithm>

namespace gr::hf::dns {

namespace {

constexpr uint16_t class_in = 1;
constexpr size_t header_octets = 12;
// Flags of the header, RFC 1035 4.1.1 and RFC 4035 3.
constexpr unsigned flag_response = 0x8000, flag_truncated = 0x0200,
                   flag_recursion_desired = 0x0100, flag_recursion_available = 0x0080,
                   flag_checking_disabled = 0x0010;
constexpr unsigned opcode_mask = 0x7800;
// Bit of the TTL field of OPT, RFC 6891 6.1.4.
constexpr uint32_t edns_dnssec_ok = 0x8000;
// UDP size for upstream resolvers. It fits every path without fragments.
constexpr unsigned own_udp_octets = 1232;

uint16_t at16(const uint8_t* p, size_t at)
{
    return static_cast<uint16_t>(p[at] << 8 | p[at + 1]);
}

uint32_t at32(const uint8_t* p, size_t at)
{
    return static_cast<uint32_t>(at16(p, at)) << 16 | at16(p, at + 2);
}

bool visible(uint8_t c) { return c > 0x20 && c < 0x7f && c != '.'; }

uint8_t lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<uint8_t>(c + 32) : c;
}

//! Reads the name at \p at and moves past it. Empty: malformed.
std::optional<std::string> read_name(const uint8_t* p, size_t n, size_t& at)
{
    std::string name;
    size_t from = at;
    bool jumped = false;
    // Each pointer leads to an earlier position, so the loop ends.
    for (size_t before = n;;) {
        if (from >= n)
            return std::nullopt;
        const uint8_t length = p[from];
        if ((length & 0xc0) == 0xc0) {
            if (from + 2 > n)
                return std::nullopt;
            const size_t to = at16(p, from) & 0x3fff;
            if (to >= from || to >= before)
                return std::nullopt;
            if (!jumped)
                at = from + 2;
            jumped = true;
            before = from = to;
            continue;
        }
        if (length > 63 || from + 1 + length > n)
            return std::nullopt;
        if (length == 0)
            break;
        if (!name.empty())
            name += '.';
        for (size_t k = 1; k <= length; ++k) {
            const uint8_t c = p[from + k];
            if (!visible(c))
                return std::nullopt;
            name += static_cast<char>(lower(c));
        }
        if (name.size() > name_max)
            return std::nullopt;
        from += size_t(1) + length;
    }
    if (!jumped)
        at = from + 1;
    return name;
}

//! Moves \p at past a name of any octets.
bool skip_name(const uint8_t* p, size_t n, size_t& at)
{
    while (at < n) {
        const uint8_t length = p[at];
        if ((length & 0xc0) == 0xc0) {
            at += 2;
            return at <= n;
        }
        if (length > 63)
            return false;
        at += size_t(1) + length;
        if (length == 0)
            return at <= n;
    }
    return false;
}

//! Positions of the parts of one resource record.
struct record {
    uint16_t type = 0, cls = 0;
    uint32_t ttl = 0;
    size_t ttl_at = 0, data_at = 0, data_size = 0;
};

//! A TTL with the top bit set counts as 0 (RFC 2181 8).
uint32_t valid_ttl(uint32_t ttl) { return ttl > 0x7fffffff ? 0 : ttl; }

std::optional<record> read_record(const uint8_t* p, size_t n, size_t& at)
{
    if (!skip_name(p, n, at) || at + 10 > n)
        return std::nullopt;
    record r;
    r.type = at16(p, at);
    r.cls = at16(p, at + 2);
    r.ttl_at = at + 4;
    r.ttl = at32(p, r.ttl_at);
    r.data_size = at16(p, at + 8);
    r.data_at = at + 10;
    at = r.data_at + r.data_size;
    if (at > n)
        return std::nullopt;
    return r;
}

void write_name(s5066::octet_writer& w, const std::string& name)
{
    for (size_t at = 0; at < name.size();) {
        const size_t dot = std::min(name.find('.', at), name.size());
        w.u8(static_cast<unsigned>(dot - at));
        w.bytes(reinterpret_cast<const uint8_t*>(name.data()) + at, dot - at);
        at = dot + 1;
    }
    w.u8(0);
}

void write_opt(s5066::octet_writer& w, unsigned udp_octets, bool dnssec_ok)
{
    w.u8(0);
    w.u16(type_opt);
    w.u16(udp_octets);
    w.u32(dnssec_ok ? edns_dnssec_ok : 0);
    w.u16(0);
}

//! Header and question of a reply.
s5066::octet_writer
begin_reply(const query& q, rcode code, size_t answers, unsigned more_flags = 0)
{
    s5066::octet_writer w;
    w.u16(q.id);
    w.u16(flag_response | flag_recursion_available | more_flags | unsigned(code) |
          (q.recursion_desired ? flag_recursion_desired : 0) |
          (q.checking_disabled ? flag_checking_disabled : 0));
    w.u16(q.question_section.empty() ? 0 : 1);
    w.u16(static_cast<unsigned>(answers));
    w.u16(0);
    w.u16(q.edns ? 1 : 0);
    w.bytes(q.question_section);
    return w;
}

octets end_reply(s5066::octet_writer w, const query& q)
{
    if (q.edns)
        write_opt(w, own_udp_octets, q.ask.dnssec);
    return std::move(w.out());
}

} // namespace

std::optional<std::string> normal_name(const std::string& text)
{
    std::string name = text;
    if (!name.empty() && name.back() == '.')
        name.pop_back();
    if (name.size() > name_max)
        return std::nullopt;
    size_t label = 0;
    for (char& c : name) {
        const auto o = static_cast<uint8_t>(c);
        if (c == '.' ? label == 0 : !visible(o) || ++label > 63)
            return std::nullopt;
        if (c == '.')
            label = 0;
        c = static_cast<char>(lower(o));
    }
    if (!name.empty() && label == 0)
        return std::nullopt;
    return name;
}

std::variant<query, octets> read_query(const uint8_t* p, size_t n)
{
    if (n < header_octets || (at16(p, 2) & flag_response) != 0)
        return octets();
    query q;
    q.id = at16(p, 0);
    const unsigned flags = at16(p, 2);
    q.recursion_desired = (flags & flag_recursion_desired) != 0;
    q.checking_disabled = (flags & flag_checking_disabled) != 0;
    if ((flags & opcode_mask) != 0)
        return make_reply(q, rcode::not_implemented);
    if (at16(p, 4) != 1 || at16(p, 6) != 0 || at16(p, 8) != 0)
        return make_reply(q, rcode::malformed);
    size_t at = header_octets;
    const auto name = read_name(p, n, at);
    if (!name || at + 4 > n)
        return make_reply(q, rcode::malformed);
    q.ask = { *name, at16(p, at), false };
    const uint16_t cls = at16(p, at + 2);
    at += 4;
    q.question_section.assign(p + header_octets, p + at);
    for (unsigned left = at16(p, 10); left > 0; --left) {
        const auto r = read_record(p, n, at);
        if (!r)
            return make_reply(q, rcode::malformed);
        if (r->type != type_opt)
            continue;
        q.edns = true;
        q.udp_octets = std::max<size_t>(r->cls, 512);
        q.ask.dnssec = (r->ttl & edns_dnssec_ok) != 0;
    }
    if (cls != class_in)
        return make_reply(q, rcode::refused);
    return q;
}

octets make_reply(const query& q, rcode code)
{
    return end_reply(begin_reply(q, code, 0), q);
}

octets make_truncated(const query& q)
{
    return end_reply(begin_reply(q, rcode::ok, 0, flag_truncated), q);
}

octets make_reply(const query& q, const std::vector<ip::address>& addresses, uint32_t ttl)
{
    std::vector<ip::address> fit;
    for (const ip::address& a : addresses)
        if (q.ask.type == (a.is_v6() ? type_aaaa : type_a))
            fit.push_back(a);
    auto w = begin_reply(q, rcode::ok, fit.size());
    for (const ip::address& a : fit) {
        w.u16(0xc000 | header_octets); // the name of the question
        w.u16(q.ask.type);
        w.u16(class_in);
        w.u32(ttl);
        w.u16(static_cast<unsigned>(a.size()));
        w.bytes(a.data(), a.size());
    }
    return end_reply(std::move(w), q);
}

octets make_reply(const query& q, const octets& response, uint32_t ttl)
{
    octets d = response;
    size_t at = header_octets;
    if (d.size() < header_octets || !skip_name(d.data(), d.size(), at) ||
        at + 4 > d.size())
        return {};
    const size_t question_size = at + 4 - header_octets;
    if (question_size != q.question_section.size())
        return {};
    std::copy(
        q.question_section.begin(), q.question_section.end(), d.begin() + header_octets);
    d[0] = static_cast<uint8_t>(q.id >> 8);
    d[1] = static_cast<uint8_t>(q.id);
    d[2] = static_cast<uint8_t>((d[2] & ~1) | (q.recursion_desired ? 1 : 0));
    at += 4;
    const unsigned count = at16(d.data(), 6) + at16(d.data(), 8) + at16(d.data(), 10);
    for (unsigned k = 0; k < count; ++k) {
        const auto r = read_record(d.data(), d.size(), at);
        if (!r)
            return {};
        if (r->type == type_opt || r->ttl <= ttl)
            continue;
        for (size_t o = 0; o < 4; ++o)
            d[r->ttl_at + o] = static_cast<uint8_t>(ttl >> (24 - 8 * o));
    }
    return d;
}

octets make_query(const question& ask)
{
    s5066::octet_writer w;
    w.u16(0);
    w.u16(flag_recursion_desired);
    w.u16(1);
    w.u32(0);
    w.u16(1);
    write_name(w, ask.name);
    w.u16(ask.type);
    w.u16(class_in);
    write_opt(w, own_udp_octets, ask.dnssec);
    return std::move(w.out());
}

octets only_answer(const uint8_t* p, const response& r)
{
    octets d(p, p + r.answer_end);
    std::fill(d.begin() + 8, d.begin() + 12, uint8_t(0)); // NSCOUNT, ARCOUNT
    return d;
}

std::optional<response> read_response(const uint8_t* p, size_t n)
{
    if (n < header_octets)
        return std::nullopt;
    const unsigned flags = at16(p, 2);
    if ((flags & flag_response) == 0 || (flags & opcode_mask) != 0 || at16(p, 4) != 1)
        return std::nullopt;
    response r;
    r.id = at16(p, 0);
    r.truncated = (flags & flag_truncated) != 0;
    r.code = static_cast<rcode>(flags & 0xf);
    size_t at = header_octets;
    const auto name = read_name(p, n, at);
    if (!name || at + 4 > n)
        return std::nullopt;
    r.ask = { *name, at16(p, at), false };
    at += 4;
    const unsigned answers = at16(p, 6), authorities = at16(p, 8);
    std::optional<uint32_t> lowest, negative;
    r.answer_end = at;
    for (unsigned k = 0; k < answers + authorities; ++k) {
        const auto x = read_record(p, n, at);
        if (!x) // after a truncation the message may end anywhere
            return r.truncated ? std::optional(r) : std::nullopt;
        const uint8_t* data = p + x->data_at;
        if (k >= answers) {
            // The last four octets of SOA: MINIMUM.
            if (x->type == type_soa && x->data_size >= 22)
                negative =
                    valid_ttl(std::min(valid_ttl(x->ttl), at32(data, x->data_size - 4)));
            continue;
        }
        r.any_answer = true;
        r.answer_end = at;
        const uint32_t ttl = valid_ttl(x->ttl);
        lowest = std::min(lowest.value_or(ttl), ttl);
        if (x->type == type_a && x->data_size == 4)
            r.addresses.push_back(ip::address::v4(data));
        else if (x->type == type_aaaa && x->data_size == 16)
            r.addresses.push_back(ip::address::v6(data));
    }
    r.ttl = lowest ? *lowest : negative.value_or(0);
    return r;
}

} // namespace gr::hf::dns
