/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/*! \file PDUs of the SIS Layer Extension Protocol (STANAG 5066 Edition 5 Annex W).
 *
 * The services are published, the octet layout is not. Every layout in this file is our
 * choice. All layouts are in this one module, so that they can be replaced when the text
 * of the annex is available. All integers are big-endian.
 */
namespace gr::hf::slep {

using octets = std::vector<uint8_t>;

//! Reasons of SLEP itself. 0 to 127 belong to its user.
enum reason : uint8_t {
    reason_no_listener = 128,      //!< no user listens on this extended address
    reason_unknown_stream = 129,   //!< the receiver does not know the stream
    reason_too_many_streams = 130, //!< streams_max of the receiver is reached
    reason_not_supported = 131,    //!< type or option not supported
    reason_decompression = 132,    //!< the DEFLATE stream is damaged or too large
    reason_protocol_error = 133,   //!< gap too large, data beyond the limits
    reason_lifetime_over = 134,    //!< link down too long, no answer for too long
    reason_local_abort = 135,      //!< aborted by the local side
    reason_peer_restarted = 136,   //!< the peer has lost all its streams
    reason_altered = 137           //!< the octets do not have the digest of their sender
};

//! Receive credit of a stream (WIN): 0 stops, n allows 2^(n-1) PDUs, 15 has no limit.
constexpr uint8_t window_closed = 0;
constexpr uint8_t window_unlimited = 15;
//! As unlimited, since a direction has fewer PDUs on their way. In an SC it shows that FIN
//! has arrived, and that ACK does not count it because the user has not read all data.
constexpr uint8_t window_end_unread = 14;
//! PDUs beyond ACK that the sender may have sent for a WIN value.
constexpr uint32_t window_pdus(uint8_t win)
{
    return win == 0 ? 0u : win >= window_unlimited ? 0x7fffffffu : 1u << (win - 1);
}

//! Bit 7 of a SID: the PDU was sent by the responder.
constexpr uint8_t sid_responder = 0x80;

//! PAR of SO and SR. Its bit 3 signals that the fields of \ref incarnation follow.
struct stream_parameters {
    uint8_t window = window_unlimited; //!< credit for data towards the sender of this
                                       //!< PDU, 0 to 15
    bool one_way = false;              //!< the responder will send no data
    uint8_t dictionary = 0;            //!< preset dictionary, 0 to 3; 0: none

    bool operator==(const stream_parameters& o) const
    {
        return window == o.window && one_way == o.one_way && dictionary == o.dictionary;
    }
};

/*! \brief First number of a direction of a stream, and the mark in each of its SDs.
 *  \details A station that restarts may reuse the numbers of streams whose PDUs are still
 *  on their way. So each start has an instance, and each open gives its two directions
 *  their own incarnation. PDUs of an earlier stream then have other numbers and marks.
 *  Without instances both are 0, and the optional fields are left out. With them each
 *  FIN carries the digest of its direction (\ref stream_digest).
 */
struct incarnation {
    uint16_t base = 0; //!< SEQ of SO or SR, which are not numbered on the air
    uint8_t check = 0; //!< mark in each SD, 7 bits
    bool used = false; //!< false: SD has no check octet

    //! Direction of the opener. \p use distinguishes opens of the same number.
    static incarnation of_opener(uint16_t instance, uint8_t number, uint8_t use);
    //! Direction of the responder in answer to \p open.
    static incarnation of_responder(uint16_t instance, const incarnation& open);
    //! Name of the open in SR, SX and refusals, 15 bits, never 0.
    uint16_t name() const { return base & 0x7fff; }
};

//! UD, type 0.
struct unreliable_datagram {
    bool compressed = false;
    octets data;
};
//! RD, type 1.
struct reliable_datagram {
    struct segment {
        uint8_t index = 0; //!< 0 to 127
        bool last = false;
    };
    uint16_t number = 0;
    std::optional<segment> seg; //!< empty: the datagram is in one PDU
    bool answer_wanted = false;
    bool compressed = false;
    octets data;
};
//! RA, type 2.
struct datagram_answer {
    uint16_t number = 0;
    uint8_t code = 0; //!< 0 delivered, else a reason
};
//! SO, type 4.
struct stream_open {
    uint8_t number = 0; //!< 0 to 127, chosen by the opener
    bool immediate = true;
    bool fin = false;
    bool compressed = false; //!< direction of the opener is one DEFLATE stream
    stream_parameters par;
    uint16_t instance = 0; //!< instance of the opener; 0: none, and neither of the next
                           //!< two
    uint8_t use = 0;       //!< times that the instance has used \c number before
    uint32_t digest = 0;   //!< with FIN: of \c data before compression
    //! Only decoded: from a station without digests (version 0.2.0), to be refused.
    bool outdated = false;
    octets open_data; //!< at most 255 octets, never compressed
    octets data;
};
//! SR, type 5, accepted.
struct stream_accept {
    uint8_t sid = 0;
    bool fin = false;
    bool compressed = false; //!< direction of the responder is one DEFLATE stream
    stream_parameters par;
    uint16_t instance = 0;    //!< instance of the responder; 0: none, and none of the
                              //!< next three
    uint16_t answers = 0;     //!< incarnation::name of the open
    bool other_ended = false; //!< see stream_data
    uint32_t digest = 0;      //!< with FIN: of \c data before compression
    octets open_data;         //!< at most 255 octets, never compressed
    octets data;
};
//! SR, type 5, refused.
struct stream_refuse {
    uint8_t sid = 0;
    uint8_t reason = 0;
    std::string text;
    uint16_t answers = 0; //!< incarnation::name of the open; 0: none
};
//! SD, type 6.
struct stream_data {
    uint8_t sid = 0;
    uint16_t seq = 0;
    bool control_wanted = false;
    bool fin = false;
    octets data;
    std::optional<uint8_t> check = {}; //!< incarnation::check, 7 bits
    //! With check: the other direction has ended and its user has received all of it.
    bool other_ended = false;
    //! With check and FIN: of all octets of this direction, before compression.
    uint32_t digest = 0;
};
//! SC, type 7.
struct stream_control {
    uint8_t sid = 0;
    uint16_t ack = 0; //!< next number expected; all lower ones reached the user
    uint8_t window = window_unlimited;
    bool answer_wanted = false;
};
/*! \brief SX, type 8.
 *  \details With SID 0 and reason_peer_restarted all streams of the peer at the extended
 *  address have ended. \c mark is then the instance of the peer, or 0, so that a repeated
 *  PDU does no harm. In other SXs \c mark is incarnation::name of the stream's open, or a
 *  SEQ that its receiver has used, or 0 for none.
 */
struct stream_abort {
    uint8_t sid = 0;
    uint8_t reason = 0;
    uint16_t mark = 0;
};

//! Fields of a PDU, by its type.
using pdu_body = std::variant<unreliable_datagram,
                              reliable_datagram,
                              datagram_answer,
                              stream_open,
                              stream_accept,
                              stream_refuse,
                              stream_data,
                              stream_control,
                              stream_abort>;

//! Any PDU with its extended address.
struct pdu {
    uint8_t extended = 0; //!< 0: none
    pdu_body body;
};

//! Octets of SD before its data.
constexpr size_t data_header_octets(uint8_t extended, bool check)
{
    return 4u + (extended != 0) + check;
}
//! Octets of SO before its open-data, or of SR. \p instance: with an instance.
constexpr size_t open_header_octets(uint8_t extended, bool opener, bool instance)
{
    return 4u + (extended != 0) + (instance ? opener ? 3u : 4u : 0u);
}

/*! \brief Octets of a PDU.
 *  \return empty when a value does not fit its field (open-data over 255 octets, a number
 *  over 127, a window over 15)
 */
octets encode(const pdu& p);

/*! \brief Reads one PDU of \p n octets.
 *  \details Too short PDUs and reserved types give empty.
 */
std::optional<pdu> decode(const uint8_t* p, size_t n);
inline std::optional<pdu> decode(const octets& v) { return decode(v.data(), v.size()); }

} // namespace gr::hf::slep
