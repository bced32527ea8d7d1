/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/node_config.h"
#include "s5066/rate/rate_policy.h"
#include "s5066/sis.h"

#include <hf/modem_user.h>
#include <hf/time.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gr::hf::s5066 {

//! Chosen by the caller: one per connection of a client, never used again after it has gone.
using client_id = uint64_t;

//! Counters since the start.
struct node_stats {
    std::array<uint64_t, 16> d_pdus_sent{};     //!< by type
    std::array<uint64_t, 16> d_pdus_received{}; //!< by type, addressed to this node
    uint64_t d_pdus_repeated = 0; //!< data D_PDUs sent again because no ACK came
    uint64_t d_pdus_fill = 0;     //!< copies in room that would have been empty
    uint64_t d_pdus_acked = 0;
    uint64_t d_pdus_duplicate = 0; //!< data D_PDUs received again
    uint64_t d_pdus_for_others = 0;
    uint64_t segment_crc_errors = 0;
    uint64_t segments_repaired = 0; //!< put together from damaged copies
    uint64_t false_syncs = 0;       //!< sync words without a good header behind them
    uint64_t transmissions = 0;
    uint64_t receptions = 0;
    uint64_t octets_sent = 0; //!< D_PDUs, on the air
    uint64_t octets_received = 0;
    uint64_t u_pdus_submitted = 0;
    uint64_t u_pdus_delivered = 0;
    uint64_t u_pdu_octets_submitted = 0;
    uint64_t u_pdu_octets_delivered = 0;
    uint64_t u_pdus_rejected = 0;
    uint64_t u_pdus_expired = 0;
    //! Sent by ARQ without confirmation, so that their clients could not be told (A.2.1.8).
    uint64_t u_pdus_lost = 0;
    uint64_t u_pdus_overflowed = 0;   //!< submitted against flow control and dropped
    uint64_t indications_dropped = 0; //!< nobody bound to the SAP, or not polled
    uint64_t warnings_sent = 0;
    uint64_t warnings_received = 0;
    uint64_t out_of_sync = 0;   //!< failures of the five synchronisation tests
    uint64_t resets = 0;        //!< resets and resynchronisations begun here
    uint64_t silent_rounds = 0; //!< transmissions that got no answer
    uint64_t tx_damaged = 0;    //!< transmissions that the radio did not send whole
    uint64_t links_made = 0;
    uint64_t links_failed = 0;
    uint64_t links_large = 0; //!< of those made, with large windows
    uint64_t invalid_primitives = 0;
    sim_time tx_time{}; //!< total time on the air
};

//! What a node does at the moment.
enum class node_phase { idle, holding, transmitting, receiving, waiting_answer };
const char* to_string(node_phase p);

//! For displays.
struct node_state {
    node_phase phase = node_phase::idle;
    std::optional<address> peer; //!< of the current or last exchange
    std::string tx_mode;         //!< of the current or last transmission
    std::string rx_mode;         //!< of the current or last reception
    double rx_snr_db = 0;        //!< of the last block
    size_t queued_octets = 0;    //!< U_PDU octets not yet sent once
    unsigned unacknowledged = 0; //!< data D_PDUs in flight, all peers
    bool flow_on = true;
    unsigned links = 0;                        //!< peers linked
    unsigned clients = 0;                      //!< bound SAPs
    std::optional<s5066::hard_link> hard_link; //!< as the client here sees it
    bool broadcast = false;                    //!< in a broadcast session
    bool emcon = false;
};

//! One line of the log.
struct trace_line {
    sim_time time{};
    std::string text;
};

//! One D_PDU as it went over the modem port.
struct tap_record {
    sim_time time{};
    bool sent = false;
    bool segment_ok = true;
    std::vector<uint8_t> octets;
};

/*! \brief STANAG 5066 node: Subnetwork Interface, Channel Access (type 1) and Data Transfer
 *         Sublayer of one station (Annexes A, B and C).
 *
 * Without threads, sockets and clocks. Below it is a modem, which drives it through
 * modem_user; above it are clients, each known by a client_id, that exchange whole
 * S_primitives. After every call drain poll_sis().
 *
 *     node n(config);
 *     n.sis_in(now, 1, request.data(), request.size());
 *     while (auto p = n.poll_sis()) write_to(p->first, p->second);
 *
 * Queues are bounded: data by flow control (S_DATA_FLOW_OFF and ON), everything else by fixed
 * limits with counters. Results depend only on the calls and the seed.
 */
class node : public modem_user
{
public:
    //! \throws std::invalid_argument if the configuration is not valid
    explicit node(const node_config& config);
    ~node() override;
    node(const node&) = delete;
    node& operator=(const node&) = delete;

    // Clients
    /*! \brief One whole S_primitive from client \p c (see sis_deframer).
     *  \details Anything may come: what is not understood is counted, and too much of it
     *  unbinds the client.
     */
    void sis_in(sim_time now, client_id c, const uint8_t* p, size_t n);
    void sis_in(sim_time now, client_id c, const std::vector<uint8_t>& p)
    {
        sis_in(now, c, p.data(), p.size());
    }
    //! The client's connection is closed: its SAP becomes free.
    void client_gone(sim_time now, client_id c);
    //! The next S_primitive for a client.
    std::optional<std::pair<client_id, std::vector<uint8_t>>> poll_sis();

    // Modem
    void on_tick(sim_time now) override;
    std::optional<mode> want_tx(sim_time now) override;
    tx_octets pull(sim_time now, sim_time air_time, size_t max_octets) override;
    void on_tx_end(sim_time now) override;
    void on_rx_start(sim_time now, const rx_start& e) override;
    void on_rx_octets(sim_time now, const rx_octets& e) override;
    void on_rx_end(sim_time now, const rx_end& e) override;
    void on_carrier(sim_time now, bool present) override;
    /*! \brief The radio says that the present or last transmission did not leave it whole.
     *  \details That no answer comes, or that D_PDUs are missing, then tells nothing of the
     *  channel, and the rate policy does not hear of it.
     *  \param reason for the log
     */
    void on_tx_damaged(sim_time now, const std::string& reason);

    /*! \brief When on_tick() and want_tx() should be called next, if nothing else happens.
     *  \details May lie in the past: then call at once. Empty: nothing to do. For simulators
     *  that jump in time; modems that tick every 10 ms need not ask.
     */
    std::optional<sim_time> next_deadline() const;

    // Control
    const node_config& config() const;
    /*! \brief Another data mode, from the next transmission on; the mode for acknowledgements
     *         follows if ack_mode is "auto" or "same". Replaces a rate policy.
     *  \throws std::invalid_argument for a mode that is not known
     */
    void set_mode(const std::string& m);
    //! Chooses modes from now on.
    void set_rate_policy(std::unique_ptr<rate_policy> p);
    /*! \brief Enters or leaves a broadcast session (A.1.1.3): only non-ARQ data, no links. A
     *         node with node_config::broadcast_only is always in one.
     */
    void set_broadcast(sim_time now, bool on);
    /*! \brief Emission control: while on, nothing is transmitted; what is received is
     *         delivered, and not acknowledged. Clients are told by S_SUBNET_AVAILABILITY.
     */
    void set_emcon(sim_time now, bool on);
    /*! \brief What the time is: \p utc seconds since 1970 at station time \p now. For a node with
     *         node_config::system_utc; again whenever the two clocks may have drifted apart.
     */
    void set_utc(sim_time now, double utc);
    void set_trace(bool on);
    void set_tap(bool on);

    /*! \brief U_PDU size whose C_PDUs fill whole segments of the present data mode
     *         exactly, so that no frame header is wasted; at most the MTU.
     */
    size_t aligned_u_pdu_octets() const;

    // Observation
    const node_stats& stats() const;
    node_state state() const;
    /*! \brief How often the numbering of D_PDUs with another node has begun anew: links made,
     *         resets and resynchronisations (C.6.3). Within one nothing is delivered twice.
     */
    uint64_t numberings(address a) const;
    std::optional<trace_line> poll_trace();
    std::optional<tap_record> poll_tap();

private:
    class impl;
    std::unique_ptr<impl> d_impl;
};

} // namespace gr::hf::s5066
