/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/decode/block_decoder.h"
#include "modem/detect/code_readings.h"
#include "modem/front/half_symbol_stream.h"
#include "modem/track/burst_tracker.h"
#include "modem/track/coherent_walsh.h"
#include "modem/track/walsh_meter.h"
#include "modem/track/walsh_parts.h"

namespace gr::hf::kernel {

/*! \brief Follows waveforms of Walsh words without probes.
 *
 * Correlates each set with its words at every delay of the window. Adds the
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
    bool lost() const override { return d_presence.score().lost(); }
    int64_t last_good_symbol() const override { return d_presence.score().last_good(); }
    bool heard() const override
    {
        return d_presence.score().last_good() >=
               static_cast<int64_t>(d_plan.recent_sets * d_d.chips());
    }
    bool present() const override { return d_presence.score().now(); }
    int64_t needs() const override { return d_stream.needs(); }
    double sample_of(int64_t symbol) const override;

private:
    double word_s() const
    {
        return static_cast<double>(d_d.chips()) / d_d.symbol_rate_bd;
    }
    void iterate(std::vector<float>& evidence);
    received_block end_block(int64_t begin);
    void set(int64_t begin, bool last);
    void choose_reading();
    void learn(const walsh_values& metric);
    void measure(channel_report& r);

    const description& d_d;
    const walsh_plan& d_plan;
    size_t d_first_tap; // of acquisition
    symbol_grid d_grid;
    walsh_correlator d_correlator;
    half_symbol_stream d_stream;
    walsh_presence d_presence;
    code_readings d_readings;
    std::unique_ptr<block_decoder> d_decoder; // of the reading
    walsh_profile d_taps;
    coherent_walsh d_coherent;
    doppler_meter d_doppler;
    walsh_turn d_turn;
    size_t d_rounds;
    uint64_t d_set = 0; // the next one
    std::vector<float> d_soft;
    walsh_words d_words; // of the block
    walsh_meter d_meter;
    bool d_details = false; // wanted
};

} // namespace gr::hf::kernel
