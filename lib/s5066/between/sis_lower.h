/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/between/backlog.h"
#include "s5066/between/outgoing.h"

#include <hf/time.h>

#include <vector>

namespace gr::hf::s5066 {

//! What the Subnetwork Interface Sublayer needs from the sublayers below it; the other way is
//! sis_upper.
class sis_lower
{
public:
    virtual ~sis_lower() = default;
    //! Queues a DATA C_PDU for another node.
    virtual void submit(station_time now, outgoing_ptr o) = 0;
    //! C_PDUs in all queues that were never sent.
    virtual backlog unsent() const = 0;
    //! Takes back all C_PDUs of which nothing was sent.
    virtual std::vector<outgoing_ptr> withdraw() = 0;
    //! Makes an exclusive physical link; sis_upper::on_link_made() or on_link_down() is called
    //! later.
    virtual void make_link(station_time now, address a) = 0;
    //! Breaks the link, or gives up making it.
    virtual void break_link(station_time now, address a) = 0;
    //! Breaks all nonexclusive links.
    virtual void break_nonexclusive(station_time now) = 0;
    //! The node takes S_PDUs of S5066-EP9.
    virtual bool takes_compact_confirm(address a) const = 0;
};

} // namespace gr::hf::s5066
