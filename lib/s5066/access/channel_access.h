/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/access/channel_share.h"
#include "s5066/config/node_config.h"
#include "s5066/words/address.h"

#include <hf/time.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
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
    void set_modes(int bandwidth_hz, station_time longest_preamble);

    // Pauses
    //! From the end of another's transmission to keying, s.
    double turnaround_s() const;
    //! For data to gather before a transmission that is no answer, s.
    double hold_s() const;
    //! From the end of an own transmission to the begin of the answer, at the most, s.
    double answer_wait_s() const;
    //! For the answer of somebody else to be noticed.
    station_time guard_time() const;
    //! A slot in which a station may begin so that it is noticed before the next one.
    station_time shared_slot() const;

    // What happened
    //! The modem tells of carriers, so others are noticed before their preamble is over.
    void senses_carrier() { d_senses = true; }
    //! A D_PDU of \p a was received.
    void heard(station_time now, address a);
    //! A transmission of \p a began, perhaps when everyone was free to begin.
    void began(station_time begin, address a);
    /*! \brief What was noticed at this time was not received. Unless it may be an answer to us,
     *         perhaps several began together that nobody knows of yet.
     */
    void began_unknown(station_time noticed, bool may_be_answer);
    //! Data of \p a are in the transmission that began then.
    void carried_data(address a, station_time begin) { d_share.served(a, begin); }
    /*! \brief A transmission of another station has ended.
     *  \param asked who may answer it; empty: nobody knows
     */
    void ended(station_time end, std::optional<address> asked = {});
    //! An own transmission to \p asked has ended.
    void ended_own(station_time end, address asked)
    {
        d_busy_end = d_answer_from = end;
        d_asked = asked;
        d_answer_met = false;
    }
    /*! \brief The transmission of another station that is being received is for \p to.
     *  \param acked it acknowledges data: \p to has just sent some, and may have more
     *  \param data it has data, which \p to will answer
     *  \details If \p to was never heard it is hidden: its transmissions are known by their
     *  answers alone, and must be given time that cannot be seen to be used.
     */
    void overheard(station_time now, address to, bool acked, bool data);
    /*! \brief When a transmission that is no answer may begin which could at \p at.
     *  \param free_at first chance after the last transmission that was heard
     *  \details Not while a hidden station may be transmitting, but right after what was heard.
     */
    station_time clear_at(station_time at, station_time free_at) const;
    /*! \brief A transmission of \p a, received whole, began on the air then. If it is an answer, all
     *         stations learn from it how long \p a takes to key.
     */
    void timed(station_time begin, address a);
    //! An own transmission begins: as an answer or not, with data or with what is owed alone.
    void begin_own(station_time now, bool in_turn, bool with_data);
    //! An own transmission with data ends that began then; without an answer if none was wanted.
    void end_own_data(station_time now, station_time begin, bool answer_wanted);
    /*! \brief Our last transmission had a fair chance to be answered: it did not begin when several
     *         stations often begin together, and no other one was noticed when its answer was due.
     *  \details On a shared channel that takes a modem with a carrier detector.
     */
    bool had_fair_chance() const { return !blind() && !d_own_in_rush && !d_answer_met; }
    //! A station was heard for the first time after \p t: calls before that may have met its own.
    bool newcomer_since(station_time t) const { return d_newest_heard_at > t; }
    //! An own transmission was answered.
    void answered(station_time now)
    {
        d_unheard = 0;
        d_known_at = now;
        d_new_heard = true;
    }
    //! It was not; it had data or not.
    void unanswered(bool data);
    //! From time to time: stations that were not heard for long are forgotten.
    void forget(station_time now);

    // Whose turn it is
    //! There are more than two stations.
    bool shared() const { return d_heard_at.size() + d_hidden_at.size() > 1; }
    //! A D_PDU of \p a was received after \p t, whoever it was for, or an acknowledgement of its data.
    bool heard_since(station_time t, address a) const;
    //! Several may begin at the same time as we do now, in a transmission that is no answer.
    bool contended() const;
    //! Until the other end of a link has had its turn, s.
    double cycle_s() const { return shared() ? d_config.share_cycle_s : 0; }
    //! Our part of the cycle in which each station that has data gets the channel once.
    station_time turn_length() const;
    //! What is left of it.
    station_time turn_left() const { return turn_length() - d_served_time; }
    //! In the turn at this time, a transmission of so many seconds must not follow.
    bool must_yield(station_time turn_at, double length_s) const;
    //! While others are not sensed, they have to get out of the way for longer.
    bool blind() const { return shared() && !d_senses; }

    // How long to wait before a transmission that is no answer, from the end of
    //! another's transmission, if this station has so many peers;
    station_time wait_of_others(station_time end, size_t peers);
    //! an own one, which all or one could answer;
    station_time wait_after_own(station_time end, bool to_group, size_t peers);
    //! one that was received, which had data without ARQ for one node alone or more than that;
    station_time wait_of_heard(station_time end, bool non_arq_alone, size_t peers);
    //! silence, for the so-many-th time. Of two that called each other one is \p later.
    station_time back_off(unsigned silent, bool later);

private:
    struct rules;
    static constexpr station_time never = -std::chrono::hours(1);

    station_time noticed_after() const;
    bool gap_due(station_time at, station_time length) const;
    unsigned contention_slot(station_time end, size_t peers);

    const node_config& d_config;
    std::mt19937_64& d_random;
    bool d_wideband = false;
    station_time d_longest_preamble{};
    bool d_senses = false; // the modem has a carrier detector
    std::map<uint32_t, station_time>
        d_heard_at; // other stations on the channel, when last
    std::map<uint32_t, station_time>
        d_hidden_at; // that others answer and we never heard, when last
    std::map<uint32_t, double> d_keys_after; // s, of those whose answers were heard
    std::optional<station_time> d_shared_at; // a third station was heard, when last
    station_time d_newest_heard_at{};        // the last of them for the first time
    channel_share d_share;
    bool d_served = false;        // our part of the channel since others could last begin
    station_time d_served_time{}; // of it, on the air
    unsigned d_unheard = 0;       // transmissions in a row without an answer
    bool d_unsure = false;        // the last one with data wants none
    unsigned d_new_rounds = 0;    // with more slots for stations that are not on the list
    bool d_new_heard = false;     // one that all others have heard, too, is the reason
    unsigned d_gaps = 0;          // since a station was heard for the first time
    station_time d_busy_end{};    // end of the last transmission of anyone
    std::optional<address> d_asked;     // who may answer it
    station_time d_answer_from = never; // end of our last transmission
    bool d_answer_met =
        false; // another station than the one asked was noticed when its answer was due
    bool d_own_in_rush = false; // it began with others, perhaps
    // The transmission being received: it acknowledges data of a hidden station, it has data for it.
    bool d_acked_hidden = false, d_data_for_hidden = false;
    station_time
        d_hidden_wait{}; // for what a hidden station may send after the last transmission
    station_time d_hidden_until{}; // a hidden station may be transmitting
    uint32_t d_hidden_run = 0;     // the hidden station whose data were acknowledged last
    station_time d_hidden_served{};         // its transmissions in a row
    std::optional<station_time> d_known_at; // our last transmission that was heard
    uint32_t d_last_began = 0; // who was the last to begin on the free channel
    station_time d_gap_at{};   // end of the last pause in which everyone could begin
};

} // namespace gr::hf::s5066
