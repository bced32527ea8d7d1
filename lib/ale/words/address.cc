/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/words/address.h"

#include <algorithm>
#include <stdexcept>

namespace gr::hf::ale {

namespace {

bool is_alphanumeric(char c) { return is_basic(c) && c != '@' && c != '?'; }

} // namespace

std::optional<address_kind> kind_of_address(const std::string& a)
{
    if (a.empty() || a.size() > longest_address ||
        !std::all_of(a.begin(), a.end(), is_basic))
        return std::nullopt;
    if (a == "@?@")
        return address_kind::all;
    if (a == "@@?")
        return address_kind::any;
    if (a == "?@?")
        return address_kind::in_link;
    if (a == "@@@")
        return address_kind::null;
    const bool special = a.find('@') != std::string::npos;
    if (!special)
        return a.find('?') == std::string::npos ? address_kind::individual
                                                : address_kind::wildcard;
    if (a.size() != 3 || a[0] != '@')
        return std::nullopt;
    if (is_alphanumeric(a[1]) && a[2] == '@')
        return address_kind::all_selected;
    if ((a[1] == '@' || is_alphanumeric(a[1])) && is_alphanumeric(a[2]))
        return address_kind::any_selected;
    return std::nullopt;
}

bool starts_address(const word& w)
{
    return is_routing(w.kind) && kind_of_address(address_of({ w })).has_value();
}

std::vector<word> address_words(preamble first, const std::string& a)
{
    if (!kind_of_address(a))
        throw std::invalid_argument("address '" + a +
                                    "': allowed are 1 to 15 of A-Z, 0-9, and ? as a "
                                    "wildcard; or @?@, @A@, @@?, @@A, @AB, ?@?, @@@");
    std::vector<word> words;
    for (size_t at = 0; at < a.size(); at += 3) {
        word w;
        w.kind = words.empty()           ? first
                 : words.size() % 2 == 1 ? preamble::data
                                         : preamble::rep;
        for (size_t k = 0; k < 3; ++k)
            w.text[k] = at + k < a.size() ? a[at + k] : '@';
        words.push_back(w);
    }
    return words;
}

std::string address_of(const std::vector<word>& words)
{
    std::string a;
    for (const auto& w : words)
        a.append(w.text.begin(), w.text.end());
    // Special addresses are one word, and begin with @ or are ?@?.
    if (a.size() == 3 && (a[0] == '@' || a == "?@?"))
        return a;
    a.erase(a.find_last_not_of('@') + 1);
    return a;
}

} // namespace gr::hf::ale
