/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/dts/arq/arq_receiver.h"
#include "s5066/dts/arq/arq_sender.h"

#include <deque>
#include <map>

/*! \file
 *  Expedited ARQ with one peer (C.6.2): D_PDU types 4 and 5, one C_PDU at a time. Each
 *  C_PDU has its own frame sequence numbers, from 0, and an identification that counts
 *  modulo 16.
 */
namespace gr::hf::s5066 {

//! Sending half: a C_PDU is sent when the one before it is acknowledged.
class expedited_sender
{
public:
    //! A segment to send.
    struct out {
        expedited_header header;
        const uint8_t* segment = nullptr;
        size_t size = 0;
        bool repeat = false;
    };

    void submit(outgoing_ptr o);
    //! Nothing waits or is in flight.
    bool idle() const { return d_queue.empty() && d_arq.idle(); }
    //! Number of C_PDUs not acknowledged.
    size_t waiting() const { return d_queue.size() + (d_arq.idle() ? 0 : 1); }
    unsigned unacknowledged() const { return d_arq.unacknowledged(); }
    //! Octets of the first D_PDU that next() would return.
    size_t first_octets(size_t overhead) const { return d_arq.first_octets(overhead); }
    //! C_PDU octets not sent yet.
    backlog unsent() const
    {
        backlog all = d_unsent;
        return all += d_arq.unsent();
    }

    //! Adds the C_PDUs that are not completely sent.
    void add_waiting(queue_states& all) const
    {
        d_arq.add_waiting(all);
        for (const auto& o : d_queue)
            all.add(*o);
    }

    //! See arq_sender::set_segment().
    void set_segment(size_t octets, bool equal_parts);
    //! Starts the next C_PDU if it can; from here on next() returns unacknowledged
    //! segments.
    void begin_transmission();
    //! See arq_sender::pending_octets().
    size_t pending_octets(size_t overhead, size_t limit) const;
    //! The next segment whose D_PDU has at most \p room octets.
    std::optional<out> next(size_t room, size_t overhead);
    //! Another copy of an unacknowledged segment, for otherwise empty room.
    std::optional<out> copy(size_t room, size_t overhead);

    //! True if the ACK fits the segments in flight.
    bool in_sync(const ack_header& a) const;
    //! Applies an ACK that is in sync; appends a completed C_PDU to \p done.
    unsigned acknowledge(const ack_header& a, std::vector<outgoing_ptr>& done);
    //! Gives up C_PDUs past their TTL.
    void expire(station_time now, std::vector<outgoing_ptr>& expired);
    //! New link or full reset: identifications from 0; what is in flight starts again.
    void restart();
    //! Removes and returns the C_PDUs not started.
    std::vector<outgoing_ptr> take_queued();
    //! Removes and returns all C_PDUs.
    std::vector<outgoing_ptr> take_all();

private:
    std::optional<out> convert(const std::optional<arq_sender::out>& o) const;

    arq_sender d_arq{ 128 };
    std::deque<outgoing_ptr> d_queue;
    backlog d_unsent;      // octets in d_queue
    uint8_t d_next_id = 0; // of the next C_PDU
    uint8_t d_id = 0;      // of the C_PDU in d_arq
};

/*! \brief Receiving half.
 *
 * The identification distinguishes a C_PDU from a repeat of the last one. The standard
 * restarts the identifications whenever the EXPEDITED state is entered, which the
 * receiver cannot see. So after a complete C_PDU, different octets under the same number
 * are a new one, too.
 */
class expedited_receiver
{
public:
    //! Drops a half-received C_PDU and forgets the last identification.
    void reset();
    /*! \brief Takes a segment.
     *  \param h its header
     *  \param segment its octets
     *  \param ok false: wrong segment CRC
     *  \param delivered a completed C_PDU is appended
     *  \return false for a duplicate, a damaged segment, or one outside the window
     */
    bool take(const expedited_header& h,
              const std::vector<uint8_t>& segment,
              bool ok,
              std::vector<std::vector<uint8_t>>& delivered);
    //! Present acknowledgement.
    ack_header ack() const { return d_arq.ack(); }
    //! True while a C_PDU is incomplete.
    bool inside() const { return d_id && !d_complete && d_arq.advanced(); }

private:
    arq_receiver d_arq;
    std::optional<uint8_t> d_id;
    bool d_complete = false;
    std::map<uint8_t, uint32_t> d_crcs; // of the segments of this C_PDU, by FSN
};

} // namespace gr::hf::s5066
