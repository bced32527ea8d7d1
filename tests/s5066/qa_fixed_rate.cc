/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Modes of acknowledgements where the mode of data is fixed.
#include "s5066/rate/fixed_rate.h"
#include "waveform/timing.h"

#include <gtest/gtest.h>

#include <string>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

const address peer("1.2.0.0");
const mode data = mode::parse("4539-1200L");
const mode slow = mode::parse("4539-150S"), fast = mode::parse("4539-2400S");
constexpr double lost_ack_s = 10;
constexpr auto ack = fixed_rate_policy::acknowledgement;

// The slow mode is the first choice for acknowledgements.
struct policy : fixed_rate_policy {
    policy() : fixed_rate_policy(data, { slow, fast }, {}, lost_ack_s, slower_acks(data))
    {
    }

    mode answer(address to = peer)
    {
        tx_context c;
        c.peer = to;
        c.ack_only = true;
        return choose({}, c);
    }
    // The peer is heard once. again: it repeats what was acknowledged.
    void hear_once(bool again)
    {
        reception r;
        r.m = data;
        r.block_snr_db = { 30.0 };
        r.again = again;
        on_reception({}, peer, r);
    }
    // The peer is heard four times.
    void hear(const std::vector<double>& snr_db, double good_share = 1)
    {
        reception r;
        r.m = slow;
        r.block_snr_db = snr_db;
        r.good_share = good_share;
        for (int k = 0; k < 4; ++k) {
            on_reception({}, peer, r);
        }
    }
};

// An SNR at which the fast mode costs less without fading and more on Poor, dB.
std::optional<double> snr_for_fast_without_fading()
{
    for (double db = 0; db <= 30; db += 0.5) {
        const auto gain = [db](const char* channel) {
            return fixed_rate_policy::cost_s(ack, slow, channel, db, lost_ack_s) -
                   fixed_rate_policy::cost_s(ack, fast, channel, db, lost_ack_s);
        };
        if (gain("awgn") > 0.1 && gain("poor") < -0.1) {
            return db;
        }
    }
    return std::nullopt;
}

} // namespace

TEST(fixed_rate, acknowledgements_that_are_not_heard_go_slower)
{
    const auto names = [](const char* of) {
        std::string all;
        for (const mode& m : slower_acks(mode::parse(of)))
            all += m.to_string() + " ";
        return all;
    };
    EXPECT_EQ(
        names("4539-9600S"),
        "4539-4800US 4539-2400S 4539-1200S 4539-600S 4539-300S 4539-150S 4539-75S ");
    EXPECT_EQ(names("4539-75L"), "");
    policy p;
    p.hear({ 30 });
    const auto usual = p.answer();
    p.hear_once(false);
    EXPECT_EQ(p.answer(), usual);
    const auto lost = [&p](unsigned count) {
        for (unsigned k = 0; k < count; ++k) {
            p.hear_once(true);
            p.answer();
        }
        return p.answer();
    };
    EXPECT_EQ(lost(1), usual) << "one may have met another call";
    EXPECT_EQ(lost(1), mode::parse("4539-600S"));
    EXPECT_EQ(lost(2), mode::parse("4539-300S"));
    // A peer that is heard again without an answer between tells nothing.
    p.hear_once(false);
    for (int k = 0; k < 5; ++k)
        p.hear_once(true);
    EXPECT_EQ(p.answer(), mode::parse("4539-300S"));
    for (int k = 0; k < 32; ++k) {
        p.hear_once(false);
        EXPECT_EQ(p.answer(),
                  k < 14   ? mode::parse("4539-300S")
                  : k < 30 ? mode::parse("4539-600S")
                           : usual)
            << k;
    }
    lost(40);
    EXPECT_EQ(p.answer(), mode::parse("4539-75S")) << "the slowest";
}

TEST(fixed_rate, an_acknowledgement_costs_its_time_and_that_of_its_losses)
{
    // Two copies of 24 octets
    const double own_s = to_seconds(kernel::timing_of(fast).duration(48));
    EXPECT_NEAR(fixed_rate_policy::cost_s(ack, fast, "awgn", 40, 10), own_s, 0.01);
    // Beyond a loss of 95 % the tries are given up: 19 lost ones for each that arrives.
    EXPECT_NEAR(fixed_rate_policy::cost_s(ack, fast, "awgn", -20, 10),
                own_s + 19 * (10 + own_s),
                0.01);
    EXPECT_NEAR(fixed_rate_policy::cost_s(ack, fast, "awgn", -20, 50),
                own_s + 19 * (50 + own_s),
                0.01);
}

TEST(fixed_rate, data_go_out_in_their_mode_whatever_is_heard)
{
    policy p;
    tx_context c;
    c.peer = peer;
    EXPECT_EQ(p.choose({}, c), data);
    p.hear({ 30, 30, 30 });
    EXPECT_EQ(p.choose({}, c), data);
}

TEST(fixed_rate, a_short_message_takes_the_shortest_block_of_its_rate)
{
    static const mode bulk = mode::parse("4539-9600S"),
                      quick = mode::parse("4539-9600US");
    EXPECT_EQ(shorter_interleavers(bulk),
              (std::vector{ quick, mode::parse("4539-9600VS") }));
    EXPECT_EQ(shorter_interleavers(mode::parse("4539-1200L")),
              std::vector{ mode::parse("4539-1200S") });
    struct fast_data : fixed_rate_policy {
        fast_data()
            : fixed_rate_policy(bulk,
                                { slow, fast },
                                shorter_interleavers(bulk),
                                lost_ack_s)
        {
        }
        mode message(size_t octets, unsigned silent_rounds = 0)
        {
            tx_context c;
            c.peer = peer;
            c.backlog_octets = octets;
            c.silent_rounds = silent_rounds;
            return choose({}, c);
        }
    } p;
    EXPECT_EQ(p.message(40), bulk) << "nothing is known of the peer";
    reception r;
    r.m = bulk;
    r.block_snr_db = { 30, 30, 30 };
    p.on_reception({}, peer, r);
    EXPECT_EQ(p.message(40), quick);
    EXPECT_EQ(p.why(), mode_reason::soonest);
    EXPECT_EQ(p.message(40, 1), bulk) << "it was not answered";
    EXPECT_EQ(p.why(), mode_reason::setting);
    EXPECT_EQ(p.message(5000), bulk);
    EXPECT_EQ(p.message(0), bulk);
    // What fails is tried ever more seldom.
    for (const int in_data_mode : { 1, 2, 4 }) {
        EXPECT_EQ(p.message(40), quick) << in_data_mode;
        p.on_silence({}, peer);
        for (int k = 0; k < in_data_mode; ++k) {
            EXPECT_EQ(p.message(40), bulk) << in_data_mode << ' ' << k;
        }
    }
    EXPECT_EQ(p.message(40), quick);
    sent_data arrived;
    arrived.m = quick;
    arrived.sent = 1;
    p.on_frames({}, peer, arrived);
    p.on_silence({}, peer); // of the answer
    EXPECT_EQ(p.message(40), bulk);
    EXPECT_EQ(p.message(40), quick) << "one failure after a success counts anew";
}

TEST(fixed_rate, the_first_mode_is_used_until_the_peer_was_heard)
{
    policy p;
    EXPECT_EQ(p.answer(), slow);
    p.hear({}); // without any block
    EXPECT_EQ(p.answer(), slow);
    reception unreadable;
    unreadable.m = slow;
    unreadable.block_snr_db = { 30, 30, 30 };
    unreadable.read = false;
    p.on_reception({}, peer, unreadable);
    EXPECT_EQ(p.answer(), slow);
    p.hear({ 30, 30, 30 });
    EXPECT_EQ(p.answer(), fast);
    EXPECT_EQ(p.answer(address("1.3.0.0")), slow) << "another station";
}

TEST(fixed_rate, acknowledgements_are_robust_where_the_peer_is_weak)
{
    policy p;
    p.hear({ -3, -3, -3 });
    EXPECT_EQ(p.answer(), slow);
}

TEST(fixed_rate, a_level_that_changes_means_fading)
{
    const auto db = snr_for_fast_without_fading();
    ASSERT_TRUE(db);
    policy steady, fading;
    steady.hear({ *db, *db, *db, *db });
    EXPECT_EQ(steady.answer(), fast);
    fading.hear({ *db - 4, *db + 4, *db - 4, *db + 4 });
    EXPECT_EQ(fading.answer(), slow);
}

TEST(fixed_rate, losses_that_noise_does_not_explain_mean_fading)
{
    const auto db = snr_for_fast_without_fading();
    ASSERT_TRUE(db);
    policy p;
    p.hear({ *db, *db, *db, *db }, 0.8);
    EXPECT_EQ(p.answer(), slow);
    for (int k = 0; k < 5; ++k) {
        p.hear({ *db, *db, *db, *db });
    }
    EXPECT_EQ(p.answer(), fast) << "the losses are over";
}

TEST(fixed_rate, remembers_at_most_256_stations)
{
    policy p;
    reception r;
    r.m = slow;
    r.block_snr_db = { 30, 30, 30 };
    for (int k = 0; k < 257; ++k) {
        p.on_reception({}, address("1.4.1." + std::to_string(k % 256)), r);
        p.on_reception({}, address("1.4.2." + std::to_string(k % 256)), r);
    }
    EXPECT_EQ(p.answer(address("1.4.1.127")), fast);
    EXPECT_EQ(p.answer(address("1.4.2.127")), fast);
    EXPECT_EQ(p.answer(address("1.4.1.128")), slow);
    EXPECT_EQ(p.answer(address("1.4.2.128")), slow);
    p.hear({ 30, 30, 30 });
    EXPECT_EQ(p.answer(), slow);
}
