/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/config/node_config.h"

#include <hf/setting_info.h>

#include <map>
#include <string>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief Numeric settings of a node_config by name, for station files and command lines.
 *
 * Names and units are those of the members.
 */
using node_settings = std::map<std::string, double>;

/*! \brief Applies settings to a configuration and validates the result.
 *  \throws std::invalid_argument naming an unknown name or a bad value, and what is
 *         allowed
 */
void apply(const node_settings& settings, node_config& config);

//! \throws std::invalid_argument naming the first member outside the range of its setting
void check_ranges(const node_config& config);

//! All settings, with their description for users.
std::vector<setting_info> describe_settings();

} // namespace gr::hf::s5066
