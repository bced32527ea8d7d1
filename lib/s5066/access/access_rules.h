/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/access/channel_access.h"

namespace gr::hf::s5066 {

// A station not heard for this long no longer counts as sharing the channel.
inline constexpr station_time station_memory = std::chrono::minutes(15);
inline constexpr size_t max_stations = 64;
// Turns of others for which these slots stay free.
inline constexpr unsigned many_rounds = 4;
// Time for which a transmission that could not be read shows that several stations call.
inline constexpr station_time unread_memory = std::chrono::minutes(2);
// Answer to a longest transmission, with its pauses, s.
inline constexpr double answer_s = 3;

//! Parts of channel_access that its files share.
struct channel_access::rules {
    static double slowest_s(const channel_access& c);
    static station_time noticed_after(const channel_access& c);
    static bool may_be_hidden(const channel_access& c, address a);
    static bool held_long(const channel_access& c, station_time at);
    static bool gap_due(const channel_access& c, station_time at, station_time length);
    static station_time fixed_slot(const channel_access& c);
    static unsigned contention_slot(channel_access& c, station_time end, size_t peers);
    static bool crowded(const channel_access& c, station_time at);
    static bool others_first(const channel_access& c, station_time turn_at);
    static unsigned chances(const channel_access& c);
    static bool several(const channel_access& c);
    // Stations have just come, or many have little to send: several often begin together
    // unnoticed. After a common start nobody was heard yet, but somebody was noticed.
    static bool rush(const channel_access& c, station_time now)
    {
        return (c.shared() && (c.d_new_rounds == many_rounds || several(c))) ||
               (c.d_heard_at.empty() && c.d_own.unread_at &&
                now - *c.d_own.unread_at < unread_memory);
    }
    static void note_other(channel_access& c, station_time begin)
    {
        c.d_own.answer_met |= begin - c.d_own.ended < c.guard_time();
        c.d_own.others_since = true;
    }
    static bool regular(const channel_access& c, station_time now);
    static unsigned regulars_ahead(const channel_access& c);
    static unsigned first_slots(const channel_access& c);
    static bool hidden_ahead(const channel_access& c);
    static station_time hidden_turn(const channel_access& c);
    static station_time hidden_answer(const channel_access& c, address asked);
};

} // namespace gr::hf::s5066
