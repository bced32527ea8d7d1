/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/words/expected_words.h"
#include "ale/words/word.h"

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace gr::hf::ale {

//! Why a link ended, or a call failed.
enum class link_reason {
    none,
    ours,               //!< our own request
    better,             //!< another channel promises more, and we call there
    trial,              //!< we call on a channel of which nothing is known
    done,               //!< the data link needs it no longer
    peer,               //!< TWAS of the peer
    idle,               //!< no traffic for Twa
    silent,             //!< nothing heard from the peer for too long
    refused,            //!< the peer answered with TWAS
    no_answer,          //!< on any channel
    busy,               //!< all channels were busy
    no_acknowledgement, //!< we were called, answered, and nothing followed
    transmitter         //!< the transmitter did not end in time
};

//! For example "no answer".
const char* to_string(link_reason r);

//! What the user of a link engine has to do, or is notified of.
struct link_action {
    enum class kind {
        tune,     //!< set the radio to \ref channel
        transmit, //!< send \ref words on \ref channel, then call transmitted()
        linked,   //!< the data link may use \ref channel
        ended,    //!< a link ended, see \ref reason
        failed,   //!< a call that we made or answered led to no link, see \ref reason
        message   //!< \ref text arrived from \ref peer
    };
    kind what = kind::tune;
    size_t channel = 0;
    std::vector<word> words;
    /*! Of transmit: frames of which one is awaited after it, while the state of the engine
     *  stays as transmitted() leaves it.
     */
    std::vector<expected_words::sequence> answers;
    std::string text;                 //!< of transmit: the frame in its text form
    std::string peer;                 //!< a station, or a net that we called
    std::vector<std::string> members; //!< of a net that we called: those that answered
    bool caller = false;              //!< of linked: we called
    link_reason reason = link_reason::none;
};

//! For example "transmit".
const char* to_string(link_action::kind k);

//! Actions that the user of a link engine has not taken yet.
class action_list
{
public:
    void add(link_action a) { d_list.push_back(std::move(a)); }
    //! Adds one that notifies the user. The result is valid until the next call.
    link_action& notify(link_action::kind what,
                        size_t channel,
                        const std::string& peer,
                        link_reason why = link_reason::none);
    //! The next one; empty: none.
    std::optional<link_action> poll();

private:
    std::deque<link_action> d_list;
};

} // namespace gr::hf::ale
