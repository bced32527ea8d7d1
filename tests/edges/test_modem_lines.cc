/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Both ends of the way to a modem's LAN interface: who dials, and who hears the first line.
#include "edges/control_lines.h"
#include "edges/modem_dialer.h"

#include <gtest/gtest.h>

#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>

#include <istream>
#include <list>
#include <vector>

namespace gr::hf::test {
namespace {

using boost::asio::ip::make_address;
using boost::asio::ip::tcp;
using boost::asio::ip::udp;
using boost::system::error_code;

const auto here = make_address("127.0.0.1");

//! Runs until \p done returns true. Returns false at the time limit.
template <typename F>
bool run(boost::asio::io_context& io, F done)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done() && std::chrono::steady_clock::now() < end) {
        io.restart();
        io.run_one_for(std::chrono::milliseconds(100));
    }
    return done();
}

//! A dialer, and the port that it dials.
struct dialled {
    explicit dialled(bool udp_form)
        : dialer(io, "127.0.0.1", acceptor.local_endpoint().port(), udp_form)
    {
        dialer.on_stream = [this](tcp::socket s) { stream.emplace(std::move(s)); };
        dialer.on_control = [this](tcp::socket s, udp::socket d, udp::endpoint p) {
            stream.emplace(std::move(s));
            datagrams.emplace(std::move(d));
            peer = p;
        };
        dialer.on_failed = [this](const std::string& why) { failures.push_back(why); };
    }
    //! Takes a connection, reads its line and answers with another.
    std::string answer(const std::string& line)
    {
        asked.emplace(io);
        bool connected = false;
        acceptor.async_accept(*asked, [&](const error_code&) { connected = true; });
        EXPECT_TRUE(run(io, [&] { return connected; }));
        boost::asio::streambuf in;
        bool heard = false;
        boost::asio::async_read_until(
            *asked, in, '\n', [&](const error_code&, size_t) { heard = true; });
        EXPECT_TRUE(run(io, [&] { return heard; }));
        std::istream text(&in);
        std::string got;
        std::getline(text, got);
        boost::asio::write(*asked, boost::asio::buffer(line + "\n"));
        return got;
    }

    boost::asio::io_context io;
    tcp::acceptor acceptor{ io, { here, 0 } };
    modem_dialer dialer;
    std::optional<tcp::socket> stream, asked;
    std::optional<udp::socket> datagrams;
    udp::endpoint peer;
    std::vector<std::string> failures;
};

TEST(modem_dialer, connects_in_the_tcp_form)
{
    dialled x(false);
    x.dialer.start();
    ASSERT_TRUE(run(x.io, [&] { return x.stream.has_value(); }));
    EXPECT_EQ(x.stream->remote_endpoint(), x.acceptor.local_endpoint());
    EXPECT_FALSE(x.datagrams);
    EXPECT_TRUE(x.failures.empty());
}

TEST(modem_dialer, tells_ports_in_the_udp_form)
{
    dialled x(true);
    x.dialer.start();
    const std::string line = x.answer("UDP 4321");
    ASSERT_TRUE(run(x.io, [&] { return x.datagrams.has_value(); }));
    EXPECT_EQ(line, "UDP " + std::to_string(x.datagrams->local_endpoint().port()));
    EXPECT_EQ(x.peer, udp::endpoint(here, 4321));
    EXPECT_TRUE(x.failures.empty());
}

TEST(modem_dialer, says_why_it_failed_and_tries_again)
{
    dialled x(true);
    x.dialer.start();
    x.answer("BUSY");
    ASSERT_TRUE(run(x.io, [&] { return x.failures.size() == 1; }));
    EXPECT_EQ(x.failures[0], "busy");
    x.answer("hello");
    ASSERT_TRUE(run(x.io, [&] { return x.failures.size() == 2; }));
    EXPECT_EQ(x.failures[1], "no control connection");
    x.answer("UDP 4321");
    EXPECT_TRUE(run(x.io, [&] { return x.datagrams.has_value(); }));
    EXPECT_EQ(x.failures.size(), 2u);
}

TEST(modem_dialer, dials_no_more_once_stopped)
{
    dialled x(true);
    x.dialer.start();
    x.answer("BUSY");
    ASSERT_TRUE(run(x.io, [&] { return x.failures.size() == 1; }));
    x.dialer.stop();
    x.io.restart();
    x.io.run(); // has nothing left to wait for
    EXPECT_EQ(x.failures.size(), 1u);
    EXPECT_FALSE(x.stream);
}

//! Connections to the reader of their lines.
struct asked {
    asked()
    {
        lines.on_port = [this](tcp::socket, uint16_t p) { ports.push_back(p); };
        lines.on_refused = [this] { ++refused; };
    }
    tcp::socket& connect()
    {
        terminals.emplace_back(io);
        terminals.back().connect(acceptor.local_endpoint());
        lines.await(acceptor.accept());
        return terminals.back();
    }
    static void say(tcp::socket& from, const std::string& text)
    {
        boost::asio::write(from, boost::asio::buffer(text));
    }
    boost::asio::io_context io;
    tcp::acceptor acceptor{ io, { here, 0 } };
    control_lines lines;
    std::list<tcp::socket> terminals;
    std::vector<uint16_t> ports;
    int refused = 0;
};

TEST(control_lines, give_the_port_that_was_told)
{
    asked x;
    auto& terminal = x.connect();
    asked::say(terminal, "UDP 5");
    asked::say(terminal, "001\n");
    ASSERT_TRUE(run(x.io, [&] { return !x.ports.empty(); }));
    EXPECT_EQ(x.ports, std::vector<uint16_t>{ 5001 });
    EXPECT_EQ(x.refused, 0);
}

TEST(control_lines, refuse_what_is_none)
{
    asked x;
    asked::say(x.connect(),
               "GET / HTTP/1.1\r\n"); // as long as a line may be, and no port
    asked::say(x.connect(), std::string(1000, 'x'));
    x.connect().close();
    ASSERT_TRUE(run(x.io, [&] { return x.refused == 3; }));
    EXPECT_TRUE(x.ports.empty());
}

TEST(control_lines, hear_eight_at_a_time_and_each_for_three_seconds)
{
    asked x;
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < 8; ++k)
        x.connect();
    EXPECT_EQ(x.refused, 0);
    x.connect();
    EXPECT_EQ(x.refused, 1);
    asked::say(x.terminals.front(), "UDP 5001\n");
    ASSERT_TRUE(run(x.io, [&] { return x.ports.size() == 1; }));
    asked::say(x.connect(), "UDP 5002\n");
    ASSERT_TRUE(run(x.io, [&] { return x.ports.size() == 2; }));
    ASSERT_TRUE(run(x.io, [&] { return x.refused == 8; })) << "they said nothing";
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
}

} // namespace
} // namespace gr::hf::test
