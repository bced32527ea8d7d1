/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/words/word.h"

#include <optional>
#include <vector>

namespace gr::hf::ale {

/*! \brief Words that a station has reason to expect. A receiver accepts them with less proof
 *         than others.
 */
struct expected_words {
    //! All words of a frame in their order. Empty: any word, as of a link quality report.
    using sequence = std::vector<std::optional<word>>;

    //! With these words calls to this station begin: TO and three characters of its address.
    std::vector<word> called;
    //! Conclusions of calls by known stations: TIS or TWAS and a whole address.
    std::vector<std::vector<word>> callers;
    //! The station waits for one of these frames. They end with a word that is not empty.
    std::vector<sequence> frames;
};

} // namespace gr::hf::ale
