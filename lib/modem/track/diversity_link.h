/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/decode/block_decoder.h"
#include "modem/detect/iterative_detector.h"
#include "waveform/description.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace gr::hf::kernel {

/*! \brief Joins the trackers of two receivers with separate antennas, which receive the
 *         same transmission. Each block is decoded once, from both.
 *
 * The first tracker at the end of a block waits for the other if both follow the same
 * transmission. That is the same mode, started at most pairs_within_s apart, or whole
 * blocks apart if one was joined without its preamble. Waiting means that it returns no
 * block yet. So both need the samples of the same time, in turns. A tracker without a
 * partner decodes alone.
 */
class diversity_link
{
public:
    static constexpr size_t sides = 2;
    /*! \brief Largest difference of start times of one transmission, s. Paths of F.1487
     *         lie at most 7 ms apart, and each receiver counts from its own first path.
     */
    static constexpr double pairs_within_s = 0.01;

    /*! \brief Side \p k follows a transmission whose first symbol is at \p start,
     *         seconds.
     *  \param joined see acquired: it may be in another block than the other side
     */
    void begin(size_t k, const description& d, double start, bool joined);
    //! Side \p k no longer follows a transmission.
    void end(size_t k);

    /*! \brief Decode block \p block, which side \p k has completely.
     *  \details Call again after more samples while the result is empty.
     *  \returns the block, decoded from the soft bits of both receivers if both have it
     */
    std::optional<decoded_block>
    decode(size_t k, uint64_t block, iterative_detector& d, frame_source& source);

    //! Blocks decoded from both sides, and all blocks.
    uint64_t joint() const { return d_joint; }
    uint64_t blocks() const { return d_blocks; }

private:
    struct side {
        const description* waveform = nullptr; // null: no transmission
        double start = 0;
        bool joined = false;
        int64_t first = 0; // number of its first block; partners count alike
        int64_t block = 0; // first block not decoded yet
        bool paired = false;
        iterative_detector* waits = nullptr;
        frame_source* source = nullptr;
        std::optional<decoded_block> result; // set by the other side
    };
    std::array<side, sides> d_sides;
    uint64_t d_joint = 0, d_blocks = 0;
};

} // namespace gr::hf::kernel
