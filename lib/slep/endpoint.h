/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/words/address.h"
#include "slep/codec.h"
#include "slep/dictionaries.h"
#include <hf/time.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gr::hf::slep {

//! Where a SLEP user sits: node, SAP there, extended address (0: none).
struct user_address {
    s5066::address node;
    uint8_t sap = 13;
    uint8_t extended = 0;

    bool operator==(const user_address& o) const
    {
        return node == o.node && sap == o.sap && extended == o.extended;
    }
    bool operator!=(const user_address& o) const { return !(*this == o); }
    bool operator<(const user_address& o) const
    {
        if (node != o.node)
            return node < o.node;
        return sap != o.sap ? sap < o.sap : extended < o.extended;
    }
    //! "1.2.3.4/13", with the extended address "1.2.3.4/13.7".
    std::string to_string() const;
};

//! Settings of an endpoint; the defaults are our choice where Annex W is silent.
struct endpoint_config {
    uint8_t sap = 13; //!< own SAP, 0 to 15
    uint8_t rank = 0; //!< of the bind, 0 to 14
    /*! \brief Tells one start of this endpoint from another at the peers.
     *  \details Give a fresh number at every start. With 0 the restart notice has no number,
     *  and a stream can take PDUs of an earlier one of the same number for its own.
     */
    uint16_t instance = 0;
    /*! \brief Unconfirmed octets that SIS may hold for one node.
     *  \details About 1.1 times a longest transmission: 21 kB at 1200 bit/s, 168 kB at
     *  9600. Less starves the link, more delays urgent data. 2048 to 2^26.
     */
    size_t queue_octets = 168'000;
    size_t segment_octets = 1023; //!< of the link's D_PDUs, 16 to 1023
    /*! \brief Data octets in SO when there is much more to send, 0 to 1000.
     *  \details The far side can act as soon as SO is in, which at a low rate is seconds
     *  before the first full PDU. Up to four times as many ride in SO as a whole.
     */
    size_t open_octets = 40;
    size_t send_buffer = 262'144;     //!< per stream, not yet in PDUs; 2048 to 2^26
    size_t buffer_high = 65'536;      //!< unread octets of a stream that stop its sender
    size_t buffer_low = 16'384;       //!< and that let it go on; below buffer_high
    size_t held_high = 1'048'576;     //!< octets that wait for a missing PDU and stop it
    size_t streams_max = 256;         //!< of all peers together, 1 to 4096
    size_t datagram_octets = 262'144; //!< all datagrams that wait, each direction
    station_time partial_hold = station_time(20'000'000); //!< for a PDU that is not full
    station_time accept_hold = station_time(2'000'000'000); //!< SR waits for first data
    station_time turn_ride =
        station_time(80'000'000); //!< so long after a PDU the link has not turned
    /*! \brief Streams live through a link that is down for so long.
     *  \details One that only waits for its peer asks after half of it, or 15 min, of silence
     *  whether it is still there.
     */
    station_time outage_max = station_time(1'800'000'000'000);
    station_time open_wait =
        station_time(555'000'000'000);                    //!< for SR, SO being confirmed
    station_time gap_max = station_time(600'000'000'000); //!< for a missing PDU
    station_time number_rest = station_time(600'000'000'000);  //!< of a stream number
    station_time reliable_ttl = station_time(600'000'000'000); //!< of reliable datagrams
    station_time unreliable_ttl =
        station_time(120'000'000'000); //!< of unreliable datagrams

    //! \throws std::invalid_argument that names the value and what is allowed.
    void validate() const;
};

//! Names a stream at one endpoint; never used twice.
using stream_id = uint64_t;

//! How a stream is to be carried.
struct stream_options {
    uint8_t priority = 0;      //!< of its U_PDUs, 0 to 15, higher first
    uint8_t service_class = 4; //!< 0 to 7; each gets twice the share of the next one
    bool compress = false;     //!< own direction is one DEFLATE stream
    //! Preset dictionary of compressed directions, \ref preset. The opener chooses it for
    //! both; that of accept() is not used.
    uint8_t dictionary = 0;
    bool one_way = false; //!< opener only: the responder sends no data
    //! 0: as configured. How long the link may be down before the stream is given up.
    station_time outage_max = station_time(0);
};

//! What the endpoint tells its user; drain poll_event() after every call.
struct event {
    enum class type {
        open,     //!< a peer opens a stream: accept() or refuse() it; data: open-data
        opened,   //!< the peer accepted; data: its open-data
        refused,  //!< the peer refused; code and text; the stream is gone
        data,     //!< stream octets, in order: hand them back with consumed()
        fin,      //!< the peer sends no more; after finish(), it also has all of ours
        writable, //!< write() takes octets again after it took fewer than offered
        closed,   //!< both directions ended cleanly; the stream is gone
        aborted,  //!< code; the stream is gone
        datagram, //!< data from \c from
        //! Reliable or confirmed datagram \c stream: code 0 delivered, else a reason.
        datagram_done
    };
    type what = type::data;
    stream_id stream = 0;
    user_address from; //!< the other side
    octets data;
    uint8_t code = 0; //!< reason: 0-127 of the user, 128-255 \ref reason
    std::string text; //!< with refused, may be empty
};

//! Counters since the start.
struct endpoint_stats {
    uint64_t streams_opened = 0;   //!< by this side
    uint64_t streams_received = 0; //!< opened by peers
    uint64_t streams_closed = 0;
    uint64_t streams_aborted = 0; //!< for any reason, either side
    uint64_t streams_refused = 0; //!< either side
    uint64_t pdus_sent = 0;       //!< repeats included
    uint64_t pdus_resent = 0;
    uint64_t pdus_received = 0;
    uint64_t pdus_confirmed = 0;
    uint64_t pdus_rejected = 0;
    uint64_t bad_pdus = 0;        //!< short, reserved, or against the procedures
    uint64_t duplicates = 0;      //!< PDUs received again and dropped
    uint64_t stale = 0;           //!< PDUs of earlier streams of the same number, dropped
    uint64_t octets_sent = 0;     //!< of stream data taken from the users
    uint64_t octets_received = 0; //!< of stream data given to the users
    uint64_t datagrams_sent = 0;
    uint64_t datagrams_received = 0;
    uint64_t datagrams_dropped = 0;  //!< queue full, too old, or incomplete
    uint64_t unmatched_confirms = 0; //!< confirms and rejects of no known PDU
    uint64_t peer_restarts = 0;
};

//! One stream, for displays.
struct stream_info {
    stream_id id = 0;
    user_address other;
    bool opener = false;    //!< this side opened it
    const char* state = ""; //!< "opening", "open", "half local", "half remote"
    uint64_t octets_sent = 0;
    uint64_t octets_received = 0;
    size_t waiting = 0;     //!< octets to send that are not in a PDU
    size_t unconfirmed = 0; //!< octets in PDUs that wait for the node's confirm
    size_t unread = 0;      //!< octets received that the user has not consumed
};

/*! \brief SLEP over one SIS connection: streams and datagrams for one SAP.
 *
 * Sans-I/O: \c now comes in with each call, next_deadline() goes out; after each call drain
 * poll_event() and poll_sis(). It binds its SAP by itself, and again when it was unbound.
 * Deterministic.
 *
 * Streams rest on the node confirmation of STANAG 5066: a PDU is kept until it comes, and
 * sent again when the U_PDU is rejected, so a stream lives through breaks of the link. PDUs
 * are built as late as possible: only while the octets that SIS holds unconfirmed for the
 * destination stay below endpoint_config::queue_octets.
 *
 * Nothing from outside makes a call throw; calls with an unknown stream do nothing.
 */
class endpoint
{
public:
    //! \throws std::invalid_argument that names the value and what is allowed.
    explicit endpoint(const endpoint_config& c);
    ~endpoint();
    endpoint(endpoint&&) noexcept;
    endpoint& operator=(endpoint&&) noexcept;

    //! One whole S_primitive from the node.
    void sis_in(station_time now, const uint8_t* p, size_t n);
    //! The connection to the node is new: what it held is lost. Binds and sends again.
    void sis_reset(station_time now);
    //! Next S_primitive for the node; empty: nothing to send now.
    std::optional<octets> poll_sis();
    std::optional<event> poll_event();
    std::optional<station_time> next_deadline() const;
    void on_deadline(station_time now);

    //! Accept streams and datagrams at an extended address (0: those without one).
    void listen(uint8_t extended);

    /*! \brief Open a stream.
     *  \param to peer; not a group
     *  \param open_data at most 255 octets for the peer's user, before any stream octet
     *  \param data first stream octets; they go out with the open, without a round trip
     *  \param fin true: there will be no more data from this side
     *  \return empty: no stream number is free, streams_max is reached, or an argument is
     *          out of range. \p data beyond send_buffer is not taken either.
     */
    std::optional<stream_id> open(station_time now,
                                  const user_address& to,
                                  const octets& open_data,
                                  const octets& data = {},
                                  bool fin = false,
                                  const stream_options& options = {});
    //! Answer event::open. \p options: priority, class, compress and outage of this side.
    void accept(station_time now,
                stream_id s,
                const octets& open_data,
                const stream_options& options = {});
    //! Answer event::open with a reason of the user (0 to 127).
    void
    refuse(station_time now, stream_id s, uint8_t code, const std::string& text = {});

    /*! \brief Octets that write() takes now; 0 for an unknown stream or after finish().
     *  \details It grows when PDUs are built from the buffer.
     */
    size_t writable(stream_id s) const;
    /*! \brief Send stream octets.
     *  \param push true: a PDU that is not full may leave at once; false: it waits for more
     *  up to endpoint_config::partial_hold
     *  \return octets taken, at most writable()
     */
    size_t
    write(station_time now, stream_id s, const uint8_t* p, size_t n, bool push = true);
    //! No more data from this side; what was written is sent first.
    void finish(station_time now, stream_id s);
    //! Give the stream up at once. The peer is told \p code, the user gets no event.
    void abort(station_time now, stream_id s, uint8_t code = reason_local_abort);
    //! The user has dealt with \p n octets of event::data; this lets the peer send on.
    void consumed(station_time now, stream_id s, size_t n);

    /*! \brief Send an unreliable datagram in one U_PDU; to a group it goes non-ARQ.
     *  \return false: too long for one U_PDU, or the queue is full
     */
    bool send_unreliable(station_time now,
                         const user_address& to,
                         const octets& data,
                         uint8_t priority = 0,
                         bool arq = true);
    /*! \brief Send an unreliable datagram with node confirmation, again and again until
     *         the far node has it or \p ttl is over; event::datagram_done follows.
     *  \details Two octets less than a reliable one and no restart notice ahead of it; but
     *  when the link breaks at the wrong moment it arrives twice. For questions.
     *  \return its handle for that event; empty: too long for one U_PDU, a group, or the
     *          queue is full
     */
    std::optional<stream_id> send_confirmed(station_time now,
                                            const user_address& to,
                                            const octets& data,
                                            uint8_t priority,
                                            station_time ttl);
    /*! \brief Send a reliable datagram, in up to 128 segments; event::datagram_done follows.
     *  \return its handle for that event; empty: too long, a group, or the queue is full
     */
    std::optional<stream_id> send_reliable(station_time now,
                                           const user_address& to,
                                           const octets& data,
                                           uint8_t priority = 0);

    //! The SAP is bound.
    bool bound() const;
    //! Octets that SIS holds unconfirmed for a node: above 0 the transmitter is at work.
    size_t outstanding(const s5066::address& node) const;
    //! The last U_PDU for the node was not rejected by its link.
    bool reachable(const s5066::address& node) const;
    //! Anything ever came from the node, a confirm at least.
    bool heard(const s5066::address& node) const;
    //! How often its link has failed since then.
    int failures(const s5066::address& node) const;
    //! Nothing is sent to the node before, since its link has just failed.
    station_time retry_at(const s5066::address& node) const;
    //! Streams now.
    size_t streams() const;
    //! One line per stream, ordered by id.
    std::vector<stream_info> list() const;
    const endpoint_stats& stats() const;
    const endpoint_config& config() const;

private:
    class impl;
    std::unique_ptr<impl> d_impl;
};

} // namespace gr::hf::slep
