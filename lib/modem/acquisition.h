/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/burst_tracker.h"
#include "modem/half_symbol_stream.h"
#include "modem/preamble_search.h"
#include "modem/sample_buffer.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Confirms a candidate and reads what the preamble says.
 *
 * Fine frequency from the piece phases, delays from the correlation profile, channel and
 * noise by least squares; then the mode is the valid one that explains the mode words (and
 * the countdown) best. Serial tone: scores are added over segments until one hypothesis
 * leads clearly, so any good segment of a preamble is enough.
 */
class acquisition
{
public:
    enum class state { pending, locked, rejected };

    //! \param zero_interleaver see rx_options
    acquisition(const preamble_candidate& c, bool zero_interleaver);

    //! Go on; pending means that more samples are needed.
    state advance(const sample_buffer& in);

    //! What was found; after locked.
    const acquired& result() const { return d_result; }
    //! Oldest input sample still needed.
    int64_t needs() const { return d_candidate.sample - 512; }

private:
    struct synchronised {  // one stretch of fixed symbols, 2 rows per symbol
        double origin = 0; // input sample of row 0 at delay tap 0
        double hz = 0;
        std::vector<float> profile;
        std::vector<std::complex<float>> taps;
        float noise = 1;
        float gain = 0; // Es / N0 is gain / noise
    };

    std::optional<synchronised>
    synchronise(const sample_buffer& in,
                int64_t start,
                double hz,
                const std::vector<std::complex<float>>& fixed);
    std::complex<float> match(const half_symbol_stream& y,
                              const synchronised& s,
                              size_t symbol,
                              const std::complex<float>* values,
                              size_t count) const;
    state serial_tone_segment(const sample_buffer& in);
    state high_rate_preamble(const sample_buffer& in);
    void
    lock(const mode& m, const synchronised& s, int64_t symbols_to_data, int64_t seen);

    preamble_candidate d_candidate;
    bool d_zero_interleaver;
    acquired d_result;
    // serial tone, over the segments
    size_t d_segment = 0;
    size_t d_last_at =
        0;               // segments after which d_result is right if the preamble is over
    float d_present = 0; // how much the words explain, over the segments
    std::vector<float> d_scores; // [d1][d2][count at the first segment]
    std::optional<synchronised> d_first;
};

} // namespace gr::hf::kernel
