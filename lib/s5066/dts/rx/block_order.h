/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/modem_user.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace gr::hf::s5066 {

/*! \brief Sorts the blocks of one reception by their number (rx_octets::number).
 *
 * Duplicates and blocks that arrive after they were given up are dropped. D_PDUs out of
 * order would look like those of a peer that lost its numbers, and cause resets.
 */
class block_order
{
public:
    //! Missing blocks in a row; a larger gap means that the numbers make no sense.
    static constexpr uint64_t max_missing = 16;

    //! A reception starts.
    void reset();
    //! Takes a block from the modem.
    void push(const rx_octets& e);
    /*! \brief The next block in order.
     *  \param over no more blocks follow: missing ones are given up
     *  \details A missing block is also given up when later ones wait. It is returned
     *         without octets.
     */
    std::optional<rx_octets> take(bool over);
    //! False after a gap too large to be filled: places of later octets are not known.
    bool in_place() const { return d_in_place; }

private:
    static constexpr size_t max_waiting = 3;

    std::map<uint64_t, rx_octets> d_waiting; // by number
    uint64_t d_next = 0;
    bool d_in_place = true;
};

} // namespace gr::hf::s5066
