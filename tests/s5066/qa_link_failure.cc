/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// When calls, links and breaks are given up, and when idle links end.
#include "hard_link_peer.h"
#include "s5066/cas/link_window.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::s5066;
using namespace std::chrono_literals;
using t = d_pdu_type;

namespace {

delivery_mode confirmed()
{
    delivery_mode m;
    m.confirmation = delivery_confirmation::node;
    return m;
}

//! The first link control C_PDU of a transmission, as one octet; -1: none.
int link_control(const std::vector<d_pdu>& list)
{
    for (const auto& d : of_type(list, t::expedited_non_arq_data)) {
        if (d.segment.size() == 1) {
            return d.segment[0];
        }
    }
    return -1;
}

//! Transmissions until the node gives up, at most 40. \p code: expected link control.
int tries(scripted_peer& p, int code)
{
    int count = 0;
    for (; count < 40; ++count) {
        const auto sent = p.transmission(1000);
        if (sent.empty()) {
            break;
        }
        EXPECT_EQ(link_control(sent), code) << count;
    }
    return count;
}

//! The peer accepts the call and acknowledges the first U_PDU.
void accept_and_acknowledge(scripted_peer& p)
{
    p.receive({ scripted_peer::link(c_pdu_type::link_accepted), scripted_peer::ack(1) });
}

//! The peer says something to a third station.
d_pdu to_another()
{
    auto d = scripted_peer::data(0);
    d.dst = address("1.4.0.0");
    return d;
}

//! Seconds until the node sends LINK BREAK.
double until_break(scripted_peer& p, double limit)
{
    const station_time begin = p.now;
    while (to_seconds(p.now - begin) < limit) {
        if (!p.wait(limit)) {
            break;
        }
        const double s = to_seconds(p.now - begin);
        if (link_control(p.send_out()) >> 4 == static_cast<int>(c_pdu_type::link_break)) {
            return s;
        }
    }
    return limit;
}

} // namespace

TEST(link_failure, a_station_never_heard_is_called_half_as_often)
{
    const auto calls = [](unsigned most, bool heard) {
        node_config c;
        c.link_tries = most;
        scripted_peer p(c);
        p.bind(1, 3);
        if (heard) {
            p.receive({ to_another() });
        }
        p.submit(1, 10, confirmed());
        const int count = tries(p, 0x10);
        EXPECT_TRUE(p.answer<s_unidata_request_rejected>());
        EXPECT_EQ(p.n.stats().links_failed, 1u);
        EXPECT_EQ(p.n.unanswered(), 0u) << "of a station that is given up";
        return count;
    };
    EXPECT_EQ(calls(12, true), 12);
    EXPECT_EQ(calls(12, false), 5); // its client is notified within a minute
    EXPECT_EQ(calls(2, false), 2);
}

// Three calls are enough if they took 40 s.
TEST(link_failure, a_station_never_heard_is_given_up_after_exactly_40_s)
{
    const auto given_up = [](station_time after, int calls) {
        node_config c;
        c.link_tries = 8;
        scripted_peer p(c);
        p.bind(1, 3);
        p.submit(1, 10, confirmed());
        EXPECT_TRUE(p.wait(30));
        const station_time called = p.now;
        EXPECT_EQ(link_control(p.send_out()), 0x10);
        for (int k = 1; k < calls; ++k) {
            EXPECT_EQ(link_control(p.transmission(30)), 0x10) << k;
        }
        EXPECT_LT(p.now, called + 30s);
        p.now = called + after; // no tick before
        p.n.on_tick(p.now);
        return p.answer<s_unidata_request_rejected>().has_value();
    };
    EXPECT_TRUE(given_up(40s, 3));
    EXPECT_FALSE(given_up(40s - 1ns, 3));
    EXPECT_FALSE(given_up(40s, 2));
}

// Without a carrier detector nobody knows which calls met others. The pauses between calls
// grow, so that there are few of them.
TEST(link_failure, on_a_channel_that_is_not_sensed_calls_go_on_for_an_hour)
{
    for (const unsigned link_tries : { 3u, 8u }) {
        node_config c;
        c.link_tries = link_tries;
        scripted_peer p(c);
        p.bind(1, 3);
        p.submit(1, 10, confirmed());
        station_time last{};
        unsigned calls = 0;
        while (p.primitives().empty() && p.now < std::chrono::hours(3)) {
            for (const char* who : { "1.5.0.0", "1.6.0.0" }) { // they remain
                auto d = to_another();
                d.src = address(who);
                p.receive({ d });
            }
            calls += p.transmission(300).empty() ? 0 : 1;
            last = p.now;
        }
        EXPECT_LE(calls, 4 * link_tries);
        if (link_tries > 3) {
            EXPECT_GE(last, 60min);
        } else {
            EXPECT_EQ(calls, 4 * link_tries);
        }
        EXPECT_LE(last, 75min);
        EXPECT_EQ(p.n.state().links, 0u);
    }
}

// The same, but the station called is heard now and then. It is there, so an hour is no limit.
TEST(link_failure, a_station_heard_within_the_hour_gets_all_its_calls)
{
    node_config c;
    c.link_tries = 8;
    scripted_peer p(c);
    p.bind(1, 3);
    p.submit(1, 10, confirmed());
    unsigned calls = 0;
    while (p.primitives().empty() && p.now < std::chrono::hours(6)) {
        for (const char* who : { "1.2.0.0", "1.5.0.0", "1.6.0.0" }) {
            auto d = to_another();
            d.src = address(who);
            p.receive({ d });
        }
        calls += p.transmission(300).empty() ? 0 : 1;
    }
    EXPECT_EQ(calls, 4 * c.link_tries);
    EXPECT_GT(p.now, 65min);
}

// Another station transmits whenever the answer to a call is due.
TEST(link_failure, calls_that_always_meet_others_are_bounded)
{
    for (const bool heard : { false, true }) {
        scripted_peer p;
        p.bind(1, 3);
        p.n.on_carrier(p.now, false);
        p.submit(1, 10, confirmed());
        unsigned calls = 0;
        std::optional<s_unidata_request_rejected> said;
        while (!said && p.now < std::chrono::hours(3)) {
            for (const char* who : { "1.5.0.0", heard ? "1.2.0.0" : "1.6.0.0" }) {
                auto d = to_another();
                d.src = address(who);
                p.receive({ d });
            }
            calls += p.transmission(60).empty() ? 0 : 1;
            said = p.answer<s_unidata_request_rejected>();
        }
        ASSERT_TRUE(said);
        EXPECT_EQ(said->reason, uint8_t(unidata_reject_reason::not_responding));
        EXPECT_EQ(calls, 32u) << (heard ? "the peer speaks to others" : "others speak");
        EXPECT_LE(p.now, 60min);
    }
}

// The modem senses carriers, so a call that met no other transmission proves something.
TEST(link_failure, an_absent_station_gets_few_calls_however_many_others_are_heard)
{
    struct row {
        std::vector<const char*> others;
        bool again; // they are heard after each call, after the time for its answer
        unsigned most;
        station_time limit;
    };
    const std::vector<const char*> three = { "1.5.0.0", "1.6.0.0", "1.7.0.0" };
    for (const row& c : { row{ {}, false, 4, 1min },
                          row{ { "1.5.0.0" }, false, 4, 1min },
                          row{ { "1.5.0.0", "1.6.0.0" }, false, 8, 2min },
                          row{ three, false, 8, 2min },
                          row{ { "1.5.0.0", "1.6.0.0" }, true, 8, 3min },
                          row{ three, true, 8, 3min } }) {
        scripted_peer p;
        p.bind(1, 3);
        p.n.on_carrier(p.now, false);
        const auto others = [&] {
            for (const char* who : c.others) {
                auto d = to_another();
                d.src = address(who);
                p.now += 4s;
                p.receive({ d });
            }
        };
        others();
        const station_time begin = p.now;
        p.submit(1, 10, confirmed());
        unsigned calls = 0;
        std::optional<s_unidata_request_rejected> said;
        while (!said && p.now - begin < std::chrono::hours(2)) {
            const bool called = !p.transmission(1).empty();
            calls += called ? 1 : 0;
            said = p.answer<s_unidata_request_rejected>();
            if (called && c.again) {
                others();
            }
        }
        std::printf("%zu others heard%s: given up after %u calls, %.0f s\n",
                    c.others.size(),
                    c.again ? " after each call" : " once",
                    calls,
                    to_seconds(p.now - begin));
        ASSERT_TRUE(said);
        EXPECT_EQ(said->reason, uint8_t(unidata_reject_reason::not_responding));
        EXPECT_LE(calls, c.most) << c.others.size() << " others";
        EXPECT_GE(calls, c.others.size() < 2 ? 3u : 4u);
        EXPECT_LE(p.now - begin, c.limit) << to_seconds(p.now - begin) << " s";
        EXPECT_EQ(p.n.state().links, 0u);
    }
}

TEST(link_failure, a_new_request_for_an_exclusive_link_gets_all_its_tries)
{
    node_config c;
    c.link_tries = 3;
    hard_link_peer p(c);
    p.bind(1, 3);
    p.submit(1, 10);
    const auto before = p.transmission();
    EXPECT_EQ(link_control(before), 0x10);
    EXPECT_EQ(link_control(p.transmission(300)), 0x10);
    p.send(1, s_hard_link_establish{ hard_link_peer::link_to(0) });
    const auto sent = p.transmission(300);
    EXPECT_EQ(link_control(sent), 0x11);
    EXPECT_NE(sent.at(0).non_arq.c_pdu_id, before.at(0).non_arq.c_pdu_id);
    EXPECT_EQ(tries(p, 0x11), 2);
}

TEST(link_failure, a_peer_that_is_heard_elsewhere_is_not_gone)
{
    node_config c;
    c.link_tries = 3;
    scripted_peer p(c);
    p.bind(1, 3);
    p.submit(1, 10, confirmed());
    for (int k = 0; k < 6; ++k) {
        EXPECT_EQ(link_control(p.transmission(1000)), 0x10) << k;
        p.receive({ to_another() });
    }
    EXPECT_TRUE(p.primitives().empty());
    EXPECT_EQ(p.n.state().links, 1u);
}

TEST(link_failure, a_link_fails_after_silent_rounds_and_its_data_are_rejected)
{
    node_config c;
    c.max_silent_rounds = 4;
    c.trace = true;
    scripted_peer p(c);
    p.bind(1, 3);
    p.submit(1, 10, confirmed());
    p.transmission();
    accept_and_acknowledge(p);
    EXPECT_TRUE(p.answer<s_unidata_request_confirm>());
    p.submit(1, 10, confirmed());
    int rounds = 0;
    while (p.wait(1000) && rounds < 20) {
        p.send_out();
        ++rounds;
    }
    EXPECT_EQ(rounds, 4);
    const auto r = p.answer<s_unidata_request_rejected>();
    ASSERT_TRUE(r);
    EXPECT_EQ(r->reason, static_cast<uint8_t>(unidata_reject_reason::not_responding));
    EXPECT_EQ(p.n.state().links, 0u);
    EXPECT_EQ(p.n.stats().u_pdus_lost, 0u); // its client knows
    while (const auto line = p.n.poll_trace()) {
        EXPECT_EQ(line->text.find("lost"), std::string::npos) << line->text;
    }
}

TEST(link_failure, the_caller_ends_an_idle_link)
{
    for (const bool expedited : { false, true }) {
        node_config c;
        c.link_idle_s = 40;
        scripted_peer p(c);
        p.bind(1, 3);
        p.submit(1, 10, confirmed());
        p.transmission();
        accept_and_acknowledge(p);
        if (expedited) {
            // What an acknowledgement of expedited data refers to is not known.
            auto d = scripted_peer::data(0);
            d.type = t::expedited_data_only;
            d.expedited.start = d.expedited.end = true;
            d.expedited.c_pdu_id = 0;
            p.receive({ d });
            p.transmission();
        }
        const double s = until_break(p, 600);
        EXPECT_NEAR(s, expedited ? 340 : 40, 5);
    }
}

TEST(link_failure, the_called_station_waits_until_the_caller_is_gone)
{
    node_config c;
    c.link_idle_s = 40;
    scripted_peer p(c);
    p.make_link();
    EXPECT_NEAR(until_break(p, 1000), 2 * 40 + 300, 10);

    scripted_peer shared(c);
    shared.make_link();
    for (const char* who : { "1.3.0.0", "1.4.0.0" }) {
        auto d = to_another();
        d.src = address(who);
        d.dst = address("1.5.0.0");
        shared.receive({ d });
    }
    EXPECT_NEAR(until_break(shared, 1200), 2 * 40 + 300 + 430, 15);

    scripted_peer busy(c); // with others
    busy.make_link();
    for (int k = 0; k < 4; ++k) {
        EXPECT_EQ(until_break(busy, 350), 350);
        busy.receive({ to_another() });
    }
    EXPECT_NEAR(until_break(busy, 1000), 2 * 40 + 300, 10);
}

TEST(link_failure, a_call_that_was_not_sent_yet_ends_without_a_break)
{
    hard_link_peer p;
    p.bind(1, 3);
    p.send(1, s_hard_link_establish{ hard_link_peer::link_to(0) });
    p.send(1, s_hard_link_terminate{ address("1.2.0.0") });
    EXPECT_FALSE(p.wait(60));
    EXPECT_EQ(p.n.state().links, 0u);
}

TEST(link_failure, a_refused_call_for_want_of_room_is_repeated_after_a_pause)
{
    node_config c;
    c.trace = true;
    scripted_peer p(c);
    p.bind(1, 3);
    p.submit(1, 10, confirmed());
    ASSERT_EQ(link_control(p.transmission()), 0x10);
    p.receive({ scripted_peer::link(c_pdu_type::link_rejected, 1, 0) });
    EXPECT_TRUE(p.primitives().empty()); // the data wait
    bool logged = false;
    while (const auto line = p.n.poll_trace()) {
        logged = logged || line->text.find("no room") != std::string::npos;
    }
    EXPECT_TRUE(logged);
    EXPECT_EQ(p.n.state().links, 0u);
    EXPECT_FALSE(p.wait(29));
    EXPECT_EQ(link_control(p.transmission()), 0x10);
    accept_and_acknowledge(p);
    EXPECT_TRUE(p.answer<s_unidata_request_confirm>());
}

TEST(link_failure, a_refused_call_for_an_exclusive_link_is_reported)
{
    hard_link_peer p;
    p.bind(1, 3);
    p.send(1, s_hard_link_establish{ hard_link_peer::link_to(0) });
    ASSERT_EQ(link_control(p.transmission()), 0x11);
    p.receive({ scripted_peer::link(c_pdu_type::link_rejected, 1, 0) });
    EXPECT_TRUE(p.answer<s_hard_link_rejected>());
    EXPECT_FALSE(p.wait(60));
}

TEST(link_failure, a_called_link_with_our_data_in_flight_is_kept)
{
    // Its end would number the data again, and the peer could get them twice.
    for (const bool data : { false, true }) {
        node_config c;
        c.first_data_s = 20;
        scripted_peer p(c);
        p.bind(1, 3);
        p.receive({ scripted_peer::link(c_pdu_type::link_request) });
        if (data) {
            p.submit(1, 10, confirmed());
        }
        ASSERT_FALSE(p.transmission().empty());
        for (int k = 0; k < 3; ++k) {
            p.transmission(20);
        }
        EXPECT_EQ(p.n.state().links, data ? 1u : 0u);
    }
}

TEST(link_failure, an_exclusive_link_that_no_hard_link_uses_ends)
{
    node_config c;
    c.first_data_s = 20;
    hard_link_peer p(c);
    p.bind(1, 3);
    p.make_exclusive();
    EXPECT_EQ(p.n.state().links, 1u);
    p.wait(25);
    EXPECT_EQ(p.n.state().links, 0u);
}
