/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dns/forwarder.h"
#include "dns/messages.h"
#include "slep/fake_sis.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

using namespace dns;
using namespace std::chrono_literals;

const s5066::address near_node("1.1.0.0"), far_node("1.2.0.0");

//! Two halves on a subnetwork, and a resolver at the far one.
struct pair {
    explicit pair(const std::function<void(forwarder_config&, bool near)>& change = {})
        : near(config(true, change)), far(config(false, change))
    {
        net.attach(near_node, near, [this](station_time) { collect(); });
        net.attach(far_node, far, [this](station_time now) { resolve(now); });
        net.on_request = [this](const s5066::s_unidata_request& u) {
            ++(u.dst == far_node ? questions : answers);
            sizes.push_back(u.u_pdu.size());
        };
        net.settle();
    }
    static forwarder_config
    config(bool near_side, const std::function<void(forwarder_config&, bool)>& change)
    {
        forwarder_config c;
        if (near_side)
            c.routes = { { ".", far_node } };
        c.serve = !near_side;
        if (change)
            change(c, near_side);
        return c;
    }
    void query(uint64_t client, const octets& v)
    {
        near.on_query(net.now(), client, v.data(), v.size());
        net.settle();
    }
    void collect()
    {
        while (auto a = near.poll_action()) {
            ASSERT_EQ(a->what, action::kind::reply);
            EXPECT_EQ(replies.count(a->id), 0u) << "one reply for each client";
            replies[a->id] = a->message;
        }
    }
    void resolve(station_time now)
    {
        while (auto a = far.poll_action()) {
            ASSERT_EQ(a->what, action::kind::ask);
            ++upstream;
            if (!resolver) {
                far.on_ask_failed(now, a->id);
                continue;
            }
            const octets r = resolver(a->message);
            if (!r.empty())
                far.on_response(now, a->id, r.data(), r.size());
        }
    }
    std::optional<response> reply(uint64_t client)
    {
        const auto it = replies.find(client);
        return it == replies.end() ? std::nullopt
                                   : read_response(it->second.data(), it->second.size());
    }
    //! The far node sends \p m to the near one, whatever was asked.
    void tell(const hf_message& m)
    {
        s5066::s_unidata_indication u;
        u.dst_sap = u.src_sap = 15;
        u.src = far_node;
        u.u_pdu = encode(m);
        u.u_pdu.insert(u.u_pdu.begin(), 0); // SLEP: a datagram
        net.tell(0, u);
        net.settle();
    }
    bool wait_for(uint64_t client, double s)
    {
        return net.run_for(s, [&] { return replies.count(client) > 0; });
    }

    fake_subnet net;
    forwarder near, far;
    std::map<uint64_t, octets> replies;
    std::function<octets(const octets&)> resolver = [](const octets& q) {
        const bool six = q.at(q.size() - 11 - 3) == type_aaaa;
        return respond(q, { ip::address(six ? "2001:db8::1" : "192.0.2.1") });
    };
    size_t questions = 0, answers = 0, upstream = 0;
    std::vector<size_t> sizes;
};

TEST(forwarder, a_name_is_asked_for_once_and_both_families_answered)
{
    pair p;
    // A stub resolver: A and AAAA at once, and both again after 1 and 2 s.
    uint64_t client = 0;
    for (int k = 0; k < 3; ++k) {
        for (const uint16_t type : { type_a, type_aaaa }) {
            ++client;
            p.query(client, ask("www.example.org", type, uint16_t(client)));
        }
        p.net.run_for(0.3);
    }
    ASSERT_TRUE(p.wait_for(6, 60));
    EXPECT_EQ(p.questions, 1u);
    EXPECT_EQ(p.answers, 1u);
    EXPECT_EQ(p.near.stats().joined, 5u);
    for (uint64_t c = 1; c <= 6; ++c) {
        const auto r = p.reply(c);
        ASSERT_TRUE(r) << c;
        EXPECT_EQ(r->id, c);
        ASSERT_EQ(r->addresses.size(), 1u);
        EXPECT_EQ(r->addresses[0].is_v6(), c % 2 == 0);
    }
    EXPECT_EQ(p.sizes[0], 1u + 2 + 15) << "SLEP octet, head, name";
    EXPECT_EQ(p.sizes[1], 1u + 3 + 4 + 16);
    // And from now on the cache answers.
    p.query(7, ask("WWW.example.org"));
    ASSERT_TRUE(p.reply(7));
    EXPECT_EQ(p.questions, 1u);
}

TEST(forwarder, what_needs_no_hf_is_answered_here)
{
    pair p([](forwarder_config& c, bool) {
        c.local = { { "station.hf", ip::address("10.66.0.1") } };
        c.ipv6 = false;
    });
    p.query(1, ask("station.hf"));
    p.query(2, ask("station.hf", type_aaaa));
    p.query(3, ask("printer.local"));
    p.query(4, ask("www.example.org", type_https));
    p.query(5, ask("www.example.org", type_aaaa));
    p.query(6, ask("www.example.org", type_any));
    p.query(7, ask("localhost"));
    p.query(8, ask("3.0.168.192.in-addr.arpa", 12));
    EXPECT_EQ(p.reply(1)->addresses.at(0), ip::address("10.66.0.1"));
    EXPECT_EQ(p.reply(2)->code, rcode::ok);
    EXPECT_EQ(p.reply(3)->code, rcode::no_such_name);
    for (const uint64_t c : { 4, 5 }) {
        EXPECT_EQ(p.reply(c)->code, rcode::ok);
        EXPECT_FALSE(p.reply(c)->any_answer);
    }
    EXPECT_EQ(p.reply(6)->code, rcode::not_implemented);
    EXPECT_EQ(p.reply(7)->addresses.at(0), ip::address("127.0.0.1"));
    EXPECT_EQ(p.reply(8)->code, rcode::no_such_name);
    EXPECT_EQ(p.questions, 0u);
    EXPECT_EQ(p.near.stats().local, 8u);
}

TEST(forwarder, no_such_name_and_no_data_are_kept)
{
    pair p;
    p.resolver = [](const octets& q) { return respond(q, {}, 60, 3); };
    p.query(1, ask("nosuch.example.org"));
    ASSERT_TRUE(p.wait_for(1, 60));
    EXPECT_EQ(p.reply(1)->code, rcode::no_such_name);
    p.query(2, ask("nosuch.example.org", type_aaaa));
    ASSERT_TRUE(p.reply(2));
    EXPECT_EQ(p.reply(2)->code, rcode::no_such_name);
    EXPECT_EQ(p.questions, 1u);
}

TEST(forwarder, other_types_cross_as_they_are)
{
    pair p;
    // Some text record of 60 octets, and an authority section that nobody needs.
    p.resolver = [](const octets& q) {
        octets v = respond(q, {}, 60, 0);
        v[7] = 1;
        v[9] = 0;
        v.resize(v.size() - 34);
        add16(v, 0xc00c);
        add16(v, 16);
        add16(v, 1);
        add32(v, 7200);
        add16(v, 60);
        v.push_back(59);
        v.insert(v.end(), 59, 'x');
        octets more = v;
        more[9] = 1;
        add16(more, 0xc00c);
        add16(more, 2);
        add16(more, 1);
        add32(more, 5);
        add16(more, 2);
        add16(more, 0xc00c);
        return more;
    };
    p.query(1, ask("example.org", 16, 77));
    ASSERT_TRUE(p.wait_for(1, 60));
    const auto r = p.reply(1);
    ASSERT_TRUE(r);
    EXPECT_EQ(r->id, 77);
    EXPECT_EQ(r->ttl, 7200u);
    EXPECT_EQ(p.replies[1].size(), 12u + 17 + 12 + 60);
    EXPECT_LT(p.sizes[1], 60u) << "compressed";
    p.query(2, ask("example.org", 16, 78));
    EXPECT_TRUE(p.reply(2));
    EXPECT_EQ(p.questions, 1u);
}

TEST(forwarder, stale_answers_at_once_while_the_link_is_down)
{
    pair p;
    p.query(1, ask("a.org"));
    ASSERT_TRUE(p.wait_for(1, 60));
    p.net.run_for(3 * 3600);
    p.net.k.up = false;
    // Nobody knows yet: the first waits a little.
    p.query(2, ask("a.org"));
    EXPECT_FALSE(p.reply(2));
    ASSERT_TRUE(p.wait_for(2, 4.1));
    EXPECT_EQ(p.reply(2)->addresses.at(0), ip::address("192.0.2.1"));
    EXPECT_EQ(p.reply(2)->ttl, 30u);
    p.net.run_for(5);
    p.query(3, ask("a.org"));
    ASSERT_TRUE(p.wait_for(3, 0.01));
    // Without a stale one the client is told, in the end.
    p.query(4, ask("b.org"));
    ASSERT_TRUE(p.wait_for(4, 130));
    EXPECT_EQ(p.reply(4)->code, rcode::server_failure);
    EXPECT_GE(p.near.stats().stale, 2u);
    p.net.k.up = true;
    p.net.run_for(300);
    p.query(5, ask("b.org"));
    ASSERT_TRUE(p.wait_for(5, 60));
    EXPECT_EQ(p.reply(5)->addresses.size(), 1u);
}

TEST(forwarder, a_short_break_of_the_link_costs_time_only)
{
    pair p;
    p.net.k.up = false;
    p.query(1, ask("a.org"));
    p.net.run_for(12);
    EXPECT_FALSE(p.reply(1));
    p.net.k.up = true;
    ASSERT_TRUE(p.wait_for(1, 60));
    EXPECT_EQ(p.reply(1)->addresses.size(), 1u);
}

TEST(forwarder, a_silent_or_failing_resolver_is_told_as_failure)
{
    pair p;
    p.resolver = [](const octets&) { return octets(); };
    p.query(1, ask("a.org"));
    ASSERT_TRUE(p.wait_for(1, 60));
    EXPECT_EQ(p.reply(1)->code, rcode::server_failure);
    p.resolver = nullptr;
    p.query(2, ask("b.org"));
    ASSERT_TRUE(p.wait_for(2, 60));
    EXPECT_EQ(p.reply(2)->code, rcode::server_failure);
    // Remembered for a minute, so that impatient clients do not fill the channel.
    p.query(3, ask("b.org"));
    EXPECT_TRUE(p.reply(3));
    EXPECT_EQ(p.questions, 2u);
}

TEST(forwarder, a_wrong_answer_of_the_resolver_is_not_believed)
{
    pair p;
    p.resolver = [](const octets&) {
        return respond(ask("evil.org"), { ip::address("192.0.2.66") });
    };
    p.query(1, ask("a.org"));
    ASSERT_TRUE(p.wait_for(1, 60));
    EXPECT_EQ(p.reply(1)->code, rcode::server_failure);
}

TEST(forwarder, peers_are_served_only_if_allowed)
{
    pair closed([](forwarder_config& c, bool near) {
        if (!near)
            c.peers = { s5066::address("1.9.0.0") };
    });
    closed.query(1, ask("a.org"));
    ASSERT_TRUE(closed.wait_for(1, 60));
    EXPECT_EQ(closed.reply(1)->code, rcode::refused);
    EXPECT_EQ(closed.upstream, 0u);
    pair off([](forwarder_config& c, bool) { c.serve = false; });
    off.query(1, ask("a.org"));
    ASSERT_TRUE(off.wait_for(1, 60));
    EXPECT_EQ(off.reply(1)->code, rcode::refused);
}

TEST(forwarder, every_queue_is_bounded)
{
    pair p([](forwarder_config& c, bool) {
        c.pending_max = 10;
        c.waiters_max = 5;
    });
    p.net.k.up = false;
    for (uint64_t k = 1; k <= 100; ++k)
        p.query(k, ask("n" + std::to_string(k) + ".org"));
    EXPECT_EQ(p.replies.size(), 90u);
    for (uint64_t k = 101; k <= 120; ++k)
        p.query(k, ask("n1.org"));
    EXPECT_EQ(p.replies.size(), 90u + 16);
    p.net.run_for(200);
    EXPECT_EQ(p.replies.size(), 120u);
}

TEST(forwarder, the_answer_with_signatures_goes_raw)
{
    pair p([](forwarder_config& c, bool) { c.dnssec = true; });
    p.query(1, ask("a.org", type_a, 5, true, true));
    ASSERT_TRUE(p.wait_for(1, 60));
    EXPECT_EQ(p.reply(1)->addresses.size(), 1u);
    EXPECT_EQ(p.reply(1)->id, 5);
    // Not mixed up with the plain one.
    p.query(2, ask("a.org"));
    ASSERT_TRUE(p.wait_for(2, 60));
    EXPECT_EQ(p.questions, 2u);
}

TEST(forwarder, the_longest_suffix_wins_in_any_order)
{
    const s5066::address all("1.3.0.0"), org("1.4.0.0"), example("1.5.0.0");
    std::vector<name_route> routes = { { ".", all },
                                       { "org", org },
                                       { "example.org", example } };
    const auto before = [](const name_route& a, const name_route& b) {
        return a.suffix < b.suffix;
    };
    std::sort(routes.begin(), routes.end(), before);
    do {
        pair p([&routes](forwarder_config& c, bool near) {
            if (near)
                c.routes = routes;
        });
        std::vector<s5066::address> asked;
        p.net.on_request = [&asked](const s5066::s_unidata_request& u) {
            asked.push_back(u.dst);
        };
        p.query(1, ask("www.example.org"));
        p.query(2, ask("www.other.org"));
        p.query(3, ask("www.example.com"));
        EXPECT_EQ(asked, (std::vector<s5066::address>{ example, org, all }))
            << routes[0].suffix << " " << routes[1].suffix;
    } while (std::next_permutation(routes.begin(), routes.end(), before));
}

TEST(forwarder, a_failure_does_not_push_out_what_is_known)
{
    pair p;
    p.query(1, ask("a.org"));
    ASSERT_TRUE(p.wait_for(1, 60));
    p.net.run_for(3 * 3600);
    p.resolver = nullptr;
    for (uint64_t client = 2; client <= 3; ++client) {
        p.query(client, ask("a.org"));
        ASSERT_TRUE(p.wait_for(client, 60));
        EXPECT_EQ(p.reply(client)->code, rcode::ok) << client;
        EXPECT_EQ(p.reply(client)->addresses.size(), 1u) << client;
        p.net.run_for(60);
    }
    EXPECT_GE(p.near.stats().answered, 2u) << "the failure came";
}

TEST(forwarder, an_answer_to_another_question_is_not_taken)
{
    pair p;
    p.resolver = [](const octets&) { return octets(); };
    constexpr uint16_t text = 16, mail = 15;
    p.query(1, ask("a.org", mail));
    const auto tell = [&p](const char* name, uint16_t type) {
        octets message = respond(ask(name, type, 0), {});
        message.erase(message.begin(), message.begin() + 2); // without its id
        p.tell(raw_answer{ 0, message });
    };
    tell("a.org", text);
    EXPECT_FALSE(p.reply(1));
    EXPECT_EQ(p.near.stats().bad_messages, 1u);
    tell("b.org", mail);
    EXPECT_FALSE(p.reply(1));
    EXPECT_EQ(p.near.stats().bad_messages, 2u);
    tell("a.org", mail);
    ASSERT_TRUE(p.reply(1)) << "the right one still counts";
    EXPECT_EQ(p.reply(1)->code, rcode::ok);
}

// The far half serves all its peers from one cache, but a failure may be over by the next question.
TEST(forwarder, the_far_half_keeps_what_the_resolver_knows_and_no_failure)
{
    for (const auto& [code, kept] : { std::pair{ 3u, true }, { 2u, false } }) {
        pair p;
        p.resolver = [code = code](const octets& q) {
            return respond(q, {}, 3600, code);
        };
        forwarder other(pair::config(true, {}));
        bool answered = false;
        p.net.attach(s5066::address("1.3.0.0"), other, [&](station_time) {
            answered = other.poll_action() || answered;
        });
        p.query(1, ask("a.org"));
        ASSERT_TRUE(p.wait_for(1, 60));
        const size_t before = p.upstream;
        const octets q = ask("a.org");
        other.on_query(p.net.now(), 1, q.data(), q.size());
        p.net.settle();
        ASSERT_TRUE(p.net.run_for(60, [&] { return answered; }));
        EXPECT_EQ(p.upstream == before, kept) << code;
    }
}

TEST(forwarder, equal_transactions_of_two_peers_are_two)
{
    pair p;
    const s5066::address third("1.3.0.0");
    forwarder other(pair::config(true, {}));
    std::vector<octets> got;
    p.net.attach(third, other, [&](station_time) {
        while (auto a = other.poll_action())
            got.push_back(a->message);
    });
    p.net.settle();
    // Both begin with the same transaction; the resolver says nothing until both have asked.
    p.resolver = [](const octets&) { return octets(); };
    p.query(1, ask("a.org"));
    const octets q = ask("a.org");
    other.on_query(p.net.now(), 1, q.data(), q.size());
    p.net.settle();
    ASSERT_TRUE(p.net.run_for(60, [&p] { return p.upstream == 4; }))
        << "A and AAAA of each";
    // After upstream_wait both are told.
    EXPECT_TRUE(p.net.run_for(60, [&] { return p.reply(1) && !got.empty(); }));
    EXPECT_EQ(p.far.stats().served, 2u);
}

// A transaction is one octet. After 256 questions it returns to a number that a slow
// question may still hold.
TEST(forwarder, a_transaction_in_use_is_not_taken_again)
{
    pair p([](forwarder_config& c, bool) {
        c.wait_max = 3600s;
        c.upstream_wait = 3000s;
    });
    const auto usual = p.resolver;
    const octets slow_question = ask("slow.org");
    p.resolver = [&](const octets& q) {
        const bool slow = std::equal(
            slow_question.begin() + 12, slow_question.begin() + 12 + 10, q.begin() + 12);
        return slow ? octets() : usual(q);
    };
    p.query(1000, slow_question);
    for (uint64_t k = 1; k <= 300; ++k) {
        p.query(k, ask("n" + std::to_string(k) + ".org"));
        ASSERT_TRUE(p.wait_for(k, 60)) << k;
        ASSERT_EQ(p.reply(k)->code, rcode::ok) << k;
    }
    EXPECT_FALSE(p.reply(1000)) << "the answer for another name";
    hf_answer a; // of transaction 0, the first question
    a.ttl = 3600;
    a.addresses = { ip::address("192.0.2.99") };
    p.tell(a);
    ASSERT_TRUE(p.reply(1000));
    ASSERT_EQ(p.reply(1000)->addresses.size(), 1u);
    EXPECT_EQ(p.reply(1000)->addresses[0], ip::address("192.0.2.99"));
}

TEST(forwarder, a_failure_is_kept_for_the_shortest_time_whatever_the_peer_says)
{
    pair p;
    p.resolver = [](const octets&) { return octets(); };
    uint64_t client = 0;
    for (const auto what :
         { hf_answer::outcome::server_failure, hf_answer::outcome::refused }) {
        const octets question = ask("n" + std::to_string(client) + ".org");
        p.query(++client, question);
        ASSERT_FALSE(p.reply(client));
        hf_answer a;
        a.transaction = uint8_t(p.questions - 1);
        a.what = what;
        a.ttl = 3000;
        p.tell(a);
        ASSERT_TRUE(p.reply(client));
        EXPECT_NE(p.reply(client)->code, rcode::ok);
        const auto shortest_s = p.near.config().limits.negative_min_s;
        const size_t before = p.questions;
        p.net.run_for(shortest_s - 1);
        p.query(++client, question);
        EXPECT_TRUE(p.reply(client)) << "still known";
        p.net.run_for(2);
        p.query(++client, question);
        EXPECT_EQ(p.questions, before + 1) << "asked again";
    }
}

TEST(forwarder, the_ttl_of_a_failed_family_does_not_shorten_the_other)
{
    pair p([](forwarder_config& c, bool) { c.limits.ttl_min_s = 1; });
    p.resolver = [](const octets& q) {
        const bool six = q.at(q.size() - 11 - 3) == type_aaaa;
        return six ? respond(q, { ip::address("2001:db8::1") }, 3600)
                   : respond(q, {}, 60, 2);
    };
    p.query(1, ask("a.org", type_aaaa));
    ASSERT_TRUE(p.wait_for(1, 60));
    ASSERT_EQ(p.reply(1)->addresses.size(), 1u);
    EXPECT_GT(p.reply(1)->ttl, 900u) << "half of 3600, rounded down on the air";
}

TEST(forwarder, an_answer_above_16_kib_is_a_failure)
{
    pair p;
    const auto text = [](size_t size) {
        return [size](const octets& q) {
            octets v = respond(q, {}, 60, 0);
            v[7] = 1;
            v[9] = 0;
            v.resize(v.size() - 34); // the authority section
            const size_t length = size - v.size() - 12;
            add16(v, 0xc00c);
            add16(v, 16);
            add16(v, 1);
            add32(v, 7200);
            add16(v, unsigned(length));
            v.resize(size, 'x');
            return v;
        };
    };
    p.resolver = text(16384);
    p.query(1, ask("a.org", 16));
    ASSERT_TRUE(p.wait_for(1, 120));
    EXPECT_EQ(p.reply(1)->code, rcode::ok);
    EXPECT_EQ(p.replies[1].size(), 16384u);
    p.resolver = text(16385);
    p.query(2, ask("b.org", 16));
    ASSERT_TRUE(p.wait_for(2, 120));
    EXPECT_EQ(p.reply(2)->code, rcode::server_failure);
    EXPECT_EQ(p.far.stats().bad_messages, 1u);
}

TEST(forwarder, garbage_from_everywhere)
{
    pair p;
    std::mt19937 rng(3);
    const octets q = ask("a.org", type_a, 1, true);
    const octets good[] = { encode(hf_question{ 0, kind::both, 0, "a.org" }),
                            encode(hf_answer{}) };
    for (uint64_t k = 1; k <= 20000; ++k) {
        const octets a = damage(q, rng);
        p.near.on_query(p.net.now(), k, a.data(), a.size());
        s5066::s_unidata_indication u;
        u.dst_sap = u.src_sap = 15;
        u.src = far_node;
        u.u_pdu = damage(good[k % 2], rng);
        if (k % 3 == 0)
            u.u_pdu.insert(u.u_pdu.begin(), 0);
        p.net.tell(k % 2, u);
        if (k % 100 == 0)
            p.net.run_for(1);
    }
    p.net.run_for(600);
    EXPECT_GT(p.near.stats().malformed, 1000u);
    EXPECT_GT(p.far.stats().bad_messages, 100u);
    p.query(99999, ask("fresh.org"));
    EXPECT_TRUE(p.wait_for(99999, 60)) << "it still works";
}

TEST(forwarder, wrong_settings_are_named)
{
    const auto named = [](const std::function<void(forwarder_config&)>& f,
                          const char* word) {
        forwarder_config c;
        f(c);
        try {
            forwarder e(c);
            ADD_FAILURE() << word;
        } catch (const std::invalid_argument& e) {
            EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
        }
    };
    named([](forwarder_config& c) { c.routes = { { "a..b", far_node } }; }, "a..b");
    named([](forwarder_config& c) { c.priority = 16; }, "16");
    named([](forwarder_config& c) { c.addresses_max = 0; }, "addresses_max");
    named([](forwarder_config& c) { c.limits.ttl_min_s = 100000; }, "100000");
    named([](forwarder_config& c) { c.blocked = { "" }; }, "blocked");
    named([](forwarder_config& c) { c.local = { { "a b", {} } }; }, "a b");
}

} // namespace
} // namespace gr::hf::test
