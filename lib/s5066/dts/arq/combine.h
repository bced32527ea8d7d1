/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief One good segment out of two damaged copies of it.
 *
 * Where the copies differ, one of them is wrong. Differences that lie close together are one
 * burst and come from the same copy; of the few ways to choose, the CRC-32 tells the right one.
 * Nothing is found if both copies are wrong in the same place, or if there are more than 8
 * bursts. The chance to find something wrong is then at most 2^8 / 2^32.
 *
 * This is our own: the standard leaves it to the receiver how it comes by a good segment.
 *
 * \param a,b segment followed by its CRC as received
 * \return the segment followed by its CRC
 */
std::optional<std::vector<uint8_t>> combine_copies(const std::vector<uint8_t>& a,
                                                   const std::vector<uint8_t>& b);

} // namespace gr::hf::s5066
