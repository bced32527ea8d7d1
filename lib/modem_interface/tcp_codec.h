/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

/*! \file tcp_codec.h
 *  \brief Packets of the TCP socket interface, MIL-STD-188-110C A.5.1.1 and A.5.3.
 */
namespace gr::hf::modem_interface {

using octets = std::vector<uint8_t>;

constexpr uint8_t tcp_version = 12;        //!< A.5.1.1.2
constexpr size_t tcp_header_octets = 8;    //!< preamble, type, size, CRC
constexpr size_t max_tcp_payload = 4086;   //!< A.5.1.1
constexpr size_t max_transfer_data = 4072; //!< A.5.1.1.5

//! Table A-I.
enum class packet_type : uint8_t {
    data = 0x00,
    connect = 0x01,
    connect_ack = 0x02,
    error = 0xff
};

//! One packet. encode() adds the CRCs, tcp_deframer removes them.
struct tcp_packet {
    uint8_t type = 0; //!< a packet_type, or an unknown type of a peer
    octets payload;   //!< at most max_tcp_payload
};

//! \throws std::invalid_argument if the payload is too long.
octets encode(const tcp_packet& p);

//! Table A-III.
enum class packet_order : uint8_t {
    first_only = 1,
    first_and_last = 2,
    continuation = 3,
    last = 4
};

//! Identifies a data transfer packet in a Tx_Data_NAK (A.5.1.1.5.2).
using packet_id = std::array<uint8_t, 12>;

//! \name Payloads of DATA packets, tables A-II to A-IX
//! @{

//! Data Transfer: octets for the air or from it.
struct data_transfer {
    packet_order order = packet_order::continuation;
    packet_id id{};
    octets data; //!< at most max_transfer_data
};

struct transmit_arm {
};
struct transmit_start {
};
struct request_tx_status {
};
struct abort_reception {
};
struct connection_probe {
};

//! Table A-IV.
enum class nak_cause : uint8_t {
    not_armed = 0,
    underrun = 1,
    missing_first = 2,
    multiple_first = 3
};

struct tx_data_nak {
    nak_cause cause = nak_cause::not_armed;
    packet_id id{};
};

//! Table A-V.
enum class transmitter_state : uint8_t {
    flushed = 1,
    armed_port_not_ready = 2,
    armed_port_ready = 3,
    started = 4,
    draining_ok = 5,
    draining_forced = 6
};

struct tx_status {
    transmitter_state state = transmitter_state::flushed;
    uint32_t fifo_space = 0;      //!< octets
    uint32_t fifo_fill = 0;       //!< octets
    uint32_t critical_ms = 0;     //!< time until a forced drain if nothing more arrives
    uint32_t critical_octets = 0; //!< octets needed before then
};

struct carrier_detect {
    bool carrier = false;
    uint32_t rate_bps = 0;
    uint32_t blocking_bits = 0;
};

struct transmit_setup {
    uint32_t rate_bps = 0;
    uint32_t blocking_bits = 0;
};

struct initial_setup {
    uint32_t round_trip_ms = 0;
    uint32_t min_latency_ms = 0;
    uint32_t max_latency_ms = 0;
    bool synchronous = true;
    uint8_t data_bits = 0; //!< 0 to 3 for 5 to 8; these four are 0 if synchronous
    uint8_t stop_bits = 0; //!< 0, 1 for 1, 2
    uint8_t parity = 0;    //!< 0 none, 1 even, 2 odd
    uint8_t data_only = 0; //!< 1: start, stop and parity bits are not sent over the air
};
//! @}

using tcp_payload = std::variant<data_transfer,
                                 transmit_arm,
                                 transmit_start,
                                 request_tx_status,
                                 tx_data_nak,
                                 tx_status,
                                 abort_reception,
                                 carrier_detect,
                                 transmit_setup,
                                 initial_setup,
                                 connection_probe>;

/*! \brief The whole DATA packet, CRCs included.
 *  \throws std::invalid_argument if there is too much data.
 */
octets encode(const tcp_payload& p);

//! Content of the payload of a DATA packet. Empty if it is not one of table A-II.
std::optional<tcp_payload> parse_payload(const octets& payload);

/*! \brief Finds packets in the octets of a TCP connection.
 *
 * Nothing is skipped before the first packet: a web page could make a browser send packets
 * after a head of HTTP. Later parts that fail a CRC are dropped silently (A.5.1.2.3). After
 * a bad header the search
 * goes on at the next octet. A bad payload is skipped as a whole, since its header gives
 * the length reliably.
 */
class tcp_deframer
{
public:
    void push(const uint8_t* p, size_t n);
    //! The next complete and correct packet, of any type.
    std::optional<tcp_packet> next();
    //! True if the stream does not begin with a packet. It will have none.
    bool foreign() const { return d_foreign; }
    //! Octets skipped since the last correct packet.
    size_t skipped() const { return d_skipped; }
    //! Octets that wait for next().
    size_t held() const { return d_buf.size() - d_begin; }

private:
    std::optional<tcp_packet> search();
    void skip(size_t n);

    octets d_buf;
    size_t d_begin = 0; // start of the octets not yet processed
    size_t d_skipped = 0;
    bool d_begun = false; // there was a packet
    bool d_foreign = false;
};

} // namespace gr::hf::modem_interface
