/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/config/node_config.h"

#include <hf/setting_info.h>

#include <map>
#include <string>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief The numbers of a node_config by name, for station files and command lines.
 *
 * Names and units are those of the members.
 */
using node_settings = std::map<std::string, double>;

/*! \brief Put settings into a configuration.
 *  \throws std::invalid_argument for a name or a value that is not allowed, naming it and
 *          what is; the configuration as a whole is validated as well.
 */
void apply(const node_settings& settings, node_config& config);

//! \throws std::invalid_argument that names the first member out of the range of its setting.
void check_ranges(const node_config& config);

//! All settings, with what a user is told of them.
std::vector<setting_info> describe_settings();

} // namespace gr::hf::s5066
