/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/s_primitive.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace gr::hf::sim {

/*! \brief Fate of one U_PDU of a flow, at one of its receivers. Times are in seconds of
 *         virtual time.
 *
 * With confirmation by the node, confirmed means: the other node has acknowledged the
 * whole U_PDU and passed it to its Subnetwork Interface. That delivers it to the client
 * bound to the SAP, or drops it if there is none. With confirmation by the client, the
 * node has reported in an S_PDU that a bound client got the U_PDU.
 */
struct u_pdu_fate {
    size_t flow = 0;                  //!< index of the flow
    bool answer = false;              //!< from the flow's receiver back to its sender
    uint32_t number = 0;              //!< first four octets of the U_PDU
    size_t receiver = 0;              //!< index in the flow, if several
    std::string from, to;             //!< names of stations
    uint8_t from_sap = 0, to_sap = 0; //!< SAPs of the clients
    size_t octets = 0;
    unsigned priority = 0;
    bool arq = true;
    bool expedited = false;
    s5066::delivery_confirmation confirmation = s5066::delivery_confirmation::none;
    double submitted_s = 0;            //!< passed to the node, which may be switched off
    std::optional<double> delivered_s; //!< to the client, for the first time
    unsigned deliveries = 0;
    //! Deliveries on the same link, without a reset in between. There must be none.
    unsigned repeated_on_link = 0;
    std::optional<double> confirmed_s;                  //!< reported to the sending
                                                        //!< client
    std::optional<double> rejected_s;                   //!< reported to the sending
                                                        //!< client
    std::optional<s5066::unidata_reject_reason> reason; //!< reason of the rejection

    //! Confirmed before any delivery.
    bool missing() const
    {
        return confirmed_s && !(delivered_s && *delivered_s <= *confirmed_s);
    }
    //! The sending client got both reports.
    bool contradictory() const { return confirmed_s && rejected_s; }
};

//! Numbering of a link's D_PDUs, as the receiving node counts it.
struct numbering {
    uint64_t restarts = 0; //!< restarts of that node
    uint64_t begun = 0;    //!< see sis_output::numbering
    bool operator==(const numbering& o) const
    {
        return restarts == o.restarts && begun == o.begun;
    }
};

/*! \brief Keeps the fates of a flow's U_PDUs, in the order of submission. Some 200 octets
 *         of memory each.
 */
class fate_book
{
public:
    /*! \brief A U_PDU was passed to the node.
     *  \param f all fields up to submitted_s, for the first of its receivers
     *  \param names of all receivers
     */
    void submitted(const u_pdu_fate& f, const std::vector<std::string>& names);
    //! The U_PDU was delivered to the client of a receiver.
    void delivered(bool answer,
                   uint32_t number,
                   size_t receiver,
                   double now_s,
                   const numbering& n);
    //! The sending client got a confirmation or a rejection.
    void reported(bool answer, const s5066::s_primitive& report, double now_s);
    const std::vector<u_pdu_fate>& all() const { return d_fates; }

private:
    u_pdu_fate* find(bool answer, uint32_t number, size_t receiver);

    std::vector<u_pdu_fate> d_fates;
    std::vector<numbering> d_last; // numbering at the last delivery of each
    std::map<std::tuple<bool, uint32_t, size_t>, size_t> d_places;
};

//! "ttl_expired" and so on.
const char* to_string(s5066::unidata_reject_reason r);
//! "none", "node" or "client".
const char* to_string(s5066::delivery_confirmation c);

} // namespace gr::hf::sim
