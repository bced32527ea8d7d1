/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/between/link_report.h"
#include "s5066/between/outgoing.h"

#include <hf/station_time.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gr::hf::s5066 {

//! Origin of a received S_PDU.
struct s_pdu_origin {
    address src;
    address dst;
    transmission_mode mode = transmission_mode::arq;
    bool expedited = false;
    uint64_t numbering = 0; //!< see sis_output
    //! (offset, length) of damaged and missing parts of the C_PDU, non-ARQ only.
    std::vector<std::pair<uint16_t, uint16_t>> errored;
    std::vector<std::pair<uint16_t, uint16_t>> missing;
};

//! Calls from the sublayers below up to the Subnetwork Interface Sublayer; sis_lower is
//! the opposite direction.
class sis_upper
{
public:
    virtual ~sis_upper() = default;
    //! An S_PDU was received. \return priority of its U_PDU; 0 if it has none
    virtual unsigned
    on_s_pdu(station_time now, const s_pdu_origin& from, const uint8_t* p, size_t n) = 0;
    //! The peer has acknowledged all of \p o.
    virtual void on_delivered(station_time now, const outgoing& o) = 0;
    //! \p o will not be delivered. \return false if its client cannot be notified
    virtual bool on_failed(const outgoing& o, unidata_reject_reason reason) = 0;
    //! An exclusive physical link was made.
    virtual void on_link_made(station_time now, address a) = 0;
    //! An exclusive physical link ended, or could not be made.
    virtual void on_link_down(station_time now, address a) = 0;
    //! True if the exclusive link with \p a must not end for being idle.
    virtual bool hard_link_uses(address a) const = 0;
    //! A peer does not answer, or is heard again.
    virtual void on_report(const link_report& r) = 0;
    //! The queues have become shorter.
    virtual void update_flow() = 0;
};

} // namespace gr::hf::s5066
