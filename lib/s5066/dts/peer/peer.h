/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/dts/arq/arq_receiver.h"
#include "s5066/dts/arq/arq_sender.h"
#include "s5066/dts/exchange/control_queue.h"
#include "s5066/dts/exchange/expedited.h"
#include "s5066/dts/exchange/non_arq_sender.h"
#include "s5066/dts/exchange/rate_change.h"
#include "s5066/dts/exchange/reset_exchange.h"
#include "s5066/dts/peer/flow_credits.h"
#include "s5066/dts/peer/frame_losses.h"
#include "s5066/dts/peer/physical_link.h"

#include <chrono>
#include <optional>

namespace gr::hf::s5066 {

//! States of the DTS towards one peer (C.6.1); each exists linked and not linked.
enum class dts_state { idle, data, expedited, management };

//! Selective repeat ARQ with one peer (C.6.2), both directions.
struct arq_state {
    explicit arq_state(unsigned window) : small_window(window), tx(window) { rx.reset(); }

    bool large = false;    //!< 16-bit numbers: on the link, or in our request
    unsigned small_window; //!< window with 8-bit numbers
    arq_sender tx;
    arq_receiver rx;
    bool ack_due = false;   //!< something was received since our last ACK
    bool data_last = false; //!< the last reception with anything of the peer had data
    //! Mode of the transmission that tx.last_transmission() is about.
    mode data_mode;
    //! D_PDU octets sent with ARQ beyond those without, while both waited with the same
    //! priority. The kind that has sent less goes next.
    int64_t ahead = 0;
    //! Numberings started: links made, resets, resynchronisations.
    uint64_t numberings = 0;

    //! Uses 16-bit or 8-bit numbers from now on; only for a new connection.
    void use_numbers(bool of_16_bits);
};

//! Expedited ARQ with one peer (C.6.2), both directions.
struct expedited_state {
    expedited_sender tx;
    expedited_receiver rx;
    bool ack_due = false;
    bool data_last = false; //!< the last reception with anything of the peer had data
};

//! MANAGEMENT D_PDUs, engineering orderwire and data rate change with one peer (C.5,
//! C.6.4).
struct management_state {
    management_exchange exchange;
    rate_change rates;
    std::optional<mode> advised;         //!< by the peer, for our transmissions
    station_time last_at{};              //!< last D_PDU of an exchange
    std::optional<uint8_t> capabilities; //!< EOW 4 of the peer
    std::optional<uint8_t> extensions;   //!< EOW 15 of the peer
    unsigned extensions_announced = 0;   //!< transmissions that announced ours
    uint16_t eow = 0;                    //!< for the next D_PDU
    bool refuses_advice = false;         //!< the peer does not know our EOW 8

    bool active() const { return exchange.active() || rates.active(); }
    bool has_extension(unsigned bit) const { return extensions && *extensions & bit; }
    //! Ends the exchange and forgets the rates of the connection.
    void reset()
    {
        exchange.reset();
        rates.reset();
    }
};

//! Turns between a peer and us, and the results of the last ones.
struct turn_state {
    unsigned silent = 0;         //!< unanswered transmissions in a row
    station_time silent_since{}; //!< time of the first of them
    //! Unanswered transmissions since fair_since that had a fair chance of an answer.
    unsigned silent_fair = 0;
    station_time fair_since{}; //!< start of the first that counts
    //! Start of our last transmission to it that was not only an answer.
    station_time served_at = -std::chrono::hours(1);
    bool probe = false;   //!< the next transmission must be short
    bool repeats = false; //!< data of its last transmission were lost, so it repeats them
    station_time ready_at{}; //!< no transmission before this
    station_time
        not_before{}; //!< nor before this, whatever is heard: the peer asked to wait
    std::optional<station_time>
        heard_at;            //!< end of the last reception with anything of it
    double heard_snr_db = 0; //!< of the last block then, in the bandwidth of its mode
    //! Last sign of an application that waits for this peer's turn (prompt_priority).
    std::optional<station_time> prompt_at;
    //! True if on_prompt() was called since the start of our last transmission to it.
    bool prompted = false;
    bool ask_waits = false; //!< since then our own data asked for a turn of the peer
    station_time
        same_conversation{}; //!< longest time between two prompts of one conversation
    //! Number of our next transmissions kept short, for a conversation of many turns.
    unsigned quick = 0;
    flow_credits quick_credits; //!< for these
    double data_turns = 0;      //!< recent share of its turns with more than an ACK
    unsigned acks_alone = 0;    //!< receptions in a row with an ACK and without ARQ data
    station_time last_warning{ -std::chrono::hours(1) };

    //! An application that uses \p flow waits for this peer's turn.
    void on_prompt(station_time now, flow_number flow);
    /*! \brief Our transmission starts.
     *  \param is_quick it is one of the short ones
     *  \param least duration of transmissions while an application waits
     */
    void begin_own(station_time now, bool is_quick, station_time least);
    //! The peer was heard, or has to be found again.
    void forget_silence()
    {
        silent = 0;
        probe = false;
    }
    //! The peer was heard, with or without ARQ data and an acknowledgement.
    void on_heard(station_time now, bool data, bool ack)
    {
        silent = 0;
        heard_at = now;
        // Average over the last few turns.
        data_turns += ((data ? 1 : 0) - data_turns) / 4;
        acks_alone = ack && !data ? acks_alone + 1 : 0;
        ready_at = std::max(std::min(ready_at, now), not_before);
    }
};

//! What was received from a peer in the present reception.
struct heard_now {
    bool any = false;
    bool arq = false; //!< data or an ACK
    bool ack = false;
    bool data = false; //!< with ARQ
    bool expedited = false;
    bool link_request = false;
    bool link_accept = false;
    bool link_break = false; //!< or the confirmation of our break request
    bool warning = false;    //!< any WARNING
    bool news = false;       //!< missing data, a new request, or an acknowledgement
    size_t good_octets = 0;  //!< in D_PDUs without errors
    size_t octets = 0;       //!< in D_PDUs with a header
    unsigned good_d_pdus = 0, lost_d_pdus = 0; //!< with data
    size_t d_pdu_octets = 0;                   //!< in all of these D_PDUs
    dts_state begun_in = dts_state::idle;      //!< state at the start of the reception

    //! True if it only repeats what we have answered.
    bool again() const { return (data || link_request) && !news && !ack; }
    //! Counts a D_PDU of \p d_pdu octets.
    void note(bool has_segment, bool segment_ok, size_t d_pdu)
    {
        any = true;
        octets += d_pdu;
        good_octets += segment_ok ? d_pdu : 0;
        if (has_segment || !segment_ok) {
            ++(segment_ok ? good_d_pdus : lost_d_pdus);
            d_pdu_octets += d_pdu;
        }
    }
};

/*! \brief Everything that a node knows about one other node, or about a group it sends
 *         to. Has a part for each duty, and functions that depend on several parts.
 */
struct peer {
    peer(address a, unsigned window) : addr(a), arq(window) {}

    address addr;
    physical_link link;
    control_queue control;
    arq_state arq;
    reset_exchange reset;
    expedited_state expedited;
    non_arq_sender non_arq;
    management_state management;
    turn_state turn;
    heard_now heard;
    frame_losses losses;

    //! In MANAGEMENT state, in which only types 6, 8 and 15 are sent.
    bool managing() const { return management.active(); }
    //! Types 4 and 5 may be sent.
    bool expedited_allowed() const { return link.connected() && !managing(); }
    //! Types 0, 1 and 2 may be sent; they are suspended during a reset.
    bool data_allowed() const { return expedited_allowed() && !reset.active(); }
    //! An acknowledgement is due and may be sent.
    bool ack_owed() const
    {
        return (arq.ack_due && data_allowed()) ||
               (expedited.ack_due && expedited_allowed());
    }
    dts_state state() const;
    //! C_PDUs of all kinds not sent yet.
    backlog unsent() const;
    //! No ARQ data wait or are in flight.
    bool arq_idle() const { return arq.tx.idle() && expedited.tx.idle(); }
    //! Nothing of a connection is active or due.
    bool idle() const
    {
        return arq_idle() && !managing() && !arq.ack_due && !expedited.ack_due &&
               !reset.active() && control.empty();
    }
    //! Starts a new connection.
    void new_connection();
    /*! \brief Ends the connection. What was received stays known until the next one: the
     *         peer may still ask.
     */
    void end_connection();
    //! Restarts both ARQ machines.
    void restart_arq();
    //! A reception starts.
    void begin_reception()
    {
        heard = heard_now();
        heard.begun_in = state();
        arq.rx.begin_reception();
    }
};

} // namespace gr::hf::s5066
