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

/*! \brief C_PDUs for one node or group that go out without ARQ, in D_PDUs of types 7 and 8
 *         (C.3.2.10): expedited ones first, then by priority, each sent in as many rounds as asked
 *         for.
 */
class non_arq_sender
{
public:
    //! \param id C_PDU ID, counted for each of the two types
    void submit(outgoing_ptr o, uint16_t id);
    bool empty() const { return d_queue.empty(); }
    //! Of C_PDUs whose last round is not over.
    const backlog& unsent() const { return d_unsent; }
    //! Adds the C_PDUs whose last round is not over.
    void add_waiting(queue_states& all) const
    {
        for (const auto& e : d_queue) {
            all.add(*e.o);
        }
    }
    /*! \brief Octets of all that waits, added to \p need until there is more than \p cap.
     *  \param segment longest segment \param overhead octets of a D_PDU besides it
     */
    size_t pending_octets(size_t need, size_t cap, size_t segment, size_t overhead) const;

    // The first one
    bool expedited() const { return d_queue.front().expedited; }
    uint8_t priority() const { return d_queue.front().o->priority; }
    //! Rounds left after this one.
    unsigned rounds() const { return d_queue.front().rounds; }
    //! It has a reception window; before its first segment it has none.
    bool has_window() const { return d_queue.front().window_end > station_time::zero(); }
    void set_window(station_time end) { d_queue.front().window_end = end; }
    //! Octets of its next segment, whose D_PDU has at most \p room; 0: not worth a D_PDU.
    size_t next_octets(size_t segment, size_t overhead, size_t room) const;
    //! The next segment, of so many octets, for a D_PDU \p d on the air at that time.
    void next(size_t octets, station_time air_time, d_pdu& d);

    //! Takes out the first ones if their time is over.
    void expire_first(station_time now, std::vector<outgoing_ptr>& expired);
    //! Takes out all whose time is over.
    void expire(station_time now, std::vector<outgoing_ptr>& expired);
    //! Takes out those of which nothing was sent.
    std::vector<outgoing_ptr> withdraw();

private:
    struct entry {
        outgoing_ptr o;
        uint16_t id = 0;
        size_t offset = 0;         // next octet to send in this round
        unsigned rounds = 0;       // left after this one
        bool expedited = false;    // type 8
        station_time window_end{}; // empty (0) until the first segment is built

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
