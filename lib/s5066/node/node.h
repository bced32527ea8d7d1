/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/auth/authenticator.h"
#include "s5066/between/queue_state.h"
#include "s5066/config/code_decoder.h"
#include "s5066/config/node_config.h"
#include "s5066/config/node_log.h"
#include "s5066/config/node_stats.h"
#include "s5066/node/node_phase.h"
#include "s5066/pdu/s_primitive.h"
#include "s5066/rate/rate_policy.h"
#include "s5066/words/timers.h"

#include <hf/modem_user.h>
#include <hf/station_time.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gr::hf::s5066 {

//! The last reception of another node, for displays.
struct heard_node {
    address node;
    double snr_db = 0; //!< of the last block, in the bandwidth of its mode
    station_time at{};
};

//! State of a node, for displays.
struct node_state {
    node_phase phase = node_phase::idle;
    //! While holding or waiting for an answer: its end, if nothing else happens.
    std::optional<station_time> phase_ends;
    //! Peer of the current or last exchange.
    std::optional<address> peer;
    //! Mode of the current or last transmission.
    std::string tx_mode;
    mode_reason tx_reason = mode_reason::setting; //!< why that mode was chosen
    //! Mode of the current or last reception.
    std::string rx_mode;
    double rx_snr_db = 0;        //!< SNR of the last block
    size_t queued_octets = 0;    //!< of C_PDUs not yet sent once and of held U_PDUs
    queue_states queues;         //!< C_PDUs not completely sent, by priority
    unsigned unacknowledged = 0; //!< data D_PDUs in flight, all peers
    bool flow_on = true;
    unsigned links = 0;                        //!< made, being made or being broken
    unsigned clients = 0;                      //!< bound SAPs
    std::optional<s5066::hard_link> hard_link; //!< as our client sees it
    bool broadcast = false;                    //!< in a broadcast session
    bool emcon = false;
    std::vector<auth_peer> auth_peers; //!< peers that must or may prove themselves
    std::vector<heard_node> heard;     //!< nodes that sent us or a group of ours anything
};

/*! \brief STANAG 5066 node: Subnetwork Interface, Channel Access (type 1) and Data
 *         Transfer Sublayer of one station (Annexes A, B and C).
 *
 * It has no threads, sockets or clocks. Below it is a modem, which drives it through
 * modem_user. Above it are clients, each known by a client_id, that exchange whole
 * S_primitives. After every call, call poll_sis() until it is empty.
 *
 *     node n(config);
 *     n.sis_in(now, 1, request.data(), request.size());
 *     while (auto p = n.poll_sis()) write_to(p->client, p->octets);
 *
 * Queues are bounded: data by flow control (S_DATA_FLOW_OFF and ON), everything else by
 * fixed limits with counters. Results depend only on the calls and the seed.
 */
class node : public modem_user
{
public:
    /*! \param decode decoder of the modem's code, to repair segments from soft bits
     *         (node_config::copy_memory). Without it only octets are used.
     *  \throws std::invalid_argument if the configuration is not valid
     */
    explicit node(const node_config& config, code_decoder decode = {});
    ~node() override;
    node(const node&) = delete;
    node& operator=(const node&) = delete;

    // Clients
    /*! \brief Takes one whole S_primitive from client \p c (see sis_deframer).
     *  \details Any octets are accepted. Invalid primitives are counted, and too many
     *         unbind the client.
     */
    void sis_in(station_time now, client_id c, const uint8_t* p, size_t n);
    void sis_in(station_time now, client_id c, const std::vector<uint8_t>& p)
    {
        sis_in(now, c, p.data(), p.size());
    }
    //! The client's connection is closed: its SAP becomes free.
    void client_gone(station_time now, client_id c);
    //! The next S_primitive for a client.
    std::optional<sis_output> poll_sis();
    /*! \brief Counters of proofs, if they have changed: to be stored, and given to the next
     *         run in auth_config::state.
     *  \details After sis_in() store them before the next call of pull(), so that no
     *         counter is sent twice.
     */
    std::optional<auth_state> poll_auth_state();

    // Modem
    void on_tick(station_time now) override;
    std::optional<mode> want_tx(station_time now) override;
    tx_octets pull(station_time now, station_time air_time, size_t max_octets) override;
    void on_tx_end(station_time now) override;
    void on_rx_start(station_time now, const rx_start& e) override;
    void on_rx_octets(station_time now, const rx_octets& e) override;
    void on_rx_end(station_time now, const rx_end& e) override;
    void on_carrier(station_time now, bool present) override;
    /*! \brief The radio did not send all of the present or last transmission.
     *  \details A missing answer or missing D_PDUs then tell nothing about the channel,
     *         so the rate policy is not notified.
     *  \param reason for the log
     *  \param ended true: the modem ends the transmission now and sends nothing more of
     *         it. false: the node ends it if another transmission costs less than the
     *         rest.
     */
    void on_tx_damaged(station_time now, const std::string& reason, bool ended);

    /*! \brief When to call on_tick() and want_tx() next, if nothing else happens.
     *  \details May be in the past: then call at once. Empty: nothing to do. For
     *         simulators that jump in time; modems that tick every 10 ms need not ask.
     */
    std::optional<station_time> next_deadline() const;
    //! next_deadline() with the timer it belongs to.
    std::optional<due> next_due() const;
    /*! \brief Station time of the last call. It never runs backwards: if the clock of the
     *         callers steps back, it continues from its last value (monotonic_time).
     */
    station_time now() const;

    // Control
    const node_config& config() const;
    /*! \brief Sets another data mode, from the next transmission on. The mode for
     *         acknowledgements follows if ack_mode is "auto" or "same". Replaces a rate
     *         policy.
     *  \throws std::invalid_argument for an unknown mode, or one that the other settings
     *         do not allow (node_config::validate()); the mode then stays
     */
    void set_mode(const std::string& m);
    //! Sets the policy that chooses modes from now on.
    void set_rate_policy(std::unique_ptr<rate_policy> p);
    /*! \brief Enters or leaves a broadcast session (A.1.1.3): only non-ARQ data, no
     *         links. A node with node_config::broadcast_only is always in one.
     */
    void set_broadcast(station_time now, bool on);
    /*! \brief Emission control: while on, nothing is transmitted. Received data are
     *         delivered, but not acknowledged. Clients are notified by
     *         S_SUBNET_AVAILABILITY.
     */
    void set_emcon(station_time now, bool on);
    /*! \brief Allows the channel for all peers or one, or closes it, as link establishment
     *         (ALE) decides. Unlike in EMCON clients are not notified, and data wait.
     */
    void set_grant(station_time now, bool open, std::optional<address> only);
    //! The most urgent peer with data, whether the channel is granted or not.
    std::optional<address> wanted() const;
    //! An exchange is under way, or something can be sent.
    bool active() const;
    //! Waits for an answer in a row in which the peer with the grant was not read.
    unsigned unanswered() const;
    //! A soft link exists, or is being ended.
    bool joined() const;
    /*! \brief Sets the time: \p utc seconds since 1970 at station time \p now. For a node
     *         with node_config::system_utc; call again when the two clocks may have
     *         drifted apart.
     */
    void set_utc(station_time now, double utc);
    void set_trace(bool on);
    void set_tap(bool on);

    /*! \brief U_PDU size whose C_PDUs exactly fill whole segments of the present data
     *         mode, so that no frame header is wasted; at most the MTU.
     */
    size_t aligned_u_pdu_octets() const;

    // Observation
    const node_stats& stats() const;
    node_state state() const;
    std::optional<log_record> poll_trace();
    std::optional<tap_record> poll_tap();

private:
    class impl;
    std::unique_ptr<impl> d_impl;
};

} // namespace gr::hf::s5066
