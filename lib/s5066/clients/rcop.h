/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/clients/segment.h"

#include "s5066/words/address.h"

#include <hf/station_time.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

/*! \file
 *  RCOP and UDOP of STANAG 5066 Annex F: messages cut into U_PDUs, and reassembled. Both
 *  have the same octets; RCOP (SAP 6) uses ARQ, UDOP (SAP 7) does not.
 */
namespace gr::hf::s5066 {

constexpr uint8_t sap_rcop = 6;
constexpr uint8_t sap_udop = 7;
//! Octets of the header before every segment.
constexpr size_t rcop_header_octets = 6;
//! Segment numbers have 16 bits.
constexpr size_t rcop_max_segments = 65536;

//! Application identifiers of Annex F.
enum rcop_application : uint16_t {
    app_bftp = 0x1002,   //!< file transfer
    app_frap = 0x100b,   //!< receipt of a file, bare
    app_frap_v2 = 0x100c //!< receipt of a file, with its name and size
};

//! One segment of a message, carried by one U_PDU.
struct rcop_segment : segment_header {
    uint16_t application = 0;
    std::vector<uint8_t> data;
};

//! Octets of one U_PDU; empty if the connection is over 15.
std::vector<uint8_t> encode(const rcop_segment& s);
//! Empty if it is shorter than a header, or its reserved bits are not zero.
std::optional<rcop_segment> decode_rcop(const uint8_t* p, size_t n);

/*! \brief Cuts a message into U_PDUs of at most \p mtu octets, in order.
 *  \return empty if more than rcop_max_segments are needed, \p connection is over 15 or
 *         \p mtu has no room for data. A message without data is one segment.
 */
std::vector<std::vector<uint8_t>> rcop_segments(uint8_t connection,
                                                uint8_t id,
                                                uint16_t application,
                                                const std::vector<uint8_t>& message,
                                                size_t mtu);

//! A reassembled message.
struct rcop_message {
    address source;
    uint8_t source_sap = 0;
    uint8_t connection = 0;
    uint8_t id = 0;
    uint16_t application = 0;
    std::vector<uint8_t> data;
};

/*! \brief Reassembles messages from segments in any order.
 *
 * The header has no mark for the last segment. A function determines the length of the
 * message from its first octets. Incomplete messages are dropped after a time without a
 * segment, and the oldest first when there are too many.
 */
class rcop_assembler
{
public:
    /*! \brief Octets of the whole message of an application, from its first segment.
     *         Empty if unknown: the first segment is then the whole message.
     */
    using length_function =
        std::function<std::optional<uint64_t>(uint16_t application,
                                              const std::vector<uint8_t>& begin)>;
    struct config {
        size_t max_messages = 64;      //!< incomplete messages, from all nodes
        size_t max_octets = 64u << 20; //!< of data in incomplete messages
        station_time forget_after = from_seconds(6 * 3600.0); //!< time without a segment
    };
    struct counters {
        uint64_t malformed = 0;  //!< U_PDUs without a proper header
        uint64_t duplicates = 0; //!< segments received before
        uint64_t messages = 0;   //!< reassembled messages
        uint64_t too_long = 0;   //!< messages longer than max_octets, or than they state
        uint64_t forgotten = 0;  //!< incomplete messages dropped
    };

    //! The default knows BFTP, FRAP and FRAPv2.
    rcop_assembler();
    //! \throws std::invalid_argument if a limit is 0
    rcop_assembler(const config& c, length_function length);

    //! Takes a received U_PDU; returns the message that it completes.
    std::optional<rcop_message> u_pdu_in(station_time now,
                                         const address& source,
                                         uint8_t source_sap,
                                         const uint8_t* p,
                                         size_t n);

    const counters& stats() const { return d_stats; }
    size_t incomplete() const { return d_partial.size(); }
    size_t octets() const { return d_octets; }

private:
    // Source, its SAP, connection, U_PDU ID.
    using key = std::tuple<uint32_t, uint8_t, uint8_t, uint8_t>;
    struct partial {
        uint16_t application = 0;
        std::map<uint16_t, std::vector<uint8_t>> segments;
        std::optional<uint64_t> length; // known with the first segment
        size_t octets = 0;
        uint32_t next = 0;     // first missing segment
        uint64_t in_order = 0; // octets before it
        station_time touched{};
    };
    using messages = std::map<key, partial>;
    //! False for another message under the same key: IDs wrap around, and senders
    //! restart.
    static bool same_message(const partial& m, const rcop_segment& s);
    messages::iterator
    add(station_time now, const key& k, rcop_segment s, std::optional<uint64_t> length);
    void erase(messages::iterator it);
    void forget(messages::iterator it);
    void make_room(station_time now, const key& keep);

    config d_config;
    length_function d_length;
    messages d_partial;
    size_t d_octets = 0;
    counters d_stats;
};

} // namespace gr::hf::s5066
