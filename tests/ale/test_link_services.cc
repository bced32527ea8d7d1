/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/link/link_keeper.h"
#include "ale/link_pair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

namespace gr::hf::test {
namespace {

TEST(ale_link_services, traffic_keeps_a_link_and_silence_ends_it)
{
    station_pair p(scanning(1));
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 20s), 0);
    for (int k = 0; k < 6; ++k) { // 120 s of data, the peer answers
        p.air.at(sam).keyed(true, p.air.now());
        p.air.run(p.air.now() + 15s);
        p.air.at(sam).keyed(false, p.air.now());
        p.air.at(joe).traffic(12.0, p.air.now());
        p.air.run(p.air.now() + 5s);
        p.air.at(sam).traffic(15.0, p.air.now());
    }
    EXPECT_TRUE(p.linked(sam));
    EXPECT_TRUE(p.linked(joe));
    // Ordinary traffic counts as a measurement.
    EXPECT_DOUBLE_EQ(*p.air.at(sam).quality().score("JOE", 0, p.air.now()), 15);
    p.air.at(joe).hold(true, p.air.now());
    const double s = p.until(sam, kind::ended, 60s);
    EXPECT_NEAR(s, 30, 0.1); // Twa
    EXPECT_EQ(p.reason(sam, kind::ended), link_reason::idle);
    p.air.run(p.air.now() + 5s);
    EXPECT_FALSE(p.linked(joe));
}

TEST(ale_link_services, a_held_link_outlasts_twa_but_not_a_silent_peer)
{
    station_pair p(scanning(1));
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 20s), 0);
    p.air.at(sam).hold(true, p.air.now());
    p.air.at(joe).hold(true, p.air.now());
    p.air.run(p.air.now() + 50s);
    EXPECT_TRUE(p.linked(sam));
    EXPECT_TRUE(p.linked(joe));
    p.air.at(sam).keyed(true, p.air.now()); // own transmissions do not count
    p.air.at(joe).traffic({}, p.air.now());
    p.air.run(p.air.now() + 50s);
    p.air.at(joe).traffic({}, p.air.now());
    p.air.run(p.air.now() + 50s);
    p.air.at(sam).keyed(false, p.air.now());
    EXPECT_TRUE(p.linked(sam));
    ASSERT_GE(p.until(sam, kind::ended, 20s), 0);
    EXPECT_EQ(p.reason(sam, kind::ended), link_reason::silent);
}

TEST(ale_link_services, release_restarts_twa)
{
    station_pair p(scanning(1));
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 20s), 0);
    p.air.at(sam).hold(true, p.air.now());
    p.air.at(joe).hold(true, p.air.now());
    p.air.run(p.air.now() + 25s);
    p.air.at(sam).traffic({}, p.air.now());
    p.air.at(joe).traffic({}, p.air.now());
    p.air.run(p.air.now() + 10s);
    p.air.at(sam).hold(false, p.air.now());
    EXPECT_NEAR(p.until(sam, kind::ended, 60s), 30, 0.1);
}

TEST(ale_link_services, end_waits_for_the_modem)
{
    station_pair p(scanning(1));
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 20s), 0);
    p.air.at(sam).keyed(true, p.air.now());
    p.air.at(sam).end(p.air.now());
    p.air.run(p.air.now() + 10s);
    EXPECT_TRUE(p.linked(sam));
    p.air.at(sam).keyed(false, p.air.now());
    p.air.run(p.air.now() + 3s);
    EXPECT_EQ(p.texts().back(), "TO JOE TWAS SAM");
    EXPECT_FALSE(p.linked(joe));
}

TEST(ale_link_services, a_net_answers_in_slots)
{
    link_medium air;
    for (const auto* self : { "SAM", "JOE", "BOB", "EDGAR" })
        air.add(scanning(2), book(self), 1);
    air.run(3s);
    air.at(sam).call("NET", "", air.now());
    ASSERT_TRUE(air.run_until(sam, kind::linked, 60s));
    air.run(air.now() + 3s);
    for (size_t k = 0; k < 4; ++k)
        EXPECT_EQ(air.at(k).state(), link_state::linked) << k;
    const auto members = air.of(sam, kind::linked).at(0).action.members;
    EXPECT_EQ(members, (std::vector<std::string>{ "JOE", "BOB", "EDGAR" }));
    // Slots of 14 Tw after the call. EDGAR has two words and answers in the last one.
    const auto& sent = air.transmissions();
    ASSERT_EQ(sent.size(), 5u);
    const double tw = 0.392 / 3;
    for (size_t k = 1; k < 4; ++k)
        EXPECT_NEAR(to_seconds(sent[k].start - sent[0].end),
                    static_cast<double>(14 * (k + 1)) * tw,
                    0.06)
            << k;
    // The caller ends it for all.
    air.at(sam).end(air.now());
    air.run(air.now() + 5s);
    for (size_t k = 0; k < 4; ++k)
        EXPECT_EQ(air.at(k).state(), link_state::scanning) << k;
}

// Tw from the end of a call to several stations, which TOM does not acknowledge, until JOE
// gives up.
double patience_after(const std::string& called)
{
    link_medium air;
    air.add(scanning(1), book("JOE"));
    air.run(1s);
    air.send(0, plan_to(called, "TOM"));
    EXPECT_TRUE(air.run_until(0, kind::failed, 120s));
    EXPECT_EQ(air.transmissions().size(), 2u);
    return (air.of(0, kind::failed).at(0).at - air.transmissions()[0].end) /
           std::chrono::duration<double, station_time::period>(times::third);
}

// One slot more for the acknowledgement, then Tlww + Twr + Tt + 4 Trw = 21 Tw.
TEST(ale_link_services, all_slots_pass_before_a_called_station_gives_up)
{
    EXPECT_NEAR(patience_after("NET"), 5 * 14 + 3 + 21, 0.1); // EDGAR has a word more
    EXPECT_NEAR(patience_after("@@?"), 17 * 20 + 21, 0.1);
}

// The example of the standard (A.5.5.4.3.7): JOE calls BOB, EDGAR and SAMUEL.
TEST(ale_link_services, a_group_answers_in_the_opposite_order)
{
    link_medium air;
    const std::vector<std::string> names{ "BOB", "EDGAR", "SAMUEL" };
    for (const auto& name : names) {
        address_book own;
        own.self = { name };
        air.add(scanning(3), own, air.now().count() + name.size());
    }
    air.run(1s);
    frame_plan call;
    call.to = names;
    call.from = "JOE";
    call.channels = 4; // longer than a scan of these receivers
    air.send(1, call);
    const station_time end = air.transmissions().front().end;
    air.run(end + 64 * times::third);
    const auto& sent = air.transmissions();
    ASSERT_EQ(sent.size(), 4u);
    const std::vector<int> slots{ 14, 31, 48 }; // Tw after the call
    for (size_t k = 0; k < 3; ++k) {
        EXPECT_EQ(sent[k + 1].text, "TO JOE TIS " + names[2 - k]);
        EXPECT_EQ(sent[k + 1].start, end + slots[k] * times::third + air.key_delay);
    }
    // Only those that the acknowledgement names are linked.
    frame_plan acknowledgement = call;
    acknowledgement.channels = 0;
    acknowledgement.to = { "SAMUEL", "BOB" };
    air.send(1, acknowledgement);
    air.run(air.now() + 8s);
    for (size_t k = 0; k < 3; ++k)
        EXPECT_EQ(air.at(k).state(), k == 1 ? link_state::scanning : link_state::linked)
            << names[k];
    EXPECT_EQ(air.at(0).peer(), "JOE");
}

TEST(ale_link_services, members_leave_a_net_one_by_one)
{
    link_medium air;
    for (const auto* self : { "SAM", "JOE", "BOB" })
        air.add(scanning(1), book(self), 1);
    air.run(3s);
    air.at(sam).call("NET", "", air.now());
    ASSERT_TRUE(air.run_until(sam, kind::linked, 60s));
    air.run(air.now() + 3s);
    air.at(joe).end(air.now());
    air.run(air.now() + 5s);
    EXPECT_EQ(air.at(sam).state(), link_state::linked);
    EXPECT_EQ(air.at(2).state(), link_state::linked);
    air.at(2).end(air.now());
    air.run(air.now() + 5s);
    EXPECT_EQ(air.at(sam).state(), link_state::scanning);
}

TEST(ale_link_services, a_refused_call_is_not_repeated)
{
    auto refuses = scanning(3);
    refuses.accept = false;
    station_pair p(scanning(3), refuses);
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(sam, kind::failed, 60s), 0);
    EXPECT_EQ(p.reason(sam, kind::failed), link_reason::refused);
    EXPECT_EQ(p.texts().back(), "TO SAM TWAS JOE");
}

TEST(ale_link_services, messages_arrive_once)
{
    station_pair p(wide(2));
    p.air.lost = [](auto& t, size_t, size_t receiver) { // answers on channel 0
        return receiver == sam && t.channel == 0;
    };
    p.air.at(sam).call("JOE", "qrv 14109", p.air.now());
    ASSERT_GE(p.until(sam, kind::linked, 60s), 0);
    auto got = p.air.of(joe, kind::message);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].action.text, "QRV 14109");
    EXPECT_EQ(got[0].action.peer, "SAM");
    p.air.run(p.air.now() + 3s);
    ASSERT_TRUE(p.air.at(sam).send_text("QSY", p.air.now()));
    p.air.run(p.air.now() + 5s);
    got = p.air.of(joe, kind::message);
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(got[1].action.text, "QSY");
    EXPECT_TRUE(p.linked(joe));
}

TEST(ale_link_services, a_call_of_the_peer_replaces_only_our_own_call_to_it)
{
    station_pair p(wide(1));
    const auto now = p.air.now();
    p.air.at(joe).call("BOB", "", now); // is not there; the others wait
    p.air.at(joe).call("SAM", "", now);
    p.air.at(joe).call("SAM", "QSL", now);
    p.air.at(joe).call("EDGAR", "", now);
    p.air.at(sam).call("JOE", "", now);
    ASSERT_GE(p.until(joe, kind::linked, 60s), 0);
    p.air.run(p.air.now() + 2s);
    p.air.at(sam).end(p.air.now());
    p.air.run(p.air.now() + 120s);
    EXPECT_EQ(p.air.of(sam, kind::linked).size(), 2u); // its own call, and the message
    ASSERT_EQ(p.air.of(sam, kind::message).size(), 1u);
    EXPECT_EQ(p.air.of(sam, kind::message)[0].action.text, "QSL");
    const auto texts = p.texts();
    EXPECT_GT(std::count(texts.begin(), texts.end(), "TO EDGAR TIS JOE"), 0);
}

TEST(ale_link_services, reports_reach_the_other_end)
{
    auto s = scanning(1);
    s.report = true;
    station_pair p(s);
    p.air.snr_db[0] = 13;
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 30s), 0);
    EXPECT_DOUBLE_EQ(*p.air.at(sam).quality().score("JOE", 0, p.air.now()), 13);
    EXPECT_DOUBLE_EQ(*p.air.at(joe).quality().score("SAM", 0, p.air.now()), 13);
    EXPECT_EQ(p.air.transmissions()[0].words.size(), 4u);
}

TEST(ale_link_services, a_report_that_is_wanted_is_sent)
{
    auto s = scanning(1);
    s.report = true;
    station_pair p(s, scanning(1)); // JOE wants none of its own
    p.air.snr_db[0] = 13;
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 30s), 0);
    EXPECT_DOUBLE_EQ(*p.air.at(sam).quality().score("JOE", 0, p.air.now()), 13);
    EXPECT_EQ(p.air.transmissions()[1].words.size(), 4u);

    station_pair q(scanning(1));
    q.air.at(sam).call("JOE", "", q.air.now());
    ASSERT_GE(q.until(joe, kind::linked, 30s), 0);
    EXPECT_EQ(q.air.transmissions()[1].words.size(), 3u);
}

TEST(ale_link_services, sounds_are_off_by_default_and_heard_if_on)
{
    station_pair p(scanning(3));
    p.air.run(7200s);
    EXPECT_TRUE(p.air.transmissions().empty());

    auto s = scanning(3);
    s.sounding = 1800s;
    station_pair q(s, scanning(3));
    q.air.run(1900s);
    ASSERT_EQ(q.air.transmissions().size(), 3u);
    for (size_t channel = 0; channel < 3; ++channel)
        EXPECT_TRUE(q.air.at(joe).quality().score("SAM", channel, q.air.now()))
            << channel;
    EXPECT_TRUE(q.air.of(joe, kind::linked).empty());
}

TEST(ale_link_services, a_peer_that_lost_the_link_is_answered)
{
    station_pair p(scanning(1));
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 20s), 0);
    p.air.lost = [](auto&, size_t, size_t receiver) { return receiver == joe; };
    p.air.at(sam).end(p.air.now()); // its TWAS is lost
    p.air.run(p.air.now() + 4s);
    p.air.lost = nullptr;
    EXPECT_TRUE(p.linked(joe));
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 20s), 0);
    EXPECT_TRUE(p.linked(sam));
}

TEST(ale_link_services, a_dead_transmitter_ends_the_call)
{
    station_pair p(scanning(2));
    p.air.broken.insert(sam);
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(sam, kind::failed, 60s), 0);
    EXPECT_EQ(p.reason(sam, kind::failed), link_reason::transmitter);
    EXPECT_EQ(p.air.at(sam).state(), link_state::scanning);
}

TEST(ale_link_services, an_endless_call_does_not_hold_a_station)
{
    for (const bool is_wide : { false, true }) {
        station_pair p(is_wide ? wide(4) : scanning(4));
        p.air.run(5s);
        p.air.send_words(1, std::vector<word>(1000, *word::parse("TO:SAM")));
        p.air.run(p.air.now() + 90s);
        p.air.at(sam).call("JOE", "", p.air.now());
        EXPECT_GE(p.until(joe, kind::linked, 120s), 0) << is_wide;
    }
}

TEST(ale_link_services, every_state_has_a_limit)
{
    // Random losses, requests and holds: no state lasts longer than a link may.
    std::mt19937_64 random(36);
    for (int run = 0; run < 40; ++run) {
        link_medium air;
        const bool is_wide = run % 2 == 1;
        for (const auto* self : { "SAM", "JOE", "BOB" })
            air.add(is_wide ? wide(3) : scanning(3), book(self), random());
        std::bernoulli_distribution lost(0.3);
        air.lost = [&](auto&, size_t, size_t) { return lost(random); };
        for (int k = 0; k < 30; ++k) {
            const size_t station = random() % 3;
            auto& m = air.at(station);
            const char* others[] = { "JOE", "BOB", "SAM", "NET" };
            try {
                switch (random() % 5) {
                case 0:
                case 1:
                    m.call(others[random() % 4], random() % 2 ? "HI" : "", air.now());
                    break;
                case 2:
                    m.hold(random() % 2 == 0, air.now());
                    break;
                case 3:
                    m.end(air.now());
                    break;
                default:
                    m.send_text("HELLO", air.now());
                }
            } catch (const std::invalid_argument&) {
            }
            air.run(air.now() + std::chrono::milliseconds(random() % 20000));
            for (size_t s = 0; s < 3; ++s)
                EXPECT_TRUE(air.at(s).state() == link_state::scanning ||
                            air.at(s).next_deadline())
                    << run;
        }
        // Left alone, all of them are back to the scan: 16 calls at most wait at each.
        for (size_t s = 0; s < 3; ++s)
            air.at(s).end(air.now());
        air.run(air.now() + 300s);
        for (size_t s = 0; s < 3; ++s)
            EXPECT_EQ(to_string(air.at(s).state()), std::string("scanning")) << run;
    }
}

TEST(ale_link_services, refuses_what_it_cannot_call)
{
    link_machine m(scanning(1), book("SAM"), 1);
    EXPECT_THROW(m.call("@?@", "", 0s), std::invalid_argument);
    EXPECT_THROW(m.call("SAM", "", 0s), std::invalid_argument);
    EXPECT_THROW(m.call("JOE", std::string(91, 'A'), 0s), std::invalid_argument);
    auto s = scanning(0);
    EXPECT_THROW(link_machine(s, book("SAM"), 1), std::invalid_argument);
    s = scanning(1);
    s.dwell = 20ms;
    EXPECT_THROW(link_machine(s, book("SAM"), 1), std::invalid_argument);
    EXPECT_FALSE(m.send_text("HI", 0s));
}

} // namespace
TEST(ale_link_services, a_wanted_peer_waits_while_too_many_calls_wait)
{
    link_machine link(scanning(1), book("SAM"), 1);
    link_keeper keeper(link, scanning(1));
    const station_time now = 1s;
    link.advance(now);
    for (int k = 0; !link.full(); ++k) {
        ASSERT_LE(k, 20);
        link.call("BOB", "", now);
    }
    EXPECT_THROW(link.call("BOB", "", now), std::invalid_argument);
    EXPECT_NO_THROW(keeper.update({ "JOE" }, now));
    link.end(now);
    EXPECT_FALSE(link.full());
    EXPECT_NO_THROW(keeper.update({ "JOE" }, now));
}

} // namespace gr::hf::test
