/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief Makes one good segment out of two damaged copies.
 *
 * Where the copies differ, one of them is wrong. Differences close together are one burst
 * and come from the same copy. Of the few possible combinations, the CRC-32 identifies
 * the right one. None is found if both copies are wrong in the same place, or with more
 * than 8 bursts. The chance of a wrong result is at most 2^8 / 2^32.
 *
 * The method is our own: the standard leaves it to the receiver.
 *
 *  \param a,b segment followed by its CRC as received
 *  \return the segment followed by its CRC
 */
std::optional<std::vector<uint8_t>> combine_copies(const std::vector<uint8_t>& a,
                                                   const std::vector<uint8_t>& b);

} // namespace gr::hf::s5066
