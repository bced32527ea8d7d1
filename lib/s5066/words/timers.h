/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/station_time.h>

#include <array>
#include <optional>

namespace gr::hf::s5066 {

//! Every deadline of a node. Each wait of the data link has one of these, so each wait
//! ends.
enum class timer {
    turn,
    answer,
    carrier,
    reception_end,
    transmission_end,
    housekeeping,
    hard_link_answer,
    hard_link_end,
    held_u_pdu,
    client_confirm,
    keep_alive
};

//! What a timer means, for logs, documents and tests.
struct timer_info {
    timer which;
    const char* name;    //!< as in the enum
    const char* limit;   //!< setting or number that bounds it
    const char* clause;  //!< of STANAG 5066 Edition 3; empty if it is our choice
    const char* meaning; //!< what happens when it expires
};

//! All timers, in the order of the enum.
const std::array<timer_info, 11>& all_timers();

//! A deadline and the timer it belongs to.
struct due {
    timer which = timer::housekeeping;
    station_time at{};
};

//! Keeps the earliest deadline of those added.
class earliest
{
public:
    void add(timer which, station_time at)
    {
        if (!d_first || at < d_first->at)
            d_first = due{ which, at };
    }
    void add(const std::optional<due>& d)
    {
        if (d)
            add(d->which, d->at);
    }
    //! Empty if none was added.
    const std::optional<due>& get() const { return d_first; }

private:
    std::optional<due> d_first;
};

} // namespace gr::hf::s5066
