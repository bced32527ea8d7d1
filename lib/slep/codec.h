/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/*! \file
 *  PDUs of the SIS Layer Extension Protocol (STANAG 5066 Edition 5 Annex W).
 *
 *  The services are published, the octet layout is not: every layout in this file is our
 *  choice and stays in this one module, so that it can be exchanged when the text of the
 *  annex is at hand. All integers are big-endian.
 */
namespace gr::hf::slep {

using octets = std::vector<uint8_t>;

//! Reasons of SLEP itself; 0 to 127 belong to its user.
enum reason : uint8_t {
    reason_no_listener = 128,      //!< nobody listens on this extended address
    reason_unknown_stream = 129,   //!< the receiver does not know the stream
    reason_too_many_streams = 130, //!< streams_max of the receiver is reached
    reason_not_supported = 131,    //!< type or option not supported
    reason_decompression = 132,    //!< the DEFLATE stream is damaged or too large
    reason_protocol_error = 133,   //!< gap too large, data beyond the limits
    reason_lifetime_over = 134,    //!< link down too long, no answer for too long
    reason_local_abort = 135,      //!< aborted by the local side
    reason_peer_restarted = 136    //!< the peer has lost all its streams
};

//! Receive credit of a stream (WIN): 0 stops, n allows 2^(n-1) PDUs, 15 has no limit.
constexpr uint8_t window_closed = 0;
constexpr uint8_t window_unlimited = 15;
//! PDUs beyond ACK that a WIN value allows.
constexpr uint32_t window_pdus(uint8_t win)
{
    return win == 0 ? 0u : win >= window_unlimited ? 0x7fffffffu : 1u << (win - 1);
}

//! Bit 7 of a SID: the PDU was sent by the responder.
constexpr uint8_t sid_responder = 0x80;

//! PAR of SO and SR.
struct stream_parameters {
    uint8_t window = window_unlimited; //!< towards the sender of the PDU, 0 to 15
    bool one_way = false;              //!< the responder will send no data
    uint8_t dictionary = 0;            //!< preset dictionary, 0 to 3; 0: none

    bool operator==(const stream_parameters& o) const
    {
        return window == o.window && one_way == o.one_way && dictionary == o.dictionary;
    }
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
    std::optional<segment> seg; //!< empty: the datagram is whole
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
    octets open_data; //!< at most 255 octets, never compressed
    octets data;
};
//! SR, type 5, accepted.
struct stream_accept {
    uint8_t sid = 0;
    bool fin = false;
    bool compressed = false; //!< direction of the responder is one DEFLATE stream
    stream_parameters par;
    octets open_data; //!< at most 255 octets, never compressed
    octets data;
};
//! SR, type 5, refused.
struct stream_refuse {
    uint8_t sid = 0;
    uint8_t reason = 0;
    std::string text;
};
//! SD, type 6.
struct stream_data {
    uint8_t sid = 0;
    uint16_t seq = 0;
    bool control_wanted = false;
    bool fin = false;
    octets data;
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
 *  address are gone; then \c instance, when not 0, tells one start of the peer from another,
 *  so that a repeated PDU does no harm.
 */
struct stream_abort {
    uint8_t sid = 0;
    uint8_t reason = 0;
    uint16_t instance = 0;
};

//! Any PDU with its extended address.
struct pdu {
    uint8_t extended = 0; //!< 0: none
    std::variant<unreliable_datagram,
                 reliable_datagram,
                 datagram_answer,
                 stream_open,
                 stream_accept,
                 stream_refuse,
                 stream_data,
                 stream_control,
                 stream_abort>
        body;
};

//! Octets of SD before its data, without and with an extended address.
constexpr size_t data_header_octets(uint8_t extended) { return extended != 0 ? 5 : 4; }

/*! \brief Octets of a PDU.
 *  \return empty when a value does not fit its field (open-data over 255 octets, a number
 *  over 127, a window over 15)
 */
octets encode(const pdu& p);

/*! \brief Reads one PDU of \p n octets.
 *  \details Wrong PAR bits are ignored; too short PDUs and reserved types give empty.
 */
std::optional<pdu> decode(const uint8_t* p, size_t n);
inline std::optional<pdu> decode(const octets& v) { return decode(v.data(), v.size()); }

} // namespace gr::hf::slep
