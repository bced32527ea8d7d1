/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/channel_share.h"
#include "s5066/deframer.h"
#include "s5066/node.h"
#include "s5066/non_arq.h"
#include "s5066/peer.h"
#include "s5066/rate/adaptive_rate.h"
#include "s5066/sis_server.h"
#include "waveform/timing.h"

#include <map>
#include <random>

namespace gr::hf::s5066 {

/*! \brief Channel access and data transfer of a node. The parts are in node_turns.cc (when to
 *         transmit), node_tx.cc (what), node_length.cc (how much), node_rx.cc (D_PDUs
 *         received) and node_link.cc (links).
 */
class node::impl : public sis_lower
{
    // Longest time that EOT can tell
    static constexpr double max_eot_s = 127.5;
    // Of a transmission that asks for the answer that did not come, if there are data.
    static constexpr unsigned probe_blocks = 4;
    // Turns in a row in which a peer with data may send none, because others come first.
    static constexpr unsigned most_yields = 2;

public:
    explicit impl(const node_config& config);

    // sis_lower
    void submit(sim_time now, outgoing_ptr o) override;
    backlog unsent() const override;
    void make_link(sim_time now, address a) override;
    void break_link(sim_time now, address a) override;
    void break_nonexclusive(sim_time now) override;
    std::vector<outgoing_ptr> withdraw() override;
    bool takes_compact_confirm(address a) const override;

    // Modem
    void on_tick(sim_time now);
    std::optional<gr::hf::mode> want_tx(sim_time now);
    tx_octets pull(sim_time now, sim_time air_time, size_t max_octets);
    void on_tx_end(sim_time now);
    void on_rx_start(sim_time now, const rx_start& e);
    void on_rx_octets(sim_time now, const rx_octets& e);
    void on_rx_end(sim_time now, const rx_end& e);
    void on_carrier(sim_time now, bool present);
    void on_tx_damaged(sim_time now, const std::string& reason);
    std::optional<sim_time> next_deadline() const;

    void set_mode(const std::string& m);
    void set_rate_policy(std::unique_ptr<rate_policy> p) { d_policy = std::move(p); }
    size_t aligned_u_pdu_octets() const;
    void set_broadcast(sim_time now, bool on);
    void set_utc(sim_time now, double utc);
    void set_emcon(sim_time now, bool on);
    node_state state() const;
    peer* find_peer(address a) const;

    node_config d_config;
    node_stats d_stats;
    sis_server d_sis;
    std::deque<trace_line> d_trace;
    std::deque<tap_record> d_tap;

private:
    // The transmission that is being sent.
    struct transmission {
        peer* to = nullptr;
        gr::hf::mode m;
        kernel::mode_timing timing;
        bool planned = false;
        size_t blocks = 0;
        size_t octets = 0;   // that fit into the blocks
        size_t produced = 0; // D_PDU octets built so far
        std::vector<uint8_t> buffer;
        size_t taken = 0;           // of the buffer
        std::vector<d_pdu> control; // control D_PDUs, for copies
        size_t next_control = 0;
        std::optional<d_pdu> opening; // of them, without which nothing behind it counts
        size_t opening_again = SIZE_MAX; // copy of it when so many octets are produced
        std::vector<ack_header> acks;    // ACK-ONLY D_PDUs to send
        size_t next_ack = 0;
        bool ack_sent = false; // of all that was received
        unsigned expedited_acks_due = 0;
        unsigned data_acks = 0; // data D_PDUs that still carry an ACK
        bool with_new = true;
        bool answer_wanted = false;
        bool data = false; // has some
        bool ended = false;
        bool damaged = false; // by the radio
        size_t next_fill = 0;
        sim_time begin{};
        double longest_s = 0;   // the policy's limit
        bool ask = false;       // for an ACK, without data
        bool tell = false;      // our extensions
        bool contended = false; // others may have begun at the same time
        bool no_data = false;   // others wait for the channel, or ask
    };
    struct start {
        sim_time at{};
        peer* to = nullptr;
    };
    // Of exclusive links, for the sublayer above; told when no peer is being worked on.
    struct link_event {
        address addr;
        bool made = false;
    };

    // Peers
    peer* get_peer(address a);
    bool forgettable(const peer& p) const;

    // Turns (node_turns.cc)
    std::optional<start> next_start() const;
    std::optional<start> next_start_duplex() const;
    bool has_data(const peer& p) const;
    bool sendable(const peer& p) const;
    bool control_waiting(const peer& p) const;
    static unsigned urgency(const peer& p);
    bool outranked(const peer& p, sim_time now) const;
    bool may_call(const peer& p) const;
    sim_time noticed_after() const; // another's transmission, from its begin
    double turnaround_s() const;
    double hold_s() const;
    sim_time guard_time() const;
    double answer_wait_s() const; // from the own end
    sim_time back_off(const peer& p);
    void note_station(sim_time now, address a);
    bool shared() const { return d_stations_heard > 1; }
    // Until the other end of a link has had its turn, in seconds.
    double cycle_s() const { return shared() ? d_config.share_cycle_s : 0; }
    sim_time shared_slot() const;
    sim_time turn_length() const;
    bool held_long(sim_time at) const;
    bool gap_due(sim_time at, sim_time length) const;
    bool crowded(sim_time at) const;
    bool others_first() const;
    bool must_yield() const;
    void note_begin(sim_time begin, address a);
    void note_unknown(sim_time noticed);
    unsigned chances() const;
    unsigned contention_slot(sim_time end);
    // From the end of a transmission to one that is no answer.
    sim_time wait_of_others(sim_time end);
    sim_time wait_after_own(sim_time end, const peer& p);
    sim_time wait_of_heard(sim_time end);
    bool long_run() const;
    bool tried_enough(sim_time now, const peer& p) const; // to call it
    void on_silence(sim_time now, peer& p);
    void housekeeping(sim_time now);
    bool housekeeping_needed() const;

    // Transmission (node_tx.cc)
    void begin_transmission(sim_time now, peer& p);
    bool ack_only(const peer& p) const;
    size_t segment_length(const peer& p, const gr::hf::mode& m) const;
    void plan();
    bool build_next(sim_time now);
    bool build_fill();
    bool emit(sim_time now, d_pdu d);
    bool emit_non_arq(sim_time now);
    bool emit_expedited(sim_time now, bool fill);
    bool emit_expedited_ack(sim_time now);
    bool emit_data(sim_time now, const arq_sender::out& o, bool fill);
    sim_time air_time_at(size_t octet) const;
    sim_time end_of_transmission() const;
    uint8_t eot_at(size_t octet) const;
    std::deque<non_arq_out>::iterator
    give_up_non_arq(peer& p, std::deque<non_arq_out>::iterator it);
    size_t room() const { return d_tx.octets - d_tx.produced; }
    size_t data_overhead() const;
    size_t non_arq_overhead() const;
    size_t ack_octets(const peer& p, const ack_header& a) const;
    unsigned ack_copies(const peer& p, size_t octets) const;
    size_t plan_acks(const peer& p);
    size_t plan_opening(size_t need);
    bool emit_opening(sim_time now);
    d_pdu make(const peer& p, d_pdu_type type) const;
    double
    turn_s(const peer& p) const; // from the end of the own data to the begin of the next
    double prompt_least_s(const peer& p) const;
    double prompt_longest_s(sim_time now, const peer& p) const;
    void shorten(const peer& p, size_t octets);
    size_t fitting_blocks(const peer& p, size_t before, size_t longest) const;
    size_t max_blocks(const kernel::mode_timing& t, double longest_s) const;
    void fit_segments(sim_time now, peer& p);
    bool emit_question(sim_time now);
    bool recut_needed(const peer& p, const gr::hf::mode& m) const;
    d_pdu make_arq(const peer& p, d_pdu_type type) const;
    void bound_window(peer& p);
    uint16_t eow_for(const peer& p) const;

    // Reception (node_rx.cc)
    void on_received(sim_time now, const received_d_pdu& r);
    void on_d_pdu(sim_time now, peer& p, const d_pdu& d);
    void on_eow(sim_time now, peer& p, const d_pdu& d);
    void on_connected(sim_time now, peer& p, const d_pdu& d);
    void hold_early(const d_pdu& d);
    void take_early(sim_time now, peer& p);
    void warn_of_early(sim_time now);
    std::vector<d_pdu> last_acks(const peer& p) const;
    void push_last_acks(peer& p);
    void on_data(sim_time now, peer& p, const d_pdu& d);
    void on_ack(sim_time now, peer& p, const d_pdu& d);
    void on_expedited_data(sim_time now, peer& p, const d_pdu& d);
    void on_expedited_ack(sim_time now, peer& p, const d_pdu& d);
    void deliver_arq(sim_time now,
                     peer& p,
                     const std::vector<std::vector<uint8_t>>& c_pdus,
                     bool expedited);
    void on_reset(sim_time now, peer& p, const d_pdu& d);
    void on_management(sim_time now, peer& p, const d_pdu& d);
    void begin_rate_change(sim_time now, peer& p, const gr::hf::mode& wanted);
    d_pdu make_management(sim_time now, peer& p);
    void repeat_management(sim_time now, peer& p);
    void management_lost(sim_time now, peer& p);
    void send_empty_data(peer& p);
    uint8_t capabilities() const;
    uint8_t extensions() const;
    void on_non_arq(sim_time now, peer* p, const d_pdu& d);
    void on_warning(sim_time now, peer& p, const d_pdu& d);
    void deliver(sim_time now, const non_arq_c_pdu& c);
    void out_of_sync(sim_time now, peer& p, bool own_window);
    void begin_reset(peer& p, const reset_header& h);
    void warn(sim_time now, peer& p, const d_pdu& d, uint8_t reason);
    void after_reception(sim_time now);
    peer* unread_sender() const;
    void measure_loss(sim_time now, peer& p);
    void note_eot(const received_d_pdu& r);
    void note_turn(const d_pdu& d);

    // Links (node_link.cc)
    void call(sim_time now, peer& p);
    void link_made(sim_time now, peer& p, bool exclusive);
    void link_lost(sim_time now, peer& p, unidata_reject_reason reason);
    void link_closed(peer& p);
    void on_link_c_pdu(sim_time now, peer& p, const c_pdu& c, const non_arq_header& h);
    d_pdu make_link_c_pdu(const peer& p, c_pdu_type type, uint8_t low, uint16_t id) const;
    void push_link_c_pdu(peer& p, c_pdu_type type, uint8_t low);
    uint16_t new_expedited_id();
    unsigned links() const;
    unsigned exclusive_links() const;
    bool exclusive_wanted() const;
    bool excluded(const peer& p) const; // others have an exclusive link
    std::optional<link_reject_reason> refusal(const peer& p, bool exclusive) const;
    void begin_break(sim_time now, address a, link_break_reason why);
    bool large_windows() const;
    bool offers_large(const peer& p) const;
    bool upgrade_due(const peer& p) const;
    uint8_t request_bits(const peer& p) const;
    void tell_links(sim_time now);
    void check_links(sim_time now);
    bool idle(const peer& p) const;

    void trace(sim_time now, std::string text);
    void tap(sim_time now, bool sent, bool ok, const std::vector<uint8_t>& octets);
    void update_water_marks();

    std::unique_ptr<rate_policy> d_policy;
    gr::hf::mode d_data_mode; // the fastest one, if the policy is adaptive
    bool d_adaptive = false;
    sim_time d_longest_preamble{};
    std::mt19937_64 d_random;
    std::map<uint32_t, std::unique_ptr<peer>> d_peers; // by raw address
    uint16_t d_non_arq_id = 0;
    uint16_t d_expedited_id = 0;
    std::deque<link_event> d_link_events;
    bool d_broadcast = false; // session: no ARQ
    bool d_emcon = false;     // no transmission
    non_arq_receiver d_non_arq;

    // Channel
    bool d_transmitting = false;
    bool d_receiving = false;
    bool d_senses = false;                   // the modem has a carrier detector
    std::optional<sim_time> d_carrier_since; // a transmission that we do not receive
    transmission d_tx;
    d_pdu_deframer d_deframer;
    gr::hf::mode d_rx_mode;
    kernel::mode_timing d_rx_timing;
    double d_rx_snr_db = 0;
    std::vector<double> d_rx_block_snr_db; // of the present reception
    size_t d_rx_octet_count = 0;           // of the present reception
    // D_PDUs of it that need a link, from nodes that have none: the link request or the answer to
    // it may come behind them, the first copy lost.
    std::vector<d_pdu> d_early;
    size_t d_early_octets = 0;
    sim_time d_rx_begin{}; // estimate: first symbol of the preamble
    bool d_rx_begin_known = false;
    sim_time d_heard_end{}; // end of the transmission as its EOT says
    bool d_heard_eot = false;
    bool d_heard_non_arq = false; // data to one node, in the present reception
    bool d_heard_other = false;   // anything else
    uint64_t d_seen_false_syncs = 0;
    peer* d_turn = nullptr; // has just addressed us: we may answer at once
    sim_time d_turn_at{};
    sim_time d_free_at{};      // transmissions that are no answers, not before
    peer* d_waiting = nullptr; // must answer us
    sim_time d_answer_by{};
    uint32_t d_last_peer = 0;                // for taking turns
    sim_time d_run_since{};                  // the present run of turns with d_last_peer
    std::map<uint32_t, sim_time> d_heard_at; // other stations on the channel, when last
    sim_time d_newest_heard_at{};            // the last of them for the first time
    size_t d_stations_heard = 0;             // of them, lately
    channel_share d_share;
    bool d_rx_noted = false;   // the begin of the present reception is known to d_share
    bool d_rx_data = false;    // and that it carries data
    bool d_served = false;     // our part of the channel since others could last begin
    sim_time d_served_time{};  // of it, on the air
    unsigned d_unheard = 0;    // transmissions in a row without an answer
    bool d_unsure = false;     // the last one with data wants none
    unsigned d_new_rounds = 0; // with more slots for stations that are not on the list
    bool d_new_heard = false;  // one that all others have heard, too, is the reason
    unsigned d_gaps = 0;       // since a station was heard for the first time
    sim_time d_busy_end{};     // end of the last transmission of anyone
    sim_time d_gap_at{};       // end of the last pause in which everyone could begin
    sim_time d_housekeeping_at{};
    std::optional<address> d_shown_peer;
};

} // namespace gr::hf::s5066
