/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/decode/block_decoder.h"
#include "modem/front/half_symbol_stream.h"
#include "modem/track/burst_tracker.h"
#include "modem/track/coherent_walsh.h"
#include "modem/track/presence.h"
#include "modem/track/walsh_meter.h"

#include <array>

namespace gr::hf::kernel {

/*! \brief Follows waveforms of Walsh words: 32 chips per dibit, no probes.
 *
 * Correlates each set with its four words at every delay of the window. Adds the
 * energies with the weights for independent Rayleigh paths (a RAKE without phases). So
 * it needs no channel phase and survives fading of tens of Hz (STANAG 4415;
 * docs/receiver.md, "What each idea is worth"). If the channel is steady enough, rounds
 * with phases follow after a block is decoded.
 */
class walsh_tracker : public burst_tracker
{
public:
    /*! \param rounds rounds with phases at the end of each block
     *  \throws std::invalid_argument for words of another kind
     */
    walsh_tracker(const acquired& a, double lost_after_s, size_t rounds);

    std::optional<received_block> advance(const sample_buffer& in) override;
    void keep_details() override { d_details = true; }
    bool lost() const override { return d_presence.lost(); }
    int64_t last_good_symbol() const override { return d_presence.last_good(); }
    bool heard() const override
    {
        return d_presence.last_good() >= static_cast<int64_t>(d_plan.recent_sets * chips);
    }
    bool present() const override { return d_presence.now(); }
    int64_t needs() const override { return d_stream.needs(); }
    double sample_of(int64_t symbol) const override;

private:
    static constexpr size_t words = coherent_walsh::words, chips = 32;
    using word_values = std::array<float, words>;

    void set(int64_t begin, bool last);
    word_values
    despread(int64_t begin, bool exceptional, const std::vector<float>& weight);
    void watch(int64_t end);
    void learn(const word_values& metric);
    void track_frequency(size_t best);
    void measure(channel_report& r);
    void take_words(const std::vector<float>& posterior);
    std::complex<float> chip(int64_t symbol) const;

    const description& d_d;
    const walsh_plan& d_plan;
    acquired d_a;
    symbol_grid d_grid;
    size_t d_early, d_taps; // half symbols: before delay 0, in all
    double d_set_s;
    half_symbol_stream d_stream;
    presence d_presence;
    block_decoder d_decoder;
    std::vector<float> d_profile; // power per tap, unclipped average
    float d_noise;                // per row, self-interference of all delays included
    float d_level = 0;            // energy of wrong words
    coherent_walsh::correlations d_correlation; // per tap
    std::vector<float> d_rows_re, d_rows_im;    // of the stream, of one set
    std::vector<float> d_sum_re, d_sum_im;      // per tap, of one word
    coherent_walsh d_coherent;
    doppler_meter d_doppler;
    size_t d_rounds;
    std::vector<std::complex<float>> d_last; // correlations of the best word of the last
                                             // set
    std::complex<float> d_turn;
    float d_turn_power = 0;
    size_t d_turns = 0;
    float d_exceptional_score = 0; // log-likelihood of the exceptional words, over blocks
    bool d_exceptional = true;     // kind of the last set of the last block
    uint64_t d_set = 0;
    std::vector<float> d_soft, d_posterior;
    std::vector<uint8_t> d_words; // best word of each set of the block
    walsh_meter d_meter;
    bool d_details = false; // wanted
};

} // namespace gr::hf::kernel
