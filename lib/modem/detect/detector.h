/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/decode/block_decoder.h"
#include "modem/detect/block_details.h"
#include "modem/detect/equaliser.h"

#include <memory>
#include <vector>

namespace gr::hf::kernel {

//! Where frames come from, if they are wanted again.
class frame_source
{
public:
    virtual ~frame_source() = default;
    /*! \brief Estimate the channel again over the block, now that there are beliefs about
     *         its data symbols (all of them, in order), and make its frames anew.
     */
    virtual void observe_again(const std::vector<symbol_belief>& beliefs,
                               std::vector<frame_observation>& frames) = 0;
};

/*! \brief Turns the frames of an interleaver block into bits. Replaceable: one that iterates
 *         between equaliser and decoder keeps the frames until the block is complete.
 */
class detector
{
public:
    virtual ~detector() = default;
    //! The next frame of the block, in order; used up.
    virtual void frame(frame_observation& f) = 0;
    /*! \brief The block is complete: its bits. The next frame begins the next block.
     *  \details \p source can observe the frames of this block again.
     */
    virtual decoded_block end_block(frame_source& source) = 0;
    //! Whether it asks \p source for frames.
    virtual bool iterates() const { return false; }

    //! Write symbols and ratios of the blocks that come to \p d, which outlives this; or to none.
    void write_details_to(block_details* d) { d_details = d; }

protected:
    block_details* d_details = nullptr;
};

//! Equalise, soft bits, decode: each once, frame by frame as they arrive.
class single_pass_detector : public detector
{
public:
    //! The description must outlive the detector.
    single_pass_detector(const description& d, std::unique_ptr<equaliser> eq)
        : d_symbols(d.alphabet), d_equaliser(std::move(eq)), d_decoder(d)
    {
    }

    void frame(frame_observation& f) override;
    decoded_block end_block(frame_source& source) override;

private:
    soft_symbols d_symbols;
    std::unique_ptr<equaliser> d_equaliser;
    block_decoder d_decoder;
    std::vector<symbol_estimate> d_estimates;
    std::vector<float> d_soft;
};

} // namespace gr::hf::kernel
