/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/stream_ends.h"
#include "slep/stream_scheduler.h"

namespace gr::hf::slep {

//! Delivers stream data to the users, and stops peers of slow users.
class stream_delivery
{
public:
    stream_delivery(endpoint_context& c, stream_scheduler& scheduler, stream_ends& ends)
        : d_ctx(c), d_scheduler(scheduler), d_ends(ends)
    {
    }
    //! Delivers all octets that are in order. The stream may have ended then.
    void deliver(stream& s);
    //! Shuts or opens the receive window as the user reads. An SC reports it to the peer.
    void update_window(stream& s);

private:
    endpoint_context& d_ctx;
    stream_scheduler& d_scheduler;
    stream_ends& d_ends;
};

} // namespace gr::hf::slep
