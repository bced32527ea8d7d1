/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/auth/auth_config.h"
#include "s5066/words/address.h"
#include "s5066/words/max_eot.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gr::hf::s5066 {

//! Shortest segment where nothing is lost, octets. Every transmission with data has room
//! for one.
constexpr size_t min_whole_segment = 64;

/*! \brief Configuration of a node. Times are in seconds.
 *
 * The standard names the parameters; nearly all defaults are this project's choice.
 */
struct node_config {
    address own;                 //!< node address of this station
    std::vector<address> groups; //!< received besides the broadcast address
    /*! \brief Mode of transmissions with data: a mode (gr::hf::mode), or the range for
     *         rate adaptation, as in "auto:75..9600" or "auto:4539" (rate_range::parse()).
     */
    std::string mode = "4539-600S";

    /*! \brief Mode of transmissions without data: a mode, "auto" (default_ack_mode()) or
     *         "same" (as \ref mode). Rate adaptation ignores it and chooses the mode.
     */
    std::string ack_mode = "auto";

    // Framing
    uint8_t address_size = 7; //!< half octets per address in D_PDUs, 1 to 7
    /*! \brief Longest segment, 1 to 1023; C_PDUs are cut into pieces of exactly this
     *         size. 0: equal pieces, their size chosen by rate and frame loss.
     */
    size_t segment_octets = 0;
    unsigned max_expedited = 16; //!< expedited C_PDUs waiting for one peer, 1 to 1000
    unsigned window = 128;       //!< unacknowledged D_PDUs per peer, 1 to 128
    double max_transmission_s = max_eot_s; //!< from the first D_PDU, 1 to 127.5

    //! Longest transmission to a group. If over 127.5 s, EOT is 0 until the last 127.5 s.
    double broadcast_s = max_eot_s;
    unsigned sync_errors = 0; //!< wrong bits allowed in a received sync word, 0 to 3
    /*! \brief Memory for damaged copies of a segment. 0: none. 1: two copies, as octets.
     *         2: also all copies as soft bits, if the modem gives them.
     */
    unsigned copy_memory = 2;

    // Turns
    /*! \brief The modem sends and receives at the same time. EOT is 0 and no station
     *         waits for the other's end.
     */
    bool full_duplex = false;
    //! From the end of the other's transmission to keying; 0: 0.1, for wideband modes
    //! 0.05.
    double turnaround_s = 0;
    /*! \brief U_PDUs with at least this priority are treated as interactive: those of the
     *         peer, and ours while less urgent ones wait. 1 to 16; 16: none.
     *  \details Transmissions to that peer then become short, so that it can answer
     *         often. They grow again with the time since the last such U_PDU. Other data
     *         lose at most five percent of their speed.
     */
    unsigned prompt_priority = 2;
    //! Longest time that other stations may take to key.
    static constexpr double peer_turnaround_s = 2;
    //! Longest delay of our own receiver, for timeouts.
    static constexpr double rx_latency_s = 0.5;
    /*! \brief Time until a modem with a carrier detector (modem_user::on_carrier) notices
     *         another transmission. A modem without one notices it only after the
     *         preamble.
     */
    double carrier_detect_s = 0.6;
    unsigned max_silent_rounds =
        8;                    //!< unanswered transmissions until the peer counts as lost
    unsigned reset_tries = 3; //!< the same for transmissions with a reset command (C.6.3)
    /*! \brief Slot number of this node (S5066-EP6, as far as it is known), from 1 on,
     *         different at each node. A transmission that is no answer starts slot_s *
     *         (slot + 1) after the channel has become free. 0: the station
     *         that has waited longest goes first, the others draw a random time.
     */
    unsigned slot = 0;
    double slot_s = 3; //!< longer than all others need to notice that one node keys
    bool probe_after_silence =
        true; //!< true: a short transmission follows an unanswered one

    // S5066-EP extensions, each used only with a peer that announced it
    bool extensions = false; //!< announce ours by EOW 15 (EP7), use those of the peer
    /*! \brief 16-bit frame numbers instead of 8-bit ones, with peers that have them too
     *         (EP5). Two nodes of ours agree when a link is made, by the reception
     *         windows in LINK REQUEST and LINK ACCEPTED. To other nodes these windows
     *         mean nothing special. The octets of EP5 are not published: these are ours.
     *  \details \ref window then bounds only links without them. Large windows are
     *         bounded by the octets of two longest transmissions. Not used in full
     *         duplex.
     */
    bool large_windows = true;

    // Management
    /*! \brief Data rate change by MANAGEMENT D_PDUs, for modems that are not autobaud.
     *         Each connection starts at 300 bit/s with the short interleaver. false:
     *         requests of peers are refused.
     */
    bool drc = false;
    unsigned management_tries = 3; //!< tries of a message until the peer counts as lost

    // Links
    double link_idle_s = 30; //!< the caller breaks the link after this time without data
    //! Link requests that had a fair chance of an answer until giving up (N_REQ). Requests
    //! that may have met others are repeated, in all at most 4 times this number.
    unsigned link_tries = 8;
    unsigned break_tries = 3; //!< break requests until the link counts as broken (N_BRK)
    //! A called link without data ends after this time (T_FIRST); 0: computed.
    double first_data_s = 0;
    //! Nonexclusive links at once. A refused call costs two transmissions and 30 s.
    unsigned max_links = 64;
    double link_alternate_s =
        120; //!< longest run of turns with one peer while data for other peers wait
    /*! \brief On a shared channel each station with data gets a turn within this time:
     *         each transmission is bounded to its share.
     */
    double share_cycle_s = 430;
    /*! \brief Longest time without a pause. In a pause a station not heard yet can start.
     *         The default is two longest transmissions with their answers.
     */
    double lone_run_s = 275;

    bool broadcast_only = false; //!< only non-ARQ; links and ARQ clients are refused

    // Hard links
    //! Timeout for the other node's answer (T_HL_RESPONSE).
    double hard_link_response_s = 120;
    //! Timeout for the called client's answer (T_HL_CLIENT).
    double hard_link_client_s = 30;
    //! Timeout for the confirmation of TERMINATE (T_HL_TERM).
    double hard_link_end_s = 60;
    //! Rank assumed for clients of other nodes, 0 to 15.
    unsigned remote_rank = 0;

    // Clients
    size_t mtu = 2048; //!< longest U_PDU accepted, 1 to 4096
    //! High water mark of flow control; 0: 1.25 of the longest transmission.
    size_t queue_octets = 0;
    double default_ttl_s = 86400;  //!< time to live of U_PDUs with TTL 0
    double client_confirm_s = 600; //!< longest wait for a client confirmation
    //! Interval of S_KEEP_ALIVE, at least 120; 0: none sent.
    double keep_alive_s = 0;
    unsigned max_invalid_primitives = 10; //!< from one client until it is unbound
    //! Clients known at once; unbound ones are dropped first.
    unsigned max_clients = 64;
    //! Bound SAPs, at most max_clients. When full, a higher rank displaces a lower one.
    unsigned max_bound = 16;
    unsigned client_expedited = 10; //!< unconfirmed requests of one client
    //! If either is exceeded, the client is unbound.
    unsigned client_expedited_per_minute = 60;

    //! Seconds since 1970 at station time 0, for time to die. Empty: unknown, time to die
    //! is ignored.
    std::optional<int64_t> utc_at_zero_s;
    /*! \brief The computer's clock is right within a second. The program that runs the
     *         node passes the time by node::set_utc(). If the clocks of two nodes differ,
     *         U_PDUs are dropped too early.
     */
    bool system_utc = false;
    /*! \brief Adds the time to die to S_PDUs (A.3.1.1), so that the remote node drops a
     *         U_PDU whose TTL has expired. Both nodes need utc_at_zero_s or system_utc.
     *         Omitted for a TTL of a week or more, because it would be ambiguous.
     */
    bool send_ttd = false;

    //! Keys that prove who sent a U_PDU. Our own, off without keys.
    auth_config auth;

    uint64_t seed = 1;  //!< of random waits and initial numbers; different at each start
    bool trace = false; //!< keep log lines for poll_trace()
    bool tap = false;   //!< keep D_PDUs for poll_tap()

    //! Longest U_PDU that a client may submit: \ref mtu, if a trailer still fits.
    size_t max_u_pdu_octets() const;
    //! True if numbers of 16 bits are offered and accepted.
    bool uses_large_windows() const { return large_windows && !full_duplex; }

    //! \throws std::invalid_argument naming the first bad value and what is allowed
    void validate() const;
};

} // namespace gr::hf::s5066
