/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/decode/block_decoder.h"
#include "modem/detect/detector.h"
#include "modem/detect/equaliser.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Turbo equalisation: soft bits from the decoder become beliefs about the symbols
 *         for another round of channel estimation and linear MMSE equalisation with soft
 *         interference cancellation. The demapper uses them as well. Stops when the
 *         decisions no longer change. Method: Otnes and Tuchler 2002, 2003, ten Brink
 *         1998; docs/receiver.md, "What each idea is worth".
 *
 * The first round has no beliefs and runs as the frames arrive. It is linear: decision
 * feedback gives fewer errors, but confident ones, which mislead the decoder. The
 * feedback is mostly the a-posteriori ratio instead of the extrinsic ratio alone. That
 * needs fewer rounds, and is some dB better for large constellations.
 */
class iterative_detector : public detector
{
public:
    /*! \param d outlives this
     *  \param rounds most rounds after the first
     *  \param known see code_readings
     */
    iterative_detector(const description& d,
                       size_t rounds,
                       std::optional<waveform_reading> known = std::nullopt);

    void frame(frame_observation& f) override;
    decoded_block end_block(frame_source& source) override;
    void forget() override;
    bool iterates() const override { return true; }
    const description* reading() const override { return &d_readings.chosen(); }

    //! A detector with a complete block, and the source that can observe the block again.
    struct part {
        iterative_detector* detector;
        frame_source* source;
    };
    /*! \brief Decode one block received by several detectors. Each round decodes the sum
     *         of their soft bits, and the result goes back to all of them.
     *  \details Each detector has its own decoder, so that it can continue alone.
     *  \returns the result of each detector
     */
    static std::vector<decoded_block> end_blocks(const std::vector<part>& parts);

private:
    struct progress {
        size_t changed = 0, corrected = 0; // bits
    };
    void choose_reading(const std::vector<part>& parts);
    void take_reading();
    void iterate(const std::vector<part>& parts);
    static void add_up(const std::vector<part>& parts,
                       std::vector<float> iterative_detector::*soft,
                       std::vector<float>& sum);
    progress decide();
    void equalise_again(frame_source& source,
                        const std::vector<symbol_belief>& beliefs,
                        const std::vector<float>& posterior);
    void form_beliefs();
    void note(size_t first);

    const description& d_d;
    size_t d_rounds;
    // Last blocks in a row that no round helped, and the least share of corrections among
    // them before any round.
    size_t d_unhelped = 0;
    double d_unhelped_at = 1;
    code_readings d_readings;
    soft_symbols d_symbols;
    linear_equaliser d_equaliser;
    std::unique_ptr<block_decoder> d_decoder; // of the reading
    std::vector<uint8_t> d_scrambling;        // of the block's symbols
    // Soft bits of this detector, of the last round, with and without the decoder's help.
    std::vector<float> d_soft, d_evidence;
    std::vector<float> d_sum, d_posterior; // of all parts
    std::vector<uint8_t> d_decisions;
    std::vector<symbol_belief> d_beliefs;
    std::vector<symbol_estimate> d_estimates;
    std::vector<frame_observation> d_frames;
};

} // namespace gr::hf::kernel
