/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/d_pdu.h"

#include <functional>

namespace gr::hf::s5066 {

//! A D_PDU found in a received bit stream.
struct received_d_pdu {
    d_pdu pdu;
    uint64_t bit_offset =
        0; //!< of its first sync bit, from the begin of the transmission
    std::vector<uint8_t> octets; //!< as received, sync included and put right
};

/*! \brief Finds D_PDUs in the bits of one transmission (C.3.2.1).
 *
 * D_PDUs need not begin at octet boundaries, so the sync word is searched for at every bit;
 * it must be free of errors unless set_sync_errors() allows some. A sync without a good header behind it costs one bit: the search
 * goes on at the next. A D_PDU with a good header but a bad segment is reported, too, with
 * segment_ok = false, and its whole length is passed over: the length is protected by the
 * header's CRC, and what looks like a D_PDU inside user data must not be taken for one.
 */
class d_pdu_deframer
{
public:
    //! Wrong bits allowed in a sync word, 0 to 3.
    void set_sync_errors(unsigned bits) { d_sync_errors = bits; }
    //! Says whether types 9 to 12 from the first to the second address are those of large windows.
    using reads_large_f = std::function<bool(address, address)>;
    //! Without it these types are unknown ones, as are those that do not look like ours.
    void set_large(reads_large_f f) { d_reads_large = std::move(f); }
    //! Forgets everything; call at the begin of a transmission.
    void reset();
    //! Octets as the modem gives them; bit 0 of each came first.
    void push(const uint8_t* p, size_t n);
    void push(const std::vector<uint8_t>& v) { push(v.data(), v.size()); }
    //! The next D_PDU that is complete.
    std::optional<received_d_pdu> next() { return take(false); }
    //! After the last push(): also gives D_PDUs whose segment was cut off.
    std::optional<received_d_pdu> next_at_end() { return take(true); }
    //! Sync words without a good header.
    uint64_t false_syncs() const { return d_false_syncs; }

private:
    std::optional<received_d_pdu> take(bool at_end);
    size_t bits_left() const { return 8 * d_buf.size() - d_bit; }
    bool is_ours(const uint8_t* head, size_t n) const;
    void copy_octets(uint8_t* out, size_t n) const;
    bool find_sync();

    std::vector<uint8_t> d_buf;
    size_t d_bit = 0;       // next bit to look at, in d_buf
    uint64_t d_dropped = 0; // octets removed from the front of d_buf
    uint64_t d_false_syncs = 0;
    unsigned d_sync_errors = 0;
    reads_large_f d_reads_large;
};

} // namespace gr::hf::s5066
