/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/block_decoder.h"
#include "modem/equaliser.h"

#include <memory>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Turns the frames of an interleaver block into bits. Replaceable: one that iterates
 *         between equaliser and decoder keeps the frames until the block is complete.
 */
class detector
{
public:
    virtual ~detector() = default;
    //! The next frame of the block, in order; used up.
    virtual void frame(frame_observation& f) = 0;
    //! The block is complete: its bits. The next frame begins the next block.
    virtual decoded_block end_block() = 0;
};

//! Equalise, soft bits, decode: each once, frame by frame as they arrive.
class single_pass_detector : public detector
{
public:
    //! The description must outlive the detector.
    single_pass_detector(const description& d, std::unique_ptr<equaliser> eq)
        : d_equaliser(std::move(eq)), d_decoder(d)
    {
    }

    void frame(frame_observation& f) override;
    decoded_block end_block() override;

private:
    std::unique_ptr<equaliser> d_equaliser;
    block_decoder d_decoder;
    std::vector<symbol_estimate> d_estimates;
    std::vector<float> d_soft;
};

} // namespace gr::hf::kernel
