/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/auth/auth_config.h"
#include "s5066/auth/replay_window.h"
#include "s5066/auth/trailer.h"

#include <hf/station_time.h>

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace gr::hf::s5066 {

//! Judgement on the sender of a received U_PDU.
enum class auth_verdict {
    off,         //!< authentication is off for this peer; delivered
    proved,      //!< the sender has the key; delivered
    not_proved,  //!< the sender proved nothing, and may; delivered
    no_trailer,  //!< refused: no trailer
    unknown_key, //!< refused: key number not in use here
    wrong_proof, //!< refused: tag or signature is wrong
    replayed,    //!< refused: the counter was seen before, or is too old
    not_signed,  //!< refused: a group U_PDU of a station with a public key has a tag
    resting,     //!< refused: too many wrong proofs from this node
    damaged,     //!< refused: octets are damaged or missing, so nothing can be proved
    no_room      //!< refused: the limit of sources and destinations is reached
};

//! Words for logs and displays.
const char* to_string(auth_verdict v);
//! Whether the client gets the U_PDU.
constexpr bool is_delivered(auth_verdict v) { return v <= auth_verdict::not_proved; }

//! Counts of one peer, for displays.
struct auth_peer {
    address peer;
    uint64_t proved = 0;
    uint64_t not_proved = 0;
    uint64_t refused = 0;
    auth_verdict last = auth_verdict::off; //!< of the last U_PDU
};

/*! \brief Proves to peers who sent a U_PDU, and checks the proofs of peers.
 *
 * The counters of a destination start at the minute of the start, 32 for each minute, or
 * at the stored state if that is higher. Then each U_PDU counts one. A trailer has the low
 * 24 bits. The receiver completes them by the highest counter of this sender, and by its
 * own clock, which may be wrong by half a year. So a proof needs no answer, and works for
 * groups and in EMCON.
 *
 * No clock, disk or socket. After calls of seal() and open(), store what poll_state()
 * returns before a sealed U_PDU is transmitted.
 */
class authenticator
{
public:
    //! Wrong proofs of a node within \ref rest that make its keys rest.
    static constexpr unsigned max_wrong_proofs = 1000;
    static constexpr station_time rest = std::chrono::hours(1);
    //! Sources and destinations with a replay window.
    static constexpr size_t max_windows = 1024;
    //! Peers with a record, the ones with the fewest proved U_PDUs replaced first.
    static constexpr size_t max_peers = 256;

    /*! \param own address of this station
     *  \throws std::invalid_argument if \p config is not valid
     */
    authenticator(address own, const auth_config& config);

    const auth_config& config() const { return d_config; }
    //! Adds the trailer, if \p dst has one. \return octets added
    size_t
    seal(address dst, uint8_t src_sap, uint8_t dst_sap, std::vector<uint8_t>& u_pdu);
    //! Checks the proof of a received U_PDU, and removes the trailer if it is right.
    auth_verdict open(station_time now,
                      address src,
                      address dst,
                      uint8_t src_sap,
                      uint8_t dst_sap,
                      std::vector<uint8_t>& u_pdu);
    //! The verdict about a U_PDU of which octets are damaged or missing.
    auth_verdict open_damaged(address src, address dst);
    //! Counters to store, if they have changed since the last call.
    std::optional<auth_state> poll_state();
    //! All peers from which a U_PDU was received, except those with policy off.
    std::vector<auth_peer> peers() const;

private:
    struct record {
        auth_peer seen;
        unsigned wrong = 0; // proofs since wrong_since
        station_time wrong_since{};
        std::optional<station_time> rests_until;
    };
    using route = std::pair<address, address>; // source, destination

    auth_verdict
    judge(station_time now, auth_context& c, record& r, std::vector<uint8_t>& u_pdu);
    bool proves(auth_context& c,
                const replay_window* window,
                station_time now,
                const auth_trailer& t,
                const std::vector<uint8_t>& u_pdu) const;
    bool right(const auth_context& c,
               const auth_trailer& t,
               const std::vector<uint8_t>& u_pdu) const;
    auth_verdict wrong_proof(station_time now, record& r);
    auth_verdict settle(const route& from, auth_verdict v);
    record& record_of(address src);
    uint64_t clock_counter(station_time now) const;

    const address d_own;
    const auth_config d_config;
    uint64_t d_base;     // first counter of a destination
    uint64_t d_reserved; // counters below may be used without storing first
    bool d_changed = false;
    std::map<address, uint64_t> d_next; // by destination
    std::map<route, replay_window> d_windows;
    std::map<address, record> d_records;
};

} // namespace gr::hf::s5066
