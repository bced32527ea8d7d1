/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/access/channel_share.h"
#include "s5066/access/token_walk.h"
#include "s5066/config/node_config.h"
#include "s5066/words/address.h"

#include <hf/station_time.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>

namespace gr::hf::s5066 {

/*! \brief Decides when a station may use the channel: the pauses around transmissions,
 *         which other stations share it, and who comes first after a transmission.
 *
 * It knows only the channel, and no D_PDU, peer or link. It is notified of who started
 * and ended when. It answers how long to wait, how long to transmit, and when to give
 * way. The rules are this project's (the standard leaves them open); docs/data-link.md
 * explains them.
 */
class channel_access
{
public:
    //! \param config read for each pause; must outlive this
    //! \param random source of random waits; must outlive this
    channel_access(const node_config& config, std::mt19937_64& random)
        : d_config(config), d_random(random)
    {
        d_hidden.walk = std::make_unique<token_walk>(config, random);
    }

    //! Sets the modes in use: their bandwidth, Hz, and the longest preamble among them.
    void set_modes(int bandwidth_hz, station_time longest_preamble)
    {
        constexpr int narrow_hz = 3000; // voice channel
        d_wideband = bandwidth_hz > narrow_hz;
        d_longest_preamble = longest_preamble;
    }

    //! The token of stations of which some do not hear each other.
    token_walk& walk() const { return *d_hidden.walk; }

    // Pauses
    //! From the end of another station's transmission to keying, s.
    double turnaround_s() const;
    //! Time to collect data before a transmission that is no answer, s.
    double hold_s() const;
    //! Longest time from the end of our transmission to the start of the answer, s.
    double answer_wait_s() const;
    //! Time in which another station's answer is noticed.
    station_time guard_time() const;
    //! Slot length: a station that starts in a slot is noticed before the next one.
    station_time shared_slot() const;

    // Events
    //! The modem reports carriers, so others are noticed before their preamble is over.
    void senses_carrier() { d_senses = true; }
    //! A D_PDU of \p a was received.
    void heard(station_time now, address a);
    //! A transmission of \p a started, perhaps when all stations were free to start.
    void began(station_time begin, address a);
    /*! \brief A transmission noticed at this time was not received. Unless it may be an
     *         answer to us, perhaps several unknown stations started together.
     */
    void began_unknown(station_time noticed, bool may_be_answer);
    //! The transmission of \p a that started at \p begin has data.
    void carried_data(address a, station_time begin)
    {
        d_share.served(a, begin);
        d_hidden.run = 0;
    }
    /*! \brief A transmission of another station has ended.
     *  \param asked station that may answer it; empty if unknown
     */
    void ended(station_time end, std::optional<address> asked = {});
    //! Our transmission to \p asked has ended.
    void ended_own(station_time end, address asked)
    {
        d_busy_end = d_own.ended = end;
        d_asked = asked;
        d_own.answer_met = d_own.others_since = false;
    }
    //! What a D_PDU shows about the station that it is for.
    struct overheard_contents {
        bool acked = false;    //!< acknowledges data that it has just sent
        bool data = false;     //!< has data that it will answer
        bool accepted = false; //!< accepts its call: it will now send data
    };
    /*! \brief The transmission being received from another station is for \p to.
     *  \details If \p to was never heard, it is a hidden station. Only the answers to its
     *         transmissions are heard, so it needs time in which the channel seems
     *         unused.
     */
    void overheard(station_time now, address to, const overheard_contents& contents);
    /*! \brief Earliest start of a transmission that is no answer and could otherwise
     *         start at \p at.
     *  \param free_at first chance after the last transmission heard
     *  \details A start right at that chance is allowed. A later start waits while a
     *         hidden station may be transmitting.
     */
    station_time clear_at(station_time at, station_time free_at) const;
    /*! A transmission of \p a, completely received, started on the air at \p begin. If it
     * is an answer, all stations learn from it how long \p a takes to key. An answer to us
     * is for us: \p to is its only destination, if known.
     */
    void timed(station_time begin, address a, std::optional<address> to);
    //! Our transmission starts: as an answer or not, with data or only with what is due.
    void begin_own(station_time now, bool in_turn, bool with_data);
    //! Our transmission with data ends, which started at \p begin and wanted an answer or
    //! not.
    void end_own_data(station_time now, station_time begin, bool answer_wanted);
    /*! \brief True if our last transmission had a fair chance of an answer. It did not start
     *         when several stations often start together, and no third station was noticed
     *         when the answer was due.
     *  \details False on a shared channel if the modem has no carrier detector. If nobody
     *         was noticed since our transmission before it, nobody else is starting: a
     *         station whose call had met ours would have called again.
     */
    bool had_fair_chance() const
    {
        return !blind() && !d_own.in_rush && !d_own.answer_met;
    }
    //! True if a station was first heard after \p t. Calls before may have met its calls.
    bool newcomer_since(station_time t) const { return d_newest_heard_at > t; }
    //! An own transmission was answered.
    void answered(station_time now)
    {
        d_own.unheard = 0;
        d_own.known_at = now;
        d_new_heard = true;
    }
    //! Our transmission, with or without data, was not answered.
    void unanswered(bool data);
    //! Call regularly: forgets stations not heard for long.
    void forget(station_time now);

    // Whose turn it is
    //! True if there are more than two stations.
    bool shared() const { return d_heard_at.size() + d_hidden.at.size() > 1; }
    //! True if a D_PDU of \p a, for any station, was received after \p t, or an
    //! acknowledgement of its data.
    bool heard_since(station_time t, address a) const
    {
        const auto in = [&](const auto& list) {
            const auto it = list.find(a.raw());
            return it != list.end() && it->second > t;
        };
        return in(d_heard_at) || in(d_hidden.at);
    }
    //! Several may begin at the same time as we do now, in a transmission that is no answer.
    bool contended() const;
    /*! \brief Hidden stations may not know that we want the channel. They leave a short
     *         pause in which a transmission that is no answer must be over and answered:
     *         the answer is all that they hear of it. So it must carry no data.
     */
    bool unknown_to_hidden() const
    {
        return !d_hidden.at.empty() && (!d_share.has(d_config.own) || d_own.unheard > 0);
    }
    //! Time until the other end of a link has had its turn, s.
    double cycle_s() const { return shared() ? d_config.share_cycle_s : 0; }
    //! Our share of the cycle in which each station with data gets the channel once.
    station_time turn_length() const;
    //! Unused part of turn_length().
    station_time turn_left() const { return turn_length() - d_own.served_time; }
    //! True if a transmission of \p length_s must not follow in the turn at \p turn_at.
    bool must_yield(station_time turn_at, double length_s) const;
    //! True if other stations cannot be sensed; repeats then stay out of their way for
    //! longer.
    bool blind() const { return shared() && !d_senses; }

    // Waits before a transmission that is no answer
    //! After another station's transmission; \p peers: number of our peers.
    station_time wait_of_others(station_time end, size_t peers);
    //! After our own transmission, which all or one could answer.
    station_time wait_after_own(station_time end, bool to_group, size_t peers);
    //! The longest of these waits, if no hidden station is transmitting.
    station_time longest_wait(station_time end, size_t peers) const;
    //! After a reception. \p non_arq_alone: it had data without ARQ for one node and
    //! nothing else.
    station_time wait_of_heard(station_time end, bool non_arq_alone, size_t peers);
    //! After silence number \p silent. \p later differs between two stations that call
    //! each other.
    station_time back_off(unsigned silent, bool later);

private:
    struct rules;
    static constexpr station_time never = -std::chrono::hours(1);

    // Our transmissions, and what became of them.
    struct own_transmissions {
        bool served = false;        // data since other stations could last start
        station_time served_time{}; // air time in our turn
        unsigned unheard = 0;       // in a row without an answer
        bool unsure = false;        // the last one with data wants none
        bool in_rush = false;       // started when several stations often do
        station_time ended = never; // the last one; its answer is due then
        bool answer_met = false;    // a third station was noticed then
        bool others_since = true;   // another station was noticed since then
        std::optional<station_time> known_at;  // the last one that was heard
        std::optional<station_time> unread_at; // another began that could not be read
    };

    // Stations that others answer and we never heard.
    struct hidden_stations {
        std::unique_ptr<token_walk> walk;
        std::map<uint32_t, station_time> at; // when last noticed
        // The transmission that is being received acknowledges data of a hidden station, or
        // has data for one.
        bool acked = false, addressed = false;
        station_time wait{};   // for what one may send after the last transmission
        station_time until{};  // one may be transmitting
        uint32_t run = 0;      // the one whose data were acknowledged last
        station_time served{}; // air time of its transmissions in a row
    };

    const node_config& d_config;
    std::mt19937_64& d_random;
    bool d_wideband = false;
    station_time d_longest_preamble{};
    bool d_senses = false; // the modem has a carrier detector
    std::map<uint32_t, station_time>
        d_heard_at; // other stations on the channel, when last heard
    std::map<uint32_t, double> d_keys_after; // s, of those whose answers were heard
    std::optional<station_time> d_shared_at; // a third station was heard, when last
    station_time d_newest_heard_at{};        // the last of them for the first time
    channel_share d_share;
    unsigned d_new_rounds = 0; // with more slots for stations that are not on the list
    bool d_new_heard = false;  // one that all others have heard, too, is the reason
    unsigned d_gaps = 0;       // pauses since a station was heard for the first time
    station_time d_busy_end{}; // end of the last transmission of any station
    std::optional<address> d_asked; // station that may answer it
    own_transmissions d_own;
    hidden_stations d_hidden;
    uint32_t d_last_began = 0; // last station to start on the free channel
    station_time d_gap_at{};   // end of the last pause in which all stations could start
};

} // namespace gr::hf::s5066
