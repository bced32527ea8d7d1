/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/words/address.h"
#include "slep/codec.h"
#include "slep/dictionaries.h"
#include <hf/station_time.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gr::hf::slep {

//! Address of a SLEP user: node, SAP there, extended address (0: none).
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

//! Settings of an endpoint. The defaults are our choice where Annex W specifies none.
struct endpoint_config {
    uint8_t sap = 13; //!< our own SAP, 0 to 15
    uint8_t rank = 0; //!< rank for the bind, 0 to 14
    /*! \brief Number of this start of the endpoint, for the peers.
     *  \details Use a new number at every start. With 0 the restart notice has no number,
     *  and a stream can mistake PDUs of an earlier stream of the same number for its own.
     */
    uint16_t instance = 0;
    /*! \brief Unconfirmed octets that SIS may hold for one node.
     *  \details Choose about 1.1 times a longest transmission: 21 kB at 1200 bit/s, 168
     *  kB at 9600. Less starves the link, more delays urgent data. 2048 to 2^26.
     */
    size_t queue_octets = 168'000;
    size_t segment_octets = 1023; //!< longest segment of the link's D_PDUs, 16 to 1023
    /*! \brief Data octets in SO when there is much more to send, 0 to 1000.
     *  \details The far side can act as soon as SO has arrived. At a low rate that is
     *  seconds before the first full PDU. If all data fits into four times as many
     *  octets, SO carries all of it.
     */
    size_t open_octets = 40;
    size_t send_buffer = 262'144;     //!< limit per stream, not yet in PDUs; 2048 to 2^26
    size_t buffer_high = 65'536;      //!< unread octets of a stream that stop its sender
    size_t buffer_low = 16'384;       //!< unread octets at which the sender resumes;
                                      //!< below buffer_high
    size_t held_high = 1'048'576;     //!< octets waiting for a missing PDU that stop the
                                      //!< sender
    size_t streams_max = 256;         //!< limit for all peers together, 1 to 4096
    size_t datagram_octets = 262'144; //!< limit of waiting datagrams, each direction
    station_time partial_hold = station_time(20'000'000);   //!< wait of a PDU that is not
                                                            //!< full
    station_time accept_hold = station_time(2'000'000'000); //!< wait of SR for first data
    station_time turn_ride =
        station_time(80'000'000); //!< the link has not turned within this time after a
                                  //!< PDU
    /*! \brief Longest link outage that streams survive.
     *  \details A stream that only waits for its peer probes the peer after half of this
     *  time, or 15 min, of silence.
     */
    station_time outage_max = station_time(1'800'000'000'000);
    station_time open_wait = station_time(555'000'000'000); //!< wait for SR after SO was
                                                            //!< confirmed
    station_time gap_max = station_time(600'000'000'000);   //!< wait for a missing PDU
    station_time number_rest =
        station_time(600'000'000'000); //!< rest of a stream number after
                                       //!< its end
    station_time reliable_ttl = station_time(600'000'000'000); //!< lifetime of reliable
                                                               //!< datagrams
    station_time unreliable_ttl =
        station_time(120'000'000'000); //!< lifetime of unreliable datagrams

    //! \throws std::invalid_argument names the value and what is allowed.
    void validate() const;
};

//! Id of a stream at one endpoint. Never used twice.
using stream_id = uint64_t;

//! Options of a stream.
struct stream_options {
    uint8_t priority = 0;      //!< priority of its U_PDUs, 0 to 15, higher first
    uint8_t service_class = 4; //!< 0 to 7; each class gets twice the share of the next
                               //!< one
    bool compress = false;     //!< our own direction is one DEFLATE stream
    //! Preset dictionary of compressed directions, \ref preset. The opener chooses it for
    //! both directions. That of accept() is ignored.
    uint8_t dictionary = 0;
    bool one_way = false; //!< opener only: the responder sends no data
    //! Longest link outage that the stream survives. 0: as configured.
    station_time outage_max = station_time(0);
};

//! Event for the user. Drain poll_event() after every call.
struct event {
    enum class type {
        open,     //!< a peer opens a stream: accept() or refuse() it; data: open-data
        opened,   //!< the peer accepted; data: its open-data
        refused,  //!< the peer refused; code and text; the stream has ended
        data,     //!< stream octets, in order: return them with consumed()
        fin,      //!< the peer sends no more; after finish(), it also has all of our data
        writable, //!< write() accepts octets again after it accepted fewer than offered
        closed,   //!< both directions ended cleanly; the stream has ended
        aborted,  //!< code; the stream has ended
        datagram, //!< data from \c from
        //! Reliable or confirmed datagram \c stream: code 0 delivered, else a reason.
        datagram_done
    };
    type what = type::data;
    stream_id stream = 0;
    user_address from; //!< address of the other side
    octets data;
    uint8_t code = 0; //!< reason: 0-127 of the user, 128-255 \ref reason
    std::string text; //!< only with refused, may be empty
};

//! Counters since the start.
struct endpoint_stats {
    uint64_t streams_opened = 0;   //!< opened by this side
    uint64_t streams_received = 0; //!< opened by peers
    uint64_t streams_closed = 0;
    uint64_t streams_aborted = 0; //!< for any reason, by either side
    uint64_t streams_refused = 0; //!< by either side
    uint64_t pdus_sent = 0;       //!< repeats included
    uint64_t pdus_resent = 0;
    uint64_t pdus_received = 0;
    uint64_t pdus_confirmed = 0;
    uint64_t pdus_rejected = 0;
    uint64_t bad_pdus = 0;        //!< too short, reserved, or against the procedures
    uint64_t duplicates = 0;      //!< PDUs received again and dropped
    uint64_t stale = 0;           //!< PDUs of earlier streams of the same number, dropped
    uint64_t altered = 0;         //!< streams whose octets were not those of the sender
    uint64_t octets_sent = 0;     //!< stream data taken from the users
    uint64_t octets_received = 0; //!< stream data delivered to the users
    uint64_t datagrams_sent = 0;
    uint64_t datagrams_received = 0;
    uint64_t datagrams_dropped = 0;  //!< queue full, too old, or incomplete
    uint64_t unmatched_confirms = 0; //!< confirms and rejects of unknown PDUs
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
    bool sent_all = true;   //!< the node has confirmed all octets that were written
};

/*! \brief SLEP over one SIS connection: streams and datagrams for one SAP.
 *
 * Sans-I/O: each call passes \c now, next_deadline() returns when to call on_deadline().
 * After each call drain poll_event() and poll_sis(). The endpoint binds its SAP by
 * itself, and again when it was unbound. Deterministic.
 *
 * Streams rely on the node confirmation of STANAG 5066. A PDU is kept until it is
 * confirmed, and sent again when its U_PDU is rejected. So a stream survives breaks of
 * the link. PDUs are built as late as possible: only while the octets that SIS holds
 * unconfirmed for the destination stay below endpoint_config::queue_octets.
 *
 * No input from outside makes a call throw. Calls with an unknown stream do nothing.
 */
class endpoint
{
public:
    //! \throws std::invalid_argument names the value and what is allowed.
    explicit endpoint(const endpoint_config& c);
    ~endpoint();
    endpoint(endpoint&&) noexcept;
    endpoint& operator=(endpoint&&) noexcept;

    //! One whole S_primitive from the node.
    void sis_in(station_time now, const uint8_t* p, size_t n);
    //! The connection to the node is new and what the old one held is lost. Binds and
    //! sends again.
    void sis_reset(station_time now);
    //! Next S_primitive for the node. Empty: nothing to send now.
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
     *  \param fin true: this side sends no more data
     *  \return empty: no stream number is free, streams_max is reached, or an argument is
     *  out of range. \p data may not exceed send_buffer.
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
    //! Answer event::open with a user's reason (0 to 127).
    void
    refuse(station_time now, stream_id s, uint8_t code, const std::string& text = {});

    /*! \brief Octets that write() accepts now. 0 for an unknown stream or after finish().
     *  \details It grows when PDUs are built from the buffer.
     */
    size_t writable(stream_id s) const;
    /*! \brief Send stream octets.
     *  \param push true: a PDU that is not full may leave at once; false: it waits for
     *         more up to endpoint_config::partial_hold
     *  \return octets accepted, at most writable()
     */
    size_t
    write(station_time now, stream_id s, const uint8_t* p, size_t n, bool push = true);
    //! No more data from this side. Data already written is sent first.
    void finish(station_time now, stream_id s);
    //! End the stream at once. The peer gets \p code, the user gets no event.
    void abort(station_time now, stream_id s, uint8_t code = reason_local_abort);
    //! The user has processed \p n octets of event::data. This lets the peer send on.
    void consumed(station_time now, stream_id s, size_t n);

    /*! \brief Send an unreliable datagram in one U_PDU. To a group it is sent non-ARQ.
     *  \return false: too long for one U_PDU, or the queue is full
     */
    bool send_unreliable(station_time now,
                         const user_address& to,
                         const octets& data,
                         uint8_t priority = 0,
                         bool arq = true);
    /*! \brief Send an unreliable datagram with node confirmation. It is repeated until
     *         the far node has it or \p ttl is over. event::datagram_done follows.
     *  \details It saves two octets and the restart notice of a reliable datagram, but
     *  may arrive twice if the link breaks at the wrong moment. Meant for questions.
     *  \return its handle for that event. Empty: too long for one U_PDU, a group, or the
     *  queue is full
     */
    std::optional<stream_id> send_confirmed(station_time now,
                                            const user_address& to,
                                            const octets& data,
                                            uint8_t priority,
                                            station_time ttl);
    /*! \brief Send a reliable datagram, in up to 128 segments. event::datagram_done
     *         follows.
     *  \return its handle for that event. Empty: too long, a group, or the queue is full
     */
    std::optional<stream_id> send_reliable(station_time now,
                                           const user_address& to,
                                           const octets& data,
                                           uint8_t priority = 0);

    //! The SAP is bound.
    bool bound() const;
    //! Octets that SIS holds unconfirmed for a node. Above 0 the transmitter is at work.
    size_t outstanding(const s5066::address& node) const;
    //! True if the link did not reject the last U_PDU for the node.
    bool reachable(const s5066::address& node) const;
    //! Anything was ever received from the node, at least a confirm.
    bool heard(const s5066::address& node) const;
    //! Link failures of the node since then.
    int failures(const s5066::address& node) const;
    //! Nothing is sent to the node before this time, since its link has just failed.
    station_time retry_at(const s5066::address& node) const;
    //! Number of streams now.
    size_t streams() const;
    //! One entry per stream, ordered by id.
    std::vector<stream_info> list() const;
    const endpoint_stats& stats() const;
    const endpoint_config& config() const;

private:
    class impl;
    std::unique_ptr<impl> d_impl;
};

} // namespace gr::hf::slep
