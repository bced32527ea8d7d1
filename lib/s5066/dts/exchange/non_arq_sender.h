/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/between/backlog.h"
#include "s5066/between/outgoing.h"
#include "s5066/between/queue_state.h"
#include "s5066/pdu/d_pdu.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief C_PDUs sent to one node or group without ARQ, in D_PDUs of types 7 and 8
 *         (C.3.2.10). Expedited ones go first, then by priority. Each is sent in the
 *         requested number of rounds.
 */
class non_arq_sender
{
public:
    //! \param id C_PDU ID, counted separately for each type
    void submit(outgoing_ptr o, uint16_t id);
    bool empty() const { return d_queue.empty(); }
    //! Octets of C_PDUs whose last round is not over.
    const backlog& unsent() const { return d_unsent; }
    //! Adds the C_PDUs whose last round is not over.
    void add_waiting(queue_states& all) const
    {
        for (const auto& e : d_queue)
            all.add(*e.o);
    }
    /*! \brief Adds the octets of all that waits to \p need, until it exceeds \p cap.
     *  \param segment longest segment
     *  \param overhead octets of a D_PDU besides it
     */
    size_t pending_octets(size_t need, size_t cap, size_t segment, size_t overhead) const;

    // The first C_PDU
    bool expedited() const { return d_queue.front().expedited; }
    uint8_t priority() const { return d_queue.front().o->priority; }
    //! Rounds that follow the present one.
    unsigned rounds() const { return d_queue.front().rounds; }
    //! It has a reception window, which is set before its first segment.
    bool has_window() const { return d_queue.front().window_end > station_time::zero(); }
    void set_window(station_time end) { d_queue.front().window_end = end; }
    //! Octets of its next segment in a D_PDU of at most \p room; 0: too few for a D_PDU.
    size_t next_octets(size_t segment, size_t overhead, size_t room) const;
    //! Puts the next segment of \p octets into \p d, which is on the air at \p air_time.
    void next(size_t octets, station_time air_time, d_pdu& d);

    //! Removes expired C_PDUs from the front.
    void expire_first(station_time now, std::vector<outgoing_ptr>& expired);
    //! Removes all expired C_PDUs.
    void expire(station_time now, std::vector<outgoing_ptr>& expired);
    //! Removes and returns the C_PDUs with nothing sent.
    std::vector<outgoing_ptr> withdraw();

private:
    struct entry {
        outgoing_ptr o;
        uint16_t id = 0;
        size_t offset = 0;         // next octet to send in this round
        unsigned rounds = 0;       // that follow the present one
        bool expedited = false;    // type 8
        station_time window_end{}; // 0 until the first segment is built

        bool over(station_time now) const
        {
            return o->expires <= now ||
                   (window_end > station_time::zero() && window_end <= now);
        }
    };
    using place = std::deque<entry>::iterator;

    place drop(place at, std::vector<outgoing_ptr>& dropped);

    std::deque<entry> d_queue;
    backlog d_unsent;                   // counted until the last round is over
    std::array<fair_turns, 16> d_turns; // by priority
};

} // namespace gr::hf::s5066
