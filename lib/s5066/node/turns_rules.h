/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/node/turns.h"

namespace gr::hf::s5066 {

//! Parts of turns that its files share: turns while a token walks (token_turns.cc).
struct turns::rules {
    //! Unanswered transmissions in a row to a station that may be kept from answering.
    static constexpr unsigned starving_calls = 4;
    static bool control_waiting(const peer& p)
    {
        return !p.control.empty() || p.link.accept_now || p.management.exchange.due() ||
               (p.reset.active() && !p.managing()) || p.link.breaking();
    }
    //! True if calls of a peer keep failing: it may be in a dialogue with a hidden station.
    static bool starving(const peer& p)
    {
        return p.link.calling() && p.turn.silent >= starving_calls;
    }
    //! Start of a transmission to \p p, of which the kind is known.
    static void
    begin_transmission(turns& t, station_time now, peer& p, const kind& k, bool in_turn);
    static bool tries_now(const turns& t);
    //! A transmission to \p p that is not only an answer starts.
    static void serve(turns& t, station_time now, peer& p);
    static station_time call_slot(const turns& t);
    static station_time invited_time(const turns& t);
    static station_time token_from(const turns& t);
    static std::optional<start> next_of_holder(const turns& t);
    static std::optional<start> next_listening(const turns& t, station_time from);
    static peer* next_holder(const turns& t);
    static std::optional<start> next_with_token(const turns& t);
    static kind begin_with_token(turns& t, station_time now, const peer& p, bool answer);
    static std::optional<station_time> own_ready(const turns& t);
    static void tick_token(turns& t, station_time now);
    //! Until then the station that got the token is heard.
    static station_time token_due(const turns& t);
    static void add_token_due(const turns& t, earliest& first);
};

} // namespace gr::hf::s5066
