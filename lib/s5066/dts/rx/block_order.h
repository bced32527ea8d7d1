/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/modem_user.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace gr::hf::s5066 {

/*! \brief Puts the blocks of one reception into the order of their numbers (rx_octets::number).
 *
 * A block that comes twice, or after its place was given up, is dropped. Out of order its D_PDUs
 * would look like those of a peer that has lost its numbers, and cause resets.
 */
class block_order
{
public:
    //! A reception begins.
    void reset();
    //! The modem gives a block.
    void push(const rx_octets& e);
    /*! \brief The next block in order.
     *  \param over nothing more will come: blocks that are missing are given up
     *  \details A block that stays away is given up when later ones wait: then it comes as one
     *  without octets.
     */
    std::optional<rx_octets> take(bool over);

private:
    static constexpr size_t most_waiting = 3;
    static constexpr uint64_t most_missing =
        16; // in a row; else the numbers make no sense

    std::map<uint64_t, rx_octets> d_waiting; // by number
    uint64_t d_next = 0;
};

} // namespace gr::hf::s5066
