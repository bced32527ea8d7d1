/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstdint>
#include <string_view>

/*! \file
 *  Preset dictionaries of compressed streams: words that the first messages of a protocol will
 *  use, so that even a request of a few hundred octets shrinks. The texts are our choice. Both
 *  ends must have the same ones, to the octet: they never change, a better text gets a number
 *  of its own.
 */
namespace gr::hf::slep {

//! Number of a preset dictionary, in PAR of SO and SR; 3 is not assigned.
enum preset : uint8_t { preset_none = 0, preset_http = 1, preset_xmpp = 2 };

//! This side has the dictionary; preset_none counts as one.
constexpr bool preset_known(uint8_t number) { return number <= preset_xmpp; }

//! Octets of a dictionary; empty for preset_none and for numbers that are not assigned.
std::string_view preset_dictionary(uint8_t number);

} // namespace gr::hf::slep
