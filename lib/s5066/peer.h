/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/arq_receiver.h"
#include "s5066/arq_sender.h"
#include "s5066/expedited.h"
#include "s5066/pdu.h"
#include "s5066/rate_change.h"

#include <array>
#include <deque>

namespace gr::hf::s5066 {

//! Physical link with a peer, CAS-1 (Annex B).
enum class link_state {
    none,    //!< not linked
    calling, //!< link request goes out with every transmission until it is answered
    made,
    breaking //!< break request goes out until it is confirmed
};

//! Most D_PDUs in peer::control.
constexpr size_t max_control = 8;

//! States of the DTS towards one peer (C.6.1); each of them linked or not.
enum class dts_state { idle, data, expedited, management };

//! A reset or resynchronisation that was begun here and is not yet answered (C.6.3).
struct pending_reset {
    reset_header header;
    bool active = false;
    unsigned silent = 0; //!< transmissions with it that were not answered
};

//! Non-ARQ C_PDU on its way out.
struct non_arq_out {
    outgoing_ptr o;
    uint16_t id = 0;
    size_t offset = 0;      //!< next octet to send in this round
    unsigned rounds = 0;    //!< rounds left after this one
    bool expedited = false; //!< type 8
    sim_time window_end{};  //!< empty (0) until the first segment is built

    bool over(sim_time now) const
    {
        return o->expires <= now || (window_end > sim_time::zero() && window_end <= now);
    }
};

//! Everything that a node knows about one other node, or about one group it sends to.
struct peer {
    peer(address a, unsigned window) : addr(a), small_window(window), tx(window)
    {
        rx.reset();
    }

    address addr;

    // Link
    link_state link = link_state::none;
    bool caller = false;          //!< this side made the link
    bool exclusive = false;       //!< the link made is exclusive
    bool wants_exclusive = false; //!< such a link is asked for, and not yet made
    link_break_reason break_reason = link_break_reason::no_more_data;
    uint16_t request_id = 0; //!< C_PDU ID of our link request, same in repeats
    std::optional<uint16_t> heard_request_id; //!< of the request that made the link
    bool accept_due = false;    //!< until the peer shows that it has seen it
    bool accept_now = false;    //!< it is a reason to transmit
    bool heard_request = false; //!< in the present reception
    bool heard_accept = false;  //!< in the present reception
    unsigned tries = 0;         //!< of the link or break request
    sim_time called_at{};       //!< first link request
    sim_time last_data{};       //!< last data in either direction
    sim_time first_data_by{};   //!< T_FIRST; 0: not running

    // Control D_PDUs for the next transmission
    std::deque<d_pdu> control;

    // ARQ
    bool large = false;    //!< numbers of 16 bits: on the link, or as our request asks
    unsigned small_window; //!< with numbers of 8 bits
    arq_sender tx;
    arq_receiver rx;
    bool ack_due = false;
    pending_reset reset;
    uint8_t reset_id = 0;                  //!< last one used here
    std::optional<uint8_t> heard_reset_id; //!< last one acted upon
    unsigned sync_failures = 0;
    uint64_t numberings = 0; //!< begun: links made, resets, resynchronisations

    // Expedited ARQ
    expedited_sender expedited_tx;
    expedited_receiver expedited_rx;
    bool expedited_ack_due = false;

    // Non-ARQ
    std::deque<non_arq_out> non_arq;
    backlog non_arq_unsent;                   //!< counted until the last round is over
    std::array<fair_turns, 16> non_arq_turns; //!< by priority

    // Management
    management_exchange management;
    rate_change rates;
    std::optional<mode> advised;         //!< by the peer, for our transmissions
    sim_time management_at{};            //!< last D_PDU of an exchange
    std::optional<uint8_t> capabilities; //!< EOW 4 of the peer
    std::optional<uint8_t> extensions;   //!< EOW 15 of the peer
    unsigned extensions_told = 0;        //!< transmissions that told ours
    bool has_extension(unsigned bit) const { return extensions && *extensions & bit; }
    dts_state heard_in = dts_state::idle; //!< at the begin of the present reception

    // Turns
    unsigned silent = 0; //!< unanswered transmissions in a row
    bool probe = false;  //!< the next transmission is a short one
    sim_time ready_at{}; //!< not before
    //! When somebody last showed that he waits for this peer's turn (prompt_priority).
    std::optional<sim_time> prompt_at;
    double data_turns = 0; //!< share of its turns, lately, with more than an ACK in them
    sim_time last_warning{ -std::chrono::hours(1) };
    bool heard = false;           //!< in the present reception
    bool heard_arq = false;       //!< data or an ACK, in the present reception
    bool heard_ack = false;       //!< in the present reception
    bool heard_data = false;      //!< ARQ data, in the present reception
    bool data_last = false;       //!< data, in the last reception with anything of it
    bool expedited_last = false;  //!< the same for expedited data
    bool heard_expedited = false; //!< in the present reception
    unsigned acks_alone = 0; //!< receptions in a row with an ACK and without ARQ data
    size_t good_octets = 0;  //!< in D_PDUs without errors, in the present reception
    size_t heard_octets = 0; //!< in D_PDUs with a header, in the present reception
    unsigned good_d_pdus = 0, lost_d_pdus = 0; //!< with data, in the present reception
    size_t d_pdu_octets = 0;                   //!< in all of these
    uint16_t eow = 0;                          //!< for the next D_PDU

    // Frame loss, for the length of segments; older transmissions count less
    double loss_events = 0;
    double loss_bits = 0;

    bool linked() const { return link == link_state::made; }
    /*! \brief D_PDUs of a connection may go out: linked, or together with the link request,
     *         but not with that of an exclusive link, which is for the hard link's data only.
     */
    bool connected() const
    {
        return link == link_state::made ||
               (link == link_state::calling && !wants_exclusive);
    }
    //! In MANAGEMENT state, in which only types 6, 8 and 15 are sent.
    bool managing() const { return management.active() || rates.active(); }
    //! Types 4 and 5 may be sent.
    bool expedited_allowed() const { return connected() && !managing(); }
    //! Types 0, 1 and 2 may: they are suspended during a reset.
    bool data_allowed() const { return expedited_allowed() && !reset.active; }
    //! An acknowledgement is due and may be sent.
    bool ack_owed() const
    {
        return (ack_due && data_allowed()) || (expedited_ack_due && expedited_allowed());
    }
    dts_state state() const
    {
        if (managing()) {
            return dts_state::management;
        }
        if (!expedited_tx.idle() || expedited_rx.inside()) {
            return dts_state::expedited;
        }
        return tx.idle() && !rx.incomplete() ? dts_state::idle : dts_state::data;
    }
    //! C_PDUs that were never sent, of all kinds.
    backlog unsent() const
    {
        backlog all = tx.unsent();
        all += expedited_tx.unsent();
        return all += non_arq_unsent;
    }
    //! No ARQ data wait or are in flight.
    bool arq_idle() const { return tx.idle() && expedited_tx.idle(); }
    //! A new connection.
    void new_connection()
    {
        restart_arq();
        data_last = expedited_last = false;
        end_connection();
    }
    /*! \brief None any more. What was received stays known until there is a new one: the peer may
     *         still ask.
     */
    void end_connection()
    {
        tx.rewind(0);
        expedited_tx.restart();
        expedited_ack_due = false;
        acks_alone = 0;
        management.reset();
        rates.reset();
        advised.reset();
    }
    //! Numbers of 16 or 8 bits from now on, for a connection that is new.
    void use_numbers(bool of_16_bits)
    {
        if (large == of_16_bits) {
            return;
        }
        large = of_16_bits;
        // One number less than half of all leaves one for node::impl::emit_question().
        tx.set_window(large ? fsn_space(true).half() - 1 : small_window, large);
        tx.set_window_octets(SIZE_MAX);
        rx = arq_receiver(large);
    }
    //! Both ARQ machines start anew.
    void restart_arq()
    {
        rx.reset();
        tx.rewind(0);
        expedited_rx.reset();
        expedited_tx.restart();
        expedited_ack_due = false;
    }
};

} // namespace gr::hf::s5066
