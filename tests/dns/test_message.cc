/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dns/messages.h"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

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

//! Octets whose end is the end of readable memory: one octet more ends the program.
class guarded
{
public:
    explicit guarded(size_t most) : d_page(static_cast<size_t>(sysconf(_SC_PAGESIZE)))
    {
        if (most > d_page)
            throw std::invalid_argument("guarded: " + std::to_string(most) + " octets");
        void* p = mmap(nullptr,
                       2 * d_page,
                       PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS,
                       -1,
                       0);
        if (p == MAP_FAILED)
            throw std::runtime_error("mmap");
        d_base = static_cast<uint8_t*>(p);
        if (mprotect(d_base + d_page, d_page, PROT_NONE) != 0)
            throw std::runtime_error("mprotect");
    }
    ~guarded() { munmap(d_base, 2 * d_page); }
    guarded(const guarded&) = delete;
    guarded& operator=(const guarded&) = delete;
    //! The first \p n octets of \p v. Valid until the next call.
    const uint8_t* put(const octets& v, size_t n)
    {
        uint8_t* at = d_base + d_page - n;
        std::copy(v.begin(), v.begin() + long(n), at);
        return at;
    }

private:
    size_t d_page;
    uint8_t* d_base = nullptr;
};

//! A query for \p name and a pointer to "a": the header's id is 1 and 'a', its flags 0.
octets ask_with_pointer(const std::string& name)
{
    octets v = ask(name, type_a, 0x0161);
    v[2] = 0;
    const auto end = v.end() - 5; // the root label
    *end = 0;
    v.insert(end, 0xc0);
    return v;
}

//! Labels of these lengths.
std::string labels(std::initializer_list<size_t> lengths)
{
    std::string name;
    for (const size_t n : lengths)
        name += (name.empty() ? "" : ".") + std::string(n, 'x');
    return name;
}

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

TEST(message, flags_of_a_query_are_read_and_echoed)
{
    for (const bool recursion : { false, true })
        for (const bool unchecked : { false, true }) {
            octets v = ask("a.org");
            v[2] = recursion ? 0x01 : 0x00;
            v[3] = unchecked ? 0x10 : 0x00; // CD, RFC 4035 3.2.2
            const query q = must(v);
            EXPECT_EQ(q.recursion_desired, recursion);
            EXPECT_EQ(q.checking_disabled, unchecked);
            const octets r = make_reply(q, { ip::address("10.0.0.1") }, 90);
            EXPECT_EQ(r[2] & 0x01, recursion ? 0x01 : 0);
            EXPECT_EQ(r[3] & 0x10, unchecked ? 0x10 : 0);
        }
    // A header alone: its sender is told that it is malformed.
    const octets head = ask("a.org");
    EXPECT_EQ(code_of(std::get<octets>(read_query(head.data(), 12))), 1u);
}

TEST(message, only_a_whole_soa_says_how_long_there_is_no_name)
{
    const octets good = respond(ask("a.org"), {}, 3600, 3);
    const size_t type_at = 12 + 11 + 2, size_at = type_at + 8;
    ASSERT_EQ(good[type_at + 1], type_soa);
    EXPECT_EQ(read_response(good.data(), good.size())->ttl, 400u);
    octets other = good;
    other[type_at + 1] = 2; // NS
    EXPECT_NE(read_response(other.data(), other.size())->ttl, 400u);
    octets shorter = good; // by one octet, so that its last four are no MINIMUM
    shorter[size_at + 1] = 21;
    shorter.pop_back();
    const auto r = read_response(shorter.data(), shorter.size());
    ASSERT_TRUE(r);
    EXPECT_EQ(r->code, rcode::no_such_name);
    const auto without = read_response(other.data(), other.size());
    EXPECT_EQ(r->ttl, without->ttl);
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

TEST(message, a_record_may_repeat_the_longest_label)
{
    const std::string name = labels({ 63, 3 });
    octets v = ask(name);
    v[2] = 0x81;
    v[3] = 0x80;
    v[7] = 1; // answers
    add_name(v, name);
    add16(v, type_a);
    add16(v, 1);
    add32(v, 600);
    add16(v, 4);
    v.insert(v.end(), { 192, 0, 2, 1 });
    const auto r = read_response(v.data(), v.size());
    ASSERT_TRUE(r);
    EXPECT_EQ(r->addresses, std::vector{ ip::address("192.0.2.1") });
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

// A name has at most 255 octets on the wire (RFC 1035 2.3.4), which is 253 in text.
TEST(message, a_name_longer_than_255_octets_is_refused)
{
    const octets longest = ask(labels({ 63, 63, 63, 61 }));
    EXPECT_EQ(must(longest).ask.name.size(), 253u);
    for (const auto& name : { labels({ 63, 63, 63, 62 }),
                              labels({ 63, 63, 63, 63 }),
                              labels({ 63, 63, 63, 63, 1 }) }) {
        const octets v = ask(name);
        EXPECT_EQ(code_of(std::get<octets>(read_query(v.data(), v.size()))), 1u)
            << name.size();
    }
}

TEST(message, a_pointer_does_not_make_a_name_longer)
{
    const octets fits = ask_with_pointer(labels({ 63, 63, 63, 59 }));
    EXPECT_EQ(must(fits).ask.name, labels({ 63, 63, 63, 59 }) + ".a");
    const octets over = ask_with_pointer(labels({ 63, 63, 63, 60 }));
    EXPECT_EQ(code_of(std::get<octets>(read_query(over.data(), over.size()))), 1u);
}

TEST(message, nothing_is_read_after_the_end_of_a_cut_message)
{
    const octets query_octets = ask("www.example.org", type_a, 1, true);
    const octets good = respond(query_octets, { ip::address("192.0.2.1") });
    const query q = must(query_octets);
    guarded memory(4096);
    for (const octets& v : { query_octets, ask_with_pointer("www") })
        for (size_t n = 0; n < v.size(); ++n)
            EXPECT_FALSE(std::holds_alternative<query>(read_query(memory.put(v, n), n)))
                << n;
    for (size_t n = 0; n < good.size(); ++n) {
        EXPECT_FALSE(read_response(memory.put(good, n), n)) << n;
        EXPECT_TRUE(
            make_reply(q, octets(good.begin(), good.begin() + long(n)), 10).empty())
            << n;
    }
}

// RFC 2181 8
TEST(message, a_ttl_with_the_top_bit_counts_as_0)
{
    const auto with_ttl = [](uint32_t alias_ttl, uint32_t address_ttl) {
        octets v = respond(ask("a.org"), { ip::address("192.0.2.1") });
        const size_t alias_at = 12 + 11 + 6, address_at = v.size() - 10;
        for (size_t k = 0; k < 4; ++k) {
            v[alias_at + k] = uint8_t(alias_ttl >> (24 - 8 * k));
            v[address_at + k] = uint8_t(address_ttl >> (24 - 8 * k));
        }
        const auto r = read_response(v.data(), v.size());
        EXPECT_TRUE(r);
        return r ? r->ttl : 1;
    };
    EXPECT_EQ(with_ttl(0x7fffffff, 0x7fffffff), 0x7fffffffu);
    EXPECT_EQ(with_ttl(0x80000000, 0x80000000), 0u);
    EXPECT_EQ(with_ttl(0x80000000, 300), 0u) << "each record by itself";
    EXPECT_EQ(with_ttl(300, 0xffffffff), 0u);
    const octets none = respond(ask("a.org"), {}, 0x80000000);
    EXPECT_EQ(read_response(none.data(), none.size())->ttl, 0u);
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
