/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/base/grid.h"
#include "modem/find/listened_families.h"
#include "modem/find/piece_correlator.h"
#include "modem/find/search_loops.h"
#include "modem/front/half_symbol_stream.h"
#include "modem/front/sample_buffer.h"
#include "waveform/reception.h"

#include <complex>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace gr::hf::kernel {

//! A place in the input where a preamble may be.
struct preamble_candidate {
    size_t family = 0;  //!< number in the families listened for
    size_t pattern = 0; //!< number in that family's patterns
    int64_t sample =
        0; //!< input sample of the pattern's first symbol, on the strongest path
    double frequency_hz = 0;
    float score = 0; //!< see search_pattern
};

/*! \brief Searches for the patterns of all families at once.
 *
 * Correlates short pieces, then transforms the piece outputs over the carrier offsets.
 * This gives the full coherent gain of all known symbols of a pattern.
 */
class preamble_search
{
public:
    /*! \param grid of the input
     *  \param families what to search for
     *  \param max_offset_hz largest carrier offset
     */
    preamble_search(const symbol_grid& grid,
                    const listened_families& families,
                    double max_offset_hz);

    //! Search from input sample \p from on.
    void restart(int64_t from);

    //! Continue, at most to input sample \p limit unless a better peak may follow. Stops
    //! at a candidate; then call restart() to continue.
    std::optional<preamble_candidate> advance(const sample_buffer& in,
                                              int64_t limit = INT64_MAX);

    //! Oldest input sample still needed.
    int64_t needs() const { return d_stream.needs(); }

    //! Input sample up to which the search has run.
    int64_t position() const { return symbol_grid::samples_per_row * d_position; }

private:
    struct pattern {
        size_t family, number;
        std::vector<std::complex<float>> symbols;         // 0 where unknown
        std::vector<std::pair<size_t, size_t>> stretches; // known symbols: first, end
        size_t known;
        size_t piece; // symbols
        float threshold;
        int64_t hold; // positions after which a peak is final
        double step_hz;
        int contest;
        int64_t place;              // positions
        std::vector<size_t> pieces; // numbers of the pieces with known symbols
        std::vector<float> cosine,
            sine; // [offset][of pieces], offsets 0, step, 2 step, ...
        size_t offsets = 0;
        std::vector<piece_correlator::values> spectra; // spectra of all pieces, if they
                                                       // are long
        // first look: pieces per stretch (0: no first look), offsets and their turns
        size_t stretch = 0, coarse_offsets = 0;
        std::vector<float> coarse_cosine, coarse_sine; // [offset][piece of a stretch]
        // Offsets next to each of the first look: first, end
        std::vector<std::pair<size_t, size_t>> near_coarse;
        // best peak until now
        bool pending = false;
        preamble_candidate best;
        int64_t best_position = 0;
    };

    void
    add(size_t family, const family_reception& f, size_t number, double max_offset_hz);
    void correlate(const pattern& p, float least);
    void correlate_long(const pattern& p, float least);
    void best_offsets(const pattern& p,
                      const float* re,
                      const float* im,
                      size_t stride,
                      float least);
    bool first_look(const pattern& p, const search_loops::piece_rows& rows, float least);
    void prepare_first_look(pattern& p, double seconds, double max_offset_hz) const;
    static size_t stretch_of(const std::vector<size_t>& pieces, size_t most);
    double mean_power(const pattern& p, size_t q) const;
    void score(pattern& p, int64_t position);
    preamble_candidate best_of_contest(pattern& due);

    symbol_grid d_grid;
    const search_loops::loops* d_loops = &search_loops::for_this_processor();
    std::vector<pattern> d_patterns;
    size_t d_longest = 0;
    half_symbol_stream d_stream;
    int64_t d_position = 0; // half-symbol index
    size_t d_batch = 0;     // positions processed at once
    std::optional<piece_correlator> d_correlator;
    // work space
    std::vector<float> d_re, d_im, d_piece_re, d_piece_im;
    std::vector<double> d_energy;          // energy of all half symbols before each one
    std::vector<float> d_top, d_block_top; // power at the best offset
    std::vector<int> d_offset, d_block_offset;
    std::vector<uint8_t> d_exceeds; // [offset of the first look]
    std::vector<uint8_t> d_wanted;  // [offset]
};

} // namespace gr::hf::kernel
