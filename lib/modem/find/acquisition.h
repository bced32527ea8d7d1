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

/*! \brief Confirms a candidate and reads what the preamble says.
 *
 * Stretch by stretch the channel is found on the fixed symbols, the words are matched through
 * it, and the family's preamble_reader says what they mean.
 */
class acquisition
{
public:
    enum class state { pending, locked, rejected };

    //! \param family the candidate's; outlives this
    acquisition(const symbol_grid& grid,
                const family_reception& family,
                const preamble_candidate& c,
                const reading_options& options);

    //! Go on; pending means that more samples are needed.
    state advance(const sample_buffer& in);

    //! What was found; after locked.
    const acquired& result() const { return d_result; }
    //! Input sample of what it was found by: the candidate's, or of the stretch that stood alone.
    int64_t sample() const;
    //! Oldest input sample still needed.
    int64_t needs() const;

private:
    int64_t step() const;
    state try_modes(const sample_buffer& in);
    std::optional<synchronised> synchronise(const sample_buffer& in, int64_t start) const;
    std::optional<preamble_reader::verdict> read_stretch(const sample_buffer& in);
    preamble_evidence match(const sample_buffer& in, const synchronised& s) const;
    void take(const preamble_meaning& m, const synchronised& s);

    symbol_grid d_grid;
    const family_reception* d_family;
    preamble_candidate d_candidate;
    std::unique_ptr<preamble_reader> d_reader;
    synchroniser d_synchroniser;
    acquired d_result;
    int64_t d_stretch = 0;      // number of the next one
    int64_t d_first = 0;        // of those that are still of use
    std::optional<double> d_hz; // of the carrier, by the first one
    std::vector<double> d_seen; // the same by each that stood alone
    const std::vector<possible_mode>* d_may_be = nullptr;
    std::unique_ptr<mode_trial> d_modes; // where the mode shows in the data alone
};

} // namespace gr::hf::kernel
