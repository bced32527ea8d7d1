/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// The sockets of HF-PEP with the kernel's TCP on both sides and a subnetwork in virtual time
// between them.
#include "edges/tcp_edge.h"
#include "slep/slep_user.h"

#include <gtest/gtest.h>

#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

namespace gr::hf::test {
namespace {

using boost::asio::ip::make_address;
using boost::asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

const auto loopback = make_address("127.0.0.1");

uint16_t free_port(boost::asio::io_context& io)
{
    return tcp::acceptor(io, { loopback, 0 }).local_endpoint().port();
}

//! A proxy with its sockets.
struct side {
    side(boost::asio::io_context& io, fake_subnet& net, const hfpep::proxy_config& c)
        : pep(c), edge(
                      io,
                      pep,
                      [&net] { return net.now(); },
                      [] {})
    {
    }
    hfpep::proxy pep;
    tcp_edge edge;
};

hfpep::proxy_config config(const char* far, const std::string& allow)
{
    hfpep::proxy_config c;
    c.routes = { { ip::prefix("0.0.0.0/0"), "", s5066::address(far), 13 },
                 { ip::prefix(), ".", s5066::address(far), 13 } };
    c.slep.queue_octets = 20'000;
    if (!allow.empty())
        c.allow = { hfpep::reach::parse(allow) };
    return c;
}

//! An application: a connected socket, and the octets read from it.
struct application {
    explicit application(boost::asio::io_context& io) : socket(io) {}
    tcp::socket socket;
    std::string got;
    bool eof = false;
    error_code error; // other than the end of file
    bool reads = true;

    void begin()
    {
        socket.async_read_some(boost::asio::buffer(in),
                               [this](const error_code& e, size_t n) {
                                   got.append(in.data(), n);
                                   eof = e == boost::asio::error::eof;
                                   if (e && !eof)
                                       error = e;
                                   if (!e && reads)
                                       begin();
                               });
    }
    std::array<char, 65536> in;
};

//! Two proxies, an application that comes in at one and a server at the other.
struct both_ends : testing::Test {
    //! \param allowed host that may be reached \param host that is asked for
    //! \param server "=ADDRESS:" of the server that has the allowed name, or empty
    both_ends(const std::string& allowed,
              const std::string& host,
              const std::string& server = "")
        : acceptor(io, { loopback, 0 }), entry(free_port(io)),
          server_port(acceptor.local_endpoint().port()), client(io), server(io)
    {
        a = std::make_unique<side>(io, net, config("1.0.0.2", ""));
        const std::string port = std::to_string(server_port);
        b = std::make_unique<side>(
            io,
            net,
            config("1.0.0.1",
                   allowed + ":" + port + (server.empty() ? "" : server + port)));
        a->edge.listen(tcp_listener::parse("127.0.0.1:" + std::to_string(entry) + "=" +
                                           host + ":" + std::to_string(server_port)));
        net.attach(
            s5066::address("1.0.0.1"), a->pep, [this](station_time) { a->edge.drain(); });
        net.attach(
            s5066::address("1.0.0.2"), b->pep, [this](station_time) { b->edge.drain(); });
        net.settle();
    }
    //! Sockets in the time of the host, the subnetwork in its own.
    bool run(const std::function<bool()>& done)
    {
        const auto limit = std::chrono::steady_clock::now() + 60s;
        while (!done() && std::chrono::steady_clock::now() < limit) {
            io.restart();
            io.run_for(2ms);
            net.run_for(0.1);
        }
        return done();
    }
    void connect()
    {
        client.socket.connect({ loopback, entry });
        bool accepted = false;
        acceptor.async_accept(server.socket, [&](const error_code& e) { accepted = !e; });
        boost::asio::write(client.socket, boost::asio::buffer("hello", 5));
        ASSERT_TRUE(run([&] { return accepted; }));
        client.begin();
        server.begin();
        ASSERT_TRUE(run([&] { return server.got == "hello"; }));
    }
    void send(application& from, const std::string& text)
    {
        boost::asio::write(from.socket, boost::asio::buffer(text));
    }
    void finish(application& x) { x.socket.shutdown(tcp::socket::shutdown_send); }

    boost::asio::io_context io;
    fake_subnet net;
    tcp::acceptor acceptor;
    const uint16_t entry, server_port;
    std::unique_ptr<side> a, b;
    application client, server;
};

struct tcp_edges : both_ends {
    tcp_edges() : both_ends("127.0.0.1", "127.0.0.1") {}
};
//! The name may be looked up, since some address is allowed at its port.
struct tcp_edges_by_name : both_ends {
    tcp_edges_by_name() : both_ends("10.0.0.1", "localhost") {}
};

TEST_F(tcp_edges, half_close_from_either_side)
{
    connect();
    const std::string text(30'000, 'x');
    finish(client);
    ASSERT_TRUE(run([&] { return server.eof; }));
    EXPECT_FALSE(client.eof);
    send(server, text); // the other direction goes on
    ASSERT_TRUE(run([&] { return client.got == text; }));
    EXPECT_FALSE(client.eof);
    finish(server);
    ASSERT_TRUE(run([&] { return client.eof; }));
    EXPECT_FALSE(client.error || server.error);
    ASSERT_TRUE(
        run([&] { return a->edge.open_sockets() + b->edge.open_sockets() == 0; }));

    client.socket.close();
    server.socket.close();
    client.got = server.got = "";
    client.eof = server.eof = false;
    connect();
    finish(server);
    ASSERT_TRUE(run([&] { return client.eof; }));
    send(client, text);
    ASSERT_TRUE(run([&] { return server.got == "hello" + text; }));
    EXPECT_FALSE(server.eof);
    finish(client);
    ASSERT_TRUE(run([&] { return server.eof; }));
}

TEST_F(tcp_edges, an_end_of_the_program_is_a_reset)
{
    connect();
    a->edge.close(); // as the kernel closes sockets: nothing is set before
    ASSERT_TRUE(run([&] { return client.error || client.eof; }));
    EXPECT_EQ(client.error, boost::asio::error::connection_reset);
    b->edge.close();
    ASSERT_TRUE(run([&] { return server.error || server.eof; }));
    EXPECT_EQ(server.error, boost::asio::error::connection_reset);
}

TEST_F(tcp_edges, what_the_kernel_still_holds_at_an_orderly_end_arrives)
{
    client.socket.open(tcp::v4());
    client.socket.set_option(boost::asio::socket_base::receive_buffer_size(4096));
    connect();
    client.reads = false;
    const std::string text(50'000, 'x');
    send(server, text);
    finish(client);
    finish(server);
    ASSERT_TRUE(run([&] { return a->edge.open_sockets() == 0; }));
    EXPECT_LT(client.got.size(), text.size());
    client.reads = true;
    client.begin();
    ASSERT_TRUE(run([&] { return client.eof || client.error; }));
    EXPECT_TRUE(client.eof);
    EXPECT_EQ(client.got.size(), text.size());
}

TEST_F(tcp_edges, an_abort_of_either_application_resets_the_other)
{
    for (const bool by_client : { true, false }) {
        connect();
        application& aborts = by_client ? client : server;
        application& other = by_client ? server : client;
        aborts.socket.set_option(boost::asio::socket_base::linger(true, 0));
        aborts.socket.close();
        ASSERT_TRUE(run([&] { return other.error || other.eof; }));
        EXPECT_EQ(other.error, boost::asio::error::connection_reset);
        ASSERT_TRUE(
            run([&] { return a->edge.open_sockets() + b->edge.open_sockets() == 0; }));
        for (application* x : { &client, &server }) {
            error_code ignored;
            x->socket.close(ignored);
            x->got.clear();
            x->eof = false;
            x->error = {};
        }
    }
}

TEST_F(tcp_edges, an_application_that_does_not_read_stops_the_other)
{
    connect();
    server.reads = false;
    // As many octets as the client can send.
    const std::string part(65536, 'x');
    size_t sent = 0;
    std::function<void()> go_on = [&] {
        client.socket.async_write_some(boost::asio::buffer(part),
                                       [&](const error_code& e, size_t n) {
                                           sent += n;
                                           if (!e && sent < 20'000'000)
                                               go_on();
                                       });
    };
    net.k.rate = 1e6;
    go_on();
    size_t before = 1;
    while (sent != before) { // until nothing moves for a minute
        before = sent;
        for (int k = 0; k < 600; ++k) {
            io.restart();
            io.run_for(50us);
            net.run_for(0.1);
        }
    }
    const auto held =
        a->pep.connections().at(0).waiting + b->pep.connections().at(0).unread;
    EXPECT_LE(b->pep.stats().octets_in, 1'500'000u);
    EXPECT_LE(held, a->pep.config().slep.send_buffer + 65'536 + 3 * 20'000 + 8192);
    EXPECT_LT(sent, 20'000'000u);
    server.reads = true;
    server.begin();
    ASSERT_TRUE(run([&] { return server.got.size() > 2'000'000; }));
}

//! A name with its server, which needs no look-up.
struct tcp_edges_by_server : both_ends {
    tcp_edges_by_server() : both_ends("invalid", "no.such.invalid", "=127.0.0.1:") {}
};

TEST_F(tcp_edges_by_server, a_name_leads_to_the_server_that_allow_names)
{
    connect();
    send(client, "abc");
    EXPECT_TRUE(run([&] { return server.got == "helloabc"; }));
}

TEST_F(tcp_edges, a_listener_takes_any_free_port)
{
    a->edge.listen(tcp_listener::parse("socks5:0"));
    ASSERT_EQ(a->edge.ports().size(), 2u);
    EXPECT_EQ(a->edge.ports()[0], entry);
    EXPECT_NE(a->edge.ports()[1], 0);
    EXPECT_THROW(tcp_listener::parse("0=example.org:0"), std::invalid_argument);
}

TEST_F(tcp_edges_by_name, the_addresses_of_a_name_are_looked_at)
{
    error_code error;
    if (tcp::resolver(io).resolve("localhost", "80", error).empty() || error)
        GTEST_SKIP() << "this system has no name that can be resolved";
    bool accepted = false;
    acceptor.async_accept(server.socket, [&](const error_code& e) { accepted = !e; });
    client.socket.connect({ loopback, entry });
    client.begin();
    boost::asio::write(client.socket, boost::asio::buffer("hello", 5));
    ASSERT_TRUE(run([&] { return client.error || client.eof || accepted; }));
    EXPECT_EQ(client.error, boost::asio::error::connection_reset);
    EXPECT_FALSE(accepted);
    EXPECT_EQ(b->pep.stats().failed, 1u);
}

} // namespace
} // namespace gr::hf::test
