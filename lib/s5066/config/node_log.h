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

//! What became of D_PDUs.
enum class d_pdu_fate { sent, sent_again, sent_as_fill, received, damaged, unread };

//! "sent", "sent again", "sent as fill", "received", "damaged", "unread".
const char* to_string(d_pdu_fate f);

//! The D_PDUs that a line of the log is about, for whoever counts them.
struct d_pdu_note {
    d_pdu_fate fate = d_pdu_fate::sent;
    unsigned count = 1;        //!< estimated for d_pdu_fate::unread
    bool acknowledges = false; //!< an ACK-ONLY or DATA-ACK D_PDU, large or not
};

//! One event in a node: a line for a person, fields for programs.
struct log_record {
    station_time time{};
    std::string text;
    std::optional<d_pdu_note> d_pdu;
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

    //! One record, if node_config::trace is set.
    void trace(station_time now, std::string text, std::optional<d_pdu_note> d_pdu = {});
    //! One D_PDU, if node_config::tap is set.
    void
    tap(station_time now, bool sent, bool segment_ok, const std::vector<uint8_t>& octets);
    std::optional<log_record> poll_trace();
    std::optional<tap_record> poll_tap();

private:
    const node_config& d_config;
    std::deque<log_record> d_lines;
    std::deque<tap_record> d_records;
};

} // namespace gr::hf::s5066
