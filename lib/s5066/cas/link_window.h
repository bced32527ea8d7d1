/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstdint>

/*! \file
 *  Reception windows of link control C_PDUs, in half seconds. The standard leaves the window to the
 *  sender, and 30 or 32.5 s are alike to every receiver: a foreign node finds nothing in a LINK REQUEST
 *  or LINK ACCEPTED that it does not know. Among our nodes the value has a meaning. Odd values, since
 *  others choose round ones.
 */
namespace gr::hf::s5066 {

constexpr uint16_t link_window = 60; //!< nothing
//! An acceptance whose C_PDU ID is that of the request which it answers.
constexpr uint16_t naming_window = 61;
//! A request, or a naming acceptance, of a node that has large windows (S5066-EP5).
constexpr uint16_t has_large_window = 63;
//! The request asks for large windows; the acceptance agrees to them.
constexpr uint16_t large_window_mark = 65;

//! The C_PDU ID of an acceptance is that of the request.
constexpr bool names_request(uint16_t window)
{
    return window == naming_window || window == has_large_window ||
           window == large_window_mark;
}

} // namespace gr::hf::s5066
