/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/access/channel_access.h"
#include "s5066/cas/soft_links.h"
#include "s5066/dts/peer/node_context.h"
#include "s5066/dts/tx/transmission.h"
#include "s5066/node/node_phase.h"
#include "s5066/words/timers.h"

#include <optional>
#include <utility>

namespace gr::hf::s5066 {

//! Use of the channel that link establishment allows.
struct channel_grant {
    bool open = true;            //!< false: nothing is transmitted
    std::optional<address> only; //!< node or group that may be sent to; empty: all
};

/*! \brief Decides whose turn it is between this node and its peers, and to which peer it
 *         transmits next: answers first, then the peer with the most urgent data, in
 *         turn.
 *
 * channel_access decides how long the pauses are, and when other stations come first.
 */
class turns
{
public:
    turns(node_context& node, channel_access& access, const soft_links& links)
        : d_node(node), d_access(access), d_links(links)
    {
    }

    // Present state
    bool transmitting() const { return d_transmitting; }
    bool receiving() const { return d_receiving; }
    //! A peer has to answer us.
    bool waiting() const { return d_waiting != nullptr; }
    //! Activity, or why nothing is transmitted, for displays. With holding and
    //! waiting_answer comes their end, if nothing else happens.
    std::pair<node_phase, std::optional<station_time>> phase() const;
    //! None of these.
    bool quiet() const { return !d_transmitting && !d_receiving && !d_waiting; }
    //! True if something is expected of \p p, or \p p expects something.
    bool involves(const peer& p) const { return &p == d_turn || &p == d_waiting; }
    //! Emission control: no transmission starts.
    bool emcon() const { return d_emcon; }
    void set_emcon(bool on) { d_emcon = on; }

    /*! \brief Whether the channel may be used, and for whom, as link establishment (ALE)
     *         decides.
     */
    void set_grant(const channel_grant& grant) { d_grant = grant; }
    //! The channel may be used.
    bool open() const { return d_grant.open; }
    //! The most urgent peer with data, whether the channel is granted or not.
    std::optional<address> wanted() const;
    //! An exchange is under way, or something can be sent to a peer with a grant.
    bool active() const;
    /*! \brief Waits for an answer, one after the other, in which no peer with a grant was
     *         read although it should have transmitted.
     *  \details Our transmissions without an answer. If data of the peer are incomplete, or
     *  were lost in its last transmission, it is also the time since the channel was last in
     *  use. The same holds after a transmission with data that was longer than such a wait
     *  and followed ours without a pause: a peer that sends much has more.
     */
    unsigned unanswered(station_time now) const;

    // Next step
    //! A transmission and its earliest start.
    struct start {
        station_time at{};
        peer* to = nullptr;
    };
    std::optional<start> next() const;
    //! True if a transmission to \p p would have no data.
    bool ack_only(const peer& p) const;
    //! The next deadline, if nothing happens before.
    std::optional<due> next_due() const;

    // Our transmissions
    //! Kind of the transmission about to start.
    struct kind {
        //! Only acknowledgements and control: others come first, or may not know us.
        bool no_data = false;
        bool ask = false;       //!< ask for an ACK, without data
        bool contended = false; //!< others may have started at the same time
        bool hands = false;     //!< hand the token to this peer
        bool more = false;      //!< more data wait
        bool invites = false;   //!< invite calls of stations that never get the token
    };
    kind begin_own(station_time now, peer& p);
    //! \p tx has ended.
    void end_own(station_time now, const transmission& tx);
    //! \p p did not answer our last transmission, \p tx.
    void on_silence(station_time now, peer& p, const transmission& tx);

    // Receptions
    void begin_reception(station_time now);
    //! \p p has addressed us and may be answered.
    void addressed_by(peer& p) { d_turn = &p; }
    //! A reception has ended on the air at \p end.
    //! \param non_arq_alone it had data without ARQ for one node, and nothing else
    //! \param asked its only destination, if known
    void
    end_reception(station_time end, bool non_arq_alone, std::optional<address> asked);
    /*! \brief The D_PDUs of a reception have been handled.
     *  \param preempted the reception was broken off for another one
     *  \return the peer that should have answered and has not
     */
    peer* after_reception(station_time now, bool preempted);
    //! A carrier appears or disappears.
    void on_carrier(station_time now, bool present);
    //! Call regularly. \return the peer that should have answered and has not
    peer* on_tick(station_time now);
    //! Gives up our turn to answer if there is nothing to send.
    void drop_idle_turn(station_time now);

private:
    static unsigned urgency(const peer& p);
    std::optional<start> next_duplex() const;
    std::optional<start> best_from(station_time from) const;
    bool has_data(const peer& p) const;
    bool sends_non_arq(const peer& p) const;
    //! When a repeat without ARQ may follow, if one waits for that.
    std::optional<station_time> repeat_at(const peer& p) const;
    bool sendable(const peer& p) const;
    bool granted(const peer& p) const;
    bool outranked(const peer& p, station_time now) const;
    bool must_yield() const;
    bool others_wait(const peer& p, station_time now) const;
    void note_run();
    station_time after_cut(station_time now, const transmission& tx) const;

    struct rules;

    node_context& d_node;
    channel_access& d_access;
    const soft_links& d_links;
    bool d_transmitting = false;
    bool d_receiving = false;
    bool d_emcon = false;
    channel_grant d_grant;
    // Since when: a signal that we do not receive.
    std::optional<station_time> d_carrier_since;
    peer* d_turn = nullptr; // has just addressed us: we may answer at once
    station_time d_turn_at{};
    station_time d_used_until{}; // end of the last transmission of any station
    station_time d_free_at{};    // earliest start of transmissions that are no answers
    // The reception under way, or the last one.
    struct reception {
        station_time begin{};
        bool follows = false;          // our transmission, without a pause
        const peer* runs_on = nullptr; // its sender has more
    };
    reception d_reception;
    peer* d_waiting = nullptr; // must answer us
    station_time d_answer_by{};
    // Peer of our last transmissions that were not only answers, and since when.
    uint32_t d_last_served = 0;
    station_time d_run_since{};
    station_time d_token_at{};   // when what to do with the token was decided last
    kind d_kind;                 // of our last transmission, with a token
    unsigned d_cut_in_a_row = 0; // transmissions in a row that the radio did not send
};

} // namespace gr::hf::s5066
