/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// The sockets of a SIS server with clients on the loopback. The test takes the place of
// the data link.
#include "edges/sis_edge.h"

#include <gtest/gtest.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/write.hpp>

namespace gr::hf::test {
namespace {

using boost::asio::ip::make_address;
using boost::asio::ip::tcp;
using boost::system::error_code;
using octets = std::vector<uint8_t>;
using namespace std::chrono_literals;

//! A program that uses the server: the primitives read from its socket.
struct program {
    program(boost::asio::io_context& io, uint16_t port) : socket(io)
    {
        socket.connect({ make_address("127.0.0.1"), port });
        read();
    }
    void read()
    {
        socket.async_read_some(boost::asio::buffer(in),
                               [this](const error_code& error, size_t n) {
                                   deframer.push(in.data(), n);
                                   while (auto p = deframer.next())
                                       got.push_back(*s5066::decode_primitive(*p));
                                   ended = bool(error);
                                   if (!ended)
                                       read();
                               });
    }
    void say(const octets& primitive)
    {
        boost::asio::write(socket, boost::asio::buffer(primitive));
    }
    void bind(int sap, int rank)
    {
        say(s5066::encode(s5066::s_bind_request{ uint8_t(sap), uint8_t(rank), {} }));
    }
    void data(size_t count)
    {
        s5066::s_unidata_request r;
        r.dst = s5066::address("1.2.0.2");
        r.u_pdu = octets(count, 0x55);
        say(s5066::encode(r));
    }
    template <class P>
    size_t count() const
    {
        return static_cast<size_t>(std::count_if(got.begin(), got.end(), [](auto& p) {
            return std::holds_alternative<P>(p);
        }));
    }
    tcp::socket socket;
    std::array<uint8_t, 4096> in;
    s5066::sis_deframer deframer;
    std::vector<s5066::s_primitive> got;
    bool ended = false;
};

struct sis_edges : testing::Test {
    //! Calls of the data link: the client, and the type of the primitive, or 0 for its
    //! end.
    struct event {
        uint64_t client;
        int type;
        size_t size;
    };
    void serve(size_t max_clients, const std::vector<std::string>& ranks)
    {
        edge = std::make_unique<sis_edge>(
            io,
            sis_edge::settings{ { make_address("127.0.0.1"), 0 },
                                max_clients,
                                100'000,
                                sis_ranks(ranks) },
            sis_edge::surroundings{
                [this] { return ++last_id; },
                [this](uint64_t id, const octets& p) {
                    told.push_back({ id, p[s5066::sis_header_octets], p.size() });
                },
                [this](uint64_t id) {
                    told.push_back({ id, 0, 0 });
                },
                [this](const std::string& line) { lines.push_back(line); },
                [this](const std::string& line) { lines.push_back(line); } });
        edge->listen();
        edge->start();
    }
    std::unique_ptr<program> connect()
    {
        const auto before = edge->stats().accepted + edge->stats().refused;
        auto p = std::make_unique<program>(io, static_cast<uint16_t>(edge->port()));
        EXPECT_TRUE(
            run([&] { return edge->stats().accepted + edge->stats().refused > before; }));
        return p;
    }
    //! A client that the data link has bound; its id is last_id.
    std::unique_ptr<program> bound(int sap, int rank)
    {
        auto p = connect();
        const size_t before = told.size();
        p->bind(sap, rank);
        EXPECT_TRUE(run([&] { return told.size() > before && told.back().type == 1; }));
        edge->to_client(told.back().client,
                        s5066::encode(s5066::s_bind_accepted{ uint8_t(sap), 2048 }));
        EXPECT_TRUE(run([&] { return p->count<s5066::s_bind_accepted>() == 1; }));
        return p;
    }
    bool run(const std::function<bool()>& done)
    {
        const auto limit = std::chrono::steady_clock::now() + 30s;
        while (!done() && std::chrono::steady_clock::now() < limit) {
            io.restart();
            io.run_one_for(10ms);
        }
        return done();
    }
    //! Until nothing happens any more.
    void settle()
    {
        io.restart();
        while (io.run_one_for(50ms) > 0)
            ;
    }
    size_t of_type(int type) const
    {
        return static_cast<size_t>(std::count_if(
            told.begin(), told.end(), [&](auto& e) { return e.type == type; }));
    }
    boost::asio::io_context io;
    uint64_t last_id = 0;
    std::vector<event> told;
    std::vector<std::string> lines;
    std::unique_ptr<sis_edge> edge;
};

constexpr int bind_request = 1, unbind_request = 2, unidata = 20;

TEST_F(sis_edges, a_client_has_the_rank_of_its_address_at_most)
{
    serve(5, { "127.0.0.0/8=4" });
    const auto p = connect();
    p->bind(3, 5);
    ASSERT_TRUE(run([&] { return p->count<s5066::s_bind_rejected>() == 1; }));
    EXPECT_EQ(told.size(), 0u);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_NE(lines[0].find("127.0.0.1 refused: rank 5, allowed is up to 4"),
              std::string::npos);
    p->bind(3, 4);
    ASSERT_TRUE(run([&] { return of_type(bind_request) == 1; }));
}

TEST_F(sis_edges, an_address_without_a_rank_may_not_connect)
{
    serve(5, { "10.0.0.0/8=4" });
    const auto p = connect();
    ASSERT_TRUE(run([&] { return p->ended; }));
    EXPECT_EQ(edge->stats().refused, 1u);
    EXPECT_EQ(edge->stats().clients, 0u);
}

TEST_F(sis_edges, a_higher_rank_takes_the_place_of_the_lowest)
{
    serve(2, {});
    const auto low = bound(1, 0);
    const auto low_id = last_id;
    const auto middle = bound(2, 5);
    const auto late = connect();
    late->bind(3, 0); // not higher
    ASSERT_TRUE(run([&] { return late->count<s5066::s_bind_rejected>() == 1; }));
    EXPECT_EQ(of_type(unbind_request), 0u);
    late->bind(3, 1);
    ASSERT_TRUE(run([&] { return low->count<s5066::s_unbind_indication>() == 1; }));
    ASSERT_GE(told.size(), 2u);
    EXPECT_EQ(told[told.size() - 2].type, unbind_request);
    EXPECT_EQ(told[told.size() - 2].client, low_id);
    EXPECT_EQ(told.back().type, bind_request);
    EXPECT_EQ(told.back().client, last_id);
    EXPECT_EQ(middle->count<s5066::s_unbind_indication>(), 0u);
}

TEST_F(sis_edges, data_of_a_client_that_was_told_to_stop_waits)
{
    serve(5, {});
    const auto p = bound(1, 0);
    edge->to_client(last_id, s5066::encode(s5066::s_data_flow_off{}));
    for (int k = 0; k < 40; ++k)
        p->data(2000);
    station_time now{};
    const auto ticks = [&] {
        for (int k = 0; k < 20; ++k) {
            edge->tick(now += station_time(10'000'000));
            settle();
        }
    };
    ticks();
    const size_t size = told.back().size;
    EXPECT_EQ(of_type(unidata), 65536 / size); // what was on its way
    edge->to_client(last_id, s5066::encode(s5066::s_data_flow_on{}));
    ticks();
    EXPECT_EQ(of_type(unidata), 40u);
}

TEST_F(sis_edges, no_client_floods_the_data_link_between_two_ticks)
{
    serve(5, {});
    const auto p = bound(1, 0);
    station_time now{};
    edge->tick(now += station_time(10'000'000));
    for (int k = 0; k < 100; ++k)
        p->data(10);
    settle();
    EXPECT_EQ(of_type(unidata), 32u);
    edge->tick(now); // the same again: nothing
    settle();
    EXPECT_EQ(of_type(unidata), 32u);
    edge->tick(now += station_time(10'000'000));
    settle();
    EXPECT_EQ(of_type(unidata), 64u);
}

TEST_F(sis_edges, silent_connections_make_room_for_one_that_speaks)
{
    serve(5, {});
    std::vector<std::unique_ptr<program>> silent;
    for (int k = 0; k < 64; ++k)
        silent.push_back(connect());
    const auto p = connect();
    ASSERT_TRUE(run([&] { return silent.front()->ended; }));
    p->bind(1, 0);
    ASSERT_TRUE(run([&] { return of_type(bind_request) == 1; }));
    EXPECT_EQ(edge->stats().clients, 64u);
    EXPECT_FALSE(silent.back()->ended);
}

TEST_F(sis_edges, the_data_link_hears_of_the_end_of_a_client_it_knows)
{
    serve(5, {});
    const auto unknown = connect();
    const auto known = bound(1, 0);
    unknown->socket.close();
    known->socket.close();
    ASSERT_TRUE(run([&] { return edge->stats().clients == 0; }));
    EXPECT_EQ(of_type(0), 1u);
    EXPECT_EQ(edge->stats().disconnected, 2u);
    EXPECT_TRUE(lines.empty()) << lines.front(); // ordinary ends are not logged
    const auto cut = connect();
    cut->say({ 0x90, 0xeb });
    cut->socket.close();
    ASSERT_TRUE(run([&] { return !lines.empty(); })) << "an end within a primitive";
    const int port = edge->port();
    edge->stop();
    edge->start(); // at the same port
    EXPECT_EQ(edge->port(), port);
    bound(1, 0);
}

} // namespace
} // namespace gr::hf::test
