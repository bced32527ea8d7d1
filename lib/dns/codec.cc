/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dns/codec.h"

#include "s5066/words/octets.h"

#include <algorithm>

namespace gr::hf::dns {

namespace {

enum form : unsigned {
    form_question = 0,
    form_answer = 1,
    form_raw_question = 2,
    form_raw_answer = 3
};
constexpr size_t addresses_max = 15;
constexpr uint32_t ttl_unit_s = 15;
// A header without its id, and a question of the root.
constexpr size_t raw_min = 10 + 5;

unsigned ttl_code(uint32_t ttl)
{
    unsigned c = 0;
    while (c < 15 && (ttl_unit_s << (c + 1)) <= ttl)
        ++c;
    return c;
}

octets raw(form f, uint8_t transaction, const octets& message)
{
    s5066::octet_writer w;
    w.u8(f << 6);
    w.u8(transaction);
    w.bytes(message);
    return std::move(w.out());
}

octets put(const hf_question& q)
{
    if (q.name.size() > name_max)
        return {};
    s5066::octet_writer w;
    w.u8(form_question << 6 | unsigned(q.what) << 4);
    w.u8(q.transaction);
    if (q.what == kind::other)
        w.u16(q.type);
    w.bytes(reinterpret_cast<const uint8_t*>(q.name.data()), q.name.size());
    return std::move(w.out());
}

octets put(const hf_answer& a)
{
    const auto v6 = std::count_if(a.addresses.begin(),
                                  a.addresses.end(),
                                  [](const ip::address& x) { return x.is_v6(); });
    const size_t sixes = static_cast<size_t>(v6), fours = a.addresses.size() - sixes;
    if (sixes > addresses_max || fours > addresses_max)
        return {};
    s5066::octet_writer w;
    w.u8(form_answer << 6 | unsigned(a.what) << 4 | static_cast<unsigned>(fours));
    w.u8(a.transaction);
    w.u8(static_cast<unsigned>(sixes) << 4 | ttl_code(a.ttl));
    for (const bool six : { false, true })
        for (const ip::address& x : a.addresses)
            if (x.is_v6() == six)
                w.bytes(x.data(), x.size());
    return std::move(w.out());
}

octets put(const raw_question& q)
{
    return raw(form_raw_question, q.transaction, q.message);
}
octets put(const raw_answer& a) { return raw(form_raw_answer, a.transaction, a.message); }

std::optional<hf_message> get_question(uint8_t head, s5066::octet_reader r)
{
    hf_question q;
    q.what = static_cast<kind>(head >> 4 & 3);
    q.transaction = r.u8();
    if (q.what == kind::other)
        q.type = r.u16();
    const bool ok = r.ok();
    const octets text = r.rest();
    const auto name = normal_name(std::string(text.begin(), text.end()));
    if (!ok || !name || name->size() != text.size())
        return std::nullopt;
    q.name = *name;
    return q;
}

std::optional<hf_message> get_answer(uint8_t head, s5066::octet_reader r)
{
    hf_answer a;
    a.what = static_cast<hf_answer::outcome>(head >> 4 & 3);
    a.transaction = r.u8();
    const uint8_t second = r.u8();
    a.ttl = ttl_unit_s << (second & 15);
    const size_t fours = head & 15, sixes = second >> 4;
    if (!r.ok() || r.left() != 4 * fours + 16 * sixes)
        return std::nullopt;
    for (size_t k = 0; k < fours; ++k)
        a.addresses.push_back(ip::address::v4(r.bytes(4).data()));
    for (size_t k = 0; k < sixes; ++k)
        a.addresses.push_back(ip::address::v6(r.bytes(16).data()));
    return a;
}

} // namespace

octets encode(const hf_message& m)
{
    return std::visit([](const auto& x) { return put(x); }, m);
}

std::optional<hf_message> decode(const uint8_t* p, size_t n)
{
    s5066::octet_reader r(p, n);
    const uint8_t head = r.u8();
    const unsigned f = head >> 6;
    if (n < 2)
        return std::nullopt;
    if (f == form_question)
        return get_question(head, r);
    if (f == form_answer)
        return get_answer(head, r);
    const uint8_t transaction = r.u8();
    octets message = r.rest();
    if (message.size() < raw_min)
        return std::nullopt;
    if (f == form_raw_question)
        return raw_question{ transaction, std::move(message) };
    return raw_answer{ transaction, std::move(message) };
}

} // namespace gr::hf::dns
