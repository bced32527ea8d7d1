/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/acquisition.h"
#include "modem/preamble_search.h"
#include "modem/sample_buffer.h"

#include <cstdint>
#include <optional>

namespace gr::hf::kernel {

//! A preamble that was confirmed.
struct found_preamble {
    acquired what;
    int64_t sample = 0; //!< input sample at which the search saw it
};

/*! \brief Search and acquisition in turn: gives the confirmed preambles in the input, one
 *         after the other, whatever else is going on.
 */
class preamble_watch
{
public:
    //! \param max_offset_hz, zero_interleaver see rx_options
    preamble_watch(double max_offset_hz, bool zero_interleaver)
        : d_search(max_offset_hz), d_zero_interleaver(zero_interleaver)
    {
    }

    /*! \brief Go on; stops at a confirmed preamble, after which restart() says where to go
     *         on.
     */
    std::optional<found_preamble> advance(const sample_buffer& in)
    {
        for (;;) {
            if (!d_acquisition) {
                d_candidate = d_search.advance(in);
                if (!d_candidate)
                    return std::nullopt;
                ++d_candidates;
                d_acquisition.emplace(*d_candidate, d_zero_interleaver);
            }
            switch (d_acquisition->advance(in)) {
            case acquisition::state::pending:
                return std::nullopt;
            case acquisition::state::locked: {
                const found_preamble f{ d_acquisition->result(), d_candidate->sample };
                d_acquisition.reset();
                return f;
            }
            case acquisition::state::rejected:
                // On with what comes after this peak.
                restart(std::max(d_candidate->sample + peak_width, in.begin()));
            }
        }
    }

    //! Go on at input sample \p from.
    void restart(int64_t from)
    {
        d_acquisition.reset();
        d_search.restart(from);
    }

    //! Give up a candidate that lies before \p from, and the search there.
    void forget_before(int64_t from)
    {
        if (!d_acquisition || d_candidate->sample < from)
            restart(from);
    }

    //! Oldest input sample still needed.
    int64_t needs() const
    {
        return d_acquisition ? d_acquisition->needs() : d_search.needs() - 4096;
    }

    //! Times the search fired.
    uint64_t candidates() const { return d_candidates; }

    static constexpr int64_t peak_width = 32; //!< of a correlation peak, samples

private:
    preamble_search d_search;
    bool d_zero_interleaver;
    std::optional<preamble_candidate> d_candidate;
    std::optional<acquisition> d_acquisition;
    uint64_t d_candidates = 0;
};

} // namespace gr::hf::kernel
