/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem_interface/tcp_codec.h"

#include <string>

/*! \file udp_codec.h
 *  \brief Datagrams of the UDP socket interface, MIL-STD-188-110C A.5.2, and the line of
 *         our control connection with the terminal's port.
 */
namespace gr::hf::modem_interface {

constexpr uint8_t udp_version = 1;        //!< A.5.2.3
constexpr size_t max_datagram = 1226;     //!< A.5.2.2
constexpr size_t max_encoded_data = 1200; //!< A.5.2.4.2

//! \name Packets, table A-X
//! @{
struct ping_request {
};
struct ping_reply {
};
struct status_request {
};

//! Bits of status_reply::errors, table A-XI.
enum error_bit : uint8_t {
    tx_overrun = 0x01,
    tx_underrun = 0x02,
    rx_overrun = 0x04,
    rx_underrun = 0x08,
    not_in_control = 0x10
};

//! Table A-XIV.
enum class udp_tx_state : uint8_t {
    flushed = 0,
    queueing = 1,
    started = 2,
    draining = 3
};

//! Figure A-13.
struct status_reply {
    uint16_t sequence = 0;
    uint16_t transfer = 0; //!< number of the current transmission
    uint8_t errors = 0;    //!< bits of error_bit
    bool rx_started = false;
    bool carrier = false;
    udp_tx_state tx = udp_tx_state::flushed;
    bool in_control = false;
    uint16_t dropped = 0; //!< dropped packets of the current transmission
    uint16_t jitter_ms = 0;
    uint32_t queue_fill = 0, queue_space = 0;
    uint32_t rx_rate_bps = 0, rx_blocking_bits = 0; //!< 24 bits each
    uint32_t tx_rate_bps = 0, tx_blocking_bits = 0;
};

//! Figures. \c rate_bps and \c blocking_bits only if enhanced.
struct encoded_data {
    bool enhanced = false;
    uint16_t transfer = 0;
    uint16_t sequence = 0;
    bool holdoff = false, last_set = false, first_set = false;
    uint8_t fec_n = 0, fec_k = 0;
    uint32_t rate_bps = 0, blocking_bits = 0;
    uint32_t timestamp = 0; //!< microseconds within the hour, as in the printed code
    octets data;            //!< at most max_encoded_data
};

//! Figure A-19. The only command of table A-XVI is 1, abort reception.
struct command_request {
    uint16_t sequence = 0;
    uint8_t command = 1;
};

struct command_ack {
    uint16_t sequence = 0;
};
//! @}

using udp_payload = std::variant<ping_request,
                                 ping_reply,
                                 status_request,
                                 status_reply,
                                 encoded_data,
                                 command_request,
                                 command_ack>;

struct udp_packet {
    uint32_t session = 0; //!< 24 bits
    udp_payload what;
};

//! \throws std::invalid_argument if there is too much data or a field does not fit
octets encode(const udp_packet& p);

//! Empty if the version, the CRC, the type or the format is wrong (A.5.2.6.3: ignored).
std::optional<udp_packet> parse_datagram(const uint8_t* p, size_t n);

/*! \name The control connection A.5.2.1 leaves its protocol open. In ours, each end sends
 *  one line of text: the terminal "UDP PORT", the modem "UDP PORT" or "BUSY". The session
 *  lasts as long as this connection. @{
 */
constexpr size_t max_control_line = 16;
std::string control_line(uint16_t port);
//! The port in a line (without its end). Empty: none.
std::optional<uint16_t> parse_control_line(const std::string& line);
//! @}

} // namespace gr::hf::modem_interface
