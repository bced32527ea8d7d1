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

    /*! \brief Read "auto" (75 to 9600 bit/s), "auto:600..9600" or, with the short interleaver
     *         only, "auto:600S..9600S".
     *  \return empty if \p text does not begin with "auto"
     *  \throws std::invalid_argument that names \p text and what is allowed
     */
    static std::optional<rate_range> parse(const std::string& text);
    //! The modes of the range that can be chosen and advised, by rate, short before long.
    std::vector<mode> modes() const;
};

} // namespace gr::hf::s5066
