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
        0; //!< of its first sync bit, from the start of the transmission
    //! As received, including the sync word, which is corrected.
    std::vector<uint8_t> octets;
};

/*! \brief Finds D_PDUs in the bits of one transmission (C.3.2.1).
 *
 * D_PDUs need not start at octet boundaries, so each bit is tried as the start of a sync
 * word. The sync word must be free of errors unless set_sync_errors() allows some. After
 * a sync word without a good header the search continues one bit later. A D_PDU with a
 * good header and a bad segment is reported with segment_ok = false. The search continues
 * after its whole length, which the header CRC protects. So user data that look like a
 * D_PDU are not reported as one.
 */
class d_pdu_deframer
{
public:
    //! Wrong bits allowed in a sync word, 0 to 3.
    void set_sync_errors(unsigned bits) { d_sync_errors = bits; }
    //! Returns true if types 9 to 12 from the first to the second address are those of
    //! large windows.
    using reads_large_f = std::function<bool(address, address)>;
    //! Sets the test for large windows. Without it, or if the header does not fit ours,
    //! these types are unknown types.
    void set_large(reads_large_f f) { d_reads_large = std::move(f); }
    //! Clears the state; call at the start of a transmission.
    void reset();
    //! Takes octets from the modem; bit 0 of each arrived first.
    void push(const uint8_t* p, size_t n);
    void push(const std::vector<uint8_t>& v) { push(v.data(), v.size()); }
    //! The next complete D_PDU.
    std::optional<received_d_pdu> next() { return take(false); }
    //! After the last push(): also returns D_PDUs whose segment was cut off.
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
