/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem_interface/pair.h"

#include <gtest/gtest.h>

namespace gr::hf::modem_interface {
namespace {

class exchange : public testing::TestWithParam<bool>
{
};

std::string form(const testing::TestParamInfo<bool>& p)
{
    return p.param ? "udp" : "tcp";
}
INSTANTIATE_TEST_SUITE_P(forms, exchange, testing::Bool(), form);

TEST_P(exchange, begins_with_what_the_modem_is_set_to)
{
    pair p(GetParam(), "4539-9600S");
    p.connect();
    ASSERT_TRUE(p.run_until([&] { return p.dte->connected(); }, 2s));
    EXPECT_TRUE(p.modem->connected());
    p.run(100ms);
    EXPECT_EQ(p.dte->modem_rate(), 9600u);
    EXPECT_EQ(p.dte->modem_blocking(), kernel::timing_of(p.m).bits_per_block);
    EXPECT_FALSE(p.dte->mismatch());
}

TEST_P(exchange, stays_up_for_an_hour_of_silence)
{
    pair p(GetParam(), "4539-600S");
    p.connect();
    p.run(3600s);
    EXPECT_TRUE(p.dte->connected() && p.modem->connected());
    EXPECT_EQ(p.dte->finished() + p.modem->finished(), "");
}

TEST_P(exchange, transmits_all_octets_of_every_length_and_mode)
{
    for (const char* text : { "4539-75S",
                              "4539-600S",
                              "4539-1200L",
                              "4539-9600US",
                              "4539-9600VL",
                              "4539-4800N" }) {
        for (const size_t n : { 0u, 1u, 20u, 134u, 135u, 136u, 4072u, 20000u }) {
            pair p(GetParam(), text);
            if (n * 8 / static_cast<size_t>(p.m.rate_bps) > 130)
                continue;
            p.connect();
            ASSERT_TRUE(p.run_until([&] { return p.dte->connected(); }));
            const octets message = some_octets(n);
            p.send(message);
            ASSERT_TRUE(p.run_until([&] { return !p.all<tx_ended>().empty(); }))
                << text << " " << n;
            ASSERT_EQ(p.transmissions.size(), 1u) << text << " " << n;
            ASSERT_EQ(p.transmissions[0], message) << text << " " << n;
            EXPECT_EQ(p.modem->underruns(), 0u) << text << " " << n;
            EXPECT_EQ(p.dte->lost_transmissions(), 0u);
        }
    }
}

TEST_P(exchange, transmits_again_and_again)
{
    pair p(GetParam(), "4539-9600US");
    p.connect();
    p.run(1s);
    for (size_t k = 0; k < 50; ++k) {
        const octets message = some_octets(37 * k, static_cast<uint32_t>(k));
        p.send(message);
        ASSERT_TRUE(p.run_until([&] { return p.all<tx_ended>().size() > k; })) << k;
        ASSERT_EQ(p.transmissions.back(), message) << k;
    }
    EXPECT_EQ(p.transmissions.size(), 50u);
}

TEST_P(exchange, receives_all_octets)
{
    for (const size_t n : { 1u, 135u, 136u, 5000u, 30000u }) {
        pair p(GetParam(), "4539-9600VL");
        p.connect();
        p.run(1s);
        const octets message = some_octets(n);
        p.receive(message);
        ASSERT_TRUE(p.run_until([&] { return !p.all<rx_end>().empty(); }, 10s));
        EXPECT_EQ(p.received(), message) << n;
        ASSERT_EQ(p.all<rx_start>().size(), 1u);
        EXPECT_EQ(p.all<rx_start>()[0].m, p.m);
        EXPECT_EQ(p.all<rx_end>().size(), 1u);
        EXPECT_EQ(p.all<rx_end>()[0].reason, rx_end_reason::eom);
    }
}

TEST_P(exchange, receives_again_and_again)
{
    pair p(GetParam(), "4539-600S");
    p.connect();
    p.run(1s);
    octets sum;
    for (size_t k = 0; k < 20; ++k) {
        const octets message = some_octets(1 + 100 * k, static_cast<uint32_t>(k));
        sum.insert(sum.end(), message.begin(), message.end());
        p.receive(message);
        ASSERT_TRUE(p.run_until([&] { return p.all<rx_end>().size() > k; }, 10s));
    }
    EXPECT_EQ(p.received(), sum);
}

TEST_P(exchange, aborts_a_reception)
{
    pair p(GetParam(), "4539-600S");
    p.connect();
    p.run(1s);
    p.modem->on_rx_start(p.now, { p.m, 20, 0 });
    p.modem->on_rx_octets(p.now, { some_octets(45), 20, 1 });
    p.run(50ms);
    if (auto* tcp = dynamic_cast<tcp_dte*>(p.dte.get()))
        tcp->abort_reception();
    else
        dynamic_cast<udp_dte&>(*p.dte).abort_reception();
    ASSERT_TRUE(p.run_until([&] { return p.all<rx_end>().size() == 1; }, 2s));
    p.modem->on_rx_octets(p.now, { some_octets(45), 20, 1 });
    p.run(50ms);
    EXPECT_EQ(p.received(), some_octets(45));
    p.modem->on_rx_end(p.now, { rx_end_reason::eom, p.now });
    p.receive(some_octets(90, 2));
    ASSERT_TRUE(p.run_until([&] { return p.all<rx_end>().size() == 2; }, 2s));
}

TEST_P(exchange, transmits_to_nobody_without_a_connection)
{
    pair p(GetParam(), "4539-600S");
    p.send(some_octets(600));
    const station_time begin = p.now;
    ASSERT_TRUE(p.run_until([&] { return !p.all<tx_ended>().empty(); }));
    EXPECT_TRUE(p.transmissions.empty());
    EXPECT_EQ(p.dte->lost_transmissions(), 1u);
    EXPECT_NEAR(to_seconds(p.now - begin),
                to_seconds(kernel::timing_of(p.m).duration(600)),
                0.05);
}

TEST_P(exchange, gives_up_a_modem_that_does_not_end_its_transmission)
{
    pair p(GetParam(), "4539-600S");
    p.connect();
    p.run(1s);
    p.never_ends = true;
    p.send(some_octets(600));
    const auto whole = kernel::timing_of(p.m).duration(600);
    p.run(whole + 20s);
    EXPECT_TRUE(p.all<tx_ended>().empty()) << "the modem may be late";
    EXPECT_EQ(p.dte->finished(), "");
    ASSERT_TRUE(p.run_until([&] { return !p.dte->finished().empty(); }, 20s));
    EXPECT_NE(p.dte->finished().find("does not end"), std::string::npos);
    p.disconnect();
    ASSERT_TRUE(p.run_until([&] { return !p.all<tx_ended>().empty(); }, 1s));
}

// The modem has run out of data and has ended, while the data link is still asked for the
// next octets. Its answer belongs to no transmission.
TEST_P(exchange, takes_no_octets_of_the_transmission_before)
{
    pair p(GetParam(), "4539-600S");
    p.connect();
    p.run(1s);
    std::vector<pull_request> open;
    p.on_pull = [&](const pull_request& pull) {
        if (open.empty() && p.to_send.size() > 300) {
            const auto end = p.to_send.begin() + static_cast<ptrdiff_t>(pull.max_octets);
            const octets piece(p.to_send.begin(), end);
            p.to_send.erase(p.to_send.begin(), end);
            p.dte->on_octets({ piece, false });
        } else {
            open.push_back(pull); // the data link is slow
        }
    };
    p.send(some_octets(600, 1));
    ASSERT_TRUE(p.run_until([&] { return !p.all<tx_ended>().empty(); }));
    ASSERT_EQ(open.size(), 1u);
    EXPECT_GT(p.transmissions.at(0).size(), 250u);
    const octets old = p.to_send, message = some_octets(200, 2);
    p.to_send = message;
    p.dte->key_up(p.now, p.m);
    // The late answer comes while the data link is asked for the new transmission.
    ASSERT_TRUE(p.run_until([&] { return open.size() == 2; }, 60s));
    p.dte->on_octets({ old, false });
    p.on_pull = nullptr;
    while (open.size() > 1) {
        const octets piece(p.to_send.begin(),
                           p.to_send.begin() +
                               static_cast<ptrdiff_t>(open.back().max_octets));
        p.to_send.erase(p.to_send.begin(),
                        p.to_send.begin() + static_cast<ptrdiff_t>(piece.size()));
        open.pop_back();
        p.dte->on_octets({ piece, false });
    }
    ASSERT_TRUE(p.run_until([&] { return p.all<tx_ended>().size() == 2; }));
    EXPECT_EQ(p.transmissions.back(), message);
}

TEST_P(exchange, survives_a_connection_that_is_lost_and_comes_back)
{
    pair p(GetParam(), "4539-600S");
    p.connect();
    p.run(1s);
    p.send(some_octets(2000));
    ASSERT_TRUE(p.run_until([&] { return !p.transmissions.empty(); }));
    p.run(3s);
    p.disconnect();
    p.run(1s);
    p.connect();
    ASSERT_TRUE(p.run_until([&] { return p.all<tx_ended>().size() == 1; }));
    EXPECT_LT(p.transmissions[0].size(), 2000u);
    ASSERT_TRUE(p.run_until([&] { return p.dte->connected(); }));
    p.run(5s);
    p.send(some_octets(300, 9));
    ASSERT_TRUE(p.run_until([&] { return p.all<tx_ended>().size() == 2; }));
    EXPECT_EQ(p.transmissions.back(), some_octets(300, 9));
}

TEST_P(exchange, ends_a_transmission_that_starves)
{
    pair p(GetParam(), "4539-600S");
    p.connect();
    p.run(1s);
    p.send(some_octets(5000));
    ASSERT_TRUE(p.run_until([&] { return !p.transmissions.empty(); }));
    p.delay = 20s; // the network stalls
    ASSERT_TRUE(p.run_until([&] { return p.all<tx_ended>().size() == 1; }, 100s));
    EXPECT_EQ(p.modem->underruns(), 1u);
    EXPECT_EQ(p.dte->lost_transmissions(), 1u);
    EXPECT_LT(p.transmissions[0].size(), 5000u);
    const octets sent = some_octets(5000);
    EXPECT_TRUE(
        std::equal(p.transmissions[0].begin(), p.transmissions[0].end(), sent.begin()));
}

// A.5.1.2.7.2
TEST(tcp, receiver_master_waits_for_the_end_of_a_reception)
{
    pair p(false, "4539-600S");
    p.connect();
    p.run(1s);
    p.modem->on_rx_start(p.now, { p.m, 20, 0 });
    p.dte->key_up(p.now, p.m); // before it is notified of the carrier
    p.to_send = some_octets(50);
    p.run(30s);
    EXPECT_TRUE(p.transmissions.empty());
    p.modem->on_rx_end(p.now, { rx_end_reason::eom, p.now });
    ASSERT_TRUE(p.run_until([&] { return !p.all<tx_ended>().empty(); }, 30s));
    EXPECT_EQ(p.transmissions.at(0), some_octets(50));
}

// A.5.1.2.7.1
TEST(tcp, transmitter_master_does_not_wait)
{
    modem_settings s;
    s.receiver_master = false;
    pair p(false, "4539-600S", s);
    p.connect();
    p.run(1s);
    p.modem->on_rx_start(p.now, { p.m, 20, 0 });
    p.send(some_octets(50));
    ASSERT_TRUE(p.run_until([&] { return !p.transmissions.empty(); }, 2s));
}

TEST(udp, loses_packets_and_no_octets)
{
    // 5 % of datagrams, status and ping too: of six packets two are enough.
    pair p(true, "4539-1200S");
    p.loss = 0.05;
    p.connect();
    ASSERT_TRUE(p.run_until([&] { return p.dte->connected(); }, 10s));
    for (size_t k = 0; k < 10; ++k) {
        const octets message = some_octets(3000, static_cast<uint32_t>(k));
        p.send(message);
        ASSERT_TRUE(p.run_until([&] { return p.all<tx_ended>().size() > k; }));
        ASSERT_EQ(p.transmissions.back(), message);
    }
    const octets message = some_octets(5000);
    p.receive(message);
    ASSERT_TRUE(p.run_until([&] { return !p.all<rx_end>().empty(); }, 10s));
    EXPECT_EQ(p.received(), message);
}

TEST(tcp, measures_the_round_trip)
{
    pair p(false, "4539-600S");
    p.delay = 40ms;
    p.connect();
    ASSERT_TRUE(p.run_until([&] { return p.dte->connected(); }, 2s));
    const auto& setup = dynamic_cast<tcp_dte&>(*p.dte).setup();
    EXPECT_NEAR(setup.round_trip_ms, 80, 4);
    EXPECT_TRUE(setup.synchronous);
}

TEST(dte, tells_that_the_modem_is_set_to_another_mode)
{
    pair p(false, "4539-600S");
    dte_settings s;
    s.tx_mode = mode::parse("4539-1200S");
    p.dte = std::make_unique<tcp_dte>(s);
    p.connect();
    ASSERT_TRUE(p.run_until([&] { return p.dte->connected(); }, 2s));
    EXPECT_TRUE(p.dte->mismatch());
}

} // namespace
} // namespace gr::hf::modem_interface
