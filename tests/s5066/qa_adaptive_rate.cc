/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Rules of rate adaptation, by calls of the policy alone.
#include "s5066/rate/adaptive_rate.h"
#include "s5066/rate/mode_promise.h"

#include <gtest/gtest.h>

#include <string>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

const address peer("1.2.0.0");

struct policy : adaptive_rate_policy {
    policy() : adaptive_rate_policy(*rate_range::parse("auto")) {}

    mode choose_data(unsigned silent_rounds = 0)
    {
        tx_context c;
        c.peer = peer;
        c.backlog_octets = 100000;
        c.silent_rounds = silent_rounds;
        return choose({}, c);
    }
    double longest() const
    {
        tx_context c;
        c.peer = peer;
        return longest_s(c);
    }
};

double needed_db(const mode& m) { return mode_promises::of(m).needed_db(); }

reception heard(const char* m)
{
    reception r;
    r.m = mode::parse(m);
    r.block_snr_db = { 20, 20, 20 };
    r.good_d_pdus = 10;
    r.d_pdu_octets = 200;
    return r;
}

} // namespace

TEST(adaptive_rate, the_advised_mode_is_tried_again_after_eight_others)
{
    policy p;
    p.on_advice({}, peer, mode::parse("4539-2400S"));
    EXPECT_EQ(p.choose_data(), mode::parse("4539-2400S"));
    for (int k = 0; k < 2; ++k) {
        EXPECT_EQ(p.why(), mode_reason::advice) << k;
        p.on_silence({}, peer);
        p.choose_data();
    }
    EXPECT_EQ(p.why(), mode_reason::advice_fails);
    for (int k = 0; k < 8; ++k) {
        p.choose_data();
        EXPECT_EQ(p.why(), mode_reason::advice_fails) << k;
        p.on_frames({}, peer, { mode::parse("4539-600S"), 10, 0, 200 });
    }
    EXPECT_EQ(p.choose_data(), mode::parse("4539-2400S"));
    EXPECT_EQ(p.why(), mode_reason::advice);
    // One more silence is enough now.
    p.on_silence({}, peer);
    p.choose_data();
    EXPECT_EQ(p.why(), mode_reason::advice_fails);
}

TEST(adaptive_rate, a_group_gets_the_fastest_mode_that_all_stations_heard_receive)
{
    policy p;
    const auto to_group = [&p] {
        tx_context c;
        c.peer = address("16.0.0.1");
        c.backlog_octets = 100000;
        return p.choose({}, c);
    };
    const mode unknown = to_group();
    EXPECT_EQ(p.why(), mode_reason::nothing_known);
    const auto hear = [&p](const char* who, double snr_db) {
        reception r = heard("4539-2400S");
        r.block_snr_db.assign(20, snr_db);
        r.doppler_hz = 0.0;
        for (int k = 0; k < 5; ++k)
            p.on_reception({}, address(who), r);
    };
    hear("1.2.0.2", 30);
    const mode near = to_group();
    EXPECT_EQ(p.why(), mode_reason::own_estimate);
    EXPECT_GT(near.rate_bps, 4800);
    hear("1.2.0.3", 9);
    const mode all = to_group();
    EXPECT_LT(needed_db(all), 9);
    EXPECT_GT(all.rate_bps, unknown.rate_bps);
    EXPECT_LT(all.rate_bps, near.rate_bps);
    hear("1.2.0.4", -2);
    const mode weak = to_group();
    EXPECT_LT(needed_db(weak), -2);
    // What one of them is sent alone does not change.
    tx_context c;
    c.peer = address("1.2.0.2");
    c.backlog_octets = 100000;
    EXPECT_GT(p.choose({}, c).rate_bps, weak.rate_bps);
}

TEST(adaptive_rate, falls_by_6_db_more_after_each_silence)
{
    for (unsigned silences = 1; silences <= 3; ++silences) {
        policy p;
        p.on_advice({}, peer, mode::parse("4539-9600S"));
        const mode first = p.choose_data();
        ASSERT_EQ(first, mode::parse("4539-9600S"));
        const mode next = p.choose_data(silences);
        EXPECT_EQ(p.why(), mode_reason::silence);
        const double limit_db = needed_db(first) - 6 * silences;
        EXPECT_LE(needed_db(next), limit_db) << silences;
        for (const mode& m : rate_range::parse("auto")->common_modes()) {
            if (m.il == interleaver::short_ && needed_db(m) <= limit_db) {
                EXPECT_GE(needed_db(next), needed_db(m)) << m.to_string();
            }
        }
    }
}

// A peer that falls to a slower mode before it has advised anything hears no answer, although
// it does not ask again: it calls (explore unequal 0S0,0X).
TEST(adaptive_rate, a_peer_that_falls_did_not_hear_the_answer)
{
    policy p;
    const auto answer = [&p] {
        tx_context c;
        c.peer = peer;
        c.ack_only = true;
        return p.choose({}, c);
    };
    p.on_reception({}, peer, heard("4539-600S"));
    const mode first = answer();
    p.on_reception({}, peer, heard("4539-75L"));
    EXPECT_LE(needed_db(answer()), needed_db(first) - 6);
    // In the same mode again it has heard it.
    policy q;
    q.on_reception({}, peer, heard("4539-600S"));
    tx_context c;
    c.peer = peer;
    c.ack_only = true;
    const mode before = q.choose({}, c);
    q.on_reception({}, peer, heard("4539-600S"));
    EXPECT_GE(needed_db(q.choose({}, c)), needed_db(before));
}

// Two of our transmissions were not heard, and then a slow mode was.
TEST(adaptive_rate, the_first_transmission_after_a_fall_is_short)
{
    policy p;
    p.on_advice({}, peer, mode::parse("4539-9600S"));
    p.on_frames({}, peer, { p.choose_data(), 10, 0, 200 });
    p.on_silence({}, peer);
    p.choose_data(1);
    p.on_silence({}, peer);
    const mode asked = p.choose_data(2);
    p.on_advice({}, peer, asked);
    p.on_frames({}, peer, { asked, 1, 0, 44 });
    ASSERT_EQ(p.choose_data(), asked);
    EXPECT_EQ(p.longest(), 40) << "9600 bit/s may be back";
    p.on_frames({}, peer, { asked, 10, 0, 200 });
    p.choose_data();
    EXPECT_EQ(p.longest(), 127.5);
}

TEST(adaptive_rate, a_mode_is_unproven_after_a_silence)
{
    policy p;
    EXPECT_EQ(p.longest(), 10) << "nothing is known";
    p.on_advice({}, peer, mode::parse("4539-2400S"));
    const mode m = p.choose_data();
    EXPECT_EQ(p.longest(), 10) << "nothing was acknowledged";
    p.on_frames({}, peer, { m, 10, 6, 200 });
    EXPECT_EQ(p.longest(), 10) << "less than half arrived";
    p.on_frames({}, peer, { m, 10, 5, 200 });
    EXPECT_EQ(p.longest(), 127.5);
    p.on_silence({}, peer);
    EXPECT_EQ(p.choose_data(), m);
    EXPECT_EQ(p.longest(), 10) << "after a silence";
    p.on_frames({}, peer, { m, 10, 0, 200 });
    EXPECT_EQ(p.longest(), 127.5);
}

// 9.6 s and 11.2 s of data at 1200 bit/s.
TEST(adaptive_rate, a_mode_is_unproven_after_the_last_10_s_of_a_transmission_were_lost)
{
    policy p;
    p.on_advice({}, peer, mode::parse("4539-1200S"));
    const mode m = p.choose_data();
    p.on_frames({}, peer, { m, 60, 6, 240, 6 });
    EXPECT_EQ(p.longest(), 127.5);
    p.on_frames({}, peer, { m, 60, 7, 240, 7 });
    EXPECT_EQ(p.choose_data(), m);
    EXPECT_EQ(p.longest(), 10);
    p.on_frames({}, peer, { m, 10, 0, 240 });
    EXPECT_EQ(p.longest(), 127.5);
    p.on_frames({}, peer, { m, 20, 3, 1000, 3 });
    EXPECT_EQ(p.longest(), 127.5) << "three D_PDUs tell little";
}

TEST(adaptive_rate, knows_at_most_256_stations)
{
    policy p;
    for (uint32_t k = 1; k <= 256; ++k)
        p.on_reception({}, address("1.2.0." + std::to_string(k - 1)), heard("4539-600S"));
    EXPECT_TRUE(p.advice(address("1.2.0.0")));
    p.on_reception({}, address("1.3.0.0"), heard("4539-600S"));
    EXPECT_TRUE(p.advice(address("1.3.0.0")));
    EXPECT_FALSE(p.advice(address("1.2.0.0"))) << "the first gave way";
    EXPECT_TRUE(p.advice(address("1.2.0.1")));
}

TEST(adaptive_rate, answers_a_peer_that_hears_us_badly_in_a_robust_mode)
{
    const auto answer = [](const char* advised) {
        policy p;
        for (int k = 0; k < 4; ++k) {
            p.on_advice({}, peer, mode::parse(advised));
            p.on_reception({}, peer, heard("4539-2400S"));
        }
        EXPECT_TRUE(p.advice(peer));
        tx_context c;
        c.peer = peer;
        c.ack_only = true;
        return p.choose({}, c);
    };
    // We hear the peer with 20 dB. It hears us as well as that, or 20 dB worse.
    const mode alike = answer("4539-8000L"), worse = answer("4539-75S");
    EXPECT_GT(needed_db(alike), needed_db(worse) + 3)
        << alike.to_string() << " " << worse.to_string();
}

// The shortest interleaver is no mode for data, so it is not in the range.
TEST(adaptive_rate, answers_with_the_shortest_interleaver_where_the_channel_is_good)
{
    policy p;
    auto r = heard("4539-9600S");
    r.block_snr_db = { 40, 40, 40 };
    for (int k = 0; k < 4; ++k) {
        p.on_advice({}, peer, r.m);
        p.on_reception({}, peer, r);
    }
    tx_context c;
    c.peer = peer;
    c.ack_only = true;
    const mode answer = p.choose({}, c);
    EXPECT_EQ(answer, default_ack_mode(answer)) << answer.to_string();
    EXPECT_NE(answer.il, interleaver::short_) << answer.to_string();
}

TEST(adaptive_rate, a_silence_counts_against_the_way_to_the_peer)
{
    const mode m = mode::parse("4539-2400S");
    policy p;
    auto r = heard("4539-600S");
    r.block_snr_db = { 8, 5, 11, 8 };
    p.on_reception({}, peer, r);
    p.choose_data();
    const size_t before = *p.segment_octets(peer, m);
    for (int k = 0; k < 3; ++k) {
        p.on_silence({}, peer);
    }
    EXPECT_LT(*p.segment_octets(peer, m), before);
}

// A trial has the segments of the mode before, but four of them fit into its 10 s.
TEST(adaptive_rate, segments_of_a_trial_are_at_most_a_quarter_of_it)
{
    policy p;
    auto r = heard("4539-75S");
    r.block_snr_db = { -9, -12, -6, -9 };
    p.on_reception({}, peer, r);
    p.choose_data();
    p.on_frames({}, peer, { mode::parse("4539-75S"), 10, 0, 200 });
    const auto segment = [&p](const char* m) {
        return *p.segment_octets(peer, mode::parse(m));
    };
    const size_t proven = segment("4539-75S");
    EXPECT_GT(proven, 187u);
    EXPECT_EQ(segment("4539-300S"), 300u * 10 / 8 / 4);
    EXPECT_EQ(segment("4539-600S"), 600u * 10 / 8 / 4);
    EXPECT_EQ(segment("4539-2400S"), proven);
}

namespace {

// A station that is heard well, with data of 35 s in each transmission.
struct heard_station : policy {
    // \param seconds of data D_PDUs that arrive
    void hear(double seconds, unsigned lost = 0)
    {
        reception r = heard("4539-600S");
        r.m = present;
        r.block_snr_db = { 8, 5, 11, 8 };
        r.good_d_pdus =
            static_cast<unsigned>(seconds * present.rate_bps / 8 / r.d_pdu_octets);
        r.lost_d_pdus = lost;
        on_reception({}, peer, r);
    }
    // True if the advice is a faster mode than the one in use.
    bool tries() const { return advice(peer)->rate_bps > present.rate_bps; }

    mode present = mode::parse("4539-600S");
};

// The mode in use is the best one by what is heard.
heard_station settled()
{
    heard_station s;
    for (int k = 0; k < 3; ++k) {
        s.hear(10);
        s.present = *s.advice(peer);
    }
    return s;
}

} // namespace

TEST(adaptive_rate, tries_a_faster_mode_half_as_often_after_each_try_in_vain)
{
    auto s = settled();
    std::vector<int> gaps;
    for (int k = 0, last = -1; k < 300; ++k) {
        s.hear(35);
        if (s.tries()) {
            if (last >= 0) {
                gaps.push_back(k - last);
            }
            last = k;
        }
    }
    ASSERT_GE(gaps.size(), 7u);
    gaps.resize(7);
    // The first reception after a try tells its result and counts no more.
    EXPECT_EQ(gaps, (std::vector<int>{ 3, 5, 9, 17, 33, 65, 65 }));
}

TEST(adaptive_rate, tries_no_faster_mode_after_losses_or_little_data)
{
    for (const bool lossy : { false, true }) {
        auto s = settled();
        for (int k = 0; k < 20; ++k) {
            s.hear(lossy ? 35 : 20, lossy ? 1 : 0);
            EXPECT_FALSE(s.tries()) << k;
        }
    }
}

TEST(adaptive_rate, a_peer_heard_in_one_mode_gets_no_mode_that_needs_more)
{
    // It is heard well, but that it hears us as well is not known yet.
    auto r = heard("4539-600S");
    r.block_snr_db = { 40, 40, 40 };
    policy p;
    p.on_reception({}, peer, r);
    EXPECT_EQ(p.choose_data(), r.m);
    EXPECT_EQ(p.why(), mode_reason::own_estimate);
    tx_context c;
    c.peer = peer;
    c.ack_only = true;
    EXPECT_EQ(p.choose({}, c), r.m);
    EXPECT_EQ(p.why(), mode_reason::soonest);
    // The acknowledged data prove that it does.
    p.choose_data();
    p.on_frames({}, peer, { r.m, 10, 0, 200 });
    EXPECT_GT(p.choose_data().rate_bps, 2400);
}

TEST(adaptive_rate, only_an_advice_below_the_present_mode_ends_the_doubt)
{
    const auto reason_after = [](const char* next) {
        policy p;
        p.on_advice({}, peer, mode::parse("4539-2400S"));
        p.choose_data();
        p.on_silence({}, peer);
        p.on_silence({}, peer);
        p.on_advice({}, peer, mode::parse(next));
        p.choose_data();
        return p.why();
    };
    EXPECT_EQ(reason_after("4539-2400S"), mode_reason::advice_fails);
    EXPECT_EQ(reason_after("4539-4800S"), mode_reason::advice_fails);
    EXPECT_EQ(reason_after("4539-600S"), mode_reason::advice);
    policy fresh;
    fresh.on_advice({}, peer, mode::parse("4539-600S"));
    fresh.choose_data();
    fresh.on_advice({}, peer, mode::parse("4539-2400S"));
    EXPECT_EQ(fresh.choose_data(), mode::parse("4539-2400S"));
    EXPECT_EQ(fresh.why(), mode_reason::advice);
}

TEST(adaptive_rate, only_an_advice_unlike_ours_tells_the_two_ways_apart)
{
    const mode m = mode::parse("4539-2400S");
    const auto segment = [&m](std::optional<mode> advised) {
        policy p;
        auto r = heard("4539-600S");
        r.block_snr_db = { 8, 5, 11, 8 };
        for (int k = 0; k < 4; ++k) {
            p.on_reception({}, peer, r);
            if (advised) {
                p.on_advice({}, peer, *advised);
            }
        }
        return *p.segment_octets(peer, m);
    };
    policy same;
    auto r = heard("4539-600S");
    r.block_snr_db = { 8, 5, 11, 8 };
    same.on_reception({}, peer, r);
    EXPECT_EQ(segment(same.advice(peer)), segment(std::nullopt));
    EXPECT_LT(segment(mode::parse("4539-75S")), segment(std::nullopt));
}

TEST(rate_range, takes_the_bandwidth_of_the_channel)
{
    const auto in = [](const char* text, int khz) {
        return rate_range::in_bandwidth(text, khz);
    };
    EXPECT_EQ(in("auto", 3), "auto");
    EXPECT_EQ(in("auto:600..9600", 3), "auto:600..9600");
    EXPECT_EQ(in("auto", 48), "auto:48k");
    EXPECT_EQ(in("auto:600..9600", 48), "auto:48k-600..9600");
    EXPECT_EQ(in("auto:24k-600..9600", 48), "auto:24k-600..9600");
    EXPECT_EQ(in("auto:24k", 48), "auto:24k");
    EXPECT_EQ(in("auto:5069", 3), "auto:5069");
    EXPECT_EQ(in("auto:5069", 48), "auto:48k");
    EXPECT_EQ(in("auto:5069-9600..48000", 48), "auto:48k-9600..48000");
    EXPECT_EQ(in("auto:4539", 48), "auto:4539");
    EXPECT_EQ(in("auto:4539-600..1200", 48), "auto:4539-600..1200");
    EXPECT_EQ(in("4539-600S", 48), "4539-600S");
    EXPECT_EQ(in("xauto:600..9600", 48), "xauto:600..9600");
}

TEST(rate_range, both_ends_may_be_equal)
{
    const auto r = rate_range::parse("auto:600..600");
    ASSERT_TRUE(r);
    const auto list = r->modes();
    ASSERT_EQ(list.size(), 6u);
    for (const mode& m : list)
        EXPECT_EQ(m.rate_bps, 600);
    EXPECT_EQ(rate_range::parse("auto:600S..600S")->modes().size(), 3u);
    EXPECT_EQ(rate_range::parse("auto:4539-600S..600S")->modes().size(), 1u);
    EXPECT_THROW(rate_range::parse("auto:1200..600"), std::invalid_argument);
}

TEST(rate_range, anything_else_is_refused_with_what_is_allowed)
{
    const auto why = [](const std::string& text) -> std::string {
        try {
            rate_range::parse(text);
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return "accepted";
    };
    const std::string ending = ", the lower one first";
    for (const char* text : { "autos",
                              "auto-600..9600",
                              "auto:",
                              "auto:600",
                              "auto:601..9600",
                              "auto:600..",
                              "auto:..600",
                              "auto:600X..9600",
                              "auto:4539-",
                              "auto:4539-600",
                              "auto:4285",
                              "auto:1200..600" }) {
        const std::string said = why(text);
        EXPECT_EQ(said.find("mode " + std::string(text) + ": allowed is auto"), 0u)
            << said;
        EXPECT_NE(said.find("300, 600, "), std::string::npos) << said;
        EXPECT_NE(said.find("9600"), std::string::npos) << said;
        EXPECT_NE(said.find("auto:4539 or auto:5069"), std::string::npos) << said;
    }
    EXPECT_NE(why("auto:601..9600").find(" 16000" + ending), std::string::npos);
    EXPECT_NE(why("auto:4539-1600..9600").find(" 9600" + ending), std::string::npos);
    for (const char* text :
         { "auto:48k-", "auto:48kx", "auto:3k", "auto:7k", "auto:k", "auto:123k" }) {
        EXPECT_NE(why(text), "accepted") << text;
    }
    // The rates are those of the bandwidth.
    EXPECT_NE(why("auto:48k-75..9600").find("240000" + ending), std::string::npos);
    EXPECT_EQ(why("auto:48k"), "accepted");
    EXPECT_FALSE(rate_range::parse("4539-600S"));
}

TEST(rate_range, auto_is_every_rate_of_the_bandwidth)
{
    const auto all = rate_range::parse("auto");
    EXPECT_EQ(all->floor, mode::parse("grhf-50S"));
    EXPECT_EQ(all->ceiling, mode::parse("5069-3k-16000S"));
    EXPECT_EQ(all->reference(), mode::parse("4539-9600S"));
    EXPECT_TRUE(all->long_allowed);
    const auto some = rate_range::parse("auto:600S..4539-1200S");
    EXPECT_FALSE(some->long_allowed);
    EXPECT_EQ(some->common_modes(),
              (std::vector<mode>{ mode::parse("4539-600S"), mode::parse("4539-1200S") }));
    const auto mixed = rate_range::parse("auto:600S..1200L");
    EXPECT_EQ(mixed->common_modes(),
              (std::vector<mode>{ mode::parse("4539-600S"),
                                  mode::parse("4539-600L"),
                                  mode::parse("4539-1200S"),
                                  mode::parse("4539-1200L") }));
    for (const char* text : { "auto:4539", "auto:4539-75..9600" }) {
        const auto old = rate_range::parse(text);
        EXPECT_EQ(old->modes(), all->common_modes()) << text;
        EXPECT_EQ(old->ceiling, mode::parse("4539-9600S")) << text;
    }
    const size_t robust = 10; // 5 rates, short and long
    EXPECT_EQ(all->modes().size(),
              all->common_modes().size() + robust +
                  rate_range::parse("auto:5069")->modes().size());
    EXPECT_EQ(rate_range::parse("auto:5069-600S..600S")->modes(),
              (std::vector<mode>{ mode::parse("5069-3k-600S"),
                                  mode::parse("5069-3k-600S-k9") }));
    const auto wide = rate_range::parse("auto:48k-9600..48000");
    for (const mode& m : wide->modes()) {
        EXPECT_EQ(m.bandwidth_hz, 48000);
        EXPECT_GE(m.rate_bps, 9600);
        EXPECT_LE(m.rate_bps, 48000);
    }
    EXPECT_FALSE(wide->modes().empty());
}
