/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/reception_events.h"

#include <algorithm>

namespace gr::hf::kernel {

void reception_events::start()
{
    d_held.clear();
    d_confirmed = false;
    d_octets = d_sure_octets = 0;
}

void reception_events::raise(rx_event e, uint64_t now)
{
    e.raised_at = now;
    if (const auto* o = std::get_if<rx_octets>(&e.what))
        d_octets += static_cast<int64_t>(o->octets.size());
    d_events.push_back(std::move(e));
    if (d_events.size() > max_events)
        d_events.pop_front();
}

std::optional<rx_event> reception_events::poll()
{
    if (d_events.empty())
        return std::nullopt;
    rx_event e = std::move(d_events.front());
    d_events.pop_front();
    return e;
}

void reception_events::raise_held(uint64_t now)
{
    for (rx_event& e : d_held)
        raise(std::move(e), now);
    d_held.clear();
}

void reception_events::confirm(uint64_t now)
{
    raise_held(now);
    d_confirmed = true;
}

size_t reception_events::drop_last_held()
{
    if (d_held.empty())
        return 0;
    const size_t octets = std::get<rx_octets>(d_held.back().what).octets.size();
    d_held.pop_back();
    return octets;
}

std::vector<uint8_t> reception_events::first_held(size_t most) const
{
    auto octets = std::get<rx_octets>(d_held.front().what).octets;
    octets.resize(d_confirmed ? std::min(octets.size(), most) : 0);
    return octets;
}

} // namespace gr::hf::kernel
