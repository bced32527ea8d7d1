/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/between/outgoing.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace gr::hf::s5066 {

//! C_PDUs of one priority that are not completely sent, for displays.
struct queue_state {
    size_t c_pdus = 0;
    size_t octets = 0;                            //!< of these C_PDUs
    station_time oldest_at = station_time::max(); //!< when the oldest was submitted
};

//! Queues of a node by priority. Expedited C_PDUs count with their priority.
class queue_states
{
public:
    void add(const outgoing& o)
    {
        if (o.c_pdu.empty())
            return; // the node's own, such as an answer to a link request
        queue_state& q = d_queues[o.priority & 15u];
        ++q.c_pdus;
        q.octets += o.c_pdu.size();
        q.oldest_at = std::min(q.oldest_at, o.submitted_at);
    }
    const queue_state& of(unsigned priority) const { return d_queues.at(priority); }

private:
    std::array<queue_state, 16> d_queues{};
};

} // namespace gr::hf::s5066
