/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/node/node.h"
#include "s5066/pdu/s_primitive.h"
#include "sim/air/emulated_modem.h"

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace gr::hf::sim {

/*! \brief A data link node on an emulated modem, with clients attached as callbacks.
 *
 *     scheduler s;
 *     emulated_air air(s);
 *     station a(s, air, config_a), b(s, air, config_b);
 *     auto c = b.attach([](station_time now, const s5066::s_primitive& p) { ... });
 *     b.send(c, s5066::s_bind_request{ 9, 0, {} });
 *     s.run_until(60s);
 */
class station
{
public:
    //! Gets primitives for the client.
    using client_function = std::function<void(station_time, const s5066::s_primitive&)>;
    //! Gets them as octets.
    using octets_function =
        std::function<void(station_time, const std::vector<uint8_t>&)>;

    station(scheduler& s,
            emulated_air& air,
            const s5066::node_config& config,
            const modem_config& modem = modem_config());

    //! A client connects. It may send from within the callback.
    s5066::client_id attach(client_function f);
    //! Like attach(), for clients that take the octets of primitives.
    s5066::client_id attach_octets(octets_function f);
    //! The client's connection ends.
    void detach(s5066::client_id c);
    void send(s5066::client_id c, const s5066::s_primitive& p);
    void send_octets(s5066::client_id c, const std::vector<uint8_t>& p);

    //! Power off and on. The node loses its state, clients must bind again.
    void restart(uint64_t seed);
    //! Power off until restart(). Nothing is sent or received, primitives are lost.
    void power_off();
    bool on() const { return d_modem != nullptr; }
    uint64_t restarts() const { return d_restarts; } //!< number of restarts
    //! sis_output::numbering of the primitive now being delivered to a client.
    uint64_t numbering() const { return d_numbering; }
    //! The station's clock jumps forward or back.
    void step_clock(station_time by);

    s5066::node& node() { return *d_node; }
    const s5066::node& node() const { return *d_node; }
    emulated_modem& modem() { return *d_modem; } //!< invalid while the power is off
    s5066::address address() const { return d_config.own; }

    //! Log lines and D_PDUs of the node as they occur, if it keeps them.
    std::function<void(const s5066::log_record&)> on_trace;
    std::function<void(const s5066::tap_record&)> on_tap;

private:
    void make();
    void drain();

    scheduler& d_scheduler;
    emulated_air& d_air;
    s5066::node_config d_config;
    modem_config d_modem_config;
    std::unique_ptr<s5066::node> d_node;
    std::unique_ptr<emulated_modem> d_modem;
    std::map<s5066::client_id, octets_function> d_clients;
    s5066::client_id d_next_client = 1;
    uint64_t d_restarts = 0;
    uint64_t d_numbering = 0;
    bool d_draining = false;
};

} // namespace gr::hf::sim
