/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/words/coding.h"

#include <hf/setting_info.h>
#include <hf/station_time.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace gr::hf::ale {

//! Times of the standard that no setting changes (MIL-STD-188-141B Table A-XV).
namespace times {
constexpr station_time word = std::chrono::milliseconds(392);   //!< Trw
constexpr station_time third = word / 3;                        //!< Tw
constexpr station_time last_word = word;                        //!< Tlww
constexpr station_time longest_scan = std::chrono::seconds(50); //!< Ts max
constexpr station_time answer = 5 * third;                      //!< Twr, fast radio
constexpr station_time longest_message = 30 * word;             //!< Tm max basic
//! Words that may be lost in a row within a call (A.5.5.2.4), and the next one.
constexpr station_time reading_gap = 5 * word;
//! A receiver needs up to two words to lock to the first one.
constexpr station_time first_word = 2 * word;
} // namespace times

/*! \brief Settings of a link engine. Times are those of MIL-STD-188-141B Table A-XV where
 *         a symbol is given.
 */
struct link_settings {
    size_t channels = 1; //!< 1 to 100
    bool wide = false;   //!< the radio hears all channels at once and does not scan

    /*! Td, 100 ms to 5 s, without the time to tune. It takes a receiver 150 ms to see tones
     *  and report detected(). A radio that does not needs two words, 784 ms, so that a
     *  whole one is heard.
     */
    station_time dwell = std::chrono::milliseconds(250);
    station_time tune = times::third; //!< Tt, 0 to 20 s: retuning, ours and the peer's
    static constexpr station_time listen =
        std::chrono::seconds(2);                  //!< Twt, before a call
    station_time idle = std::chrono::seconds(30); //!< Twa, 5 s to 1 h
    /*! Longest time without anything heard from the peer in a link, held or not, 10 s to
     *  1 h. Own transmissions do not count. Our choice: two answers of a data link.
     */
    station_time silence = std::chrono::seconds(60);
    /*! A held link ends after this number of waits in a row without an answer, if nothing
     *  was heard from the peer in the last one, 2 to 20; 0: only \ref silence ends it. Our
     *  choice: a single answer may meet a fade.
     */
    unsigned unanswered = 2;
    station_time sounding{ 0 }; //!< Tps, 1 min to 24 h; 0: no sounds
    //! A link in use tries channels of which nothing is known (link_keeper). Our choice.
    bool trials = true;

    int rounds = 2; //!< times that a call tries all channels, 1 to 20
    //! Limits of the random pause between rounds. Our choice: one scan of ten channels.
    static constexpr station_time pause_min = std::chrono::seconds(4),
                                  pause_max = std::chrono::seconds(12);
    /*! Answers that are repeated without an acknowledgement, 0 to 3. The standard has
     *  none. A caller whose acknowledgement was lost would stay alone in the link.
     */
    int repeats = 1;
    bool report = false; //!< exchange link quality reports, a word more in each frame
    bool accept = true;  //!< false: calls are refused

    //! \throws std::invalid_argument that names the setting and what is allowed
    void check() const;

    //! Ts: time of a scan over all channels. A wide radio: 0.
    station_time scan() const;
    //! Twce: longest call that is read, from its first word.
    station_time longest_call() const;
    //! From the end of our call to the first word of the answer.
    station_time answer_wait() const;
};

//! Settings by name, for station files.
std::vector<setting_info> describe_link_settings();
//! \throws std::invalid_argument that names the setting and what is allowed
void apply(const std::map<std::string, double>& values, link_settings& settings);

/*! \brief Wait of a called station before its slot, from the end of the call (A.5.5.4.2).
 *  \param slot 1 for the first
 *  \param caller_words words of the caller's address
 *  \param earlier_words words of the addresses of all slots before
 *  \param message_words words of reports in each answer
 */
station_time
slot_start(size_t slot, size_t caller_words, size_t earlier_words, size_t message_words);

} // namespace gr::hf::ale
