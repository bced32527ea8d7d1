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

/*! \brief Where the trackers of two receivers, which hear one transmission by antennas of their own,
 *         meet at the end of each block to decode it once.
 *
 * The one that is there first waits for the other, so long as that follows the same transmission:
 * the same mode, begun at most pairs_within_s apart, or whole blocks more where one was joined
 * without its preamble. It waits in the sense that it gives no block
 * yet; both must be given the samples of the same time, in turns. Who is alone decodes alone.
 */
class diversity_link
{
public:
    static constexpr size_t sides = 2;
    /*! \brief Paths of F.1487 lie at most 7 ms apart, and each receiver counts from the one that it
     *         takes for the first.
     */
    static constexpr double pairs_within_s = 0.01;

    /*! \brief Side \p k follows a transmission whose first symbol is at \p start, seconds.
     *  \param joined see acquired: it may be in another block of what the other side follows
     */
    void begin(size_t k, const description& d, double start, bool joined);
    //! It follows none any more.
    void end(size_t k);

    /*! \brief Side \p k has all of block \p block.
     *  \details Ask again, after more samples, while it is empty.
     *  \returns what was decoded, of both receivers' soft bits if both have the block
     */
    std::optional<decoded_block>
    decode(size_t k, uint64_t block, iterative_detector& d, frame_source& source);

    //! Blocks that were decoded from both, and all.
    uint64_t joint() const { return d_joint; }
    uint64_t blocks() const { return d_blocks; }

private:
    struct side {
        const description* waveform = nullptr; // null: follows nothing
        double start = 0;
        bool joined = false;
        int64_t first = 0; // number of its first block; two together count alike
        int64_t block = 0; // of the first not decoded yet
        bool paired = false;
        iterative_detector* waits = nullptr;
        frame_source* source = nullptr;
        std::optional<decoded_block> result; // by the other's doing
    };
    std::array<side, sides> d_sides;
    uint64_t d_joint = 0, d_blocks = 0;
};

} // namespace gr::hf::kernel
