/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/find/acquisition.h"
#include "modem/find/preamble_search.h"
#include "modem/front/sample_buffer.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

//! A confirmed preamble.
struct found_preamble {
    acquired what;
    int64_t sample = 0; //!< input sample at which the search found it
};

/*! \brief Search and acquisition: returns the confirmed preambles in order.
 *  \details The search continues while candidates are examined, as it may take seconds to
 *  reject one.
 */
class preamble_watch
{
public:
    //! \param max_offset_hz see rx_options
    preamble_watch(const symbol_grid& grid,
                   const listened_families& families,
                   double max_offset_hz,
                   const reading_options& reading);

    /*! \brief Continue. Stops at a confirmed preamble; then call restart() to continue.
     */
    std::optional<found_preamble> advance(const sample_buffer& in);

    //! Continue at input sample \p from.
    void restart(int64_t from);

    //! Drop candidates before \p from, also future ones, and do not search there.
    void forget_before(int64_t from);

    //! Oldest input sample still needed.
    int64_t needs() const;

    //! Input sample up to which the search has run.
    int64_t searched() const { return d_searches.front().search.position(); }

    //! Number of candidates the search has reported.
    uint64_t candidates() const { return d_candidates; }

    //! Width of a correlation peak, samples: 8 symbols.
    static constexpr int64_t peak_width = 8 * symbol_grid::samples_per_symbol;

private:
    //! Families searched for at the same times, see family_reception::look_every_s.
    struct searched_for {
        listened_families families;
        preamble_search search;
        int64_t every, length; // samples, 0: always
        int64_t look = 0;      // start of the current or the next look
    };
    struct trial {
        const family_reception* family;
        preamble_candidate candidate;
        acquisition confirmation;
    };
    std::optional<preamble_candidate> look(searched_for& s, const sample_buffer& in);
    bool confirm(searched_for& s, const sample_buffer& in);
    bool known(const family_reception& f, const preamble_candidate& c) const;
    std::optional<found_preamble> advance_trials(const sample_buffer& in);

    symbol_grid d_grid;
    std::vector<searched_for> d_searches; // the first one never pauses
    reading_options d_reading;
    double d_max_offset_hz;
    int64_t d_longest_hold = 0; // samples
    std::deque<trial> d_trials;
    int64_t d_from = 0; // candidates before this do not count
    uint64_t d_candidates = 0;
};

} // namespace gr::hf::kernel
