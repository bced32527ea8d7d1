/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/block.h>
#include <hf/api.h>
#include <hf/traffic_state.h>

#include <cstdint>
#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Subnetwork client that sends a given number of octets and counts what it
 *         receives.
 *  \ingroup hf
 *
 * For measuring a data link without TCP or IP above it. Message port \c sis (in and out)
 * connects to hf.data_link, \c log (out) has log lines like those of hf.data_link. Octets
 * follow a pattern, which the receiving side checks. In lock step it is deterministic.
 */
class HF_API traffic : virtual public gr::block
{
public:
    typedef std::shared_ptr<traffic> sptr; //!< pointer type for flowgraphs
    /*! \param peer STANAG 5066 address of the far node, for example 1.2.0.2
     *  \param octets octets to send in all, 0 or more; 0: only receive
     *  \param u_pdu_octets size of one U_PDU, 8 to 2048
     *  \param sap SAP at both ends, 0 to 15
     *  \param arq false: data is not acknowledged
     *  \throws std::invalid_argument
     */
    static sptr make(const std::string& peer,
                     uint64_t octets = 0,
                     size_t u_pdu_octets = 2042,
                     int sap = 12,
                     bool arq = true);

    virtual traffic_state state() const = 0; //!< any thread may call it
};

} // namespace gr::hf
