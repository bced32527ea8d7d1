/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/config/node_config.h"

#include <hf/time.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace gr::hf::s5066 {

//! One line of the log.
struct trace_line {
    station_time time{};
    std::string text;
};

//! One D_PDU as it went over the modem port.
struct tap_record {
    station_time time{};
    bool sent = false;
    bool segment_ok = true;
    std::vector<uint8_t> octets;
};

//! What happened in a node, as far as node_config asks for it; the newest is kept.
class node_log
{
public:
    //! \param config must outlive this
    explicit node_log(const node_config& config) : d_config(config) {}

    //! One line, if node_config::trace is set.
    void trace(station_time now, std::string text);
    //! One D_PDU, if node_config::tap is set.
    void
    tap(station_time now, bool sent, bool segment_ok, const std::vector<uint8_t>& octets);
    std::optional<trace_line> poll_trace();
    std::optional<tap_record> poll_tap();

private:
    const node_config& d_config;
    std::deque<trace_line> d_lines;
    std::deque<tap_record> d_records;
};

} // namespace gr::hf::s5066
