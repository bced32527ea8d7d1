/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/station_time.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace gr::hf::s5066 {

//! Number of a flow: equal ones are the same flow.
using flow_number = uint32_t;

/*! \brief The flow that an encoded DATA S_PDU belongs to, in either direction.
 *  \details Its two SAPs, and the second octet of its U_PDU. That is the number of the
 *         stream in U_PDUs of SLEP.
 */
flow_number flow_of(const uint8_t* s_pdu, size_t octets);

/*! \brief Short transmissions allowed to one peer for conversations of many turns: a
 *         credit for each flow, refilled with time, and a larger one for all together.
 */
class flow_credits
{
public:
    static constexpr double most = 14;         //!< of a flow
    static constexpr double max_of_all = 56;   //!< of all flows together
    static constexpr double refill_s = 120;    //!< time for one more, of a flow
    static constexpr double refill_all_s = 30; //!< time for one more, of all together

    //! \p flow has an application that waits. What follows concerns this flow.
    void prompted(station_time now, flow_number flow);
    //! Time passes.
    void refill(station_time now);
    //! True if another short transmission is allowed.
    bool left() const { return d_all >= 1 && present() >= 1; }
    //! A short transmission was sent.
    void take();

private:
    static constexpr size_t max_flows = 16;
    struct credit {
        double left = most;
        station_time used{};
    };
    double present() const;

    std::map<flow_number, credit> d_flows;
    flow_number d_flow = 0;
    double d_all = max_of_all;
    station_time d_at{};
};

} // namespace gr::hf::s5066
