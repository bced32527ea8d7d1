/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/words/octets.h"

#include <cstdint>

namespace gr::hf::s5066 {

//! Common header of the segments of RCOP, UDOP (F.6, F.7) and CFTP.
struct segment_header {
    uint8_t connection = 0; //!< 0 to 15
    uint8_t id = 0;         //!< U_PDU ID: consecutive in a connection
    uint16_t segment = 0;   //!< from 0
};

inline void write(octet_writer& w, const segment_header& h)
{
    w.u8(static_cast<unsigned>(h.connection << 4));
    w.u8(h.id);
    w.u16(h.segment);
}

//! \returns false if the reserved bits are not zero or octets are missing.
inline bool read(octet_reader& r, segment_header& h)
{
    const uint8_t first = r.u8();
    h.connection = first >> 4;
    h.id = r.u8();
    h.segment = r.u16();
    return r.ok() && (first & 0x0f) == 0;
}

} // namespace gr::hf::s5066
