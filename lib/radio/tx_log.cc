/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/tx_log.h"

namespace gr::hf::kernel {

const char* to_string(tx_trouble t)
{
    switch (t) {
    case tx_trouble::late:
        return "late";
    case tx_trouble::underflow:
        return "underflow";
    case tx_trouble::untimed:
        return "untimed";
    case tx_trouble::lost:
        return "lost";
    case tx_trouble::unkeyed:
        return "unkeyed";
    }
    return "";
}

void tx_log::began(uint64_t number, const device_time& t)
{
    d_entries.push_back({ number, t, std::nullopt, false });
    if (d_entries.size() > most)
        d_entries.pop_front();
}

void tx_log::ended(uint64_t number, const device_time& t)
{
    for (auto& e : d_entries)
        if (e.number == number)
            e.end = t;
}

tx_log::event tx_log::report(tx_trouble what, const std::optional<device_time>& t)
{
    if (d_entries.empty())
        return { what, 0, false };
    entry* found = &d_entries.back(); // without a time: the current one
    if (t)
        for (auto& e : d_entries)
            if (*t - e.begin >= -slack_s && (!e.end || *t - *e.end <= slack_s)) {
                found = &e;
                break;
            }
    const bool first = !found->reported;
    found->reported = true;
    return { what, found->number, first };
}

} // namespace gr::hf::kernel
