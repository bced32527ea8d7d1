/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Connections of clients to a SIS server on the loopback, which the test plays.
#include "edges/sis_dialer.h"

#include <gtest/gtest.h>

#include <boost/asio/write.hpp>

#include <list>

namespace gr::hf::test {
namespace {

using boost::asio::ip::make_address;
using boost::asio::ip::tcp;
using boost::system::error_code;
using octets = std::vector<uint8_t>;

octets bind(uint8_t sap) { return s5066::encode(s5066::s_bind_request{ sap, 0, {} }); }

octets data(size_t size)
{
    s5066::s_unidata_request r;
    r.dst = s5066::address("1.2.0.2");
    r.u_pdu = octets(size, 0x55);
    return s5066::encode(r);
}

struct sis_dialers : testing::Test {
    sis_dialers() { make(acceptor.local_endpoint().port()); }

    void make(int port)
    {
        dialer = std::make_unique<sis_dialer>(io, "127.0.0.1", port);
        dialer->on_primitive = [this](uint64_t id, const octets& p) {
            got[id].push_back(*s5066::decode_primitive(p));
        };
        dialer->on_trouble = [this](const std::string& why) { troubles.push_back(why); };
    }
    template <typename F>
    bool run(F done)
    {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!done() && std::chrono::steady_clock::now() < end) {
            io.restart();
            io.run_one_for(std::chrono::milliseconds(100));
        }
        return done();
    }
    //! A client that binds, and the server's end of its connection.
    tcp::socket& bound(uint64_t client)
    {
        const uint64_t before = dialer->count().connected;
        dialer->from_client(client, bind(static_cast<uint8_t>(client)));
        EXPECT_TRUE(run([&] { return dialer->count().connected > before; }));
        servers.push_back(acceptor.accept());
        EXPECT_EQ(read(servers.back(), bind(0).size()),
                  bind(static_cast<uint8_t>(client)));
        return servers.back();
    }
    octets read(tcp::socket& from, size_t n)
    {
        octets all;
        from.non_blocking(true);
        run([&] {
            octets piece(std::min<size_t>(n - all.size(), 65536));
            error_code error;
            const size_t k = from.read_some(boost::asio::buffer(piece), error);
            all.insert(all.end(), piece.begin(), piece.begin() + static_cast<long>(k));
            return all.size() == n;
        });
        return all;
    }
    static void say(tcp::socket& from, const s5066::s_primitive& p)
    {
        boost::asio::write(from, boost::asio::buffer(s5066::encode(p)));
    }
    template <typename P>
    long heard(uint64_t client)
    {
        const auto& all = got[client];
        return std::count_if(all.begin(), all.end(), [](const auto& p) {
            return std::holds_alternative<P>(p);
        });
    }

    boost::asio::io_context io;
    tcp::acceptor acceptor{ io, { make_address("127.0.0.1"), 0 } };
    std::unique_ptr<sis_dialer> dialer;
    std::list<tcp::socket> servers;
    std::map<uint64_t, std::vector<s5066::s_primitive>> got;
    std::vector<std::string> troubles;
};

TEST_F(sis_dialers, each_client_has_a_connection_of_its_own)
{
    dialer->from_client(1, data(10)); // of no binding: there is nobody to tell
    auto& one = bound(1);
    auto& two = bound(2);
    say(two, s5066::s_bind_accepted{ 2, 2048 });
    ASSERT_TRUE(run([&] { return heard<s5066::s_bind_accepted>(2) == 1; }));
    dialer->from_client(1, data(10));
    EXPECT_EQ(read(one, data(10).size()), data(10));
    EXPECT_TRUE(got[1].empty());
    EXPECT_EQ(dialer->count().connected, 2u);
    EXPECT_EQ(dialer->count().in, 1u);
    EXPECT_EQ(dialer->count().out, 3u);
    dialer->forget(1);
    std::array<uint8_t, 1> more;
    error_code error;
    one.non_blocking(false);
    one.read_some(boost::asio::buffer(more), error);
    EXPECT_EQ(error, boost::asio::error::eof);
}

TEST_F(sis_dialers, a_bind_without_a_server_is_rejected)
{
    const int port = acceptor.local_endpoint().port();
    acceptor.close();
    make(port);
    for (const long k : { 1, 2 }) {
        dialer->from_client(1, bind(1));
        ASSERT_TRUE(run([&] { return heard<s5066::s_bind_rejected>(1) == k; }));
    }
    EXPECT_EQ(dialer->count().failed, 2u);
    EXPECT_EQ(troubles.size(), 1u) << "the operator knows";
}

TEST_F(sis_dialers, a_server_that_goes_unbinds)
{
    bound(1).close();
    ASSERT_TRUE(run([&] { return heard<s5066::s_unbind_indication>(1) == 1; }));
    EXPECT_EQ(dialer->count().lost, 1u);
    EXPECT_EQ(troubles.size(), 1u);
    bound(1);
    EXPECT_EQ(dialer->count().connected, 2u);
}

TEST_F(sis_dialers, a_server_that_does_not_read_stops_the_client)
{
    // A fixed size, so that the kernel accepts the same number of octets each time.
    acceptor.set_option(tcp::socket::receive_buffer_size(65536));
    auto& server = bound(1);
    const octets wire = data(2000);
    size_t sent = 0;
    const auto send = [&] {
        dialer->from_client(1, wire);
        sent += wire.size();
        io.restart();
        io.poll();
    };
    while (heard<s5066::s_data_flow_off>(1) == 0 && sent < (64u << 20))
        send();
    ASSERT_EQ(heard<s5066::s_data_flow_off>(1), 1);
    say(server, s5066::s_data_flow_off{});
    ASSERT_TRUE(run([&] { return heard<s5066::s_data_flow_off>(1) == 2; }));
    say(server, s5066::s_data_flow_on{});
    ASSERT_TRUE(run([&] { return dialer->count().in == 2; }));
    EXPECT_EQ(heard<s5066::s_data_flow_on>(1), 0) << "it still does not read";
    EXPECT_EQ(read(server, sent).size(), sent);
    EXPECT_EQ(heard<s5066::s_data_flow_on>(1), 1);
    // When the server itself has stopped the client, only the server lets it go on.
    say(server, s5066::s_data_flow_off{});
    ASSERT_TRUE(run([&] { return dialer->count().in == 3; }));
    const size_t again = sent + (1u << 20);
    sent = 0;
    while (sent < again)
        send();
    EXPECT_EQ(heard<s5066::s_data_flow_off>(1), 3);
    EXPECT_EQ(read(server, sent).size(), sent);
    EXPECT_EQ(heard<s5066::s_data_flow_on>(1), 1);
    say(server, s5066::s_data_flow_on{});
    EXPECT_TRUE(run([&] { return heard<s5066::s_data_flow_on>(1) == 2; }));
}

TEST_F(sis_dialers, nothing_is_called_once_closed)
{
    auto& server = bound(1);
    dialer->from_client(2, bind(2)); // on its way
    dialer->close();
    say(server, s5066::s_bind_accepted{ 1, 2048 });
    io.restart();
    io.run(); // has nothing left to wait for
    EXPECT_TRUE(got.empty());
    EXPECT_TRUE(troubles.empty());
}

} // namespace
} // namespace gr::hf::test
