/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pep/handshake.h"
#include "pep/reach.h"
#include "pep/rules.h"
#include "slep/slep_user.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

using hfpep::handshake;
using hfpep::nearness;
using hfpep::reach;
using hfpep::status;
using state = handshake::state;

octets bytes(const std::string& s) { return octets(s.begin(), s.end()); }
std::string text(const octets& v) { return std::string(v.begin(), v.end()); }
state feed(handshake& h, const octets& v) { return h.feed(v.data(), v.size()); }

TEST(handshake, socks5_octet_by_octet_for_each_address_type)
{
    const std::pair<octets, std::string> cases[] = {
        { { 5, 1, 0, 1, 10, 1, 2, 3, 0, 80 }, "10.1.2.3:80" },
        { { 5, 1, 0, 3, 7, 'h', 'o', 's', 't', '.', 'h', 'f', 1, 187 }, "host.hf:443" },
        { { 5, 1, 0, 4, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 22 },
          "[fd00::1]:22" }
    };
    for (const auto& [request, shown] : cases) {
        handshake h(handshake::protocol::socks5);
        for (const uint8_t o : octets{ 5, 2, 2, 0 })
            EXPECT_EQ(h.feed(&o, 1), state::asking);
        EXPECT_EQ(h.poll_reply(), (octets{ 5, 0 }));
        for (size_t k = 0; k < request.size(); ++k)
            EXPECT_EQ(h.feed(&request[k], 1),
                      k + 1 < request.size() ? state::asking : state::requested);
        EXPECT_EQ(h.request().to_string(), shown);
        h.feed(request.data(), 3);
        EXPECT_EQ(h.early_data(), octets(request.begin(), request.begin() + 3));
        h.answer(status::connected,
                 hfpep::endpoint_address{ ip::address("10.9.8.7"), 258 });
        EXPECT_EQ(h.poll_reply(), (octets{ 5, 0, 0, 1, 10, 9, 8, 7, 1, 2 }));
        EXPECT_EQ(h.now(), state::done);
    }
}

TEST(handshake, socks5_says_why_not)
{
    const std::pair<status, uint8_t> codes[] = { { status::general_failure, 1 },
                                                 { status::forbidden, 2 },
                                                 { status::network_unreachable, 3 },
                                                 { status::host_unreachable, 4 },
                                                 { status::refused, 5 },
                                                 { status::timed_out, 6 },
                                                 { status::name_not_found, 4 },
                                                 { status::too_many_connections, 1 },
                                                 { status::peer_not_allowed, 2 },
                                                 { status::link_lost, 3 } };
    for (const auto& [why, code] : codes) {
        handshake h(handshake::protocol::socks5);
        feed(h, { 5, 1, 0, 5, 1, 0, 1, 10, 1, 2, 3, 0, 80 });
        ASSERT_EQ(h.now(), state::requested);
        h.poll_reply();
        h.answer(why);
        EXPECT_EQ(h.poll_reply()[1], code);
    }
}

TEST(handshake, socks5_refuses_what_it_cannot_do)
{
    const std::pair<octets, octets> cases[] = {
        { { 3, 1 }, { 5, 0xff } },
        { { 4, 2 }, { 0, 91, 0, 0, 0, 0, 0, 0 } },                       // SOCKS4: BIND
        { { 4, 1, 0, 0, 10, 1, 2, 3, 0 }, { 0, 91, 0, 0, 0, 0, 0, 0 } }, // port 0
        { { 4, 1, 0, 80, 0, 0, 0, 1, 0, 'a', '\n', 0 }, { 0, 91, 0, 0, 0, 0, 0, 0 } },
        { { 4, 1, 0, 80, 0, 0, 0, 1, 0, 0 }, { 0, 91, 0, 0, 0, 0, 0, 0 } }, // no name
        { { 5, 1, 2 }, { 5, 0xff } }, // password only
        { { 5, 1, 0, 5, 2, 0, 1, 1 }, { 5, 0, 5, 7, 0, 1, 0, 0, 0, 0, 0, 0 } }, // BIND
        { { 5, 1, 0, 5, 1, 0, 9, 1 }, { 5, 0, 5, 8, 0, 1, 0, 0, 0, 0, 0, 0 } }, // type
        { { 5, 1, 0, 5, 1, 0, 3, 2, 'a', '\n', 0, 80 },
          { 5, 0, 5, 1, 0, 1, 0, 0, 0, 0, 0, 0 } }, // no host name
    };
    for (const auto& [in, out] : cases) {
        handshake h(handshake::protocol::socks5);
        EXPECT_EQ(feed(h, in), state::failed);
        EXPECT_EQ(h.poll_reply(), out);
    }
}

TEST(handshake, socks4_at_the_socks5_port_octet_by_octet)
{
    const std::pair<octets, std::string> cases[] = {
        { { 4, 1, 1, 187, 10, 1, 2, 3, 0 }, "10.1.2.3:443" },
        { { 4, 1, 0, 80, 10, 1, 2, 3, 'm', 'e', 0 }, "10.1.2.3:80" },
        { { 4, 1, 0, 80, 0, 0, 0, 0, 0 }, "0.0.0.0:80" }, // no name follows
        { { 4, 1, 0, 80, 1, 0, 0, 9, 0 }, "1.0.0.9:80" },
        { { 4, 1, 0, 80, 0, 1, 0, 9, 0 }, "0.1.0.9:80" },
        { { 4, 1, 0, 80, 0, 0, 1, 9, 0 }, "0.0.1.9:80" },
        { { 4, 1, 0, 80, 0, 0, 0, 9, 'm', 'e', 0, 'a', '.', 'h', 'f', 0 }, "a.hf:80" },
    };
    for (const auto& [request, shown] : cases) {
        handshake h(handshake::protocol::socks5);
        for (size_t k = 0; k < request.size(); ++k)
            ASSERT_EQ(h.feed(&request[k], 1),
                      k + 1 < request.size() ? state::asking : state::requested)
                << shown << " octet " << k;
        EXPECT_EQ(h.request().to_string(), shown);
        feed(h, { 5, 6 });
        EXPECT_EQ(h.early_data(), (octets{ 5, 6 }));
        EXPECT_TRUE(h.poll_reply().empty());
        h.answer(status::connected,
                 hfpep::endpoint_address{ ip::address("10.9.8.7"), 258 });
        EXPECT_EQ(h.poll_reply(), (octets{ 0, 90, 1, 2, 10, 9, 8, 7 }));
        EXPECT_EQ(h.now(), state::done);
    }
}

TEST(handshake, socks4_has_one_answer_for_every_failure)
{
    const std::pair<status, octets> answers[] = {
        { status::forbidden, { 0, 91, 0, 0, 0, 0, 0, 0 } },
        { status::refused, { 0, 91, 0, 0, 0, 0, 0, 0 } },
        { status::connected, { 0, 90, 1, 2, 0, 0, 0, 0 } } // an IPv6 address has no room
    };
    for (const auto& [why, answer] : answers) {
        handshake h(handshake::protocol::socks5);
        feed(h, { 4, 1, 0, 80, 10, 1, 2, 3, 0 });
        h.answer(why, hfpep::endpoint_address{ ip::address("fd00::1"), 258 });
        EXPECT_EQ(h.poll_reply(), answer) << to_string(why);
    }
    handshake endless(handshake::protocol::socks5);
    octets user(handshake::octets_max, 'x');
    user[0] = 4, user[1] = 1;
    EXPECT_EQ(feed(endless, user), state::asking);
    EXPECT_EQ(feed(endless, { 'x' }), state::failed);
    EXPECT_EQ(endless.poll_reply(), (octets{ 0, 91, 0, 0, 0, 0, 0, 0 }));
}

TEST(handshake, http_connect)
{
    handshake h(handshake::protocol::http_connect);
    EXPECT_EQ(feed(h, bytes("CONNECT server.example.org:8443 HTTP/1.1\r\nHost: x\r\n")),
              state::asking);
    EXPECT_EQ(feed(h, bytes("\r\nearly")), state::requested);
    EXPECT_EQ(h.request().to_string(), "server.example.org:8443");
    EXPECT_EQ(text(h.early_data()), "early");
    h.answer(status::connected);
    EXPECT_EQ(text(h.poll_reply()), "HTTP/1.1 200 Connection established\r\n\r\n");

    const std::pair<const char*, const char*> refused[] = {
        { "GET http://x/ HTTP/1.1\r\n\r\n", "HTTP/1.1 405 " },
        { "CONNECT nowhere HTTP/1.1\r\n\r\n", "HTTP/1.1 400 " },
        { "CONNECT a:0 HTTP/1.1\r\n\r\n", "HTTP/1.1 400 " },
        { "CONNECT a b:1 HTTP/1.1\r\n\r\n", "HTTP/1.1 400 " },
        { "\r\n\r\n", "HTTP/1.1 400 " }
    };
    for (const auto& [in, out] : refused) {
        handshake r(handshake::protocol::http_connect);
        EXPECT_EQ(feed(r, bytes(in)), state::failed) << in;
        EXPECT_EQ(text(r.poll_reply()).substr(0, 13), out);
    }
    handshake endless(handshake::protocol::http_connect);
    EXPECT_EQ(feed(endless, octets(handshake::octets_max + 1, 'x')), state::failed);
    EXPECT_EQ(text(endless.poll_reply()).substr(0, 13), "HTTP/1.1 431 ");

    const std::pair<status, const char*> codes[] = { { status::forbidden, "403" },
                                                     { status::refused, "502" },
                                                     { status::timed_out, "504" },
                                                     { status::going_down, "503" } };
    for (const auto& [why, code] : codes) {
        handshake r(handshake::protocol::http_connect);
        feed(r, bytes("CONNECT [fd00::1]:22 HTTP/1.1\r\n\r\n"));
        r.answer(why);
        EXPECT_EQ(text(r.poll_reply()).substr(9, 3), code);
    }
}

TEST(handshake, survives_anything)
{
    std::mt19937 rng(7);
    const octets good[] = {
        { 5, 1, 0, 5, 1, 0, 3, 4, 'a', '.', 'h', 'f', 0, 80, 1, 2, 3 },
        { 4, 1, 0, 80, 0, 0, 0, 9, 'm', 0, 'a', '.', 'h', 'f', 0, 1, 2 },
        bytes("CONNECT a.hf:80 HTTP/1.1\r\nHost: a.hf\r\n\r\nxyz")
    };
    size_t requested = 0;
    for (int k = 0; k < 60000; ++k) {
        handshake h(k % 2 ? handshake::protocol::socks5
                          : handshake::protocol::http_connect);
        octets v = k % 3 ? good[k % 2 ? rng() % 2 : 2] : octets(rng() % 60);
        for (size_t m = k % 3 ? rng() % 4 : v.size(); m > 0 && !v.empty(); --m)
            v[rng() % v.size()] = uint8_t(rng());
        for (size_t at = 0; at < v.size();) {
            const size_t n = std::min<size_t>(1 + rng() % 20, v.size() - at);
            h.feed(v.data() + at, n);
            at += n;
        }
        if (h.now() == state::requested) {
            ++requested;
            h.answer(static_cast<status>(rng() % 16));
        }
        EXPECT_LT(h.poll_reply().size(), 200u);
        EXPECT_LE(h.early_data().size(), v.size());
    }
    EXPECT_GT(requested, 1000u);
}

TEST(reach, permits_what_is_named_and_nothing_else)
{
    const auto to = [](const std::string& host, uint16_t port) {
        const auto a = ip::address::parse(host);
        hfpep::destination d;
        if (a)
            d.host = *a;
        else
            d.host = host;
        d.port = port;
        return d;
    };
    std::vector<reach> list;
    EXPECT_FALSE(permits(list, to("10.0.0.1", 80)));
    for (const char* s :
         { "10.0.0.0/24:80-90", "[fd00::/8]:22", "example.org:443", "*:7" })
        list.push_back(reach::parse(s));
    EXPECT_TRUE(permits(list, to("10.0.0.9", 85)));
    EXPECT_FALSE(permits(list, to("10.0.0.9", 91)));
    EXPECT_FALSE(permits(list, to("10.0.1.9", 85)));
    EXPECT_TRUE(permits(list, to("fd00::9", 22)));
    EXPECT_TRUE(permits(list, to("www.example.org", 443)));
    EXPECT_FALSE(permits(list, to("notexample.org", 443)));
    EXPECT_TRUE(permits(list, to("anything", 7)));
    EXPECT_TRUE(permits(list, to("1.2.3.4", 7)));
    // A name that is not permitted may be looked up if addresses are at that port.
    EXPECT_FALSE(permits(list, to("other.net", 80)));
    EXPECT_TRUE(may_ask(list, to("other.net", 80)));
    EXPECT_FALSE(may_ask(list, to("other.net", 79)));
    for (const char* bad : { "",
                             "10.0.0.1",
                             ":80",
                             "10.0.0.1:",
                             "10.0.0.1:90-80",
                             "10.0.0.1/33:1",
                             "a b:1",
                             "10.0.0.1:65536",
                             "x:1-",
                             "[fd00::zz/8]:1",
                             "x:1=",
                             "x:1=127.0.0.1",
                             "x:1=127.0.0.1:0",
                             "x:1=host:2",
                             "*:1=127.0.0.1:2",
                             "10.0.0.1:1=127.0.0.1:2" })
        EXPECT_THROW(reach::parse(bad), std::invalid_argument) << bad;
}

TEST(reach, a_name_may_have_its_server)
{
    const std::vector<reach> list = { reach::parse("shop.example:80=[::1]:8080"),
                                      reach::parse("example:*") };
    EXPECT_TRUE(permits(list, { "shop.example", 80 }));
    const auto server = server_of(list, { "www.shop.example", 80 });
    ASSERT_TRUE(server);
    EXPECT_EQ(server->to_string(), "[::1]:8080");
    EXPECT_FALSE(server_of(list, { "shop.example", 81 }));
    EXPECT_FALSE(server_of(list, { "other.example", 80 }));
    EXPECT_FALSE(server_of(list, { "other.org", 80 }));
}

TEST(reach, what_leads_to_this_host_must_be_named)
{
    const auto list = [](std::vector<const char*> words) {
        std::vector<reach> all;
        for (const char* w : words)
            all.push_back(reach::parse(w));
        return all;
    };
    const auto at = [](const char* text) { return ip::address(text); };
    const auto to = [&](const char* text) { return hfpep::destination{ at(text), 80 }; };
    const auto wide = list({ "*:80", "0.0.0.0/0:80", "[::/0]:80", "[::ffff:0:0/96]:80" });
    for (const char* a : { "127.0.0.1",
                           "127.255.255.254",
                           "0.0.0.0",
                           "0.1.2.3",
                           "169.254.169.254",
                           "::",
                           "::1",
                           "::127.0.0.1",
                           "fe80::1",
                           "::ffff:127.0.0.1",
                           "::ffff:0.0.0.0",
                           "::ffff:169.254.1.1" }) {
        EXPECT_FALSE(permits(wide, to(a))) << a;
        // A name that is permitted does not lead there either.
        EXPECT_FALSE(permits_at(wide, { "www.hf.org", 80 }, at(a), nearness::far)) << a;
        EXPECT_FALSE(permits_at(wide, { "localhost", 80 }, at(a), nearness::far)) << a;
    }
    EXPECT_TRUE(permits(wide, to("10.0.0.1")));
    EXPECT_TRUE(permits(wide, to("::ffff:10.0.0.1")));
    EXPECT_TRUE(permits_at(wide, { "www.hf.org", 80 }, at("10.0.0.1"), nearness::far));
    EXPECT_FALSE(permits(list({ "10.0.0.1:80" }), to("::ffff:10.0.0.2")));
    // Named, or a prefix that is for such addresses alone.
    EXPECT_TRUE(permits(list({ "127.0.0.1:80" }), to("127.0.0.1")));
    EXPECT_TRUE(permits(list({ "127.0.0.1:80" }), to("::ffff:127.0.0.1")));
    EXPECT_FALSE(permits(list({ "127.0.0.1:80" }), to("127.0.0.2")));
    EXPECT_FALSE(permits(list({ "127.0.0.1:81", "*:80" }), to("127.0.0.1")));
    EXPECT_TRUE(permits(list({ "127.0.0.0/8:80" }), to("127.0.0.2")));
    EXPECT_FALSE(permits(list({ "126.0.0.0/7:80" }), to("127.0.0.2")));
    EXPECT_TRUE(permits(list({ "[fe80::/10]:80" }), to("fe80::1")));
    EXPECT_TRUE(permits(list({ "[::1]:80" }), to("::1")));
    // This host by its other addresses.
    EXPECT_TRUE(permits_at(wide, to("10.0.0.1"), at("10.0.0.1"), nearness::far));
    EXPECT_FALSE(permits_at(wide, to("10.0.0.1"), at("10.0.0.1"), nearness::own));
    EXPECT_FALSE(permits_at(wide, { "www.hf.org", 80 }, at("10.0.0.1"), nearness::own));
    EXPECT_FALSE(permits_at(
        list({ "10.0.0.0/24:80" }), to("10.0.0.1"), at("10.0.0.1"), nearness::own));
    EXPECT_TRUE(permits_at(
        list({ "10.0.0.1:80" }), to("10.0.0.1"), at("10.0.0.1"), nearness::own));
    EXPECT_TRUE(permits_at(list({ "hf.org:80", "10.0.0.1:80" }),
                           { "hf.org", 80 },
                           at("10.0.0.1"),
                           nearness::own));
    EXPECT_FALSE(permits_at(
        list({ "hf.org:80" }), { "hf.org", 80 }, at("10.0.0.1"), nearness::own));
    // The one name that says it.
    const auto localhost = list({ "localhost:80" });
    EXPECT_TRUE(
        permits_at(localhost, { "localhost", 80 }, at("127.0.0.1"), nearness::own));
    EXPECT_TRUE(permits_at(localhost, { "LocalHost", 80 }, at("::1"), nearness::own));
    EXPECT_TRUE(
        permits_at(localhost, { "localhost.", 80 }, at("127.0.0.1"), nearness::own));
    EXPECT_FALSE(
        permits_at(localhost, { "localhost..", 80 }, at("127.0.0.1"), nearness::own));
    EXPECT_FALSE(
        permits_at(localhost, { "localhost", 80 }, at("10.0.0.1"), nearness::own));
    EXPECT_FALSE(
        permits_at(localhost, { "localhost", 81 }, at("127.0.0.1"), nearness::own));
    EXPECT_FALSE(permits_at(localhost, { "hf.org", 80 }, at("127.0.0.1"), nearness::own));
}

TEST(reach, internet_is_what_is_public_and_far)
{
    const auto at = [](const char* text) { return ip::address(text); };
    const std::vector<reach> list = { reach::parse("internet:443") };
    for (const char* a : { "10.1.2.3",
                           "192.168.1.1",
                           "100.64.0.1",
                           "fd00::1",
                           "2002:a00:1::1",
                           "::ffff:10.1.2.3",
                           "64:ff9b::a00:1",
                           "224.0.0.1",
                           "192.0.2.1" }) {
        EXPECT_FALSE(permits(list, { at(a), 443 })) << a;
        EXPECT_FALSE(permits_at(list, { "hf.org", 443 }, at(a), nearness::far)) << a;
    }
    for (const char* a :
         { "93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822" }) {
        EXPECT_TRUE(permits(list, { at(a), 443 })) << a;
        EXPECT_FALSE(permits(list, { at(a), 80 })) << a;
        EXPECT_TRUE(permits_at(list, { "hf.org", 443 }, at(a), nearness::far)) << a;
        // A public address of this station's own network is not the internet.
        EXPECT_FALSE(permits_at(list, { "hf.org", 443 }, at(a), nearness::link)) << a;
        EXPECT_FALSE(permits_at(list, { at(a), 443 }, at(a), nearness::own)) << a;
    }
    EXPECT_TRUE(may_ask(list, { "hf.org", 443 }));
    EXPECT_FALSE(may_ask(list, { "hf.org", 80 }));
    const auto star = reach::parse("*:443");
    EXPECT_TRUE(permits_at({ star }, { "hf.org", 443 }, at("10.1.2.3"), nearness::link));
    EXPECT_TRUE(star.is_for_all() && reach::parse("[::/0]:80").is_for_all());
    EXPECT_FALSE(list[0].is_for_all() || reach::parse("10.0.0.0/8:1").is_for_all());
    EXPECT_THROW(reach::parse("internet:1=127.0.0.1:2"), std::invalid_argument);
}

TEST(reach, an_entry_may_be_for_some_nodes)
{
    const std::vector<reach> list = { reach::parse("10.0.0.1:80 from 1.2.0.1, 1.2.0.3"),
                                      reach::parse(
                                          "shop.example:80=127.0.0.1:8080 from 1.2.0.3"),
                                      reach::parse("10.0.0.2:80") };
    const auto entries_for = [&list](const char* node) {
        return for_peer(list, s5066::address(node)).size();
    };
    EXPECT_EQ(entries_for("1.2.0.1"), 2u);
    EXPECT_EQ(entries_for("1.2.0.3"), 3u);
    EXPECT_EQ(entries_for("1.2.0.4"), 1u);
    EXPECT_TRUE(server_of(list, { "shop.example", 80 }));
    for (const char* bad : { "10.0.0.1:80 from ",
                             "10.0.0.1:80 from x",
                             "10.0.0.1:80 from 1.2.0.1,",
                             "10.0.0.1:80 from 31.255.255.255",
                             "10.0.0.1:80 from 1.2.0.1 1.2.0.3" })
        EXPECT_THROW(reach::parse(bad), std::invalid_argument) << bad;
}

TEST(rule_words, own_rules_come_ahead_of_the_default_list)
{
    const auto effect = [](const std::vector<hfpep::rule>& rules, uint16_t port) {
        const auto k = hfpep::find_rule(rules,
                                        { ip::address("10.0.0.1"), port },
                                        {},
                                        s5066::address("1.2.0.2"),
                                        9600);
        return k ? rules[*k].service_class : -1;
    };
    const auto rules =
        hfpep::rules_from({ "port=20-21 class=6", "port=80 class=0" }, true);
    EXPECT_EQ(effect(rules, 21), 6);
    EXPECT_EQ(effect(rules, 80), 0);
    EXPECT_EQ(effect(rules, 22), 1) << "SSH goes first still";
    EXPECT_EQ(effect(rules, 25), 5);
    const auto alone = hfpep::rules_from({ "port=20-21 class=6" }, false);
    EXPECT_EQ(effect(alone, 21), 6);
    EXPECT_EQ(effect(alone, 22), -1);
    EXPECT_EQ(hfpep::rules_from({}, true).size(), hfpep::default_rules().size());
}

TEST(rule_words, every_word)
{
    const auto r = hfpep::parse_rule(
        "port=8000-8099 to=10.0.0.0/8 from=192.168.0.0/16 node=1.2.0.2 rate_min=300 "
        "rate_max=9600 action=reject max=4 load_max=50000 over=wait class=2 priority=9 "
        "compress=on "
        "accept=late hold_ms=20 idle_s=60 outage_s=300");
    EXPECT_EQ(r.port_first, 8000);
    EXPECT_EQ(r.port_last, 8099);
    EXPECT_EQ(r.to->to_string(), "10.0.0.0/8");
    EXPECT_EQ(r.from->to_string(), "192.168.0.0/16");
    EXPECT_EQ(r.node->to_string(), "1.2.0.2");
    EXPECT_EQ(r.rate_min, 300);
    EXPECT_EQ(r.rate_max, 9600);
    EXPECT_EQ(r.action, hfpep::rule_action::reject);
    EXPECT_EQ(r.max_connections, 4u);
    EXPECT_EQ(r.load_max, 50'000u);
    EXPECT_TRUE(r.over_waits && r.compress == hfpep::compression::on && r.late_accept);
    EXPECT_EQ(r.service_class, 2);
    EXPECT_EQ(r.priority, 9);
    EXPECT_EQ(to_seconds(r.hold), 0.02);
    EXPECT_EQ(to_seconds(r.idle_max), 60);
    EXPECT_EQ(to_seconds(r.outage_max), 300);
    for (const char* bad : { "port",
                             "port=",
                             "port=70000",
                             "port=9-1",
                             "class=8",
                             "class=1.5",
                             "priority=16",
                             "max=-1",
                             "load_max=1e10",
                             "action=maybe",
                             "colour=red",
                             "compress=maybe",
                             "node=1.2.3",
                             "to=here",
                             "hold_ms=x",
                             "outage_s=0" })
        EXPECT_THROW(hfpep::parse_rule(bad), std::invalid_argument) << bad;
}

TEST(rule_words, the_largest_numbers_are_allowed)
{
    const auto r = hfpep::parse_rule("max=4096 class=7 priority=15 hold_ms=10000");
    EXPECT_EQ(r.max_connections, 4096u);
    EXPECT_EQ(r.service_class, 7);
    EXPECT_EQ(r.priority, 15);
    EXPECT_EQ(to_seconds(r.hold), 10);
    hfpep::proxy_config c;
    c.rules = { r };
    EXPECT_NO_THROW(c.validate());
    EXPECT_THROW(hfpep::parse_rule("max=4097"), std::invalid_argument);
    EXPECT_THROW(hfpep::parse_rule("hold_ms=10001"), std::invalid_argument);
}

} // namespace
} // namespace gr::hf::test
