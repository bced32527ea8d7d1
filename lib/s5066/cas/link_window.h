/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstdint>

/*! \file
 *  Reception windows of link control C_PDUs, in half seconds. The standard leaves the
 *  window to the sender, and to every receiver 30 or 32.5 s mean the same. So a foreign
 *  node finds nothing unknown in a LINK REQUEST or LINK ACCEPTED. Between our nodes the
 *  value has a meaning. Values are odd, since others choose round ones. A station in 3
 *  kHz that receives the modes of 5069 adds reads_5069_step.
 */
namespace gr::hf::s5066 {

constexpr uint16_t link_window = 60; //!< no meaning
//! An acceptance with the C_PDU ID of the request that it answers.
constexpr uint16_t naming_window = 61;
//! A request, or a naming acceptance, of a node that has large windows (S5066-EP5).
constexpr uint16_t has_large_window = 63;
//! The request asks for large windows; the acceptance agrees to them.
constexpr uint16_t large_window_mark = 65;

constexpr uint16_t reads_5069_step = 10;

//! True if the sender of a request or an acceptance receives the modes of 5069 in 3 kHz.
constexpr bool reads_5069(uint16_t window)
{
    return window == naming_window + reads_5069_step ||
           window == has_large_window + reads_5069_step ||
           window == large_window_mark + reads_5069_step;
}
//! Adds that meaning to one of the values above. A request without any takes
//! naming_window, which means nothing in requests.
constexpr uint16_t with_5069(uint16_t window)
{
    return static_cast<uint16_t>((window == link_window ? naming_window : window) +
                                 reads_5069_step);
}
//! The value without that meaning.
constexpr uint16_t without_5069(uint16_t window)
{
    return static_cast<uint16_t>(window - (reads_5069(window) ? reads_5069_step : 0));
}

//! True if the C_PDU ID of an acceptance is that of the request.
constexpr bool names_request(uint16_t window)
{
    return window == naming_window || window == has_large_window ||
           window == large_window_mark;
}

} // namespace gr::hf::s5066
