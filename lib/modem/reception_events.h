/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/burst_receiver.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Events of a burst_receiver in their order, and the octets of its transmission.
 *  \details A block that was decoded without a signal may be noise. It is held until the
 *  signal returns.
 */
class reception_events
{
public:
    //! Without polling, the oldest are dropped.
    static constexpr size_t max_events = 4096;

    //! A transmission starts. Blocks that are held are dropped.
    void start();
    //! Raise an event when \p now samples were pushed.
    void raise(rx_event e, uint64_t now);
    //! The next event; empty: none.
    std::optional<rx_event> poll();
    //! Drop the events that were not polled.
    void clear() { d_events.clear(); }

    //! Hold the event of a block.
    void hold(rx_event e) { d_held.push_back(std::move(e)); }
    bool holding() const { return !d_held.empty(); }
    //! Raise the blocks that are held.
    void raise_held(uint64_t now);
    //! Blocks that are held are raised, since one with a signal follows.
    void confirm(uint64_t now);
    //! Drop the latest block that is held. Returns its octets; 0: none is held.
    size_t drop_last_held();
    /*! \brief First octets of the earliest block that is held, which there must be.
     *  \param most number of octets; before confirm() none are returned
     */
    std::vector<uint8_t> first_held(size_t most) const;

    //! The octets that were raised up to now are sure.
    void sure() { d_sure_octets = d_octets; }
    //! Octets of the transmission that were raised, or the sure ones among them: see rx_end.
    int64_t octets(bool all) const { return all ? d_octets : d_sure_octets; }

private:
    bool d_confirmed = false;
    int64_t d_octets = 0, d_sure_octets = 0;
    std::vector<rx_event> d_held; // blocks since the signal was last present
    std::deque<rx_event> d_events;
};

} // namespace gr::hf::kernel
