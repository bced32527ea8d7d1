/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/station_time.h>

#include <array>
#include <cstdint>
#include <vector>

namespace gr::hf::s5066 {

//! Chosen by the caller: one per client connection, never reused.
using client_id = uint64_t;

//! An S_primitive for a client.
struct sis_output {
    client_id client = 0;
    std::vector<uint8_t> octets;
    /*! \brief Numbering of the D_PDUs that carried an S_UNIDATA_INDICATION by ARQ; 0
     *         otherwise.
     *  \details Counted per peer across new links, resets and resynchronisations (C.6.3).
     *         Within one numbering nothing is delivered twice.
     */
    uint64_t numbering = 0;
};

//! Counters since the start.
struct node_stats {
    std::array<uint64_t, 16> d_pdus_sent{}; //!< by type
    //! By type, only those addressed to this node.
    std::array<uint64_t, 16> d_pdus_received{};
    uint64_t d_pdus_repeated = 0; //!< data D_PDUs sent again for want of an ACK
    uint64_t d_pdus_fill = 0;     //!< copies in otherwise empty room
    uint64_t d_pdus_acked = 0;
    uint64_t d_pdus_duplicate = 0; //!< data D_PDUs received again
    uint64_t d_pdus_for_others = 0;
    uint64_t segment_crc_errors = 0;
    //! Estimate of D_PDUs from known peers without a readable header, by the length of
    //! the gap.
    uint64_t d_pdus_unread = 0;
    uint64_t segments_repaired = 0; //!< combined from damaged copies
    uint64_t segments_summed = 0;   //!< of these, from soft bits
    uint64_t headers_recovered = 0; //!< decoded from known octets, see lost_headers
    uint64_t false_syncs = 0;       //!< sync words without a good header
    uint64_t transmissions = 0;
    uint64_t receptions = 0;
    uint64_t octets_sent = 0;         //!< octets of D_PDUs on the air
    uint64_t octets_sent_again = 0;   //!< of these, for want of an ACK
    uint64_t octets_sent_as_fill = 0; //!< of these, copies in otherwise empty room
    uint64_t octets_received = 0;
    uint64_t u_pdus_submitted = 0;
    uint64_t u_pdus_delivered = 0;
    uint64_t u_pdu_octets_submitted = 0;
    uint64_t u_pdu_octets_delivered = 0;
    uint64_t u_pdus_rejected = 0;
    uint64_t u_pdus_expired = 0;
    //! Sent by ARQ without confirmation, so their clients could not be notified
    //! (A.2.1.8).
    uint64_t u_pdus_lost = 0;
    uint64_t u_pdus_overflowed = 0;   //!< submitted despite flow control and dropped
    uint64_t u_pdus_proved = 0;       //!< received with a proof of the sender
    uint64_t u_pdus_not_proved = 0;   //!< delivered without one (auth_policy::accept)
    uint64_t u_pdus_refused = 0;      //!< not delivered for want of a proof
    uint64_t indications_dropped = 0; //!< SAP not bound, or output not polled
    uint64_t warnings_sent = 0;
    uint64_t warnings_received = 0;
    uint64_t out_of_sync = 0;   //!< failures of the five synchronisation tests
    uint64_t resets = 0;        //!< resets and resynchronisations started here
    uint64_t silent_rounds = 0; //!< transmissions without an answer
    uint64_t tx_damaged = 0;    //!< transmissions that the radio sent only in part
    uint64_t links_made = 0;
    uint64_t links_failed = 0;
    uint64_t links_large = 0; //!< those of links_made with large windows
    uint64_t invalid_primitives = 0;
    station_time tx_time{}; //!< total time on the air
};

} // namespace gr::hf::s5066
