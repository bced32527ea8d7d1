/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/between/backlog.h"
#include "s5066/between/outgoing.h"
#include "s5066/between/queue_state.h"

#include <array>
#include <deque>

namespace gr::hf::s5066 {

//! C_PDUs for one peer with nothing sent, by priority. Within a priority clients take
//! turns.
class c_pdu_queue
{
public:
    void push(outgoing_ptr o);
    //! Puts \p o ahead of all others of its priority: it has had its turn before.
    void push_front(outgoing_ptr o);
    bool empty() const { return d_count == 0; }
    //! The next C_PDU; null if empty.
    const outgoing* front() const;
    //! Removes and returns the next C_PDU; null if empty.
    outgoing_ptr pop();
    //! True if a C_PDU less urgent than \p priority is queued.
    bool holds_below(uint8_t priority) const;
    //! Adds all C_PDUs.
    void add_waiting(queue_states& all) const;
    //! Removes and returns the C_PDUs past their TTL.
    std::vector<outgoing_ptr> take_late(station_time now);
    //! Removes and returns all, in sending order.
    std::vector<outgoing_ptr> take_all();

    //! Calls \p each with one C_PDU after another, in sending order, while it returns
    //! true.
    template <typename F>
    void while_true(F each) const
    {
        for (auto q = d_queue.rbegin(); q != d_queue.rend(); ++q) {
            for (const auto& o : *q)
                if (!each(*o))
                    return;
        }
    }

private:
    std::array<std::deque<outgoing_ptr>, 16> d_queue; // by priority
    std::array<fair_turns, 16> d_turns;
    size_t d_count = 0;
};

} // namespace gr::hf::s5066
