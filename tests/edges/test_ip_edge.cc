/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// A TUN device with the kernel's IP on one side and the engine on the other, in a network
// namespace of its own.
#include "edges/io_thread.h"
#include "edges/ip_edge.h"

#include <gtest/gtest.h>

#include <boost/asio/ip/udp.hpp>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

namespace gr::hf::test {
namespace {

using boost::asio::ip::make_address;
using boost::asio::ip::udp;
using boost::system::error_code;

//! Why no device can be made here; empty: it can. Moves this thread into a namespace.
std::string enter_own_namespace()
{
    const int fd = ::open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return "/dev/net/tun cannot be opened";
    ::close(fd);
    return ::unshare(CLONE_NEWNET) == 0 ? "" : "no right to make a network namespace";
}

//! Everything on one thread, which does not leave its namespace any more.
struct ip_edges : testing::Test {
    void run(const std::function<void()>& body)
    {
        std::string why_not;
        std::thread([&] {
            why_not = enter_own_namespace();
            if (why_not.empty())
                body();
        }).join();
        if (!why_not.empty())
            GTEST_SKIP() << why_not;
    }
};

struct host {
    host()
        : engine(config()), edge(io,
                                 engine,
                                 "hf0",
                                 "10.66.0.1/24",
                                 1500,
                                 { [] { return station_time{}; },
                                   [this] { edge.drain(); },
                                   [this](const std::string& s) { said.push_back(s); } }),
          socket(io)
    {
        edge.open();
        socket.open(udp::v4());
    }
    static ip::client_config config()
    {
        ip::client_config c; // refuses every packet, by ICMP
        c.filter = { {} };
        c.filter[0].what = ip::verdict::port_unreachable;
        c.own = { *ip::address::parse("10.66.0.1") };
        return c;
    }
    bool wait(const std::function<bool()>& done)
    {
        while (!done())
            if (io.run_one_for(std::chrono::seconds(30)) == 0)
                return false;
        return true;
    }
    //! A datagram into the device, and the ICMP error that comes back to the socket.
    error_code ask()
    {
        error_code answer;
        bool over = false;
        socket = udp::socket(io, udp::v4());
        socket.connect({ make_address("10.66.0.2"), 4000 });
        socket.send(boost::asio::buffer("x", 1));
        socket.async_receive(boost::asio::buffer(in), [&](const error_code& e, size_t) {
            answer = e;
            over = true;
        });
        EXPECT_TRUE(wait([&] { return over; }));
        return answer;
    }
    boost::asio::io_context io;
    std::vector<std::string> said;
    ip::client engine;
    ip_edge edge;
    udp::socket socket;
    std::array<char, 100> in;
};

TEST_F(ip_edges, packets_go_up_and_down)
{
    run([] {
        host h;
        EXPECT_EQ(h.ask(), boost::asio::error::connection_refused);
        EXPECT_GE(h.engine.stats().from_host, 1u);
        EXPECT_GE(h.engine.stats().unreachable, 1u); // the kernel asks for routers, too
        EXPECT_TRUE(h.said.empty());
        h.edge.close();
        EXPECT_NE(std::system("ip link show hf0 > /dev/null 2>&1"), 0);
        h.edge.open();
        EXPECT_EQ(h.ask(), boost::asio::error::connection_refused);
    });
}

TEST_F(ip_edges, a_deleted_device_is_made_again_and_said)
{
    run([] {
        host h;
        ASSERT_EQ(std::system("ip link del hf0"), 0);
        ASSERT_TRUE(h.wait([&] { return h.said.size() == 2; }));
        EXPECT_NE(h.said[0].find("'hf0' is gone"), std::string::npos) << h.said[0];
        EXPECT_EQ(h.said[1], "TUN device 'hf0' is made again");
        EXPECT_EQ(h.ask(), boost::asio::error::connection_refused);
    });
}

TEST_F(ip_edges, a_device_that_cannot_be_made_is_said_once)
{
    run([] {
        host h;
        // Its name is taken, so that the first try fails; then it is free again.
        ASSERT_EQ(std::system("ip link del hf0 && ip tuntap add hf0 mode tap"), 0);
        ASSERT_TRUE(h.wait([&] { return h.said.size() == 2; }));
        EXPECT_NE(h.said[1].find("cannot make 'hf0'"), std::string::npos) << h.said[1];
        ASSERT_EQ(std::system("ip link del hf0"), 0);
        ASSERT_TRUE(h.wait([&] { return h.said.size() == 3; }));
        EXPECT_EQ(h.said[2], "TUN device 'hf0' is made again");
    });
}

TEST(tun_device, addresses_of_a_host)
{
    const auto two = tun_device::addresses("10.66.0.1/24, fd66::1/64");
    ASSERT_EQ(two.size(), 2u);
    EXPECT_EQ(two[0].address.to_string(), "10.66.0.1");
    EXPECT_EQ(two[0].length, 24u);
    EXPECT_EQ(two[1].address.to_string(), "fd66::1");
    EXPECT_EQ(two[1].length, 64u);
    for (const char* wrong : { "",
                               "10.66.0.1",
                               "10.66.0.1/",
                               "10.66.0.1/0",
                               "10.66.0.1/33",
                               "fd66::1/129",
                               "10.66.0.1/2x",
                               "10.66.0.1/24, 10.66.1.1/24",
                               "10.66.0.1/24 fd66::1/64 fd67::1/64" })
        EXPECT_THROW(tun_device::addresses(wrong), std::invalid_argument) << wrong;
}

TEST(io_thread, says_which_namespace_is_missing)
{
    for (const char* name : { "no-such-namespace", "../escape" }) {
        try {
            io_thread t(name);
            FAIL() << name;
        } catch (const std::invalid_argument& error) {
            EXPECT_NE(std::string(error.what()).find(name), std::string::npos);
        }
    }
}

TEST(io_thread, time_that_was_not_caught_up_with_is_told_once)
{
    io_thread t("");
    std::promise<void> go_on;
    t.post([&, wait = go_on.get_future().share()] { wait.wait(); });
    std::vector<station_time> told;
    for (int k = 1; k <= 1000; ++k)
        t.post_time(station_time(k), [&](station_time now) { told.push_back(now); });
    go_on.set_value();
    t.run_and_wait([] {});
    EXPECT_EQ(told, std::vector<station_time>{ station_time(1000) });
    EXPECT_THROW(t.run_and_wait([] { throw std::runtime_error("x"); }),
                 std::runtime_error);
}

} // namespace
} // namespace gr::hf::test
