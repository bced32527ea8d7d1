/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/link_medium.h"

#include <string>
#include <vector>

namespace gr::hf::test {

using namespace ale;
using namespace std::chrono_literals;
using kind = link_action::kind;

constexpr size_t sam = 0, joe = 1;

inline link_settings scanning(size_t channels)
{
    link_settings s;
    s.channels = channels;
    s.dwell = 2 * times::word; // receivers of the medium report words only
    return s;
}

inline link_settings wide(size_t channels)
{
    link_settings s = scanning(channels);
    s.wide = true;
    return s;
}

inline address_book book(const std::string& self)
{
    address_book b;
    b.self = { self };
    b.nets["NET"] = { "SAM", "JOE", "BOB", "EDGAR" };
    return b;
}

// Two stations, SAM and JOE.
struct station_pair {
    link_medium air;
    explicit station_pair(const link_settings& s) { add(s, s); }
    station_pair(const link_settings& a, const link_settings& b) { add(a, b); }
    void add(const link_settings& a, const link_settings& b)
    {
        auto caller = book("SAM");
        if (b.wide)
            caller.scanned["JOE"] = 0;
        air.add(a, caller, 1);
        air.add(b, book("JOE"), 2);
        air.run(1s);
    }
    bool linked(size_t station) { return air.at(station).state() == link_state::linked; }
    // Runs until the station made the entry. Seconds that it took; -1: not in time.
    double until(size_t station, kind what, station_time limit)
    {
        const auto start = air.now();
        return air.run_until(station, what, limit) ? to_seconds(air.now() - start) : -1;
    }
    link_reason reason(size_t station, kind what)
    {
        const auto all = air.of(station, what);
        return all.empty() ? link_reason::none : all.back().action.reason;
    }
    std::vector<std::string> texts()
    {
        std::vector<std::string> all;
        for (const auto& t : air.transmissions())
            all.push_back(t.text);
        return all;
    }
};

} // namespace gr::hf::test
