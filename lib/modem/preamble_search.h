/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/half_symbol_stream.h"
#include "modem/sample_buffer.h"

#include <hf/mode.h>

#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

//! A place at which a preamble seems to be.
struct preamble_candidate {
    waveform_family family = waveform_family::serial_tone;
    bool reinserted =
        false;          //!< the last 103 symbols of a high-rate preamble, as they are
                        //!< repeated every 72 frames
    int64_t sample = 0; //!< input sample of the first symbol, on the strongest path
    double frequency_hz = 0;
    float score = 0; //!< see preamble_search
};

/*! \brief Looks for the known parts of the preambles of both families at once, and of the
 *         high rate's reinserted preambles.
 *
 * Pieces of 8 symbols are correlated (a carrier off by 75 Hz costs 0.9 dB there) and the
 * piece outputs transformed over the offsets searched, which gives the full coherent gain
 * of 288 (serial tone), 184 (high rate) and 64 (reinserted) known symbols. The score is the
 * power of the result over the number of known symbols and the mean power in the window:
 * exponentially distributed with mean 1 on noise of any level, and at most that number.
 */
class preamble_search
{
public:
    //! Scores that make a candidate; what follows must confirm it.
    static constexpr float serial_tone_threshold = 21, high_rate_threshold = 24,
                           reinserted_threshold = 26;

    //! \param max_offset_hz largest carrier offset
    explicit preamble_search(double max_offset_hz);

    //! Search from input sample \p from on.
    void restart(int64_t from);

    //! Go on; stops at a candidate, after which restart() says where to go on.
    std::optional<preamble_candidate> advance(const sample_buffer& in);

    //! Oldest input sample still needed.
    int64_t needs() const { return d_stream.needs(); }

private:
    static constexpr size_t batch = 64; // positions worked on at once
    static constexpr size_t piece = 8;  // symbols

    struct pattern {
        waveform_family family;
        bool reinserted;
        std::vector<std::complex<float>> symbols; // 0 where unknown
        size_t known;
        float threshold;
        int64_t hold; // positions after which a peak counts
        double step_hz;
        std::vector<float> cosine, sine; // [offset][piece], offsets 0, step, 2 step, ...
        size_t offsets = 0;
        // the peak so far
        bool pending = false;
        preamble_candidate best;
        int64_t best_position = 0;
    };

    void add(waveform_family family,
             bool reinserted,
             std::vector<std::complex<float>> symbols,
             float threshold,
             int64_t hold_symbols,
             double max_offset_hz,
             double step_hz);
    void score(pattern& p, int64_t position);

    std::vector<pattern> d_patterns;
    size_t d_longest = 0;
    half_symbol_stream d_stream;
    int64_t d_position = 0;                                // half-symbol index
    std::vector<float> d_re, d_im, d_piece_re, d_piece_im; // work space
};

} // namespace gr::hf::kernel
