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
    //! Shortest time from one move to the next, whether it led to a link there or not.
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
     *  \param goodput empty: links never move to a better channel
     *  \param most_vain waits without a sign of the peer that end a link; 0: any number
     */
    explicit link_keeper(link_machine& link, promise goodput = {}, unsigned most_vain = 0)
        : d_link(link), d_promise(std::move(goodput)), d_most_vain(most_vain)
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
    std::optional<size_t> better_channel(station_time now);

    link_machine& d_link;
    promise d_promise;
    const unsigned d_most_vain;
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
