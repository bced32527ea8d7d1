/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem_interface/erasure_code.h"
#include "modem_interface/udp_codec.h"

#include <deque>
#include <map>

namespace gr::hf::modem_interface {

//! Layout of one interleaver set (A.5.2.5).
struct set_layout {
    size_t n = 6;    //!< packets
    size_t k = 2;    //!< packets that are enough to decode
    size_t rows = 1; //!< octets in each packet, L / N

    //! User octets of a set.
    size_t octets() const { return k * rows; }
    //! Table A-XVII and figure A-22. Rates above the table use the code of its last row.
    static set_layout of(uint32_t rate_bps, uint32_t blocking_bits);
};

//! The packets of a set, from set_layout::octets() user octets.
std::vector<octets> encode_set(const set_layout& s, const octets& user);
//! The user octets, if enough packets have arrived. An empty entry is a lost packet.
std::optional<octets> decode_set(const set_layout& s, const std::vector<octets>& packets);

//! Appended to the octets of a transfer (A.5.2.5.2).
extern const octets end_of_message;

//! Converts octets of one transfer to packets.
class set_encoder
{
public:
    //! \param enhanced the first set is sent as enhanced encoded data (modem to terminal)
    set_encoder(uint16_t transfer,
                uint32_t rate_bps,
                uint32_t blocking_bits,
                bool enhanced);
    void push(const octets& user);
    void finish();
    //! The next packet. The caller sets its timestamp.
    std::optional<encoded_data> poll();
    const set_layout& layout() const { return d_layout; }

private:
    void emit(bool last);

    const set_layout d_layout;
    encoded_data d_head;
    octets d_buf;
    bool d_any = false;
    std::deque<encoded_data> d_out;
};

/*! \brief Converts packets of one transfer to octets, in any order of arrival.
 *
 * Holds a window of sets. The octets of a set are returned when all earlier sets have
 * been returned or skipped.
 */
class set_decoder
{
public:
    //! False: not a packet of this transfer, or late, repeated, or too far ahead.
    bool push(const encoded_data& d);
    //! Octets that certainly do not belong to the end-of-message string.
    std::optional<octets> poll();
    //! The last set has been returned.
    bool finished() const { return d_finished; }
    //! Sets after the first one that cannot be returned yet.
    size_t sets_ahead() const;
    //! Skip the first set: zeros replace its octets.
    void skip_set();
    uint64_t lost_packets() const { return d_lost; }

private:
    struct slot {
        std::vector<octets> packets;
        size_t count = 0;
        bool last = false;
    };
    void advance();
    void give(octets user, bool last);

    bool d_begun = false;
    uint16_t d_transfer = 0;
    set_layout d_layout;
    uint64_t d_next = 0; // the first set not yet returned
    std::map<uint64_t, slot> d_sets;
    octets d_tail; // may be the start of the end-of-message string
    std::deque<octets> d_out;
    bool d_finished = false;
    uint64_t d_lost = 0;
};

} // namespace gr::hf::modem_interface
