/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/decode/block_decoder.h"
#include "modem/detect/block_details.h"
#include "modem/detect/code_readings.h"
#include "modem/detect/equaliser.h"

#include <memory>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

//! Source of a block's frames, for iterating detectors.
class frame_source
{
public:
    virtual ~frame_source() = default;
    /*! \brief Estimate the channel of the block again with \p beliefs about all its data
     *         symbols, in order, and make its frames again.
     */
    virtual void observe_again(const std::vector<symbol_belief>& beliefs,
                               std::vector<frame_observation>& frames) = 0;
    //! True if carriers of others lie on the block: each observe_again() removes more.
    virtual bool disturbed() const { return false; }
};

/*! \brief Turns the frames of an interleaver block into bits. Replaceable. An iterating
 *         detector keeps the frames until the block is complete.
 */
class detector
{
public:
    virtual ~detector() = default;
    //! The next frame of the block, in order; it is consumed.
    virtual void frame(frame_observation& f) = 0;
    /*! \brief The block is complete; returns its bits. The next frame starts the next
     *         block.
     *  \details \p source can observe the frames of this block again.
     */
    virtual decoded_block end_block(frame_source& source) = 0;
    //! Forget the frames of a block that is not complete.
    virtual void forget() = 0;
    //! Whether it asks \p source for frames.
    virtual bool iterates() const { return false; }
    //! The reading of the waveform that its blocks are decoded by; null: that of the
    //! standard.
    virtual const description* reading() const { return nullptr; }

    //! Write symbols and ratios of the next blocks to \p d, which outlives this; null:
    //! nowhere.
    void write_details_to(block_details* d) { d_details = d; }

protected:
    block_details* d_details = nullptr;
};

//! Equalises, computes soft bits and decodes once, frame by frame as they arrive.
class single_pass_detector : public detector
{
public:
    /*! \param d must outlive the detector
     *  \param known see code_readings
     */
    single_pass_detector(const description& d,
                         std::unique_ptr<equaliser> eq,
                         std::optional<waveform_reading> known = std::nullopt)
        : d_readings(d, known), d_symbols(d.alphabet), d_equaliser(std::move(eq)),
          d_decoder(std::make_unique<block_decoder>(d_readings.chosen()))
    {
    }

    void frame(frame_observation& f) override;
    decoded_block end_block(frame_source& source) override;
    void forget() override;
    const description* reading() const override { return &d_readings.chosen(); }

private:
    void compare_readings(const frame_observation& f);

    code_readings d_readings;
    soft_symbols d_symbols;
    std::unique_ptr<equaliser> d_equaliser;
    std::unique_ptr<block_decoder> d_decoder; // of the reading
    std::vector<symbol_estimate> d_estimates;
    std::vector<float> d_soft;
};

} // namespace gr::hf::kernel
