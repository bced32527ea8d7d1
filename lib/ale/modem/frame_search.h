/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/modem/soft_bits.h"
#include "ale/words/expected_words.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::ale {

/*! \brief Searches every row and frequency offset for frames whose words are known.
 *  \details The scores of the words at their places are added. A fade seldom covers a whole
 *  frame, so the sum finds frames in which no single word could be read.
 */
class frame_search
{
public:
    //! Where a frame may end.
    struct match {
        size_t frame = 0; //!< index in the list of frames
        int64_t end = 0;  //!< last row of its last word
        size_t offset = 0;
        float score = 0; //!< sum over the root of the number of known words: noise has 1
    };

    //! Search for \p frames in rows from now on. None: stop.
    void start(const std::vector<expected_words::sequence>& frames);
    bool active() const { return !d_frames.empty(); }
    /*! \brief Take the latest row.
     *  \param least lowest score of a match
     *  \return the best match since the last one, when it is \p settled rows old
     */
    std::optional<match> push(const soft_bits& bits, float least, int64_t settled);
    //! Words of a frame.
    const expected_words::sequence& words(size_t frame) const { return d_frames[frame]; }

private:
    static constexpr size_t any = static_cast<size_t>(-1);

    struct pattern {
        std::vector<size_t> words; // indices in d_words, or any
        float root = 1;            // of the number of known words
    };
    float score(const pattern& p, int64_t end, size_t offset) const;
    // Index in d_scores.
    size_t place(int64_t row, size_t offset, size_t word) const;

    std::vector<expected_words::sequence> d_frames;
    std::vector<pattern> d_patterns;
    std::vector<coded_word> d_words; // all different ones
    std::vector<float> d_scores;     // of the latest rows, a ring
    int64_t d_rows = 1;              // in d_scores
    std::optional<int64_t> d_first;  // row since start()
    std::optional<match> d_best;
};

} // namespace gr::hf::ale
