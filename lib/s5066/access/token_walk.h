/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/config/node_config.h"
#include "s5066/words/address.h"

#include <hf/station_time.h>

#include <cstdint>
#include <map>
#include <optional>
#include <random>

namespace gr::hf::s5066 {

/*! \brief A token for stations of which some do not hear each other. Its holder alone
 *         sends data, then hands it to the neighbour that has waited longest.
 *
 * A neighbour is a station that we hear. Every station learns by listening when each of
 * its neighbours had the token, so the token visits all stations of a connected net. It
 * exists only while hidden stations share the channel. A lost token is replaced. Of two
 * tokens the one with the older number vanishes where they meet. docs/data-link.md
 * explains the rules.
 */
class token_walk
{
public:
    //! \param config read for each turn; must outlive this
    //! \param random source of random waits; must outlive this
    token_walk(const node_config& config, std::mt19937_64& random)
        : d_config(config), d_random(random)
    {
    }

    // Reception
    //! A D_PDU of \p a for \p to was received. \p ours: it shows that \p a knows tokens.
    void heard(station_time now, address a, bool ours, address to);
    //! \p a sends data.
    void carried_data(station_time now, address a);
    //! A station calls another one, which may not answer, until \p end.
    void called(station_time end) { d_called_at = end; }
    //! Others accept or acknowledge what \p a sends, or send it data (\p by_data), which
    //! counts unless a call is under way. We never heard it.
    void hidden(station_time now, address a, bool by_data = false);
    //! A signal of this length was not received.
    void unread(station_time now, station_time length);
    //! A station that we have called since \p since does not answer.
    void starves(station_time now, station_time since);
    //! Others sent so much lately that was not received that it hardly was by chance.
    bool jammed(station_time now) const;
    //! \p from hands the token to \p to. \p octet: as from number().
    void handed(station_time now, address from, address to, uint8_t octet);
    //! Call regularly: forgets stations and hidden ones not heard for long.
    void forget(station_time now);

    // Turns
    //! True while hidden stations share the channel: only the holder sends data.
    bool active() const { return d_active; }
    bool holds() const { return d_holds; }
    //! True if there is a token, as far as we know.
    bool exists() const { return d_active && d_seen; }
    //! Earliest start without the token of a station that heard nothing since \p silent:
    //! the token is lost.
    station_time lost_at(station_time silent) const;
    //! Longest transmission with data to \p a in this turn, s. 0: it has had its part.
    double left_s(address a) const;
    /*! \brief The neighbour that gets the token next. Empty: none takes it now.
     *  \param usable stations that may be sent to; empty: all
     */
    std::optional<address> next(station_time now, std::optional<address> usable) const;

    /*! \brief True if \a a may be in a dialogue with a hidden station and not know of the
     *         token. It can be called only right after a transmission of its own, if the
     *         dialogue pauses.
     */
    bool must_be_met(station_time now, address a) const;
    //! True if \p a was heard at the end of the last transmission, which ended at \p end.
    bool heard_last(station_time end, address a) const;
    //! True if \p a can have the token and may not know that there is one.
    bool unaware(address a) const
    {
        const auto it = d_near.find(a.raw());
        return it != d_near.end() && it->second.ours && !it->second.walks;
    }

    // Our transmissions
    //! We send without the token, since there is none: it becomes ours.
    void create(station_time now);
    //! Our transmission with data to \p a, of this duration, has ended.
    void sent_data(station_time now, address a, station_time length);
    //! \p a did not answer in this turn.
    void unanswered(address a) { ++d_silent[a.raw()]; }
    //! Octet of the D_PDU that hands the token over: its number, whether the station that
    //! hands it over still has data, and whether it invites others.
    uint8_t number(bool more, bool invites) const
    {
        return static_cast<uint8_t>(((d_number + 1) & number_mask) |
                                    (more ? more_bit : 0) | (invites ? invite_bit : 0));
    }
    //! True if the next handover should invite stations that never get the token.
    bool invites(station_time now) const { return now >= d_invitation.next; }
    //! We have handed it to \p a, and invited others or not.
    void hand_over(station_time now, address a, bool invited);
    //! Nobody takes it, and we have no data: it ends.
    void drop() { d_holds = d_seen = false; }
    //! When a neighbour that is not visited now may be visited.
    std::optional<station_time> next_visit() const;
    //! We have data and nobody else takes it: our next turn begins.
    void keep(station_time now);

    //! Station that has got the token from us and was not heard since.
    std::optional<address> awaited() const { return d_awaited; }
    //! It does not answer: the token is ours again.
    void not_taken(station_time now);
    //! It transmits, as far as can be noticed, or stations that we have invited do.
    void taken(station_time now);

    // Calls of stations that do not get the token
    /*! \brief True if the transmission that ended at \p end handed the token over and
     *         invited such stations: nobody else transmits for invited_slots.
     */
    bool invited(station_time end) const;
    //! Slot in which we call after such a transmission. Empty: we do not.
    std::optional<unsigned> invited_slot(station_time end) const;
    static constexpr unsigned invited_slots = 2;

private:
    static constexpr uint8_t number_mask = 0x3f, invite_bit = 0x40, more_bit = 0x80;
    struct neighbour {
        station_time heard_at{};
        // Sending to others than us, when last
        station_time elsewhere_at = -std::chrono::hours(1);
        bool ours = false;                  // knows tokens
        bool walks = false;                 // has had this one, or another, it seems
        bool hands = false;                 // has handed one over, so it knows
        std::optional<station_time> had_at; // the token, when last
        std::optional<station_time> served; // its data, when last
        std::optional<station_time> got_at; // the token
        unsigned empty = 0;                 // visits in a row without any data
        unsigned fails = 0;                 // in a row that it did not take the token
        station_time rest_until{};          // not visited before
    };

    // Invitations of stations that never get the token, since nobody has heard them.
    struct invitation {
        station_time at = -std::chrono::hours(1); // the last one, heard or sent
        unsigned slot = 0;                   // of our call after it; invited_slots: none
        unsigned calls = 0;                  // after invitations, since our last turn
        station_time next{};                 // of ours, when due
        station_time pause{};                // between the last two of ours
        std::optional<station_time> turn_at; // end of our last turn
    };
    // Long signals that were not received. A quarter of the time since is subtracted.
    struct unread_signals {
        station_time at{}, length{};
    };

    bool newer(station_time now, uint8_t number) const;
    void see(station_time now, uint8_t number);
    void begin_turn(station_time now);
    void passed_on(station_time now, neighbour& from, address to, bool more);
    bool gives_way(station_time now) const;
    bool waits(const neighbour& n, station_time now) const;
    double turn_s() const;

    const node_config& d_config;
    std::mt19937_64& d_random;
    bool d_active = false;
    std::map<uint32_t, station_time> d_hidden; // since when
    station_time d_called_at{};                // a link request was heard, when last
    unread_signals d_unread;
    invitation d_invitation;
    station_time d_needed_at{}; // last sign of a hidden station or a token
    std::map<uint32_t, neighbour> d_near;
    bool d_holds = false;
    bool d_passes = false; // a neighbour with data has waited longer than we have
    bool d_seen = false;   // a token, with d_number
    uint8_t d_number = 0;
    station_time d_seen_at{};
    station_time d_lost_wait{};
    std::map<uint32_t, station_time> d_used; // air time in this turn, by station
    std::map<uint32_t, unsigned> d_silent;   // unanswered transmissions in this turn
    std::optional<station_time> d_served;    // our data, when last
    std::optional<address> d_awaited;
    bool d_missed = false; // a station that may not know of the token did not take it
};

} // namespace gr::hf::s5066
