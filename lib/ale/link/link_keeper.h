/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/link/answer_watch.h"
#include "ale/link/link_machine.h"
#include "ale/link/used_channel.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace gr::hf::ale {

/*! \brief Makes links for a data link: calls the peer it wants, holds the link while data
 *         wait, and moves to a better channel.
 *  \details A pair moves when another channel promises more than \ref better times the
 *  goodput of this one, whose mean covers two minutes (used_channel). Only the station that
 *  called moves it, so both never do at once: it ends the link with TWAS and calls on the
 *  other channel. The called station leaves it the time for that. The data link waits
 *  meanwhile. Without an answer the call goes on to the other channels, the old one among
 *  them.
 *
 *  With link_settings::trials the pair also tries channels of which nothing is known: it
 *  ends the link and calls there, with a report of link quality. The caller acknowledges
 *  the answer with TIS, and stays, if the channel promises more than \ref better_here times
 *  the goodput of the old one. Otherwise it acknowledges with TWAS and calls on the old one.
 *
 *  A channel that dies at once ends the link after some waits for an answer in which nothing
 *  was heard (answer_watch). Both stations notice it by themselves, and the caller calls.
 */
class link_keeper
{
public:
    /*! A call that failed is repeated after this time while the peer is still wanted. Our
     *  choice: a failed call to ten channels takes minutes.
     */
    static constexpr station_time call_again = std::chrono::seconds(60);
    static constexpr double better = 3;
    //! The same for a channel that was measured just now, by a call.
    static constexpr double better_here = 1.5;
    /*! Shortest time from one move or trial to the next, whether it led to a link there or
     *  not.
     */
    static constexpr station_time move_again = std::chrono::minutes(10);
    /*! After a TWAS or a dead channel while data wait here, too, the peer has this time to
     *  call. Our choice: two calls to ten channels.
     */
    static constexpr station_time leave_to_peer = std::chrono::seconds(30);
    //! Goodput that an SNR in 3 kHz promises, bit/s.
    using promise = std::function<double(double snr_db)>;

    //! What the data link wants.
    struct wish {
        std::string wanted; //!< ALE address of the peer that it has data for; empty: none
        bool active = false; //!< it exchanges something, or can send
        bool joined = false; //!< it has a link of its own with the peer
        //! Waits in a row in which the peer did not transmit as expected.
        unsigned unanswered = 0;
    };

    /*! \param link must outlive this
     *  \param settings those of \p link
     *  \param goodput empty: links never move to another channel
     */
    link_keeper(link_machine& link, const link_settings& settings, promise goodput = {})
        : d_link(link), d_promise(std::move(goodput)), d_max_vain(settings.unanswered),
          d_channels(settings.channels), d_trials(settings.trials)
    {
    }

    /*! \brief What the data link wants now. Call often.
     *  \throws std::invalid_argument if the peer cannot be called
     */
    void update(const wish& w, station_time now);
    /*! \brief The data modem received something in the link.
     *  \param snr_db in 3 kHz; empty: not measured
     */
    void traffic(std::optional<double> snr_db, station_time now);
    //! The data modem has noticed a preamble or a carrier.
    void heard() { d_watch.heard(); }
    //! The data modem starts or ends a transmission in the link.
    void keyed(bool on, station_time now);
    //! The peer's transmission is over and ours has not begun: the time to move.
    void turn(station_time now);
    //! Every action of the link engine.
    void on_action(const link_action& a, station_time now);

private:
    std::optional<size_t> better_channel(double here, station_time now);

    link_machine& d_link;
    promise d_promise;
    const unsigned d_max_vain;
    const size_t d_channels;
    const bool d_trials;
    used_channel d_used;
    answer_watch d_watch;
    bool d_caller = false; // of the link with one station
    bool d_held = false;   // data wait, or are exchanged
    bool d_joined = false; // the data link had a link in this one
    station_time d_stay_until{};
    std::string d_called; // our call that is under way or waits
    std::map<std::string, station_time> d_again_at;
};

} // namespace gr::hf::ale
