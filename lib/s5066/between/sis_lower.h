/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/between/backlog.h"
#include "s5066/between/outgoing.h"

#include <hf/station_time.h>

#include <vector>

namespace gr::hf::s5066 {

//! Calls from the Subnetwork Interface Sublayer down to the sublayers below; sis_upper is
//! the opposite direction.
class sis_lower
{
public:
    virtual ~sis_lower() = default;
    //! Queues a DATA C_PDU for another node.
    virtual void submit(station_time now, outgoing_ptr o) = 0;
    //! C_PDUs in all queues that were not sent yet.
    virtual backlog unsent() const = 0;
    //! Removes and returns all C_PDUs with no part sent.
    virtual std::vector<outgoing_ptr> withdraw() = 0;
    //! Starts an exclusive physical link; sis_upper::on_link_made() or on_link_down()
    //! follows.
    virtual void make_link(station_time now, address a) = 0;
    //! Breaks the link, or stops the attempt to make it.
    virtual void break_link(station_time now, address a) = 0;
    //! Breaks all nonexclusive links.
    virtual void break_nonexclusive(station_time now) = 0;
    //! True if the node accepts S_PDUs of S5066-EP9.
    virtual bool takes_compact_confirm(address a) const = 0;
};

} // namespace gr::hf::s5066
