/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/base/grid.h"
#include "modem/find/mode_trial.h"
#include "modem/find/preamble_search.h"
#include "modem/find/synchroniser.h"
#include "modem/front/sample_buffer.h"
#include "modem/track/burst_tracker.h"
#include "waveform/reception.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Confirms a candidate and reads the preamble.
 *
 * For each stretch: find the channel on the fixed symbols, match the words through the
 * channel, and let the family's preamble_reader interpret the matches.
 */
class acquisition
{
public:
    enum class state { pending, locked, rejected };

    /*! \param family the candidate's family; outlives this
     *  \param max_offset_hz see rx_options; candidates far beyond it are rejected
     */
    acquisition(const symbol_grid& grid,
                const family_reception& family,
                const preamble_candidate& c,
                const reading_options& options,
                double max_offset_hz);

    //! Continue; pending means that more samples are needed.
    state advance(const sample_buffer& in);

    //! The result; valid after locked.
    const acquired& result() const { return d_result; }
    //! Input sample of the candidate, or of the last stretch that is read alone.
    int64_t sample() const;
    //! Oldest input sample still needed.
    int64_t needs() const;

private:
    int64_t step() const;
    state try_modes(const sample_buffer& in);
    std::optional<synchroniser::located> locate(const sample_buffer& in,
                                                int64_t start) const;
    bool fits_beyond(const sample_buffer& in, int64_t start, const synchronised& s) const;
    std::optional<preamble_reader::verdict> read_stretch(const sample_buffer& in);
    preamble_evidence match(const sample_buffer& in, const synchronised& s) const;
    void take(const preamble_meaning& m, const synchronised& s);

    symbol_grid d_grid;
    const family_reception* d_family;
    preamble_candidate d_candidate;
    double d_max_offset_hz;
    std::unique_ptr<preamble_reader> d_reader;
    synchroniser d_synchroniser;
    acquired d_result;
    int64_t d_stretch = 0;      // number of the next stretch
    int64_t d_first = 0;        // first stretch that still counts
    std::optional<double> d_hz; // carrier offset by the first stretch
    std::vector<double> d_seen; // carrier offset by each stretch that is read alone
    const std::vector<possible_mode>* d_may_be = nullptr;
    std::unique_ptr<mode_trial> d_modes; // set if only the data show the mode
};

} // namespace gr::hf::kernel
