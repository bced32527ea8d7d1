/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/description.h"

#include <cstdint>

namespace gr::hf::kernel {

/*! \brief Chooses the next step: observe known symbols, or process a frame. A frame waits
 *         for a few observations after its own.
 */
class frame_schedule
{
public:
    //! From frame \p first_frame on; preamble symbols from \p first_symbol on.
    frame_schedule(const description& d, uint64_t first_frame, int64_t first_symbol)
        : d_d(d), d_to_observe(at(d, first_frame)), d_to_process(at(d, first_frame)),
          d_observing(d_to_observe.next()),
          // What is inserted before this frame belongs to the known symbols that it begins with.
          d_reinserted_due(first_frame == 0 && d_observing.reinserted > 0),
          d_preamble_at(first_symbol), d_observed(first_frame), d_processed(first_frame),
          d_data_begin(static_cast<int64_t>(d.frame_begin(first_frame)))
    {
    }

    //! First symbol of data.
    int64_t data_begin() const { return d_data_begin; }
    bool in_preamble() const { return d_preamble_at < d_data_begin; }
    //! Next preamble symbol to observe.
    int64_t preamble_at() const { return d_preamble_at; }
    void preamble_observed(int64_t end) { d_preamble_at = end; }

    //! Frame whose probe is observed next.
    const frame& observing() const { return d_observing; }
    //! A reinserted preamble before that frame is observed first.
    bool reinserted_due() const { return d_reinserted_due; }
    void reinserted_observed() { d_reinserted_due = false; }
    void probe_observed()
    {
        d_observing = d_to_observe.next();
        d_reinserted_due = d_observing.reinserted > 0;
        ++d_observed;
    }

    /*! \brief True if a frame may be processed: more than \p look_ahead probes after it were
     *         observed, or it ends a block. The transmission may end there, and no later
     *         observation would arrive.
     */
    bool may_process(uint64_t look_ahead) const
    {
        const uint64_t ahead = d_observed - d_processed, block = d_d.frames_per_block;
        return ahead > look_ahead ||
               (ahead > 0 && d_processed / block != d_observed / block);
    }
    frame process()
    {
        ++d_processed;
        return d_to_process.next();
    }

private:
    static frame_cursor at(const description& d, uint64_t frame)
    {
        frame_cursor c(d);
        c.seek_frame(frame);
        return c;
    }

    const description& d_d;
    frame_cursor d_to_observe, d_to_process;
    frame d_observing;
    bool d_reinserted_due;
    int64_t d_preamble_at;
    uint64_t d_observed, d_processed; // frames
    int64_t d_data_begin;
};

} // namespace gr::hf::kernel
