/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/between/backlog.h"
#include "s5066/between/outgoing.h"
#include "s5066/between/queue_state.h"

#include <array>
#include <deque>

namespace gr::hf::s5066 {

//! C_PDUs to one peer of which nothing was sent: by priority, the clients of one taking turns.
class c_pdu_queue
{
public:
    void push(outgoing_ptr o);
    //! Ahead of all others of its priority: it has had its turn before.
    void push_front(outgoing_ptr o);
    bool empty() const { return d_count == 0; }
    //! The one that goes next; null: there is none.
    const outgoing* front() const;
    //! Takes it out; null: there is none.
    outgoing_ptr pop();
    //! There is one less urgent than \p priority.
    bool holds_below(uint8_t priority) const;
    //! Adds all of them.
    void add_waiting(queue_states& all) const;
    //! Takes out those whose time is over.
    std::vector<outgoing_ptr> take_late(station_time now);
    //! Takes out all, in the order in which they would go.
    std::vector<outgoing_ptr> take_all();

    //! Calls \p each with one after another, in the order in which they go, while it says true.
    template <typename F>
    void while_true(F each) const
    {
        for (auto q = d_queue.rbegin(); q != d_queue.rend(); ++q) {
            for (const auto& o : *q) {
                if (!each(*o)) {
                    return;
                }
            }
        }
    }

private:
    std::array<std::deque<outgoing_ptr>, 16> d_queue; // by priority
    std::array<fair_turns, 16> d_turns;
    size_t d_count = 0;
};

} // namespace gr::hf::s5066
