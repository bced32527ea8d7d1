/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem_interface/pair.h"

#include <gtest/gtest.h>

namespace gr::hf::modem_interface {
namespace {

//! A TCP modem and the octets of a terminal that are written by hand.
struct by_hand {
    tcp_modem modem{ [] {
        modem_settings s;
        s.tx_mode = mode::parse("4539-600S");
        return s;
    }() };
    station_time now{ 1s };
    tcp_deframer answers;

    by_hand() { modem.open(now); }
    void say(const octets& o) { modem.receive(now, o.data(), o.size()); }
    void say(const tcp_payload& p) { say(encode(p)); }
    void say(packet_type t, octets payload = {})
    {
        say(encode(tcp_packet{ static_cast<uint8_t>(t), std::move(payload) }));
    }
    void greet()
    {
        say(packet_type::connect, { 12 });
        say(packet_type::connect_ack, { 12 });
        say(tcp_payload(connection_probe{}));
        while (next())
            ;
    }
    std::optional<tcp_packet> next()
    {
        while (auto o = modem.poll_wire())
            answers.push(o->data(), o->size());
        return answers.next();
    }
    //! The last answer of type T, if there is one; takes all.
    template <class T>
    std::optional<T> last()
    {
        std::optional<T> found;
        while (auto p = next())
            if (auto parsed = parse_payload(p->payload))
                if (auto* x = std::get_if<T>(&*parsed))
                    found = *x;
        return found;
    }
    bool error_sent()
    {
        bool found = false;
        while (auto p = next())
            found = found || p->type == 0xff;
        return found;
    }
    void transfer(packet_order order, octets data)
    {
        say(tcp_payload(data_transfer{ order, {}, std::move(data) }));
    }
};

TEST(tcp_protocol, initial_exchange_in_the_order_of_the_text)
{
    by_hand h;
    std::vector<std::string> seen;
    const auto collect = [&] {
        while (auto p = h.next()) {
            if (p->type != 0)
                seen.push_back("type " + std::to_string(p->type));
            else
                seen.push_back("command " + std::to_string(p->payload.at(0)));
        }
    };
    collect();
    h.say(packet_type::connect, { 12 });
    collect();
    h.say(packet_type::connect_ack, { 12 });
    collect();
    h.say(tcp_payload(connection_probe{}));
    collect();
    EXPECT_EQ(seen,
              (std::vector<std::string>{ "type 1",
                                         "type 2",
                                         "command 11",
                                         "command 10",
                                         "command 9",
                                         "command 5",
                                         "command 8" }));
}

TEST(tcp_protocol, limits_of_the_initial_exchange)
{
    for (const int step : { 0, 1, 2 }) {
        by_hand h;
        if (step > 0)
            h.say(packet_type::connect, { 12 });
        if (step > 1)
            h.say(packet_type::connect_ack, { 12 });
        const station_time limit = step == 2 ? 6s : 3s;
        EXPECT_EQ(h.modem.next_deadline(), h.now + limit);
        h.modem.on_deadline(h.now + limit);
        EXPECT_FALSE(h.modem.finished().empty()) << step;
    }
}

TEST(tcp_protocol, keep_alive_after_2_s_end_after_30_s)
{
    by_hand h;
    h.greet();
    EXPECT_EQ(h.modem.next_deadline(), h.now + 2s);
    for (int k = 1; k < 15; ++k) {
        h.modem.on_deadline(h.now + k * 2s);
        const auto p = h.next();
        ASSERT_TRUE(p) << k;
        EXPECT_EQ(encode(*p), encode(tcp_packet{}));
    }
    EXPECT_TRUE(h.modem.finished().empty());
    h.modem.on_deadline(h.now + 30s);
    EXPECT_FALSE(h.modem.finished().empty());
}

TEST(tcp_protocol, another_version_ends_it)
{
    for (const octets& version : { octets{ 11 }, octets{}, octets{ 12, 0 } }) {
        by_hand h;
        h.say(packet_type::connect, version);
        EXPECT_FALSE(h.modem.finished().empty());
    }
}

TEST(tcp_protocol, errors_are_answered_and_end_it)
{
    const std::vector<std::function<void(by_hand&)>> sins{
        [](by_hand& h) { h.say(static_cast<packet_type>(0x33)); },
        [](by_hand& h) { h.say(packet_type::connect, { 12 }); },
        [](by_hand& h) { h.say(packet_type::data, { 0x07 }); },
        [](by_hand& h) {
            h.say(packet_type::data, { 0x02, 0x00 });
        },
        [](by_hand& h) { h.say(tcp_payload(tx_status{})); },
    };
    for (size_t k = 0; k < sins.size(); ++k) {
        by_hand h;
        h.greet();
        sins[k](h);
        EXPECT_TRUE(h.error_sent()) << k;
        EXPECT_FALSE(h.modem.finished().empty()) << k;
    }
    by_hand early;
    early.say(tcp_payload(transmit_arm{}));
    EXPECT_TRUE(early.error_sent());
    by_hand told;
    told.greet();
    told.say(packet_type::error);
    EXPECT_FALSE(told.error_sent());
    EXPECT_FALSE(told.modem.finished().empty());
}

TEST(tcp_protocol, every_cause_of_a_nak)
{
    by_hand h;
    h.greet();
    h.transfer(packet_order::first_only, { 1 });
    EXPECT_EQ(h.last<tx_data_nak>()->cause, nak_cause::not_armed);
    h.say(tcp_payload(transmit_arm{}));
    EXPECT_EQ(h.last<tx_status>()->state, transmitter_state::armed_port_ready);
    h.transfer(packet_order::continuation, { 1 });
    EXPECT_EQ(h.last<tx_data_nak>()->cause, nak_cause::missing_first);
    h.transfer(packet_order::first_only, { 1 });
    EXPECT_FALSE(h.last<tx_data_nak>());
    h.transfer(packet_order::first_only, { 1 });
    EXPECT_EQ(h.last<tx_data_nak>()->cause, nak_cause::multiple_first);
    h.say(tcp_payload(transmit_start{}));
    EXPECT_EQ(h.last<tx_status>()->state, transmitter_state::started);
    ASSERT_TRUE(h.modem.want_tx(h.now));
    EXPECT_TRUE(h.modem.pull(h.now, h.now, 45).last);
    EXPECT_EQ(h.last<tx_data_nak>()->cause, nak_cause::underrun);
    h.transfer(packet_order::last, { 1 });
    EXPECT_EQ(h.last<tx_data_nak>()->cause, nak_cause::underrun);
    h.modem.on_tx_end(h.now);
    EXPECT_EQ(h.last<tx_status>()->state, transmitter_state::flushed);
}

TEST(tcp_protocol, start_and_arm_out_of_turn_only_give_the_state)
{
    by_hand h;
    h.greet();
    h.say(tcp_payload(transmit_start{}));
    EXPECT_EQ(h.last<tx_status>()->state, transmitter_state::flushed);
    EXPECT_FALSE(h.modem.want_tx(h.now));
    h.say(tcp_payload(transmit_arm{}));
    h.transfer(packet_order::first_and_last, { 1, 2, 3 });
    h.say(tcp_payload(transmit_start{}));
    EXPECT_EQ(h.last<tx_status>()->state, transmitter_state::draining_ok);
    h.say(tcp_payload(transmit_arm{}));
    EXPECT_EQ(h.last<tx_status>()->state, transmitter_state::draining_ok);
    EXPECT_TRUE(h.modem.finished().empty());
}

TEST(tcp_protocol, a_lone_packet_waits_for_its_start_and_the_answers_agree_with_the_state)
{
    by_hand h;
    h.greet();
    h.say(tcp_payload(transmit_arm{}));
    h.transfer(packet_order::first_and_last, { 1, 2, 3 });
    EXPECT_EQ(h.last<tx_status>()->state, transmitter_state::armed_port_ready);
    h.transfer(packet_order::first_and_last, { 4 }); // armed: not "not armed"
    EXPECT_EQ(h.last<tx_data_nak>()->cause, nak_cause::multiple_first);
    h.transfer(packet_order::last, { 4 });
    EXPECT_EQ(h.last<tx_data_nak>()->cause, nak_cause::missing_first);
    EXPECT_FALSE(h.modem.want_tx(h.now));
    h.say(tcp_payload(transmit_start{}));
    EXPECT_EQ(h.last<tx_status>()->state, transmitter_state::draining_ok);
    h.transfer(packet_order::first_and_last, { 4 });
    EXPECT_EQ(h.last<tx_data_nak>()->cause, nak_cause::not_armed);
    ASSERT_TRUE(h.modem.want_tx(h.now));
    EXPECT_EQ(h.modem.pull(h.now, h.now, 45).octets, (octets{ 1, 2, 3 }));
}

TEST(tcp_protocol, a_lone_packet_whose_start_never_comes_is_refused_and_blocks_nothing)
{
    by_hand h;
    h.greet();
    h.say(tcp_payload(transmit_arm{}));
    h.transfer(packet_order::first_and_last, { 1, 2, 3 });
    std::vector<nak_cause> refused;
    for (int k = 0; k < 20; ++k) {
        h.now += 2s;
        h.say(packet_type::data); // keep-alive
        h.modem.on_deadline(h.now);
        if (const auto nak = h.last<tx_data_nak>())
            refused.push_back(nak->cause);
    }
    EXPECT_EQ(refused, std::vector{ nak_cause::not_armed });
    h.say(tcp_payload(request_tx_status{}));
    EXPECT_EQ(h.last<tx_status>()->state, transmitter_state::flushed);
    EXPECT_FALSE(h.modem.want_tx(h.now));
    h.say(tcp_payload(transmit_arm{}));
    h.transfer(packet_order::first_and_last, { 4 });
    h.say(tcp_payload(transmit_start{}));
    ASSERT_TRUE(h.modem.want_tx(h.now));
    EXPECT_EQ(h.modem.pull(h.now, h.now, 45).octets, (octets{ 4 }));
}

TEST(tcp_protocol, a_full_queue_stops_the_reading_and_not_the_connection)
{
    by_hand h;
    h.greet();
    h.say(tcp_payload(transmit_arm{}));
    h.transfer(packet_order::first_only, octets(4072));
    int more = 0;
    while (h.modem.reading() && more < 1000) {
        h.transfer(packet_order::continuation, octets(4072));
        ++more;
    }
    EXPECT_FALSE(h.modem.reading());
    EXPECT_LT(h.modem.queued(), 80000u);
    h.modem.on_deadline(h.now + 40s);
    EXPECT_TRUE(h.modem.finished().empty());
    h.say(tcp_payload(transmit_start{})); // stays behind the packet that waits
    EXPECT_FALSE(h.modem.want_tx(h.now));
}

TEST(tcp_protocol, a_terminal_that_does_not_read_is_given_up)
{
    by_hand h;
    h.greet();
    h.modem.on_rx_start(h.now, { mode::parse("4539-600S"), 20, 0 });
    for (int k = 0; k < 2000 && h.modem.finished().empty(); ++k)
        h.modem.on_rx_octets(h.now, { octets(4072), 20, 1 });
    EXPECT_FALSE(h.modem.finished().empty());
}

TEST(tcp_protocol, noise_ends_it)
{
    by_hand h;
    h.greet();
    h.say(octets(60000, 0x49));
    EXPECT_TRUE(h.modem.finished().empty());
    h.say(octets(10000, 0x49));
    EXPECT_FALSE(h.modem.finished().empty());
    by_hand other; // before the first packet nothing is skipped
    other.say(octets(3, 0x49));
    other.say(packet_type::connect, { 12 });
    EXPECT_EQ(other.modem.finished(), "does not send packets of this interface");
}

TEST(udp_protocol, a_new_session_ends_what_the_old_one_sent)
{
    pair p(true, "4539-600S");
    p.connect();
    p.run(1s);
    p.send(some_octets(3000));
    ASSERT_TRUE(p.run_until([&] { return !p.transmissions.empty(); }));
    const auto ping = encode(udp_packet{ 77, ping_request{} });
    p.modem->receive(p.now, ping.data(), ping.size());
    EXPECT_EQ(p.modem->queued(), 0u);
}

TEST(udp_protocol, without_ping_replies_nothing_is_accepted)
{
    modem_settings s;
    s.tx_mode = mode::parse("4539-600S");
    udp_modem modem(s);
    station_time now{ 1s };
    modem.open(now);
    const auto say = [&](udp_payload what) {
        const auto o = encode(udp_packet{ 5, std::move(what) });
        modem.receive(now, o.data(), o.size());
    };
    say(ping_request{});
    now += 31s;
    modem.on_deadline(now);
    set_encoder encoder(1, 600, 360, false);
    encoder.push(octets(10));
    encoder.finish();
    const auto packets = [&] {
        std::vector<encoded_data> v;
        while (auto d = encoder.poll())
            v.push_back(*d);
        return v;
    }();
    for (const auto& d : packets)
        say(d);
    EXPECT_FALSE(modem.want_tx(now));
    say(ping_reply{});
    for (const auto& d : packets)
        say(d);
    EXPECT_TRUE(modem.want_tx(now));
}

//! A UDP modem and the datagrams of a terminal that are written by hand.
struct udp_by_hand {
    static modem_settings settings(const char* mode_text)
    {
        modem_settings s;
        s.tx_mode = mode::parse(mode_text);
        return s;
    }
    udp_modem modem;
    station_time now;

    explicit udp_by_hand(station_time begin = 1s, const char* mode_text = "4539-600S")
        : modem(settings(mode_text)), now(begin)
    {
        modem.open(now);
        say(ping_request{});
    }
    void say(udp_payload what)
    {
        const auto o = encode(udp_packet{ 5, std::move(what) });
        modem.receive(now, o.data(), o.size());
    }
    //! The packets of a transmission that go on (\p whole false: more will follow).
    static std::vector<encoded_data>
    packets(uint16_t transfer, const octets& o, bool whole)
    {
        set_encoder encoder(transfer, 600, 360, false);
        encoder.push(o);
        if (whole)
            encoder.finish();
        std::vector<encoded_data> all;
        while (auto d = encoder.poll())
            all.push_back(*d);
        return all;
    }
    std::optional<status_reply> status()
    {
        std::optional<status_reply> found;
        while (auto o = modem.poll_wire())
            if (const auto p = parse_datagram(o->data(), o->size()))
                if (const auto* s = std::get_if<status_reply>(&p->what))
                    found = *s;
        return found;
    }
};

TEST(udp_protocol, a_silent_terminal_loses_what_it_queued_and_can_send_again)
{
    udp_by_hand h;
    for (auto& d : udp_by_hand::packets(1, octets(46), false)) {
        d.holdoff = true;
        h.say(d);
    }
    EXPECT_EQ(h.status()->tx, udp_tx_state::queueing);
    h.now += 31s; // without ping replies
    h.modem.on_deadline(h.now);
    EXPECT_EQ(h.status()->tx, udp_tx_state::flushed);
    EXPECT_EQ(h.modem.queued(), 0u);
    h.say(ping_reply{});
    for (const auto& d : udp_by_hand::packets(2, { 1, 2, 3 }, true))
        h.say(d);
    ASSERT_TRUE(h.modem.want_tx(h.now));
    EXPECT_EQ(h.modem.pull(h.now, h.now, 45).octets, (octets{ 1, 2, 3 }));
}

// Time stamps start again at 0 after an hour.
TEST(udp_protocol, the_jitter_is_right_over_the_full_hour)
{
    udp_by_hand h(3599500ms);
    const auto all = udp_by_hand::packets(1, octets(2000), false);
    ASSERT_GT(all.size(), 60u);
    for (size_t k = 0; k < 60; ++k) {
        auto d = all[k];
        d.timestamp = timestamp_of(h.now);
        h.now += 20ms + k % 2 * 4ms;
        h.say(d);
    }
    ASSERT_GT(h.now, 3600s);
    EXPECT_NEAR(h.status()->jitter_ms, 2, 1);
}

TEST(udp_protocol, each_deadline_is_over_when_it_was_met_exactly)
{
    udp_by_hand h;
    unsigned pings = 0;
    while (h.now < 61s) {
        h.now = *h.modem.next_deadline();
        h.modem.on_deadline(h.now);
        ASSERT_GT(*h.modem.next_deadline(), h.now);
        while (auto o = h.modem.poll_wire())
            if (const auto p = parse_datagram(o->data(), o->size()))
                pings += std::holds_alternative<ping_request>(p->what);
    }
    EXPECT_EQ(pings, 1u + 60 / 5); // A.5.2.6.2, and the first one
}

TEST(udp_protocol, four_of_the_longest_blocks_fit_into_the_queue)
{
    udp_by_hand h(1s, "5069-48k-240000L");
    const auto status = h.status();
    ASSERT_TRUE(status);
    EXPECT_GT(status->tx_blocking_bits, 8 * 65536u);
    EXPECT_GE(status->queue_space, 4 * status->tx_blocking_bits / 8);
}

// Whatever comes, in whatever order: nothing crashes, nothing grows without bound, and a
// fresh connection works.
TEST(any_input, random_conversations)
{
    std::mt19937 random(2024);
    const auto octets_of = [&](size_t n) {
        octets o(n);
        for (auto& x : o)
            x = static_cast<uint8_t>(random());
        return o;
    };
    for (int round = 0; round < 60; ++round) {
        const bool udp = round % 2;
        pair p(udp, "4539-9600US");
        p.connect();
        p.run(100ms);
        for (int k = 0; k < 100; ++k) {
            octets o;
            if (udp) {
                encoded_data d;
                d.transfer = static_cast<uint16_t>(random() % 3);
                d.sequence = static_cast<uint16_t>(random() % 30);
                d.fec_n = static_cast<uint8_t>(2 + random() % 14);
                d.fec_k = static_cast<uint8_t>(1 + random() % (d.fec_n - 1));
                d.first_set = random() % 2;
                d.last_set = random() % 4 == 0;
                d.enhanced = random() % 2;
                d.data = octets_of(random() % 20);
                o = encode(udp_packet{ 5, d });
            } else {
                octets payload = octets_of(random() % 30);
                if (!payload.empty())
                    payload[0] %= 12;
                o = encode(tcp_packet{ 0, payload });
            }
            p.modem->receive(p.now, o.data(), o.size());
            p.dte->receive(p.now, o.data(), o.size());
            if (random() % 10 == 0)
                p.run(20ms);
        }
        p.disconnect();
        p.run(3s);
        p.connect();
        ASSERT_TRUE(p.run_until([&] { return p.dte->connected(); }, 5s)) << round;
    }
}

} // namespace
} // namespace gr::hf::modem_interface
