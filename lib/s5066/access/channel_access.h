/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/access/channel_share.h"
#include "s5066/address.h"
#include "s5066/node_config.h"

#include <hf/time.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>

namespace gr::hf::s5066 {

/*! \brief When a station may use the channel: the pauses around transmissions, which others share
 *         it, and who comes first after a transmission.
 *
 * It knows the channel alone, no D_PDU, no peer and no link: it is told who began and ended when,
 * and says how long to wait, how long to transmit, and when to give way. The rules are this
 * project's (the standard leaves them open); docs/data-link.md has their idea.
 */
class channel_access
{
public:
    //! \param config is read whenever a pause is asked for and must outlive this
    //! \param random is drawn from for waits among slots and must outlive this
    channel_access(const node_config& config, std::mt19937_64& random)
        : d_config(config), d_random(random)
    {
    }

    //! Modes in use: their bandwidth, Hz, and the longest preamble among them.
    void set_modes(int bandwidth_hz, sim_time longest_preamble);

    // Pauses
    //! From the end of another's transmission to keying, s.
    double turnaround_s() const;
    //! For data to gather before a transmission that is no answer, s.
    double hold_s() const;
    //! From the end of an own transmission to the begin of the answer, at the most, s.
    double answer_wait_s() const;
    //! For the answer of somebody else to be noticed.
    sim_time guard_time() const;
    //! A slot in which a station may begin so that it is noticed before the next one.
    sim_time shared_slot() const;

    // What happened
    //! The modem tells of carriers, so others are noticed before their preamble is over.
    void senses_carrier() { d_senses = true; }
    //! A D_PDU of \p a was received.
    void heard(sim_time now, address a);
    //! A transmission of \p a began, perhaps when everyone was free to begin.
    void began(sim_time begin, address a);
    /*! \brief What was noticed at this time was not received. Unless it may be an answer to us,
     *         perhaps several began together that nobody knows of yet.
     */
    void began_unknown(sim_time noticed, bool may_be_answer);
    //! Data of \p a are in the transmission that began then.
    void carried_data(address a, sim_time begin) { d_share.served(a, begin); }
    //! A transmission of anyone has ended.
    void ended(sim_time end) { d_busy_end = end; }
    //! An own transmission begins: as an answer or not, with data or with what is owed alone.
    void begin_own(sim_time now, bool in_turn, bool with_data);
    //! An own transmission with data ends that began then; without an answer if none was wanted.
    void end_own_data(sim_time now, sim_time begin, bool answer_wanted);
    //! An own transmission was answered.
    void answered() { d_unheard = 0; }
    //! It was not; it had data or not.
    void unanswered(bool data);
    //! From time to time: stations that were not heard for long are forgotten.
    void forget(sim_time now);

    // Whose turn it is
    //! There are more than two stations.
    bool shared() const { return d_heard_at.size() > 1; }
    bool knows(address a) const { return d_heard_at.count(a.raw()) != 0; }
    //! Several may begin at the same time as we do now, in a transmission that is no answer.
    bool contended() const;
    //! Until the other end of a link has had its turn, s.
    double cycle_s() const { return shared() ? d_config.share_cycle_s : 0; }
    //! Our part of the cycle in which each station that has data gets the channel once.
    sim_time turn_length() const;
    //! What is left of it.
    sim_time turn_left() const { return turn_length() - d_served_time; }
    //! In the turn at this time, a transmission of so many seconds must not follow.
    bool must_yield(sim_time turn_at, double length_s) const;
    //! While others are not sensed, they have to get out of the way for longer.
    bool blind() const { return shared() && !d_senses; }

    // How long to wait before a transmission that is no answer, from the end of
    //! another's transmission, if this station has so many peers;
    sim_time wait_of_others(sim_time end, size_t peers);
    //! an own one, which all or one could answer;
    sim_time wait_after_own(sim_time end, bool to_group, size_t peers);
    //! one that was received, which had data without ARQ for one node alone or more than that;
    sim_time wait_of_heard(sim_time end, bool non_arq_alone, size_t peers);
    //! silence, for the so-many-th time. Of two that called each other one is \p later.
    sim_time back_off(unsigned silent, bool later);

private:
    sim_time noticed_after() const;
    bool held_long(sim_time at) const;
    bool gap_due(sim_time at, sim_time length) const;
    bool crowded(sim_time at) const;
    bool others_first(sim_time turn_at) const;
    unsigned chances() const;
    unsigned contention_slot(sim_time end, size_t peers);

    const node_config& d_config;
    std::mt19937_64& d_random;
    bool d_wideband = false;
    sim_time d_longest_preamble{};
    bool d_senses = false;                   // the modem has a carrier detector
    std::map<uint32_t, sim_time> d_heard_at; // other stations on the channel, when last
    sim_time d_newest_heard_at{};            // the last of them for the first time
    channel_share d_share;
    bool d_served = false;     // our part of the channel since others could last begin
    sim_time d_served_time{};  // of it, on the air
    unsigned d_unheard = 0;    // transmissions in a row without an answer
    bool d_unsure = false;     // the last one with data wants none
    unsigned d_new_rounds = 0; // with more slots for stations that are not on the list
    bool d_new_heard = false;  // one that all others have heard, too, is the reason
    unsigned d_gaps = 0;       // since a station was heard for the first time
    sim_time d_busy_end{};     // end of the last transmission of anyone
    sim_time d_gap_at{};       // end of the last pause in which everyone could begin
};

} // namespace gr::hf::s5066
