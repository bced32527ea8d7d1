/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/access/channel_access.h"
#include "s5066/cas/soft_links.h"
#include "s5066/dts/peer/node_context.h"
#include "s5066/dts/tx/transmission.h"
#include "s5066/words/timers.h"

#include <optional>

namespace gr::hf::s5066 {

/*! \brief Whose turn it is between this node and its peers, and to which of them it transmits next:
 *         answers first, then whoever has the most urgent data, each in its turn.
 *
 * channel_access says how long the pauses are, and when others on the channel come first.
 */
class turns
{
public:
    turns(node_context& node, channel_access& access, const soft_links& links)
        : d_node(node), d_access(access), d_links(links)
    {
    }

    // What is going on
    bool transmitting() const { return d_transmitting; }
    bool receiving() const { return d_receiving; }
    //! Somebody has to answer us.
    bool waiting() const { return d_waiting != nullptr; }
    //! None of these.
    bool quiet() const { return !d_transmitting && !d_receiving && !d_waiting; }
    //! \p p is one that something is expected of, or that expects something.
    bool involves(const peer& p) const { return &p == d_turn || &p == d_waiting; }
    //! Emission control: no transmission begins.
    bool emcon() const { return d_emcon; }
    void set_emcon(bool on) { d_emcon = on; }

    // What comes next
    //! A transmission, and when it may begin.
    struct start {
        station_time at{};
        peer* to = nullptr;
    };
    std::optional<start> next() const;
    //! A transmission to \p p would have no data.
    bool ack_only(const peer& p) const;
    //! The next deadline, if nothing happens.
    std::optional<due> next_due() const;

    // Own transmissions
    //! What the transmission that begins is.
    struct kind {
        bool no_data = false;   //!< only what is owed, because others come first
        bool contended = false; //!< others may have begun at the same time
    };
    kind begin_own(station_time now, const peer& p);
    //! \p tx has ended.
    void end_own(station_time now, const transmission& tx);
    //! \p p did not answer the last one, \p tx.
    void on_silence(station_time now, peer& p, const transmission& tx);

    // Those of others
    void begin_reception();
    //! \p p has addressed us and may be answered.
    void addressed_by(peer& p) { d_turn = &p; }
    //! It has ended on the air at \p end, with data without ARQ for one node or more than that.
    //! \param asked whom it was for alone, if that is known
    void
    end_reception(station_time end, bool non_arq_alone, std::optional<address> asked);
    /*! \brief What was received is understood.
     *  \param preempted it was broken off for another one
     *  \return who should have answered and has not
     */
    peer* after_reception(station_time now, bool preempted);
    //! A carrier is sensed, or no more.
    void on_carrier(station_time now, bool present);
    //! Time goes by. \return who should have answered and has not
    peer* on_tick(station_time now);
    //! Whoever may answer and has nothing to say has had its turn.
    void drop_idle_turn(station_time now);

private:
    static unsigned urgency(const peer& p);
    std::optional<start> next_duplex() const;
    std::optional<start> best_from(station_time from) const;
    bool has_data(const peer& p) const;
    bool sendable(const peer& p) const;
    bool outranked(const peer& p, station_time now) const;
    bool must_yield() const;
    bool long_run() const;
    station_time after_cut(station_time now, const transmission& tx) const;

    node_context& d_node;
    channel_access& d_access;
    const soft_links& d_links;
    bool d_transmitting = false;
    bool d_receiving = false;
    bool d_emcon = false;
    std::optional<station_time> d_carrier_since; // a transmission that we do not receive
    peer* d_turn = nullptr; // has just addressed us: we may answer at once
    station_time d_turn_at{};
    station_time d_free_at{};  // transmissions that are no answers, not before
    peer* d_waiting = nullptr; // must answer us
    station_time d_answer_by{};
    uint32_t d_last_peer = 0;    // for taking turns
    station_time d_run_since{};  // the present run of turns with d_last_peer
    unsigned d_cut_in_a_row = 0; // own transmissions that the radio did not send
};

} // namespace gr::hf::s5066
