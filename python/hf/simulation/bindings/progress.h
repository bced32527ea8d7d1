/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <chrono>
#include <functional>
#include <utility>

/*! \brief The same callback, called at most ten times in a second of the host.
 *  \details An engine may report its progress very often. Python, and its display, would
 *  slow it down. A Python callback takes the interpreter's lock itself.
 *  \returns an empty function for an empty one
 */
inline std::function<void(double)> seldom(std::function<void(double)> callback)
{
    if (!callback)
        return {};
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds pause{ 100 };
    return [callback = std::move(callback),
            next = clock::now() + pause](double share) mutable {
        const auto now = clock::now();
        if (now < next)
            return;
        next = now + pause;
        callback(share);
    };
}
