/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Every phase of a node ends, whatever the modem does, and its time never runs backwards.
#include "s5066/config/node_settings.h"
#include "s5066/words/monotonic_time.h"
#include "s5066/words/timers.h"
#include "scripted_peer.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

using namespace gr::hf;
using namespace gr::hf::s5066;
using namespace std::chrono_literals;
using t = d_pdu_type;

namespace {

//! A node that has data for its peer.
struct with_data : scripted_peer {
    with_data() : scripted_peer(at_2400())
    {
        bind(1, 3);
        submit(1, 1000);
    }
    static node_config at_2400()
    {
        node_config c;
        c.mode = "4539-2400S";
        return c;
    }
};

} // namespace

TEST(time_limits, every_timer_says_what_bounds_it)
{
    std::set<std::string> settings, names;
    for (const auto& s : describe_settings()) {
        settings.insert(s.name);
    }
    size_t number = 0;
    for (const auto& info : all_timers()) {
        EXPECT_EQ(static_cast<size_t>(info.which), number++);
        names.insert(info.name);
        const std::string limit = info.limit;
        EXPECT_FALSE(limit.empty() || std::string(info.meaning).empty()) << info.name;
        const std::regex setting("[a-z]+(_[a-z]+)*_s\\b");
        for (std::sregex_iterator it(limit.begin(), limit.end(), setting), end; it != end;
             ++it) {
            EXPECT_EQ(settings.count(it->str()), 1u) << info.name << ": " << it->str();
        }
    }
    EXPECT_EQ(number, static_cast<size_t>(timer::keep_alive) + 1);
    EXPECT_EQ(names.size(), number);
}

TEST(time_limits, each_phase_of_an_exchange_has_its_timer)
{
    with_data p;
    const auto which = [&p] { return p.n.next_due().value_or(due{}).which; };
    p.n.on_tick(p.now); // housekeeping is done
    EXPECT_EQ(which(), timer::turn);
    ASSERT_TRUE(p.wait(5));
    EXPECT_EQ(p.n.state().phase, node_phase::transmitting);
    EXPECT_EQ(which(), timer::housekeeping);
    p.send_out();
    std::set<timer> seen;
    const auto limit = p.now + 60s;
    for (; p.now < limit && !p.n.want_tx(p.now); p.now += 100ms) {
        p.n.on_tick(p.now);
        seen.insert(which());
    }
    EXPECT_EQ(seen.count(timer::answer), 1u);
    EXPECT_LT(p.now, limit);
}

TEST(time_limits, a_key_up_that_the_modem_drops_is_given_up)
{
    with_data p;
    ASSERT_TRUE(p.wait(5));
    ASSERT_EQ(p.n.state().phase, node_phase::transmitting);
    // The modem never asks for octets: the node tries again.
    EXPECT_TRUE(p.wait(60));
    EXPECT_EQ(p.n.stats().tx_damaged, 1u);
    EXPECT_FALSE(of_type(p.send_out(), t::data_only).empty());
}

TEST(time_limits, a_transmission_that_the_modem_does_not_end_is_given_up)
{
    with_data p;
    ASSERT_TRUE(p.wait(5));
    p.n.pull(p.now, p.now, 10);
    const auto limit = p.now + 60s;
    for (; p.now < limit; p.now += 100ms) {
        p.n.on_tick(p.now);
    }
    EXPECT_NE(p.n.state().phase, node_phase::transmitting);
    EXPECT_EQ(p.n.stats().tx_damaged, 1u);
    EXPECT_TRUE(p.n.pull(p.now, p.now, 10).last);
}

TEST(time_limits, a_reception_that_the_modem_does_not_end_is_over)
{
    with_data p;
    rx_start s;
    s.m = mode::parse("4539-2400S");
    p.n.on_rx_start(p.now, s);
    EXPECT_TRUE(p.wait(60));
    p.send_out();
}

TEST(time_limits, endless_noise_does_not_silence)
{
    with_data p;
    rx_start s;
    s.m = mode::parse("4539-2400S");
    p.n.on_rx_start(p.now, s);
    bool keyed = false;
    for (int block = 0; block < 400 && !keyed; ++block) {
        rx_octets o;
        o.octets.assign(180, static_cast<uint8_t>(block));
        p.n.on_rx_octets(p.now, o);
        keyed = p.wait(0.6);
    }
    EXPECT_TRUE(keyed);
    EXPECT_LT(p.now, 190s);
}

TEST(time_limits, time_never_runs_back)
{
    monotonic_time time;
    EXPECT_EQ(time.advance(100s), 100s);
    EXPECT_EQ(time.advance(99900ms), 100s); // another thread was a little late
    EXPECT_EQ(time.advance(101s), 101s);
    EXPECT_EQ(time.advance(-3499s), 101s);
    EXPECT_EQ(time.advance(-3498s), 102s);
    EXPECT_EQ(time.clock_at(112s), -3488s);
    EXPECT_EQ(time.of(-3488s), 112s);
    // A step forward is followed, as in a simulation.
    EXPECT_EQ(time.advance(500s), 4100s);
}

TEST(time_limits, a_clock_that_steps_back_delays_nothing)
{
    with_data p;
    ASSERT_TRUE(p.wait(5));
    p.send_out();
    p.now += 3600s; // all later calls are an hour earlier than this one
    p.n.on_tick(p.now);
    const auto before = p.n.now();
    p.now -= 3600s;
    EXPECT_TRUE(p.wait(30)); // no answer: it asks again
    EXPECT_GE(p.n.now(), before);
    EXPECT_LT(p.n.now() - before, 31s);
}
