/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/config/node_config.h"

#include <hf/station_time.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace gr::hf::s5066 {

//! Fate of a D_PDU.
enum class d_pdu_fate { sent, sent_again, sent_as_fill, received, damaged, unread };

//! "sent", "sent again", "sent as fill", "received", "damaged", "unread".
const char* to_string(d_pdu_fate f);

//! D_PDUs that a log line is about, for programs that count them.
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
    //! About one transmission or D_PDU, of which there are several a minute.
    bool detail = false;
};

//! One D_PDU that passed the modem port.
struct tap_record {
    station_time time{};
    bool sent = false;
    bool segment_ok = true;
    std::vector<uint8_t> octets;
};

//! Events of a node, as far as node_config enables them. The oldest are dropped.
class node_log
{
public:
    //! \param config must outlive this
    explicit node_log(const node_config& config) : d_config(config) {}

    //! Adds a record if node_config::trace is set.
    void trace(station_time now, std::string text, std::optional<d_pdu_note> d_pdu = {});
    //! Adds a record about a single transmission, without a note of D_PDUs.
    void detail(station_time now, std::string text);
    //! Adds a D_PDU if node_config::tap is set.
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
