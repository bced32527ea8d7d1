/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/dts/exchange/non_arq_receiver.h"
#include "s5066/dts/peer/node_context.h"
#include "s5066/dts/rx/soft_copies.h"
#include "s5066/dts/tx/resets.h"
#include "s5066/dts/tx/transmission.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief Takes D_PDUs with data and acknowledgements, and passes whole C_PDUs up: ARQ
 *         and expedited ARQ of connections (C.6.2), and data without ARQ (C.3.2.10).
 */
class data_receiver
{
public:
    /*! \param tx the present transmission, whose acknowledgement may become outdated
     *  \param decode of the modem's code; without it soft bits are not used
     */
    data_receiver(node_context& node, transmission& tx, resets& r, code_decoder decode)
        : d_node(node), d_tx(tx), d_resets(r), d_soft(std::move(decode))
    {
    }

    //! Types 0 and 2. \return false if \p p has restarted and does not know the
    //! connection
    bool on_data(station_time now, peer& p, const d_pdu& d);
    //! C_PDUs that a link request has completed, see arq_receiver::restart().
    void on_new_link(station_time now, peer& p)
    {
        deliver_arq(now, p, p.arq.rx.take_ready(), false);
    }
    //! Types 1 and 2.
    void on_ack(station_time now, peer& p, const d_pdu& d);
    //! Type 4.
    void on_expedited_data(station_time now, peer& p, const d_pdu& d);
    //! Type 5.
    void on_expedited_ack(station_time now, peer& p, const d_pdu& d);
    //! Types 7 and 8.
    void on_non_arq(station_time now, const d_pdu& d);
    //! Call regularly: passes up C_PDUs that were not complete in time, and forgets old
    //! copies.
    void expire(station_time now);
    //! No data without ARQ are awaited.
    bool empty() const { return d_non_arq.empty(); }

private:
    std::optional<std::vector<uint8_t>>
    repaired(station_time now, peer& p, const d_pdu& d);
    void deliver_arq(station_time now,
                     peer& p,
                     const std::vector<std::vector<uint8_t>>& c_pdus,
                     bool expedited);
    void deliver(station_time now, const non_arq_c_pdu& c);

    node_context& d_node;
    transmission& d_tx;
    resets& d_resets;
    soft_copies d_soft;
    non_arq_receiver d_non_arq;
};

} // namespace gr::hf::s5066
