/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dns/messages.h"

#include <gtest/gtest.h>

#include <memory>

namespace gr::hf::test {
namespace {

using namespace dns;

query must(const octets& v)
{
    auto r = read_query(v.data(), v.size());
    EXPECT_TRUE(std::holds_alternative<query>(r));
    return std::get<query>(r);
}

unsigned code_of(const octets& v) { return v.at(3) & 15u; }

TEST(message, a_query_is_read_and_its_spelling_is_kept)
{
    const octets v = ask("WwW.Example.ORG", type_aaaa, 7, true);
    const query q = must(v);
    EXPECT_EQ(q.ask.name, "www.example.org");
    EXPECT_EQ(q.ask.type, type_aaaa);
    EXPECT_EQ(q.id, 7);
    EXPECT_EQ(q.udp_octets, 1400u);
    const octets r =
        make_reply(q, { ip::address("fd00::1"), ip::address("10.0.0.1") }, 90);
    EXPECT_TRUE(std::equal(q.question_section.begin(), q.question_section.end(), &r[12]));
    const auto back = read_response(r.data(), r.size());
    ASSERT_TRUE(back);
    EXPECT_EQ(back->ttl, 90u);
    // Only the family asked for.
    ASSERT_EQ(back->addresses.size(), 1u);
    EXPECT_EQ(back->addresses[0], ip::address("fd00::1"));
}

TEST(message, what_is_no_query_gets_the_error_it_deserves)
{
    octets v = ask("a.org");
    v[2] |= 0x80;
    EXPECT_TRUE(std::get<octets>(read_query(v.data(), v.size())).empty()) << "a response";
    EXPECT_TRUE(std::get<octets>(read_query(v.data(), 11)).empty()) << "too short";
    v = ask("a.org");
    v[2] = 0x28; // UPDATE
    EXPECT_EQ(code_of(std::get<octets>(read_query(v.data(), v.size()))), 4u);
    v = ask("a.org");
    v[5] = 2;
    EXPECT_EQ(code_of(std::get<octets>(read_query(v.data(), v.size()))), 1u);
    v = ask("a.org");
    v.back() = 3; // CHAOS
    EXPECT_EQ(code_of(std::get<octets>(read_query(v.data(), v.size()))), 5u);
    v = ask("a.org");
    v[12] = 0xc0; // a name that points at itself
    v[13] = 12;
    EXPECT_EQ(code_of(std::get<octets>(read_query(v.data(), v.size()))), 1u);
}

TEST(message, a_response_is_read_through_its_aliases)
{
    const octets v = respond(ask("a.org"), { ip::address("192.0.2.1") }, 600);
    const auto r = read_response(v.data(), v.size());
    ASSERT_TRUE(r);
    ASSERT_EQ(r->addresses.size(), 1u);
    EXPECT_EQ(r->ttl, 300u) << "the lowest of the answer";
    const octets none = respond(ask("a.org"), {}, 3600, 3);
    const auto n = read_response(none.data(), none.size());
    ASSERT_TRUE(n);
    EXPECT_EQ(n->code, rcode::no_such_name);
    EXPECT_EQ(n->ttl, 400u) << "MINIMUM of SOA (RFC 2308)";
    EXPECT_FALSE(n->any_answer);
}

TEST(message, a_kept_response_answers_another_query)
{
    const octets kept = respond(ask("a.org"), { ip::address("192.0.2.1") }, 6000);
    const query q = must(ask("A.oRg", type_a, 99));
    const octets again = make_reply(q, kept, 50);
    const auto r = read_response(again.data(), again.size());
    ASSERT_TRUE(r);
    EXPECT_EQ(r->id, 99);
    EXPECT_EQ(r->ttl, 50u);
    EXPECT_EQ(again[13], 'A');
    EXPECT_TRUE(make_reply(must(ask("other.org")), kept, 50).empty());
}

TEST(message, names)
{
    EXPECT_EQ(normal_name("Example.ORG."), "example.org");
    EXPECT_EQ(normal_name(""), "");
    for (const char* bad : { "a..b", ".a", "a b", "\x7f" })
        EXPECT_FALSE(normal_name(bad)) << bad;
    EXPECT_FALSE(normal_name(std::string(64, 'x')));
    EXPECT_FALSE(normal_name(std::string(254, 'x')));
}

// 253 characters as text, 255 octets on the wire (RFC 1035, 2.3.4), also through a pointer.
TEST(message, a_name_is_at_most_255_octets)
{
    const std::string label(63, 'x');
    const std::string longest = label + "." + label + "." + label + "." + label.substr(2);
    const octets fits = ask(longest), one_more = ask(longest + "y");
    ASSERT_EQ(longest.size(), 253u);
    EXPECT_EQ(must(fits).ask.name, longest);
    EXPECT_TRUE(
        std::holds_alternative<octets>(read_query(one_more.data(), one_more.size())));
    // An alias of one label, then a pointer to the name in the question.
    const octets q = ask(label + "." + label + "." + label);
    octets r = respond(q, { ip::address("192.0.2.1") });
    ASSERT_TRUE(read_response(r.data(), r.size()));
    octets alias(1, 63);
    alias.insert(alias.end(), 63, 'y');
    add16(alias, 0xc00c);
    const size_t at = q.size(); // of the first record: a pointer, then its type
    r.erase(r.begin() + long(at), r.begin() + long(at) + 2);
    r.insert(r.begin() + long(at), alias.begin(), alias.end());
    (void)read_response(r.data(), r.size()); // an owner of 257 octets harms nobody
}

TEST(message, a_ttl_with_the_top_bit_is_zero)
{
    const octets q = ask("a.org");
    for (const auto& [ttl, is] :
         { std::pair<uint32_t, uint32_t>{ 0xfffffffe, 0x7fffffff },
           { 0x80000000, 0x40000000 } }) {
        const octets r = respond(q, { ip::address("192.0.2.1") }, ttl); // halves it
        EXPECT_EQ(read_response(r.data(), r.size())->ttl, is);
    }
    octets r = respond(q, {}, 0x80000000); // SOA: the lower of its TTL and MINIMUM counts
    EXPECT_EQ(read_response(r.data(), r.size())->ttl, 400u);
    for (size_t k = r.size() - 4; k < r.size(); ++k)
        r[k] = 0xff;
    EXPECT_EQ(read_response(r.data(), r.size())->ttl, 0u);
}

// On a heap buffer of exactly its size, so that a sanitizer sees an octet too many.
TEST(message, cut_anywhere_nothing_behind_is_read)
{
    const octets q = ask("www.example.org", type_a, 1, true);
    const octets r = respond(q, { ip::address("192.0.2.1") });
    for (const octets* whole : { &q, &r }) {
        for (size_t n = 0; n < whole->size(); ++n) {
            const auto part = std::make_unique<uint8_t[]>(n);
            std::copy_n(whole->begin(), n, part.get());
            const bool query_read =
                std::holds_alternative<query>(read_query(part.get(), n));
            EXPECT_FALSE(whole == &q && query_read) << n;
            if (const auto got = read_response(part.get(), n)) {
                EXPECT_LE(got->answer_end, n);
            }
        }
    }
}

TEST(message, damaged_messages_never_harm)
{
    std::mt19937 rng(1);
    const octets query_octets = ask("www.example.org", type_a, 1, true);
    const octets good =
        respond(query_octets, { ip::address("192.0.2.1"), ip::address("192.0.2.2") });
    const query q = must(query_octets);
    size_t read = 0, refused = 0;
    for (int k = 0; k < 100000; ++k) {
        const octets a = damage(query_octets, rng), b = damage(good, rng);
        read += std::holds_alternative<query>(read_query(a.data(), a.size()));
        const auto r = read_response(b.data(), b.size());
        refused += !r;
        if (r) {
            EXPECT_LE(only_answer(b.data(), *r).size(), b.size());
        }
        make_reply(q, b, 10);
    }
    EXPECT_GT(read, 100u);
    EXPECT_GT(refused, 100u);
}

} // namespace
} // namespace gr::hf::test
