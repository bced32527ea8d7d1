/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/between/backlog.h"
#include "s5066/between/outgoing.h"
#include "s5066/dts/arq/c_pdu_queue.h"
#include "s5066/pdu/d_pdu.h"
#include "s5066/pdu/fsn.h"

#include <deque>

namespace gr::hf::s5066 {

/*! \brief Sending half of the selective repeat ARQ with one peer (C.6.2): queue, window,
 *         segmentation, repeats.
 */
class arq_sender
{
public:
    //! \param window most D_PDUs without ACK, 1 to 128; 1 to 32768 if \p large
    //! \param large frame sequence numbers modulo 65536
    explicit arq_sender(unsigned window, bool large = false)
        : d_window_limit(window), d_space(large)
    {
    }
    /*! \brief Most segment octets from TX LWE to TX UWE. Bounds the memory of both ends
     *         with large windows.
     */
    void set_window_octets(size_t octets) { d_window_octets = octets; }

    //! A segment to send.
    struct out {
        arq_header header;
        const uint8_t* segment = nullptr;
        size_t size = 0;
        bool repeat = false;
    };

    //! Segments of the last transmission.
    struct tally {
        unsigned sent = 0;
        unsigned lost = 0;        //!< of those sent, not acknowledged
        unsigned runs = 0;        //!< groups of adjacent lost segments
        unsigned lost_at_end = 0; //!< the last ones in a row that were lost
        size_t octets = 0; //!< of those sent, each counted once, with D_PDU headers
    };

    void submit(outgoing_ptr o);
    //! Nothing is queued or in flight.
    bool idle() const { return d_frames.empty() && !has_new(); }
    //! A new segment could be sent.
    bool can_send_new() const { return has_new() && window_open(); }
    unsigned unacknowledged() const { return d_unacknowledged; }
    //! C_PDU octets not sent yet.
    const backlog& unsent() const { return d_unsent; }
    //! Adds the C_PDUs that are not completely sent.
    void add_waiting(queue_states& all) const
    {
        if (d_current)
            all.add(*d_current);
        d_queue.add_waiting(all);
    }
    uint16_t lwe() const { return d_lwe; }
    //! The number before TX LWE: acknowledged, or never used.
    uint16_t before_lwe() const { return d_space.add(d_lwe, -1); }
    //! Most D_PDUs without ACK.
    unsigned window() const { return d_window_limit; }
    //! Sets the window and the size of its numbers; all C_PDUs start again.
    void set_window(unsigned window, bool large);
    //! True if a C_PDU less urgent than \p priority is queued or not acknowledged.
    bool holds_below(uint8_t priority) const;
    /*! \brief Highest priority of the C_PDUs that are not completely sent.
     *  \details A C_PDU of lower priority may be under way. It delays the urgent one behind it,
     *         so its segments are as urgent.
     */
    uint8_t next_priority() const;
    //! The highest of next_priority() and the priorities of the segments without ACK.
    uint8_t urgency() const;

    /*! \brief Sets the segment length for the next C_PDUs.
     *  \param octets 1 to 1023
     *  \param equal_parts true: the same number of pieces, all of equal length
     */
    void set_segment(size_t octets, bool equal_parts);
    //! Octets of a full segment.
    size_t segment() const { return d_segment; }

    //! Allows shorter new segments that fill the room at the end of a transmission
    //! (EP11).
    void set_variable(bool on) { d_variable = on; }

    //! From here on next() repeats each unacknowledged segment once.
    void begin_transmission();
    /*! \brief Octets of the D_PDUs that next() would return, as many as fit into
     *         \p limit.
     *  \param overhead octets of a D_PDU besides its segment
     *  \param with_new false: only repeats
     */
    size_t pending_octets(size_t overhead, size_t limit, bool with_new) const;
    //! D_PDU octets of the first segment that next() would return.
    size_t first_octets(size_t overhead) const;
    /*! \brief The next segment whose D_PDU has at most \p room octets: repeats first,
     *         oldest first, then new ones.
     */
    std::optional<out> next(size_t room, size_t overhead, bool with_new);
    /*! \brief Another copy of an unacknowledged segment, for otherwise empty room.
     *         Segments lost before go first.
     */
    std::optional<out> copy(size_t room, size_t overhead);

    //! Synchronisation tests 4 and 5.
    bool in_sync(const ack_header& a) const;
    //! Applies an ACK that is in sync; appends completed C_PDUs to \p done.
    unsigned acknowledge(const ack_header& a, std::vector<outgoing_ptr>& done);
    tally last_transmission() const;
    //! Octets of the longest segment that is not acknowledged.
    size_t longest_in_flight() const;

    /*! \brief C_PDUs past their TTL: removed, or the rest is sent with the DROP flag.
     *  \details Not one that was sent completely, while the answer is awaited that tells
     *         whether it has arrived.
     */
    void expire(station_time now, std::vector<outgoing_ptr>& expired);
    /*! \brief True if a C_PDU past its TTL was sent completely, and no answer since tells
     *         whether it has arrived.
     */
    bool doubts(station_time now) const;
    /*! \brief Empties the window and continues the numbers at \p lwe. C_PDUs not
     *         completely acknowledged start again from their first octet.
     *  \details In a full reset the standard allows discarding them. Starting again loses
     *         nothing (our choice). The same holds for windows moved by RESET RX WIN
     *         CMND, because their receiver drops incomplete C_PDUs.
     */
    void rewind(uint16_t lwe);
    //! Removes and returns the C_PDUs not started; the window stays as it is.
    std::vector<outgoing_ptr> take_queued();
    //! Removes and returns all C_PDUs: queue and window are empty afterwards.
    std::vector<outgoing_ptr> take_all();

private:
    struct frame {
        outgoing_ptr o;
        size_t offset = 0;
        size_t size = 0;
        bool start = false;
        bool end = false;
        bool acked = false;
        bool missed = false;   // an answer since it was last sent does not acknowledge it
        bool due = false;      // not yet sent in this transmission
        bool in_tx = false;    // sent in this transmission
        bool repeated = false; // also sent in an earlier one
        unsigned copies = 0;   // in this transmission
    };

    struct fate {
        bool open = false;   // not acknowledged
        bool missed = false; // known to be missing
        bool again = false;  // to be sent again
    };

    bool window_open() const
    {
        return d_frames.size() < d_window_limit && d_in_window < d_window_octets;
    }
    bool has_new() const { return d_current || !d_queue.empty(); }
    size_t next_new_size() const;
    struct c_pdu_fates;
    frame& cut_new(size_t octets);
    out give(size_t index, bool repeat);
    static void settle(const frame& f, std::vector<outgoing_ptr>& done);
    void mark_acked(frame& f, std::vector<outgoing_ptr>& done, unsigned& n);
    size_t segment_for(size_t c_pdu) const;

    unsigned d_window_limit;
    size_t d_window_octets = SIZE_MAX;
    fsn_space d_space;
    size_t d_segment = 200;
    bool d_equal_parts = true;
    bool d_variable = false;
    uint16_t d_lwe = 0;
    std::deque<frame> d_frames; // d_frames[0] is TX LWE
    size_t d_in_window = 0;     // segment octets in d_frames
    unsigned d_unacknowledged = 0;
    size_t d_due_at = 0; // no frame before this one is due
    c_pdu_queue d_queue;
    outgoing_ptr d_current; // being cut
    backlog d_unsent;
    size_t d_copy_at = 0;
    unsigned d_sent_in_tx = 0;
    size_t d_octets_in_tx = 0;
};

} // namespace gr::hf::s5066
