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
#include <optional>
#include <vector>

namespace gr::hf::s5066 {

//! When the next transmission can begin, at the earliest.
struct next_start {
    station_time keyed{};
    station_time on_air{}; //!< of its first octets
};

/*! \brief C_PDUs sent to one node or group without ARQ, in D_PDUs of types 7 and 8
 *         (C.3.2.10). Expedited ones go first, then by priority. Each is sent in the
 *         requested number of rounds.
 *  \details HF loses whole transmissions, so each round travels in another one. After a
 *  round the C_PDU waits for its next one until release(). Receivers remember a limited
 *  number of C_PDUs, so the next ones wait while many have rounds that follow.
 */
class non_arq_sender
{
public:
    //! \param id C_PDU ID, counted separately for each type
    void submit(outgoing_ptr o, uint16_t id);
    bool empty() const { return d_queue.empty() && d_later.empty(); }
    //! A C_PDU may be sent now.
    bool ready() const { return !d_queue.empty() && !waits(d_queue.front(), d_open); }
    //! When the first of the repeats that wait may be sent; nothing if none waits.
    std::optional<station_time> repeat_at() const;
    //! Makes the repeats ready that may be sent at \p now.
    void release(station_time now);
    /*! \brief A round is left out if this many C_PDUs were begun since its C_PDU: it could
     *         be taken for a new one.
     *  \details Half of those that non_arq_receiver remembers: it may hear others as well.
     */
    static constexpr uint64_t max_behind = 1024;
    //! C_PDUs of a priority with rounds that follow: so few that none is left out, unless
    //! others come first.
    static constexpr size_t max_open = max_behind / 2;
    //! Octets of C_PDUs whose last round is not over.
    const backlog& unsent() const { return d_unsent; }
    //! Adds the C_PDUs whose last round is not over.
    void add_waiting(queue_states& all) const
    {
        for (const auto& e : d_queue)
            all.add(*e.o);
        for (const auto& e : d_later)
            all.add(*e.o);
    }
    /*! \brief Adds the octets of all that is ready to \p need, until it exceeds \p cap.
     *  \param segment longest segment
     *  \param overhead octets of a D_PDU besides it
     *  \param again when repeats of what is sent now may follow; C_PDUs that expire
     *         before are counted with their repeats
     */
    size_t pending_octets(size_t need,
                          size_t cap,
                          size_t segment,
                          size_t overhead,
                          const next_start& again) const;

    // The first C_PDU that is ready
    bool expedited() const { return d_queue.front().expedited; }
    uint8_t priority() const { return d_queue.front().o->priority; }
    //! Rounds that follow the present one.
    unsigned rounds() const { return d_queue.front().rounds; }
    //! It has a reception window, which is set before its first segment.
    bool has_window() const { return d_queue.front().window_end > station_time::zero(); }
    void set_window(station_time end) { d_queue.front().window_end = end; }
    //! Octets of its next segment in a D_PDU of at most \p room; 0: too few for a D_PDU.
    size_t next_octets(size_t segment, size_t overhead, size_t room) const;
    /*! \brief Puts the next segment of \p octets into \p d, which is on the air at
     *         \p air_time.
     *  \param again when the C_PDU may be sent again. A repeat that would be too late then
     *         is ready at once.
     */
    void next(size_t octets, station_time air_time, const next_start& again, d_pdu& d);

    //! Removes expired C_PDUs from the front of those that are ready, and repeats that
    //! must be left out.
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
        uint64_t begun = 0;        // count of C_PDUs begun, with this one; 0: it is not
        bool expedited = false;    // type 8
        station_time window_end{}; // 0 until the first segment is built
        station_time again_at{};   // a repeat is not sent before

        bool repeated() const { return o->mode.retransmissions > 0; }
        size_t kind() const { return expedited ? 16 : o->priority & 15; }
        bool over(station_time now) const
        {
            return o->expires <= now ||
                   (window_end > station_time::zero() && window_end <= now);
        }
    };

    using counts = std::array<size_t, 17>; // by kind()
    //! True if \p e is new and too many before it are not.
    static bool waits(const entry& e, const counts& open)
    {
        return e.begun == 0 && e.repeated() && open[e.kind()] >= max_open;
    }
    void queue_again(entry e);
    void begun_first(size_t kind);
    void settle(const entry& e);
    void leave_out();
    bool outrun(const entry& e) const
    {
        return e.offset == 0 && e.begun > 0 && d_begun - e.begun > max_behind;
    }
    template <class Over>
    void drop(std::deque<entry>& from, const Over& over, std::vector<outgoing_ptr>& to);

    std::deque<entry> d_queue;          // ready
    std::deque<entry> d_later;          // repeats that wait
    backlog d_unsent;                   // counted until the last round is over
    std::array<fair_turns, 16> d_turns; // by priority
    uint64_t d_begun = 0;               // C_PDUs of which something was sent
    counts d_open{}; // of those that are repeated, with rounds to follow
};

} // namespace gr::hf::s5066
