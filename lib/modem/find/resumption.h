/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/base/grid.h"
#include "modem/find/mode_trial.h"
#include "modem/front/half_symbol_stream.h"
#include "modem/front/sample_buffer.h"
#include "modem/track/burst_tracker.h"
#include "waveform/reception.h"

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Finds a transmission again whose probes stopped matching because samples are missing, or
 *         because there are too many.
 *
 * A sound device that loses samples shifts all that follows, by up to half a second. Carrier and
 * clock stay as they were. Three steps find the new place:
 *
 * 1. Several probes in a row are correlated at every shift. That gives the place within a frame.
 * 2. Signs, markers and scrambling of the same probes tell which frames they are.
 * 3. Where all probes are alike, the data are equalised once and decoded with blocks that begin at
 *    each possible frame (mode_trial).
 */
class resumption
{
public:
    enum class state { pending, found, none };

    /*! \param followed the transmission as it was before, see burst_tracker::followed()
     *  \param last_good symbol up to which it was certainly there
     */
    resumption(const acquired& followed, int64_t last_good);

    //! Go on; pending means that more samples are needed.
    state advance(const sample_buffer& in);

    //! How to go on, at acquired::first_frame; after found.
    const acquired& result() const { return d_result; }
    //! Oldest input sample still needed.
    int64_t needs() const;

    //! Before the last symbol at which the signal was there, s: what advance() needs.
    static constexpr double reach_s = 1;

private:
    //! A frame that may begin the probes that were found.
    struct place {
        uint64_t frame;
        int64_t shift; // rows, against where it was expected
        float score;
    };

    int64_t probe_row(uint64_t frame) const;
    uint64_t frame_at(int64_t symbol) const;
    bool hear(const sample_buffer& in);
    std::complex<float> match(uint64_t frame, int64_t row) const;
    float score(uint64_t frame, int64_t row, size_t probes) const;
    state find_probes();
    std::vector<place> places() const;
    bool expected(const std::vector<place>& those) const;
    state choose(const sample_buffer& in);
    uint64_t first_whole_frame(uint64_t frame) const;
    state settle(const sample_buffer& in, uint64_t frame);
    bool synchronise(const sample_buffer& in, uint64_t frame);
    state try_blocks(const sample_buffer& in, const std::vector<place>& those);
    state advance_trial(const sample_buffer& in);
    void read_as(const place& chosen);

    acquired d_a;
    const description& d_d;
    symbol_grid d_grid;
    int64_t d_reach;      // rows: largest shift
    int64_t d_first_good; // symbol before which the hole does not begin
    uint64_t d_frame;     // first one that is looked for
    int64_t d_first_row;
    half_symbol_stream d_stream;
    size_t d_probes, d_max_probes;
    std::vector<std::vector<std::complex<float>>> d_probe; // of each pattern
    std::vector<std::vector<std::complex<float>>> d_match; // of each pattern, by row
    std::vector<double> d_power_up_to;                     // by row
    bool d_found_probes = false;
    int64_t d_row = 0; // at which the probe of d_frame seems to be
    acquired d_result;
    std::vector<possible_mode> d_blocks;
    std::vector<place> d_possible;       // all
    std::vector<place> d_places;         // one for each of d_blocks
    std::unique_ptr<mode_trial> d_trial; // of d_blocks
};

} // namespace gr::hf::kernel
