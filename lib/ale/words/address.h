/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/words/word.h"

#include <optional>
#include <string>
#include <vector>

namespace gr::hf::ale {

constexpr size_t longest_address = 15; //!< characters

/*! \brief Kinds of address (MIL-STD-188-141B A.5.2.4).
 *  \details Those marked [1] rest on one source.
 */
enum class address_kind {
    individual,   //!< a station, or a net
    wildcard,     //!< holds a ?, which stands for any letter or digit [1]
    all,          //!< @?@: all listen, none answers
    all_selected, //!< @A@: those whose address ends in A [1]
    any,          //!< @@?: all answer, in slots taken at random
    any_selected, //!< @@A, @AB: those whose address ends so [1]
    in_link,      //!< ?@?: all members of the link [1]
    null          //!< @@@: nobody [1]
};

/*! \brief Kind of an address; empty: not an address.
 *  \param a without the @ that fill its last word; special ones have three characters
 */
std::optional<address_kind> kind_of_address(const std::string& a);

//! Whether a word may be the first of an address.
bool starts_address(const word& w);

/*! \brief Words of an address.
 *  \param first preamble of the first; DATA and REP follow in turns
 *  \throws std::invalid_argument if it is not an address
 */
std::vector<word> address_words(preamble first, const std::string& a);

//! Characters of the words of an address, without what fills the last.
std::string address_of(const std::vector<word>& words);

} // namespace gr::hf::ale
