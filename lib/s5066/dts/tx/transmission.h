/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/d_pdu.h"
#include "s5066/words/max_eot.h"
#include "waveform/timing.h"

#include <hf/mode.h>
#include <hf/station_time.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::s5066 {

//! Copies of an ACK in one transmission. Our choice: a lost ACK costs a turn.
constexpr unsigned usual_ack_copies = 2;

struct peer;

//! Interleaver blocks that end within \p s seconds of the start of the first one; at
//! least one.
size_t max_blocks(const kernel::mode_timing& t, double s);

/*! \brief The transmission being sent, or the last one: its length, the octets built for
 *         it, their time on the air, and what its D_PDUs contain.
 *
 * The modem pulls, so octets are built when they are needed. The length is planned with
 * the first octets and may only be cut after that. Other classes decide the contents.
 */
class transmission
{
public:
    //! No transmission yet.
    transmission() = default;
    //! A transmission to \p to from \p now on. \throws std::invalid_argument for a mode
    //! that no modem can send
    transmission(station_time now, peer& to, const gr::hf::mode& m)
        : d_to(&to), d_mode(m), d_timing(kernel::timing_of(m)), d_begin(now)
    {
    }

    peer* to() const { return d_to; }
    const gr::hf::mode& mode() const { return d_mode; }
    const kernel::mode_timing& timing() const { return d_timing; }
    //! Time of the first symbol after the preamble; before planning, time of the
    //! decision.
    station_time begin() const { return d_begin; }

    // Length
    //! Sets the time at which the first octet is on the air.
    void set_begin(station_time air_time) { d_begin = air_time; }
    //! Plans its length in interleaver blocks.
    void set_blocks(size_t blocks);
    bool planned() const { return d_planned; }
    size_t blocks() const { return d_blocks; }
    station_time air_time_at(size_t octet) const;
    station_time end() const;
    //! When it counts as over, whatever the modem reports.
    station_time overdue_at() const;
    //! EOT (C.3.2.3) of a D_PDU that starts at \p octet.
    uint8_t eot_at(size_t octet) const;

    // Octets
    size_t produced() const { return d_produced; }
    size_t room() const { return d_octets - d_produced; }
    //! Adds an encoded D_PDU, which must fit into room().
    void append(const d_pdu& d, const std::vector<uint8_t>& octets);
    //! Octets built and not taken.
    size_t waiting() const { return d_buffer.size(); }
    //! Takes at most \p max_octets of them.
    std::vector<uint8_t> take(size_t max_octets);
    //! No more octets are built for it.
    void close() { d_closed = true; }
    //! Closes it and discards the octets not taken.
    void end_early()
    {
        d_closed = true;
        d_buffer.clear();
    }
    bool closed() const { return d_closed; }

    // Contents
    //! It has client data.
    bool has_data() const { return d_data; }
    //! It acknowledges everything received so far.
    bool ack_sent() const { return d_ack_sent; }
    //! More was received from \p p after the acknowledgement.
    void outdate_ack(const peer& p) { d_ack_sent = d_ack_sent && d_to != &p; }
    bool answer_wanted() const { return d_answer_wanted; }
    void want_answer() { d_answer_wanted = true; }
    //! The radio did not send all of it.
    bool damaged() const { return d_damaged; }
    void set_damaged() { d_damaged = true; }
    //! It ended before all its octets were sent.
    bool cut() const { return d_cut; }
    void set_cut() { d_damaged = d_cut = true; }
    /*! \brief Air time of another transmission instead of the rest of this one, s: the
     *         blocks that end this one, and the preamble.
     */
    double restart_s() const;

private:
    void note(const d_pdu& d);

    peer* d_to = nullptr;
    gr::hf::mode d_mode;
    kernel::mode_timing d_timing;
    station_time d_begin{};
    bool d_planned = false;
    size_t d_blocks = 0;
    size_t d_octets = 0;   // capacity of the blocks
    size_t d_produced = 0; // D_PDU octets built so far
    std::vector<uint8_t> d_buffer;
    bool d_closed = false;
    bool d_data = false;
    bool d_ack_sent = false;
    bool d_answer_wanted = false;
    bool d_damaged = false;
    bool d_cut = false;
};

} // namespace gr::hf::s5066
