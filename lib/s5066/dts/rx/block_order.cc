/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/rx/block_order.h"

#include <utility>

namespace gr::hf::s5066 {

void block_order::reset()
{
    d_waiting.clear();
    d_next = 0;
    d_in_place = true;
}

void block_order::push(const rx_octets& e)
{
    if (e.octets.empty())
        return; // no block
    // A modem without block numbers keeps the order.
    const uint64_t number = e.number.value_or(d_next + d_waiting.size());
    if (number >= d_next)
        d_waiting.emplace(number, e);
}

std::optional<rx_octets> block_order::take(bool over)
{
    const auto first = d_waiting.begin();
    if (first == d_waiting.end())
        return std::nullopt;
    const bool next = first->first == d_next;
    if (!next && !over && d_waiting.size() <= max_waiting)
        return std::nullopt;
    if (!next && first->first - d_next <= max_missing) {
        ++d_next;
        return rx_octets();
    }
    d_in_place = d_in_place && next;
    d_next = first->first + 1;
    auto e = std::move(first->second);
    d_waiting.erase(first);
    return e;
}

} // namespace gr::hf::s5066
