/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/mode.h>

#include <optional>
#include <string>
#include <vector>

namespace gr::hf::s5066 {

//! Between what a rate policy may choose: rates, and interleavers short and long.
struct rate_range {
    mode floor;
    mode ceiling;
    bool long_allowed = true;

    /*! \brief Read "auto" (75 to 9600 bit/s in 3 kHz), "auto:600..9600" or, with the short
     *         interleaver only, "auto:600S..9600S"; "auto:48k" for the wideband modes of 48 kHz,
     *         "auto:48k-9600..240000" for some of them.
     *  \return empty if \p text does not begin with "auto"
     *  \throws std::invalid_argument that names \p text and what is allowed
     */
    static std::optional<rate_range> parse(const std::string& text);
    /*! \brief The text of a range in a channel of so many kHz.
     *  \details "auto" and "auto:600..9600" without a bandwidth become those of it; 3 kHz are those
     *  of 4539, and other texts stay as they are.
     */
    static std::string in_bandwidth(const std::string& text, int bandwidth_khz);
    //! The modes of the range that can be chosen and advised, by rate, short before long.
    std::vector<mode> modes() const;
};

} // namespace gr::hf::s5066
