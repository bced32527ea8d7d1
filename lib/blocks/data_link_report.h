/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// State and counters of a node, as a data link block reports them to displays.
#pragma once

#include "s5066/node/node.h"

#include <hf/data_link.h>
#include <hf/station_time.h>

#include <cstdint>
#include <map>
#include <string>

namespace gr::hf {

//! State of a node. Ages are those at \p now.
data_link_state report_of(const s5066::node_state& s, station_time now);

//! Counters of a node by name. D_PDUs are counted by type, and all together.
std::map<std::string, uint64_t> report_of(const s5066::node_stats& s);

} // namespace gr::hf
