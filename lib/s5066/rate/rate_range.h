/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/mode.h>

#include <optional>
#include <string>
#include <vector>

namespace gr::hf::s5066 {

//! Range that a rate policy may choose from: rates, and short or long interleavers.
struct rate_range {
    mode floor;
    mode ceiling;
    bool long_allowed = true;

    /*! \brief Parses "auto" (75 to 9600 bit/s in 3 kHz), "auto:600..9600" or, with the
     *         short interleaver only, "auto:600S..9600S"; "auto:48k" for the wideband
     *         modes of 48 kHz, "auto:48k-9600..240000" for some of them.
     *  \return empty if \p text does not start with "auto"
     *  \throws std::invalid_argument naming \p text and what is allowed
     */
    static std::optional<rate_range> parse(const std::string& text);
    /*! \brief Adds the bandwidth of the channel to a range without one.
     *  \details "auto" and "auto:600..9600" become ranges of \p bandwidth_khz. 3 kHz
     *         means the modes of 4539. Other texts stay as they are.
     */
    static std::string in_bandwidth(const std::string& text, int bandwidth_khz);
    //! Modes of the range that can be chosen and advised, by rate, short before long.
    std::vector<mode> modes() const;
};

} // namespace gr::hf::s5066
