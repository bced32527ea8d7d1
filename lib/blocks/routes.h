/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/words/address.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace gr::hf {

/*! \brief Split "WHAT=NODE", an entry of a routing table.
 *  \throws std::invalid_argument that names \p text and what is allowed.
 */
inline std::pair<std::string, s5066::address> parse_route(const std::string& text)
{
    const auto eq = text.rfind('=');
    const auto node = eq == std::string::npos
                          ? std::nullopt
                          : s5066::address::parse(text.substr(eq + 1));
    if (!node || eq == 0)
        throw std::invalid_argument("route '" + text +
                                    "': allowed is PREFIX=NODE, for example "
                                    "10.66.0.0/24=1.2.0.2");
    return { text.substr(0, eq), *node };
}

} // namespace gr::hf
