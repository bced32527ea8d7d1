/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/words/address.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief Everything that can be set in a node. Times are in seconds.
 *
 * The standard names the parameters; nearly all defaults are this project's choice.
 */
struct node_config {
    address own;                 //!< node address of this station
    std::vector<address> groups; //!< heard besides the broadcast address
    /*! \brief Of transmissions with data: a mode (gr::hf::mode), or the range that the rate
     *         adaptation may use, as in "auto:75..9600" (rate_range::parse()).
     */
    std::string mode = "4539-600S";

    /*! \brief Of transmissions without data: a mode, "auto" (default_ack_mode()) or "same"
     *         (as \ref mode). Not used by the rate adaptation, which chooses it.
     */
    std::string ack_mode = "auto";

    // Framing
    uint8_t address_size = 7; //!< half octets per address in D_PDUs, 1 to 7
    /*! \brief Longest segment, 1 to 1023; C_PDUs are cut into pieces of exactly this size.
     *         0: by rate and frame loss, in equal parts.
     */
    size_t segment_octets = 0;
    unsigned max_expedited = 16; //!< expedited C_PDUs waiting for one peer, 1 to 1000
    unsigned window = 128;       //!< unacknowledged D_PDUs per peer, 1 to 128
    double max_transmission_s = 127.5; //!< from the first D_PDU, 1 to 127.5

    //! Longest transmission to a group; beyond 127.5 s EOT is 0 until its last 127.5 s.
    double broadcast_s = 127.5;
    unsigned sync_errors = 0; //!< wrong bits allowed in a received sync word, 0 to 3

    // Turns
    /*! \brief The modem sends and receives at the same time: EOT is 0 and nobody waits for the
     *         other's end.
     */
    bool full_duplex = false;
    //! From the end of the other's transmission to keying; 0: 0.1, for wideband modes 0.05.
    double turnaround_s = 0;
    /*! \brief U_PDUs of this priority or more are what somebody waits for: from the peer, or ours
     *         while less urgent ones wait. After them the transmissions to that peer are short, so
     *         that it is heard often, and grow again with the time since the last one. The data that
     *         is behind loses up to five percent of its speed. 1 to 16; 16: never.
     */
    unsigned prompt_priority = 2;
    //! Collecting data before a transmission that is no answer; 0: 0.1, for wideband modes 0.02.
    double hold_s = 0;
    double peer_turnaround_s = 2.0; //!< longest time that others may take to key
    double rx_latency_s = 0.5;      //!< longest delay of the own receiver, for time-outs
    /*! \brief Until a modem with a carrier detector (modem_user::on_carrier) notices another's
     *         transmission; without one its preamble must be over.
     */
    double carrier_detect_s = 0.6;
    double ack_timeout_s = 0; //!< from own end to the start of the answer; 0: computed
    unsigned max_silent_rounds =
        8;                    //!< unanswered transmissions until the peer counts as lost
    unsigned reset_tries = 3; //!< the same with a reset command in them (C.6.3)
    double contention_slot_s = 0.3; //!< unit of random waiting on a shared channel
    /*! \brief Number of the own slot (S5066-EP6, as far as it is known), from 1 on; no two
     *         nodes have the same. What is no answer begins slot_s * (slot + 1) after the
     *         channel has become free. 0: at random instead.
     */
    unsigned slot = 0;
    double slot_s = 3; //!< longer than from one node's keying until all others notice it
    unsigned ack_copies = 2; //!< of an ACK in one transmission, 1 to 4
    bool probe_after_silence =
        true; //!< after an unanswered transmission send a short one

    // Extensions of the S5066-EP series, each used only with a peer that has told that it has it
    bool extensions = false; //!< tell ours by EOW 15 (EP7), use those of the peer
    /*! \brief Numbers of 16 bits in place of 8 with peers that have them, too (EP5). Two nodes of ours
     *         agree when a link is made, by the reception windows of LINK REQUEST and LINK ACCEPTED,
     *         which are alike to others. The octets of EP5 are not published: these are ours.
     *  \details \ref window then bounds links without them alone; theirs is bounded by the octets
     *  of two longest transmissions. Not used in full duplex.
     */
    bool large_windows = true;

    // Management
    /*! \brief Data rate change by MANAGEMENT D_PDUs, for modems that are not autobaud: each
     *         connection starts at 300 bit/s with the short interleaver. Without it requests
     *         of others are refused.
     */
    bool drc = false;
    unsigned management_tries = 3; //!< of a message, until the peer counts as lost

    // Links
    double link_idle_s = 30;  //!< without data: the caller breaks the link
    unsigned link_tries = 8;  //!< link requests until giving up (N_REQ)
    unsigned break_tries = 3; //!< break requests until the link counts as broken (N_BRK)
    double first_data_s = 0;  //!< a called link without data ends (T_FIRST); 0: computed
    unsigned max_links = 8;   //!< nonexclusive links at once
    double link_alternate_s =
        120; //!< longest run of turns with one peer while data for others wait here
    /*! \brief On a channel that stations share, each that has data gets it once within this time:
     *         its transmissions are bounded to its part of it.
     */
    double share_cycle_s = 430;
    //! Longest time without a pause in which a station could begin that nobody has heard yet.
    double lone_run_s = 500;

    bool broadcast_only = false; //!< only non-ARQ; refuses links and ARQ clients

    // Hard links
    double hard_link_response_s = 120; //!< for the other node's answer (T_HL_RESPONSE)
    double hard_link_client_s = 30;    //!< for the called client's answer (T_HL_CLIENT)
    double hard_link_end_s = 60;       //!< for TERMINATE to be confirmed (T_HL_TERM)
    unsigned remote_rank = 0;          //!< taken for clients of other nodes, 0 to 15

    // Clients
    size_t mtu = 2048;       //!< longest U_PDU taken, 1 to 4096
    size_t queue_octets = 0; //!< high water mark; 0: 1.25 of the longest transmission
    double default_ttl_s = 86400;  //!< for TTL 0
    double client_confirm_s = 600; //!< longest wait for a client confirmation
    double keep_alive_s = 0;       //!< between S_KEEP_ALIVE; at least 120, 0: none sent
    double keep_alive_answer_s = 10;
    unsigned max_invalid_primitives = 10; //!< from one client until it is unbound
    //! Clients known at once; those that are not bound are forgotten first.
    unsigned max_clients = 64;
    //! Bound SAPs, at most max_clients; beyond, a higher rank displaces a lower one.
    unsigned max_bound = 16;
    unsigned client_expedited = 10;            //!< unconfirmed ones of a client
    unsigned client_expedited_per_minute = 60; //!< beyond either, it is unbound
    size_t response_fragment = 4096;           //!< octets of the U_PDU in confirmations

    //! Seconds since 1970 at station time 0; needed for time to die. Unknown: that is ignored.
    std::optional<int64_t> utc_at_zero_s;
    /*! \brief The computer's clock is right within a second: whoever runs the node tells it by
     *         node::set_utc(). Where clocks differ, U_PDUs are dropped too early.
     */
    bool system_utc = false;
    /*! \brief Put time to die into S_PDUs (A.3.1.1), so that the far node drops a U_PDU whose TTL
     *         is over. Needs utc_at_zero_s or system_utc, there as well. With a TTL of a week or
     *         more there is none: it would be ambiguous.
     */
    bool send_ttd = false;

    uint64_t seed = 1;  //!< of random waits and initial numbers; differs between starts
    bool trace = false; //!< keep log lines for poll_trace()
    bool tap = false;   //!< keep D_PDUs for poll_tap()

    //! Numbers of 16 bits are offered and taken.
    bool uses_large_windows() const { return large_windows && !full_duplex; }

    //! \throws std::invalid_argument that names the first bad value and what is allowed.
    void validate() const;
};

} // namespace gr::hf::s5066
