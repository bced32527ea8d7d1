/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/decode/block_decoder.h"
#include "modem/detect/detector.h"
#include "modem/detect/equaliser.h"

#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Turbo equalisation: soft bits from the decoder serve as beliefs about the symbols
 *         for another round of channel estimation and linear MMSE equalisation with soft
 *         interference cancellation, until the decisions stand still.
 *
 * The first round, without beliefs, is done frame by frame as they arrive. It is linear:
 * decision feedback gives fewer errors, but confident ones, which mislead the decoder.
 * What is fed back is mostly the a-posteriori ratio, not the extrinsic one alone: fewer
 * rounds, and better by some dB for large constellations.
 */
class iterative_detector : public detector
{
public:
    //! \param rounds at most so many after the first. The description must outlive this.
    iterative_detector(const description& d, size_t rounds);

    void frame(frame_observation& f) override;
    decoded_block end_block(frame_source& source) override;
    bool iterates() const override { return true; }

    //! A detector that has a whole block, and who can observe it again.
    struct part {
        iterative_detector* detector;
        frame_source* source;
    };
    /*! \brief The same block, heard by several: the sum of their soft bits is decoded in each
     *         round, and goes back to all of them.
     *  \details Each keeps a decoder of its own, so that it can go on alone.
     *  \returns what each of them has decoded
     */
    static std::vector<decoded_block> end_blocks(const std::vector<part>& parts);

private:
    struct progress {
        size_t changed = 0, corrected = 0; // bits
    };
    void iterate(const std::vector<part>& parts);
    void add_up(const std::vector<part>& parts);
    progress decide();
    void equalise_again(frame_source& source, const std::vector<symbol_belief>& beliefs);
    void form_beliefs();
    void note(size_t first);

    const description& d_d;
    size_t d_rounds;
    soft_symbols d_symbols;
    linear_equaliser d_equaliser;
    block_decoder d_decoder;
    std::vector<uint8_t> d_scrambling;     // of the block's symbols
    std::vector<float> d_soft;             // its own, of the last round
    std::vector<float> d_sum, d_posterior; // of all parts
    std::vector<uint8_t> d_decisions;
    std::vector<symbol_belief> d_beliefs;
    std::vector<symbol_estimate> d_estimates;
    std::vector<frame_observation> d_frames;
};

} // namespace gr::hf::kernel
