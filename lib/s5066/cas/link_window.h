/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/dts/peer/node_context.h"

#include <cstdint>

/*! \file
 *  Reception windows of link control C_PDUs, in half seconds. The standard leaves the
 *  window to the sender, and to every receiver 30 or 32.5 s mean the same. So a foreign
 *  node finds nothing unknown in a LINK REQUEST or LINK ACCEPTED. Between our nodes the
 *  value has a meaning. Values are odd, since others choose round ones. A station in 3
 *  kHz adds a step for the modes of 5069, and one for our own robust modes, if it receives
 *  them.
 */
namespace gr::hf::s5066 {

constexpr uint16_t link_window = 60; //!< no meaning
//! An acceptance with the C_PDU ID of the request that it answers.
constexpr uint16_t naming_window = 61;
//! A request, or a naming acceptance, of a node that has large windows (S5066-EP5).
constexpr uint16_t has_large_window = 63;
//! The request asks for large windows; the acceptance agrees to them.
constexpr uint16_t large_window_mark = 65;

constexpr uint16_t reads_5069_step = 10, reads_robust_step = 20;

//! The value without the steps for modes.
constexpr uint16_t without_modes(uint16_t window)
{
    for (const uint16_t marked : { naming_window, has_large_window, large_window_mark })
        for (const int steps : { reads_5069_step + 0,
                                 reads_robust_step + 0,
                                 reads_5069_step + reads_robust_step })
            if (window == marked + steps)
                return marked;
    return window;
}
//! Modes in 3 kHz that the sender of a request or an acceptance receives.
constexpr modes_read modes_shown(uint16_t window)
{
    const int steps = window - without_modes(window);
    return { steps % reads_robust_step == reads_5069_step, steps >= reads_robust_step };
}
//! Adds what a station receives to a value without steps. A request without any meaning
//! takes naming_window, which means nothing in requests.
constexpr uint16_t with_modes(uint16_t window, modes_read r)
{
    const int steps =
        (r.of_5069 ? reads_5069_step : 0) + (r.robust ? reads_robust_step : 0);
    const bool names_none = window == link_window && steps > 0;
    return static_cast<uint16_t>((names_none ? naming_window : window) + steps);
}

//! True if the C_PDU ID of an acceptance is that of the request.
constexpr bool names_request(uint16_t window)
{
    return window == naming_window || window == has_large_window ||
           window == large_window_mark;
}

} // namespace gr::hf::s5066
