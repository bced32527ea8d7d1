/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// DNS-PEP with real sockets: clients and a resolver on loopback, a subnetwork in virtual time.
#include "dns/messages.h"
#include "edges/dns_edge.h"
#include "slep/fake_sis.h"

#include <gtest/gtest.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <deque>

namespace gr::hf::test {
namespace {

using boost::asio::ip::make_address;
using boost::asio::ip::tcp;
using boost::asio::ip::udp;
using dns::type_a;
using dns::type_aaaa;

const udp::endpoint any_port(make_address("127.0.0.1"), 0);
const s5066::address near_node("1.1.0.0"), far_node("1.2.0.0");

octets with_length(octets message)
{
    message.insert(message.begin(),
                   { static_cast<uint8_t>(message.size() >> 8),
                     static_cast<uint8_t>(message.size()) });
    return message;
}

//! One message after its length.
octets read_message(tcp::socket& s)
{
    octets length(2);
    boost::asio::read(s, boost::asio::buffer(length));
    octets message(static_cast<size_t>(length[0] << 8 | length[1]));
    boost::asio::read(s, boost::asio::buffer(message));
    return message;
}

//! A truncated response to a question: the rest is to be had by TCP.
std::vector<octets> truncated(octets question)
{
    question[2] = 0x83;
    question[3] = 0x80;
    return { question };
}

std::optional<dns::response> read(const std::optional<octets>& v)
{
    return v ? dns::read_response(v->data(), v->size()) : std::nullopt;
}

/*! Clients, the near half, the far half, and a resolver whose answers the test gives. The
 *  sockets of the test are read without waiting, so everything is on one thread.
 */
struct dns_edges : testing::Test {
    dns_edges()
    {
        net.k.delay = {};
        resolver.non_blocking(true);
        far_edge.set_resolver(resolver.local_endpoint());
        near_edge.listen(at);
        net.attach(near_node, near_half, [this](station_time) { near_edge.drain(); });
        net.attach(far_node, far_half, [this](station_time) { far_edge.drain(); });
        net.settle();
    }
    static dns::forwarder_config config(bool near_side)
    {
        dns::forwarder_config c;
        if (near_side)
            c.routes = { { ".", far_node } };
        c.serve = !near_side;
        c.addresses_max = 15;
        return c;
    }
    //! A port of loopback that was free a moment ago.
    udp::endpoint free_port() { return udp::socket(io, any_port).local_endpoint(); }

    bool until(const std::function<bool()>& done)
    {
        // 20 s of real time at most, of which each step adds 20 ms to the subnetwork's.
        for (int k = 0; k < 1000; ++k) {
            io.restart();
            io.run_for(std::chrono::milliseconds(20));
            read_resolver();
            net.run_for(0.02);
            if (done())
                return true;
        }
        return false;
    }
    void read_resolver()
    {
        octets q(2000);
        boost::system::error_code error;
        udp::endpoint from;
        q.resize(resolver.receive_from(boost::asio::buffer(q), from, 0, error));
        if (error)
            return;
        asked.push_back(q);
        for (const octets& a : answer_of(q))
            resolver.send_to(boost::asio::buffer(a), from);
    }
    //! The resolver's addresses of the family that is asked for.
    static octets addresses(const octets& q, unsigned count = 1)
    {
        const bool six = q.at(q.size() - 11 - 3) == type_aaaa;
        std::vector<ip::address> all;
        for (unsigned k = 1; k <= count; ++k)
            all.emplace_back((six ? "2001:db8::" : "192.0.2.") + std::to_string(k));
        return respond(q, all);
    }
    void send(udp::socket& client, const octets& query)
    {
        client.send_to(boost::asio::buffer(query), at);
    }
    std::optional<octets> reply(udp::socket& client, double longest_s = 20)
    {
        octets r(2000);
        boost::system::error_code error;
        client.non_blocking(true);
        const auto arrived = [&] {
            r.resize(2000);
            r.resize(client.receive(boost::asio::buffer(r), 0, error));
            return !error;
        };
        const auto end =
            std::chrono::steady_clock::now() + std::chrono::duration<double>(longest_s);
        if (!until([&] { return arrived() || std::chrono::steady_clock::now() > end; }) ||
            error)
            return std::nullopt;
        return r;
    }
    //! What a client is told of www.example.org.
    std::optional<dns::response> answer()
    {
        udp::socket client(io, any_port);
        send(client, ask("www.example.org"));
        return read(reply(client));
    }

    boost::asio::io_context io;
    fake_subnet net;
    dns::forwarder near_half{ config(true) }, far_half{ config(false) };
    dns_edge near_edge{ io, near_half, [this] { return net.now(); }, [] {} };
    dns_edge far_edge{ io, far_half, [this] { return net.now(); }, [] {} };
    udp::socket resolver{ io, any_port };
    udp::endpoint at = free_port();
    std::function<std::vector<octets>(const octets&)> answer_of = [](const octets& q) {
        return std::vector<octets>{ addresses(q) };
    };
    std::vector<octets> asked;
};

TEST_F(dns_edges, a_question_gets_the_answer_of_the_far_resolver)
{
    udp::socket client(io, any_port);
    send(client, ask("www.example.org", type_a, 77));
    send(client, ask("www.example.org", type_a, 77)); // a repeat gets no reply of its own
    const auto r = read(reply(client));
    ASSERT_TRUE(r);
    EXPECT_EQ(r->id, 77u);
    ASSERT_EQ(r->addresses.size(), 1u);
    EXPECT_EQ(r->addresses[0].to_string(), "192.0.2.1");
    EXPECT_FALSE(reply(client, 0.3));
    EXPECT_EQ(asked.size(), 2u) << "both families";
}

// Somebody who guesses the port must guess the number as well (RFC 5452).
TEST_F(dns_edges, an_answer_with_another_number_is_ignored)
{
    answer_of = [](const octets& q) {
        octets forged = respond(q, { ip::address("203.0.113.66") });
        forged[1] ^= 1;
        return std::vector<octets>{ forged, { q[0] }, addresses(q) };
    };
    const auto r = answer();
    ASSERT_TRUE(r);
    ASSERT_EQ(r->addresses.size(), 1u);
    EXPECT_EQ(r->addresses[0].to_string(), "192.0.2.1");
}

TEST_F(dns_edges, a_silent_resolver_is_asked_again)
{
    answer_of = [this](const octets& q) {
        return asked.size() > 2 ? std::vector<octets>{ addresses(q) }
                                : std::vector<octets>{};
    };
    const auto r = answer();
    ASSERT_TRUE(r);
    EXPECT_EQ(r->addresses.size(), 1u);
    ASSERT_EQ(asked.size(), 4u);
    EXPECT_TRUE(asked[0] == asked[2] || asked[0] == asked[3]);
}

TEST_F(dns_edges, a_truncated_answer_is_fetched_by_tcp)
{
    tcp::acceptor acceptor(
        io, { resolver.local_endpoint().address(), resolver.local_endpoint().port() });
    unsigned by_tcp = 0;
    std::deque<tcp::socket> open;
    std::function<void()> accept = [&] {
        acceptor.async_accept([&](const boost::system::error_code& error, tcp::socket s) {
            if (error)
                return;
            ++by_tcp;
            // The question is on its way already.
            const octets q = read_message(s);
            boost::asio::write(s, boost::asio::buffer(with_length(addresses(q))));
            open.push_back(std::move(s));
            accept();
        });
    };
    accept();
    answer_of = truncated;
    const auto r = answer();
    ASSERT_TRUE(r);
    ASSERT_EQ(r->addresses.size(), 1u);
    EXPECT_EQ(r->addresses[0].to_string(), "192.0.2.1");
    EXPECT_EQ(by_tcp, 2u);
    acceptor.close();
}

TEST_F(dns_edges, a_resolver_without_tcp_is_a_failure)
{
    answer_of = truncated;
    const auto r = answer();
    ASSERT_TRUE(r);
    EXPECT_EQ(r->code, dns::rcode::server_failure);
    EXPECT_TRUE(r->addresses.empty());
}

// RFC 1035 4.2.1: what is longer than 512 octets is truncated, and goes by TCP.
TEST_F(dns_edges, a_long_reply_goes_by_tcp)
{
    answer_of = [](const octets& q) { return std::vector<octets>{ addresses(q, 15) }; };
    std::string name;
    for (const char c : { 'a', 'b', 'c' })
        name += std::string(60, c) + ".";
    name += "org";
    udp::socket client(io, any_port);
    send(client, ask(name, type_aaaa));
    const auto cut = reply(client);
    ASSERT_TRUE(cut);
    EXPECT_LE(cut->size(), 512u);
    EXPECT_NE((*cut)[2] & 0x02, 0);

    tcp::socket s(io);
    s.connect({ at.address(), at.port() });
    for (const uint16_t id : { uint16_t(5), uint16_t(6) }) {
        boost::asio::write(s, boost::asio::buffer(with_length(ask(name, type_aaaa, id))));
        ASSERT_TRUE(until([&] { return s.available() > 2; }));
        const auto whole = read(read_message(s));
        ASSERT_TRUE(whole);
        EXPECT_EQ(whole->id, id);
        EXPECT_EQ(whole->addresses.size(), 15u);
    }
}

TEST_F(dns_edges, a_tcp_client_that_sends_too_much_is_closed)
{
    tcp::socket s(io);
    s.connect({ at.address(), at.port() });
    boost::asio::write(s, boost::asio::buffer(octets{ 4, 1 })); // 1025 octets
    boost::system::error_code error;
    s.non_blocking(true);
    octets o(1);
    EXPECT_TRUE(until([&] {
        s.read_some(boost::asio::buffer(o), error);
        return error == boost::asio::error::eof ||
               error == boost::asio::error::connection_reset;
    }));
}

TEST_F(dns_edges, an_occupied_port_is_named)
{
    dns_edge other(
        io, near_half, [this] { return net.now(); }, [] {});
    try {
        other.listen(at);
        FAIL();
    } catch (const std::runtime_error& e) {
        EXPECT_NE(std::string(e.what()).find(std::to_string(at.port())),
                  std::string::npos);
    }
}

TEST(dns_endpoint, is_an_address_and_perhaps_a_port)
{
    const auto text = [](const char* words) {
        const auto e = parse_dns_endpoint(words);
        return e.address().to_string() + " " + std::to_string(e.port());
    };
    EXPECT_EQ(text("127.0.0.1"), "127.0.0.1 53");
    EXPECT_EQ(text("127.0.0.1:5353"), "127.0.0.1 5353");
    EXPECT_EQ(text("::1"), "::1 53");
    EXPECT_EQ(text("[::1]:5353"), "::1 5353");
    for (const char* bad :
         { "", "example.org", "127.0.0.1:0", "127.0.0.1:x", "1.2.3:53" })
        EXPECT_THROW(parse_dns_endpoint(bad), std::invalid_argument) << bad;
}

} // namespace
} // namespace gr::hf::test
