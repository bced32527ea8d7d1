/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/words/word.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gr::hf::ale {

/*! \brief Link quality report of a CMD word with the character a (MIL-STD-188-141B
 *         A.5.6.1).
 */
struct lqa {
    bool wanted = false;             //!< the other station shall report, too
    std::optional<int> multipath_ms; //!< 0 to 6
    std::optional<int> sinad_db;     //!< 0 to 30
    std::optional<int>
        bit_errors; //!< mean of 48 votes not unanimous; 0 to 29, 30 or more: 30

    bool operator==(const lqa& o) const
    {
        return wanted == o.wanted && multipath_ms == o.multipath_ms &&
               sinad_db == o.sinad_db && bit_errors == o.bit_errors;
    }
};

//! Values out of range are limited.
word encode(const lqa& report);
//! Empty: another command.
std::optional<lqa> read_lqa(const word& w);

constexpr size_t longest_text = 90; //!< characters of an AMD message

/*! \brief Words of a text message (AMD, A.5.7.2): CMD, then DATA and REP in turns, filled
 *         with spaces.
 *  \param text 1 to longest_text characters; small letters become capitals
 *  \throws std::invalid_argument
 */
std::vector<word> text_words(const std::string& text);

/*! \brief CRC-16 of a data text message (DTM), over the 24 bits of its words
 *         (A.5.7.3.4).
 *  \details x^16 + x^12 + x^5 + 1, starts with ones, sent inverted. Proved on a
 *  transmission off the air.
 */
uint16_t message_crc(const std::vector<word>& words);
//! CRC that a CMD word with one of x, y, z, { carries; empty: another command.
std::optional<uint16_t> read_crc(const word& w);

//! A CMD word and the DATA and REP words after it.
struct command {
    enum class kind {
        text,  //!< AMD
        lqa,   //!< link quality report
        data,  //!< DTM with its CRC
        other, //!< any other; read as words
    };
    kind what = kind::other;
    std::vector<word> words;
    bool whole = true; //!< no word of it was lost
    bool sound = true; //!< of data: the CRC is right
    lqa report;        //!< of a link quality report
    std::string text;  //!< of text and data, without spaces at its end

    //! For example AMD "HELLO", LQA 13 dB 3 errors, CMD:f.. DATA:...
    std::string to_string() const;
};

/*! \brief What a command says.
 *  \param words at least the CMD word
 */
command read_command(const std::vector<word>& words, bool whole);

} // namespace gr::hf::ale
