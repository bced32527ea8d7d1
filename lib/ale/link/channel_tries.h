/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace gr::hf::ale {

//! Channels that a call or a sound still has to try. Busy ones come last, once more.
class channel_tries
{
public:
    //! \param order best channel first
    explicit channel_tries(const std::vector<size_t>& order = {})
        : d_left(order.begin(), order.end())
    {
    }

    //! The next channel to listen on; empty: all were tried.
    std::optional<size_t> next()
    {
        if (d_left.empty() && !d_last_chance) {
            d_left.swap(d_busy);
            d_last_chance = true;
        }
        if (d_left.empty())
            return std::nullopt;
        const size_t channel = d_left.front();
        d_left.pop_front();
        return channel;
    }
    void busy(size_t channel)
    {
        if (!d_last_chance)
            d_busy.push_back(channel);
    }
    //! A call went out on some channel.
    void sent() { d_sent = true; }
    bool any_sent() const { return d_sent; }

private:
    std::deque<size_t> d_left, d_busy;
    bool d_last_chance = false, d_sent = false;
};

} // namespace gr::hf::ale
