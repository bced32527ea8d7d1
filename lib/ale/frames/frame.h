/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/frames/commands.h"
#include "ale/words/expected_words.h"
#include "ale/words/word.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gr::hf::ale {

//! What a frame is, by its addresses. Call and response differ by the state of a link only.
enum class frame_kind {
    call,  //!< TO ... TIS: call, response or acknowledgement
    close, //!< TO ... TWAS: ends a link, refuses one, or a message without answer
    sound, //!< TIS or TWAS alone
    cut    //!< the sender was not read
};

const char* to_string(frame_kind k);

/*! \brief A frame on the air (MIL-STD-188-141B A.5.3).
 *  \details The meaning of words is that of their frame: no part of it counts before its
 *  conclusion was read.
 */
struct frame {
    std::vector<std::string> to; //!< called addresses, several for a group
    std::string quick_id;        //!< address after FROM; empty: none
    std::vector<command> commands;
    bool answer_wanted = false; //!< the conclusion is TIS
    std::string from;           //!< address of the conclusion; empty: not read

    double start_s = 0, end_s = 0; //!< of the words that were read
    size_t words = 0;              //!< number of words that were read
    size_t lost = 0;               //!< number of words between them that were not
    float snr_db = 0;              //!< mean over the words, in 3 kHz
    float offset_hz = 0;           //!< mean
    float bit_errors = 0; //!< mean of votes not unanimous, a lost word counts as 48

    frame_kind kind() const;
    //! The sender wants a report of link quality (A.5.4.1).
    bool report_wanted() const;
    //! For example TO JOE AMD "HELLO" TIS SAM.
    std::string to_string() const;
};

//! A frame to send.
struct frame_plan {
    std::vector<std::string> to; //!< empty: a sound
    int channels = 0; //!< scanned by the called station, 0 to 100; 0: it does not scan
    std::string quick_id;      //!< sent before commands; empty: none
    std::optional<lqa> report; //!< empty: none
    std::string text;          //!< AMD; empty: none
    bool answer_wanted = true; //!< conclusion: TIS, else TWAS
    std::string from;          //!< own address
    size_t sounds = 2;         //!< how often a sound repeats the address, 1 to 1000
};

//! A frame with two addresses that wants an answer.
frame_plan plan_to(const std::string& to, const std::string& from);

/*! \brief Words of a frame: scanning call, leading call, commands and conclusion.
 *  \details A scanning call has two words for each channel. For a group it repeats up to
 *  five first words in turns.
 *  \throws std::invalid_argument that names the value and what is allowed
 */
std::vector<word> words_of(const frame_plan& plan);

//! Words of the longest of answers_to(): two addresses of 15 characters.
constexpr size_t longest_answer_words = 16;

/*! \brief Frames with which a single station may answer: TIS and TWAS, without and with a
 *         report of link quality.
 *  \param plan frame to one station that was sent
 */
std::vector<expected_words::sequence> answers_to(const frame_plan& plan);

} // namespace gr::hf::ale
