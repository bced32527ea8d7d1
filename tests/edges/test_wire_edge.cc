/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges/wire_edge.h"

#include <gtest/gtest.h>

#include <thread>

namespace gr::hf::test {
namespace {

using boost::asio::ip::make_address;
using boost::asio::ip::tcp;
using boost::asio::ip::udp;

//! A session that records its input.
struct noting : modem_interface::wire {
    void open(station_time) override {}
    void close(station_time) override {}
    void receive(station_time, const uint8_t* p, size_t n) override
    {
        got.emplace_back(p, p + n);
    }
    std::optional<station_time> next_deadline() const override { return std::nullopt; }
    void on_deadline(station_time) override {}
    std::vector<std::string> got;
};

TEST(wire_edge, takes_datagrams_of_its_peer_alone)
{
    boost::asio::io_context io;
    const auto here = make_address("127.0.0.1");
    tcp::acceptor acceptor(io, { here, 0 });
    tcp::socket terminal(io), control(io);
    terminal.connect(acceptor.local_endpoint());
    acceptor.accept(control);
    udp::socket datagrams(io, { here, 0 }), peer(io, { here, 0 }),
        stranger(io, { here, 0 });
    const udp::endpoint to = datagrams.local_endpoint();
    noting session;
    std::mutex mutex;
    const auto edge =
        std::make_shared<wire_edge>(io, session, mutex, [] { return station_time{}; });
    edge->open(std::move(control), std::move(datagrams), peer.local_endpoint());
    const auto send = [&to](udp::socket& from, const char* text) {
        from.send_to(boost::asio::buffer(text, 1), to);
    };
    // The stranger has the peer's address, but another port; the loopback keeps the order.
    for (const char* text : { "1", "2", "3" }) {
        send(stranger, "x");
        send(peer, text);
    }
    while (session.got.size() < 3)
        io.run_one_for(std::chrono::seconds(20));
    EXPECT_EQ(session.got, (std::vector<std::string>{ "1", "2", "3" }));
    edge->close("enough");
    io.run_for(std::chrono::milliseconds(10));
}

} // namespace
} // namespace gr::hf::test
