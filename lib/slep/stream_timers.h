/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/stream_ends.h"
#include "slep/stream_scheduler.h"

namespace gr::hf::slep {

//! Timers of streams: answers, missing PDUs, the end of an outage, signs of life.
class stream_timers
{
public:
    stream_timers(endpoint_context& c,
                  stream_table& streams,
                  stream_scheduler& scheduler,
                  stream_ends& ends)
        : d_ctx(c), d_streams(streams), d_scheduler(scheduler), d_ends(ends)
    {
    }
    std::optional<station_time> next_deadline() const;
    //! Does what is due. Streams whose time is over are removed.
    void on_deadline();

private:
    void check(stream& s);
    void ask_life(const node_state& n);

    endpoint_context& d_ctx;
    stream_table& d_streams;
    stream_scheduler& d_scheduler;
    stream_ends& d_ends;
};

} // namespace gr::hf::slep
