/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/access/channel_access.h"
#include "s5066/cas/soft_links.h"
#include "s5066/dts/peer/peer.h"
#include "s5066/dts/tx/d_pdu_maker.h"
#include "s5066/dts/tx/orderwire.h"
#include "s5066/dts/tx/resets.h"
#include "s5066/dts/tx/segment_length.h"
#include "s5066/dts/tx/transmission_builder.h"
#include "s5066/dts/tx/transmission_planner.h"
#include "s5066/node/d_pdu_dispatcher.h"
#include "s5066/node/node.h"
#include "s5066/node/turns.h"
#include "s5066/rate/adaptive_rate.h"
#include "s5066/sis/sis_server.h"
#include "s5066/words/monotonic_time.h"
#include "waveform/timing.h"

namespace gr::hf::s5066 {

/*! \brief Conductor of one node: passes events from clients, modem and time to the
 *         sublayers, in the right order, and has no rules of its own.
 *
 * | part | Annex | duty |
 * |---|---|---|
 * | sis_server | A | clients, U_PDUs, hard links |
 * | soft_links | B | physical links |
 * | turns, channel_access | - | when to transmit, and to whom |
 * | transmission_planner, transmission_builder | C | contents of a transmission |
 * | incoming_transmission, d_pdu_dispatcher | C | contents of a reception |
 * | data_receiver, resets, orderwire | C | handling of D_PDUs of each kind |
 *
 * Shared data are in node_context. The conductor's own files are node.cc (clients,
 * control, time), node_transmit.cc and node_receive.cc.
 */
class node::impl : public sis_lower
{
public:
    impl(const node_config& config, code_decoder decode);

    // sis_lower
    void submit(station_time now, outgoing_ptr o) override;
    backlog unsent() const override;
    void make_link(station_time now, address a) override;
    void break_link(station_time now, address a) override;
    void break_nonexclusive(station_time now) override;
    std::vector<outgoing_ptr> withdraw() override;
    bool takes_compact_confirm(address a) const override;

    // Modem
    void on_tick(station_time now);
    std::optional<gr::hf::mode> want_tx(station_time now);
    tx_octets pull(station_time now, station_time air_time, size_t max_octets);
    void on_tx_end(station_time now);
    void on_rx_start(station_time now, const rx_start& e);
    void on_rx_octets(station_time now, const rx_octets& e);
    void on_rx_end(station_time now, const rx_end& e);
    void on_carrier(station_time now, bool present);
    void on_tx_damaged(station_time now, const std::string& reason, bool ended);
    std::optional<due> next_due() const;

    void set_mode(const std::string& m);
    size_t aligned_u_pdu_octets() const;
    void set_broadcast(station_time now, bool on);
    void set_utc(station_time now, double utc);
    void set_emcon(station_time now, bool on);
    turns& whose_turn() { return d_turns; }
    node_state state() const;

    node_context d_node;
    sis_server d_sis;
    monotonic_time d_time; // source of all station times in the sublayers

private:
    // Peers
    peer* get_peer(address a);
    bool forgettable(const peer& p) const;

    // Transmission (node_transmit.cc)
    void begin_transmission(station_time now, peer& p);
    void on_silence(station_time now, peer& p);
    void repeat_management(station_time now, peer& p);
    void management_lost(station_time now, peer& p);

    // Reception (node_receive.cc)
    void on_received(station_time now, const received_d_pdu& r);
    void after_reception(station_time now);
    //! Time when the reception counts as over, whatever the modem reports; empty if there
    //! is none.
    std::optional<incoming_transmission::overdue> rx_end_overdue() const;
    void end_overdue_reception(station_time now);
    //! Counts and logs D_PDUs without a readable header.
    void note_unread(station_time now, const address& from, unsigned d_pdus);
    void measure_loss(station_time now, peer& p);

    // Time (node.cc)
    void housekeeping(station_time now);
    bool housekeeping_needed() const;
    void update_water_marks();

    // Time to transmit
    channel_access d_access;

    // Transmission
    transmission d_tx;
    d_pdu_maker d_maker{ d_node, d_tx };

    // Duties towards peers
    resets d_resets{ d_node, d_maker };
    orderwire d_orderwire{ d_node, d_maker };
    soft_links d_links{ d_node, d_access, d_maker };
    turns d_turns{ d_node, d_access, d_links };

    // Contents of the transmission
    transmission_plan d_plan;
    transmission_length d_length{ d_node, d_access, d_tx };
    transmission_planner d_planner{ d_node,  d_tx,     d_plan,     d_length,
                                    d_maker, d_resets, d_orderwire };
    transmission_builder d_builder{ d_node, d_access, d_tx, d_plan, d_length, d_maker };

    // Reception
    data_receiver d_data;
    incoming_transmission d_rx;
    // The modem has not reported the end of a reception that is over.
    bool d_rx_overdue = false;
    d_pdu_dispatcher d_dispatcher{ d_node, d_rx,     d_maker,    d_links,
                                   d_data, d_resets, d_orderwire };

    station_time d_housekeeping_at{};
    std::optional<address> d_shown_peer;
};

} // namespace gr::hf::s5066
