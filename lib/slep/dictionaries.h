/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstdint>
#include <string_view>

/*! \file Preset dictionaries of compressed streams: words in the first messages of a
 *  protocol, so that even a request of a few hundred octets shrinks. The texts are our
 *  choice. Both ends must have the same texts, octet by octet. A text never changes. A
 *  better text gets a new number.
 */
namespace gr::hf::slep {

//! Number of a preset dictionary, in PAR of SO and SR. 3 is not assigned.
enum preset : uint8_t { preset_none = 0, preset_http = 1, preset_xmpp = 2 };

//! This side has the dictionary. preset_none counts as one.
constexpr bool preset_known(uint8_t number) { return number <= preset_xmpp; }

//! Octets of a dictionary. Empty for preset_none and for unassigned numbers.
std::string_view preset_dictionary(uint8_t number);

} // namespace gr::hf::slep
