/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/dts/arq/arq_receiver.h"
#include "s5066/dts/arq/arq_sender.h"

#include <deque>
#include <map>

/*! \file
 *  Expedited ARQ with one peer (C.6.2): D_PDU types 4 and 5, one C_PDU at a time. Each C_PDU has
 *  its own frame sequence numbers from 0 on and an identification that counts modulo 16.
 */
namespace gr::hf::s5066 {

//! Sending half: a C_PDU goes out when the one before it is acknowledged.
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
    //! Nothing waits and nothing is in flight.
    bool idle() const { return d_queue.empty() && d_arq.idle(); }
    //! C_PDUs that are not acknowledged.
    size_t waiting() const { return d_queue.size() + (d_arq.idle() ? 0 : 1); }
    unsigned unacknowledged() const { return d_arq.unacknowledged(); }
    //! Octets of the first D_PDU that next() would give.
    size_t first_octets(size_t overhead) const { return d_arq.first_octets(overhead); }
    //! C_PDU octets that were never sent.
    backlog unsent() const
    {
        backlog all = d_unsent;
        return all += d_arq.unsent();
    }

    //! Adds the C_PDUs that have not been sent whole.
    void add_waiting(queue_states& all) const
    {
        d_arq.add_waiting(all);
        for (const auto& o : d_queue) {
            all.add(*o);
        }
    }

    //! See arq_sender::set_segment().
    void set_segment(size_t octets, bool equal_parts);
    //! From here on next() gives what is not acknowledged; takes up the next C_PDU.
    void begin_transmission();
    //! See arq_sender::pending_octets().
    size_t pending_octets(size_t overhead, size_t limit) const;
    //! The next segment whose D_PDU has at most \p room octets.
    std::optional<out> next(size_t room, size_t overhead);
    //! Another copy of an unacknowledged segment, for room that would stay empty.
    std::optional<out> copy(size_t room, size_t overhead);

    //! The ACK fits to what is in flight.
    bool in_sync(const ack_header& a) const;
    //! Takes an ACK that is in sync; a C_PDU that became complete is appended to \p done.
    unsigned acknowledge(const ack_header& a, std::vector<outgoing_ptr>& done);
    //! Gives up C_PDUs whose time is over.
    void expire(station_time now, std::vector<outgoing_ptr>& expired);
    //! New link or full reset: identifications from 0, what is in flight starts again.
    void restart();
    //! Takes out the C_PDUs that are not begun.
    std::vector<outgoing_ptr> take_queued();
    //! Takes everything out.
    std::vector<outgoing_ptr> take_all();

private:
    std::optional<out> convert(const std::optional<arq_sender::out>& o) const;

    arq_sender d_arq{ 128 };
    std::deque<outgoing_ptr> d_queue;
    backlog d_unsent;      // what is in d_queue
    uint8_t d_next_id = 0; // of the next C_PDU
    uint8_t d_id = 0;      // of the one in d_arq
};

/*! \brief Receiving half.
 *
 * A C_PDU is told from a repeat of the last one by its identification. The standard restarts
 * the identifications whenever the EXPEDITED state is entered, which the receiver cannot see,
 * so after a whole C_PDU different octets under the same number are a new one, too.
 */
class expedited_receiver
{
public:
    //! Drops a half-received C_PDU and forgets the last identification.
    void reset();
    /*! \brief Takes a segment.
     *  \param h its header
     *  \param segment its octets
     *  \param ok false: segment CRC wrong
     *  \param delivered a C_PDU that became complete is appended
     *  \return false for a duplicate, a damaged one, or one outside the window
     */
    bool take(const expedited_header& h,
              const std::vector<uint8_t>& segment,
              bool ok,
              std::vector<std::vector<uint8_t>>& delivered);
    //! What to send back, as of now.
    ack_header ack() const { return d_arq.ack(); }
    //! Inside of a C_PDU.
    bool inside() const { return d_id && !d_complete && d_arq.advanced(); }

private:
    arq_receiver d_arq;
    std::optional<uint8_t> d_id;
    bool d_complete = false;
    std::map<uint8_t, uint32_t> d_crcs; // of the segments of this C_PDU, by FSN
};

} // namespace gr::hf::s5066
