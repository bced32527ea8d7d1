/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/link/action.h"

#include <array>

namespace gr::hf::ale {

const char* to_string(link_reason r)
{
    constexpr std::array<const char*, 13> names{ "",
                                                 "own request",
                                                 "another channel is better",
                                                 "tries another channel",
                                                 "no longer needed",
                                                 "ended by the peer",
                                                 "idle",
                                                 "silent",
                                                 "refused",
                                                 "no answer",
                                                 "all channels busy",
                                                 "no acknowledgement",
                                                 "transmitter" };
    return names[static_cast<size_t>(r)];
}

const char* to_string(link_action::kind k)
{
    constexpr std::array<const char*, 6> names{ "tune",  "transmit", "linked",
                                                "ended", "failed",   "message" };
    return names[static_cast<size_t>(k)];
}

link_action& action_list::notify(link_action::kind what,
                                 size_t channel,
                                 const std::string& peer,
                                 link_reason why)
{
    link_action a;
    a.what = what;
    a.channel = channel;
    a.peer = peer;
    a.reason = why;
    d_list.push_back(std::move(a));
    return d_list.back();
}

std::optional<link_action> action_list::poll()
{
    if (d_list.empty())
        return std::nullopt;
    link_action a = std::move(d_list.front());
    d_list.pop_front();
    return a;
}

} // namespace gr::hf::ale
