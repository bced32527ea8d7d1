/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Reports of a node to its rate policy about its transmissions.
#include "s5066/cas/link_window.h"
#include "s5066/rate/adaptive_rate.h"
#include "scripted_peer.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::s5066;
using t = d_pdu_type;

namespace {

struct told_frames {
    std::string m;
    unsigned sent, lost, lost_at_end;
};

//! Keeps the reports.
class listening_policy : public adaptive_rate_policy
{
public:
    explicit listening_policy(const char* range = "auto")
        : adaptive_rate_policy(*rate_range::parse(range))
    {
    }
    void on_frames(station_time now, address peer, const sent_data& d) override
    {
        frames.push_back({ d.m.to_string(), d.sent, d.lost, d.lost_at_end });
        adaptive_rate_policy::on_frames(now, peer, d);
    }
    void on_reception(station_time now, address peer, const reception& r) override
    {
        receptions.push_back(r);
        adaptive_rate_policy::on_reception(now, peer, r);
    }
    void on_window(address peer, bool large) override
    {
        windows.push_back(large);
        adaptive_rate_policy::on_window(peer, large);
    }

    std::vector<told_frames> frames;
    std::vector<reception> receptions;
    std::vector<bool> windows;
};

struct adaptive_node : scripted_peer {
    adaptive_node() : scripted_peer(config())
    {
        auto p = std::make_unique<listening_policy>();
        policy = p.get();
        n.set_rate_policy(std::move(p));
        peer_mode = mode::parse("4539-600S");
        snr_db = 10;
        bind(1, 3);
        make_link();
        policy->frames.clear();
        policy->receptions.clear();
    }
    static node_config config()
    {
        node_config c;
        c.mode = "auto";
        return c;
    }

    listening_policy* policy;
};

} // namespace

// After silence a station first asks in a robust mode what became of its data, before
// another long transmission. If only the answer was lost, the mode of the data did not
// fail.
TEST(rate_reports, the_answer_to_a_question_tells_of_the_data_before)
{
    adaptive_node peer;
    for (int k = 0; k < 3; ++k) {
        peer.submit(1, 1500);
    }
    const auto data = of_type(peer.transmission(30), t::data_only);
    const std::string used = peer.tx_mode.to_string();
    ASSERT_GE(data.size(), 1u);
    const auto question = peer.transmission(60);
    ASSERT_EQ(of_type(question, t::data_only).size(), question.size());
    ASSERT_TRUE(question.front().segment.empty()) << "a number alone";
    EXPECT_NE(peer.tx_mode.to_string(), used);
    EXPECT_TRUE(peer.policy->frames.empty());
    peer.receive({ scripted_peer::ack(static_cast<uint8_t>(data.back().arq.fsn + 1)) });
    ASSERT_EQ(peer.policy->frames.size(), 1u);
    const auto& told = peer.policy->frames.front();
    EXPECT_EQ(told.m, used);
    EXPECT_EQ(told.lost, 0u);
    EXPECT_GE(told.sent, 1u);
}

TEST(rate_reports, a_transmission_whose_end_was_lost)
{
    adaptive_node peer;
    peer.submit(1, 100);
    const auto first = of_type(peer.transmission(30), t::data_only);
    ASSERT_EQ(first.size(), 1u);
    peer.receive({ scripted_peer::ack(static_cast<uint8_t>(first.front().arq.fsn + 1)) });
    peer.submit(1, 2048);
    peer.submit(1, 2048);
    peer.policy->frames.clear();
    const auto data = of_type(peer.transmission(30), t::data_only);
    ASSERT_GE(data.size(), 2u);
    peer.receive({ scripted_peer::ack(static_cast<uint8_t>(data.front().arq.fsn + 1)) });
    ASSERT_EQ(peer.policy->frames.size(), 1u);
    const auto& told = peer.policy->frames.front();
    EXPECT_EQ(told.sent, data.size());
    EXPECT_EQ(told.lost, data.size() - 1);
    EXPECT_EQ(told.lost_at_end, data.size() - 1);
}

// Nothing of 2600 octets could be read. Two D_PDUs with the longest segment have that length.
TEST(rate_reports, an_unread_transmission_counts_as_lost_d_pdus_of_its_mode)
{
    adaptive_node peer;
    peer.peer_mode = mode::parse("4539-2400S");
    peer.receive_octets(std::vector<uint8_t>(2600, 0x55));
    ASSERT_EQ(peer.policy->receptions.size(), 1u);
    const auto& told = peer.policy->receptions.front();
    EXPECT_EQ(told.m, *peer.peer_mode) << told.m.to_string();
    EXPECT_FALSE(told.read);
    EXPECT_EQ(told.good_d_pdus, 0u);
    EXPECT_EQ(told.lost_d_pdus, 2u);
    EXPECT_EQ(told.block_snr_db, std::vector<double>{ 10 });
}

TEST(rate_reports, a_link_request_shows_whether_both_sides_have_large_windows)
{
    const auto reported = [](uint16_t window) {
        node_config c;
        c.mode = "auto:48k";
        scripted_peer p(c);
        auto policy = std::make_unique<listening_policy>("auto:48k");
        const auto& windows = policy->windows;
        p.n.set_rate_policy(std::move(policy));
        p.peer_mode = rate_range::parse("auto:48k")->floor;
        auto request = scripted_peer::link(c_pdu_type::link_request);
        request.non_arq.window = window;
        p.receive({ request });
        return windows;
    };
    EXPECT_EQ(reported(has_large_window), std::vector<bool>{ true });
    EXPECT_EQ(reported(large_window_mark), std::vector<bool>{ true });
    EXPECT_EQ(reported(link_window), std::vector<bool>{ false });
}
