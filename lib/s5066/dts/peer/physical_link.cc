/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/peer/physical_link.h"

#include <cmath>

namespace gr::hf::s5066 {

void physical_link::call(station_time now, uint16_t id)
{
    state = link_state::calling;
    exclusive = false;
    caller = true;
    request_id = id;
    tries = 0;
    called_at = now;
    heard_request_id.reset();
    ended_request_id.reset();
    accept_due = false;
    accept_now = false;
    last_data = now;
}

void physical_link::make(station_time now, bool with_exclusive)
{
    state = link_state::made;
    exclusive = with_exclusive;
    tries = 0;
    last_data = made_at = now;
    octets_sent = octets_received = 0;
}

std::string physical_link::moved_in_words(station_time now) const
{
    if (!made() && !breaking())
        return "";
    return ": " + std::to_string(octets_sent) + " octets sent, " +
           std::to_string(octets_received) + " received, in " +
           std::to_string(std::lround(to_seconds(now - made_at))) + " s";
}

void physical_link::begin_break(link_break_reason why, uint16_t id)
{
    exclusive = false;
    state = link_state::breaking;
    break_reason = why;
    tries = 0;
    request_id = id;
}

void physical_link::close()
{
    exclusive = false;
    state = link_state::none;
    accept_due = false;
    accept_now = false;
    first_data_by = station_time::zero();
    ended_request_id = heard_request_id ? heard_request_id : ended_request_id;
    heard_request_id.reset();
}

} // namespace gr::hf::s5066
