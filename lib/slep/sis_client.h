/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/s_primitive.h"
#include <hf/station_time.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief The common part of all subnetwork clients (Annex A.3): keeps one SAP bound,
 *         answers keep-alives, follows the flow control of the node.
 *
 * Sans-I/O. The owner passes every primitive from the node to primitive_in() first. The
 * result contains only what concerns U_PDUs.
 */
class sis_client
{
public:
    struct config {
        uint8_t sap = 0;       //!< 0 to 15
        uint8_t rank = 0;      //!< 0 to 14; 15 is for management
        delivery_mode service; //!< service for the bind; its mode must not be default_
        station_time rebind_wait =
            station_time(5'000'000'000); //!< pause after a refused or lost bind
        station_time bind_wait =
            station_time(30'000'000'000); //!< a bind without an answer is repeated

        //! ARQ, confirmed by the far node, in order of arrival. SLEP and the IP client
        //! bind it.
        static config confirmed(uint8_t sap, uint8_t rank);
    };

    //! \throws std::invalid_argument names the value and what is allowed.
    explicit sis_client(const config& c);

    //! Change of the binding.
    enum class change { none, bound, unbound, flow_on };
    struct result {
        change what = change::none;
        //! S_UNIDATA_INDICATION, _CONFIRM or _REJECTED, normal or expedited.
        std::optional<s_primitive> data;
        std::optional<s_management_msg_indication> message; //!< from the node itself
    };

    //! One whole primitive from the node. invalid() counts bad ones.
    result primitive_in(station_time now, const uint8_t* p, size_t n);
    //! The connection to the node was lost and is new. Binds again now.
    void reset(station_time now);
    //! Next binding or keep-alive primitive. The owner sends them before data.
    std::optional<std::vector<uint8_t>> poll();

    bool bound() const { return d_state == state::bound; }
    //! Bound, and the node accepts data.
    bool ready() const { return bound() && !d_flow_off; }
    //! MTU from S_BIND_ACCEPTED. sis_mtu before it arrives.
    size_t mtu() const { return d_mtu; }
    //! Primitives that were malformed, or not for a client.
    uint64_t invalid() const { return d_invalid; }
    uint8_t sap() const { return d_config.sap; }

    std::optional<station_time> next_deadline() const;
    void on_deadline(station_time now);

private:
    enum class state { asking, bound, waiting };
    void ask(station_time now);
    void wait(station_time now);

    config d_config;
    state d_state = state::asking;
    bool d_flow_off = false;
    size_t d_mtu = sis_mtu;
    uint64_t d_invalid = 0;
    station_time d_ask_at{};
    std::deque<std::vector<uint8_t>> d_out;
};

} // namespace gr::hf::s5066
