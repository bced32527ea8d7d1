/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace gr::hf::ale {

//! First three bits of a word: what the word is for (MIL-STD-188-141B A.5.2.2).
enum class preamble : uint8_t {
    data = 0, //!< continues an address or a message, after any word but DATA
    thru = 1, //!< one of the stations of a group, in a scanning call
    to = 2,   //!< called station
    twas = 3, //!< sender, which ends the link or wants no answer
    from = 4, //!< sender, named before a message
    tis = 5,  //!< sender, which wants an answer
    cmd = 6,  //!< starts a command or a message
    rep = 7   //!< continues as DATA does, after DATA
};

//! Name of a preamble, in capitals.
const char* to_string(preamble p);

//! A word: a preamble and three characters of 7 bits.
struct word {
    preamble kind = preamble::data;
    std::array<char, 3> text{}; //!< 0 to 127 each

    //! The 24 bits as a number. The first bit on the air is the highest.
    uint32_t bits() const;
    //! Word of the lowest 24 bits of \p bits.
    static word of(uint32_t bits);

    /*! \brief Text form, for example TO:BOB or CMD:a\\x7f\\x7f.
     *  \details Characters below 0x20 and 0x7F are \\x and two hex digits, \ is \\\\.
     */
    std::string to_string() const;
    //! Reads to_string() back. Empty: not the text of a word.
    static std::optional<word> parse(const std::string& text);

    bool operator==(const word& o) const { return kind == o.kind && text == o.text; }
    bool operator!=(const word& o) const { return !(*this == o); }
};

//! Characters that addresses may have: A-Z, 0-9, @ and ? (Basic 38).
bool is_basic(char c);
//! Characters of text messages: 0x20 to 0x5F (Expanded 64).
bool is_expanded(char c);

//! TO, TIS, TWAS, FROM or THRU: starts an address.
bool is_routing(preamble p);
//! DATA or REP: continues an address or a message.
bool is_extension(preamble p);

} // namespace gr::hf::ale
