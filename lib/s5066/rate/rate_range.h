/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/rate/rate_policy.h"

#include <hf/mode.h>

#include <optional>
#include <string>
#include <vector>

namespace gr::hf::s5066 {

//! Range that a rate policy may choose from: standards, rates, and short or long
//! interleavers.
struct rate_range {
    mode floor;
    mode ceiling;
    bool long_allowed = true;
    bool of_4539 = true; //!< has modes of STANAG 4539 (3 kHz only)
    bool of_5069 = true; //!< has modes of STANAG 5069, with both constraint lengths
    bool robust = true;  //!< has modes of our own robust family (3 kHz only)

    /*! \brief Parses a range.
     *
     *     auto                   3 kHz: every mode of 4539, 5069 and our robust family
     *     auto:600..9600         these rates
     *     auto:600S..9600S       the short interleaver only
     *     auto:4539  auto:5069   3 kHz: one standard
     *     auto:48k               5069 in 48 kHz
     *     auto:48k-9600..240000  a bandwidth or a standard, and rates
     *
     *  \return empty if \p text does not start with "auto"
     *  \throws std::invalid_argument naming \p text and what is allowed
     */
    static std::optional<rate_range> parse(const std::string& text);
    /*! \brief Adds the bandwidth of the channel to a range without one.
     *  \details "auto", "auto:5069" and "auto:600..9600" become ranges of
     *         \p bandwidth_khz. In 3 kHz, every text stays as it is, and so do other
     *         texts.
     */
    static std::string in_bandwidth(const std::string& text, int bandwidth_khz);
    //! Modes of the range that can be chosen and advised, by rate, short before long,
    //! 4539, robust, 5069, constraint length 7 before 9.
    std::vector<mode> modes() const;
    //! Those of modes() that a peer of unknown ability reads: 4539, if the range has it.
    std::vector<mode> common_modes() const;
    //! common_modes(), and those of the other modes() that \p peer has shown to read.
    std::vector<mode> modes_for(modes_read peer) const;
    //! The range of common_modes().
    rate_range of_one_standard() const;
    //! The mode whose mean power an SNR refers to: the fastest of common_modes().
    mode reference() const;
    //! True if the range has modes of the standard of \p m.
    bool has_standard_of(const mode& m) const;
};

} // namespace gr::hf::s5066
