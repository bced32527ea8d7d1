/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// TLS apart over the kernel's TCP: a program and a server with TLS sessions of their own, and
// a subnetwork in virtual time between the two proxies.
#include "edges/tcp_edge.h"
#include "pep/rules.h"
#include "slep/slep_user.h"

#include <gtest/gtest.h>

#include <boost/asio/write.hpp>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace gr::hf::test {
namespace {

using boost::asio::ip::make_address;
using boost::asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

const auto loopback = make_address("127.0.0.1");

tls::octets of(const std::string& text) { return { text.begin(), text.end() }; }

hfpep::proxy_config config() { return {}; }

//! A TLS session on a socket.
struct secured {
    explicit secured(boost::asio::io_context& io) : socket(io) {}
    void begin(std::unique_ptr<tls::session> s, const std::string& host_of_server = "")
    {
        session = std::move(s);
        host = host_of_server;
        flush();
        read();
    }
    void say(const std::string& text)
    {
        session->write(of(text));
        flush();
    }
    void flush()
    {
        error_code ignored;
        boost::asio::write(socket, boost::asio::buffer(session->poll()), ignored);
    }
    void read()
    {
        socket.async_read_some(boost::asio::buffer(in),
                               [this](const error_code& e, size_t n) {
                                   session->feed(in.data(), n);
                                   if (session->waits())
                                       session->go_on(host, "http/1.1");
                                   const auto data = session->read();
                                   got.append(data.begin(), data.end());
                                   flush();
                                   error = e;
                                   if (!e)
                                       read();
                               });
    }
    tcp::socket socket;
    std::unique_ptr<tls::session> session;
    std::string host, got;
    error_code error;
    std::array<uint8_t, 65536> in;
};

struct tls_edges : testing::Test {
    tls_edges() : acceptor(io, { loopback, 0 }), program(io), server(io)
    {
        char name[] = "/tmp/hf-tls-edges-XXXXXX";
        folder = ::mkdtemp(name);
        near_ca = std::make_shared<tls::authority>(folder + "/near");
        shore_ca = std::make_shared<tls::authority>(folder + "/shore");
        std::ofstream(folder + "/store.pem")
            << near_ca->certificate() << shore_ca->certificate();
        ::setenv("SSL_CERT_FILE", (folder + "/store.pem").c_str(), 1);
        servers = tls::context::for_servers();
    }
    ~tls_edges() override { std::filesystem::remove_all(folder); }

    void stations(const std::string& words)
    {
        const std::string port = std::to_string(acceptor.local_endpoint().port());
        auto ca = config(), cb = config();
        ca.routes = { { ip::prefix(), ".", s5066::address("1.0.0.2"), 13 } };
        ca.rules = { hfpep::parse_rule("tls=apart port=" + port + " " + words) };
        cb.allow = { hfpep::reach::parse("shop.example:" + port + "=127.0.0.1:" + port) };
        a = std::make_unique<hfpep::proxy>(ca);
        b = std::make_unique<hfpep::proxy>(cb);
        const auto clock = [this] { return net.now(); };
        edge_a = std::make_unique<tcp_edge>(
            io, *a, clock, [] {}, near_ca);
        edge_b = std::make_unique<tcp_edge>(io, *b, clock, [] {});
        edge_a->listen(tcp_listener::parse("127.0.0.1:0=shop.example:" + port));
        net.attach(
            s5066::address("1.0.0.1"), *a, [this](station_time) { edge_a->drain(); });
        net.attach(
            s5066::address("1.0.0.2"), *b, [this](station_time) { edge_b->drain(); });
        net.settle();
    }
    //! \param shown name in the certificate of the server
    void connect(const std::vector<std::string>& alpn,
                 const std::string& shown = "shop.example")
    {
        acceptor.async_accept(server.socket, [this, shown](const error_code& e) {
            if (!e)
                server.begin(std::make_unique<tls::session>(programs, *shore_ca), shown);
        });
        program.socket.connect({ loopback, edge_a->ports().at(0) });
        program.begin(std::make_unique<tls::session>(*servers, "shop.example", alpn));
    }
    bool run(const std::function<bool()>& done)
    {
        const auto limit = std::chrono::steady_clock::now() + 60s;
        while (!done() && std::chrono::steady_clock::now() < limit) {
            io.restart();
            io.run_for(2ms);
            net.run_for(0.01);
        }
        return done();
    }
    std::string logged(hfpep::proxy& p)
    {
        std::string all;
        while (const auto line = p.poll_log())
            all += *line + "\n";
        return all;
    }

    boost::asio::io_context io;
    fake_subnet net;
    tcp::acceptor acceptor;
    std::string folder;
    std::shared_ptr<tls::authority> near_ca, shore_ca;
    tls::context programs = tls::context::for_programs();
    std::optional<tls::context> servers; // made when the trust store is known
    secured program, server;
    std::unique_ptr<hfpep::proxy> a, b;
    std::unique_ptr<tcp_edge> edge_a, edge_b;
};

//! Whether the near end waits for the far one.
struct tls_edges_late : tls_edges, testing::WithParamInterface<bool> {
    tls_edges_late() { stations(GetParam() ? "accept=late" : ""); }
};

TEST_P(tls_edges_late, the_text_passes_both_ways_and_both_sessions_end)
{
    connect({ "h2", "http/1.1" });
    ASSERT_TRUE(run([&] { return program.session->open(); })) << logged(*a);
    EXPECT_EQ(program.session->alpn(), "http/1.1");
    program.say("question");
    ASSERT_TRUE(run([&] { return server.got == "question"; }));
    const std::string answer(100'000, 'x');
    server.say(answer);
    server.session->finish();
    server.flush();
    ASSERT_TRUE(run([&] { return program.session->ended(); }));
    EXPECT_EQ(program.got, answer);
    program.session->finish();
    program.flush();
    ASSERT_TRUE(
        run([&] { return edge_a->open_sockets() + edge_b->open_sockets() == 0; }));
    EXPECT_EQ(a->stats().closed, 1u);
}

TEST_P(tls_edges_late, a_wrong_name_is_an_alert_or_a_reset_and_a_line)
{
    connect({ "http/1.1" }, "other.example");
    ASSERT_TRUE(run([&] { return bool(program.error); }));
    if (GetParam())
        EXPECT_NE(program.session->why().find("bad certificate"), std::string::npos);
    else
        EXPECT_EQ(program.error, boost::asio::error::connection_reset);
    EXPECT_NE(logged(*a).find("for another name"), std::string::npos);
    EXPECT_NE(logged(*b).find("no TLS with shop.example"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(accept, tls_edges_late, testing::Bool());

TEST_F(tls_edges, a_program_without_tls_ends_and_is_named)
{
    stations("");
    program.socket.connect({ loopback, edge_a->ports().at(0) });
    boost::asio::write(program.socket, boost::asio::buffer("GET / HTTP/1.1\r\n\r\n", 18));
    ASSERT_TRUE(run([&] { return a->stats().reset == 1; }));
    EXPECT_NE(logged(*a).find("the program has ended its TLS session"),
              std::string::npos);
    EXPECT_EQ(b->stats().requested, 0u);
}

TEST_F(tls_edges, an_end_without_close_notify_is_a_reset_after_the_data)
{
    stations("");
    connect({});
    program.say("x");
    ASSERT_TRUE(run([&] { return program.session->open(); }));
    program.say("question");
    ASSERT_TRUE(run([&] { return server.got == "question"; }));
    server.say(std::string(20'000, 'y'));
    server.socket.close();
    ASSERT_TRUE(run([&] { return bool(program.error); }));
    EXPECT_EQ(program.error, boost::asio::error::connection_reset);
    EXPECT_FALSE(program.session->ended());
    EXPECT_EQ(program.got.size(), 20'000u);
    EXPECT_NE(logged(*b).find("without close_notify"), std::string::npos);
}

} // namespace
} // namespace gr::hf::test
