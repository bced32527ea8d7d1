/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/access/channel_access.h"

#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace gr::hf::s5066::access_test {

using namespace std::chrono_literals;

const inline address b("1.2.0.0"), c("1.3.0.0"), d("1.7.0.0"), e("1.8.0.0");

//! Station 1.5.0.0 with a carrier detector: guard time and slots of 0.7 s.
struct station_on_channel {
    explicit station_on_channel(std::vector<address> known = {}, bool senses = true)
    {
        config.own = address("1.5.0.0");
        access.set_modes(3000, 600ms);
        if (senses) {
            access.senses_carrier();
        }
        for (const auto& other : known) {
            access.heard(0s, other);
        }
    }
    //! Our station transmits data from \p begin on, for one second.
    void own_data(station_time begin, bool answer_wanted = true)
    {
        access.end_own_data(begin + 1s, begin, answer_wanted);
    }
    //! Wait on the free channel, s.
    double wait_s(station_time end) { return to_seconds(access.wait_of_others(end, 1)); }
    //! All slots that are drawn after a transmission that ends at \p end.
    std::set<int> slots(station_time end, size_t peers = 1)
    {
        std::set<int> found;
        for (int k = 0; k < 400; ++k) {
            const auto wait = access.wait_of_others(end, peers) - access.guard_time();
            EXPECT_EQ(wait % access.shared_slot(), 0s);
            found.insert(static_cast<int>(wait / access.shared_slot()));
        }
        return found;
    }

    node_config config;
    std::mt19937_64 random;
    channel_access access{ config, random };
};

//! The first \p n slots.
inline std::set<int> first(int n)
{
    std::set<int> all;
    for (int k = 0; k < n; ++k) {
        all.insert(k);
    }
    return all;
}

inline std::vector<address> many(uint32_t count)
{
    std::vector<address> list;
    for (uint32_t k = 0; k < count; ++k) {
        list.push_back(address::node(k + 1));
    }
    return list;
}

constexpr channel_access::overheard_contents acknowledges{ true, false, false },
    has_data{ false, true, false }, accepts{ false, false, true };
constexpr double hidden_turn_s = 0.7 + 127.5 + 0.6 + 3;

} // namespace gr::hf::s5066::access_test
