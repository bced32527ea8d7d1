/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/link/address_book.h"

#include "ale/words/address.h"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace gr::hf::ale {

namespace {

constexpr size_t max_self = 20;
constexpr size_t max_members = 100;

bool fits_wildcard(const std::string& pattern, const std::string& a)
{
    return pattern.size() == a.size() &&
           std::equal(
               pattern.begin(),
               pattern.end(),
               a.begin(),
               [](char p, char c) { return p == '?' || p == c; });
}

bool ends_with(const std::string& a, const std::string& end)
{
    return a.size() >= end.size() &&
           a.compare(a.size() - end.size(), end.size(), end) == 0;
}

void check_address(const std::string& a)
{
    if (kind_of_address(a) != address_kind::individual)
        throw std::invalid_argument("address '" + a +
                                    "': allowed are 1 to 15 of A-Z and 0-9");
}

} // namespace

address_book::match address_book::find(const std::string& called) const
{
    using kind = match::kind;
    const auto what = kind_of_address(called);
    if (!what)
        return {};
    const auto of_self = [this](kind how, auto fits) -> match {
        const auto own = std::find_if(self.begin(), self.end(), fits);
        return own == self.end() ? match{} : match{ how, *own, 0, {} };
    };
    switch (*what) {
    case address_kind::individual:
        break;
    case address_kind::wildcard:
        return of_self(kind::any, [&](auto& a) { return fits_wildcard(called, a); });
    case address_kind::all:
        return { kind::all, self.front(), 0, {} };
    case address_kind::all_selected:
        return of_self(kind::all,
                       [&](auto& a) { return ends_with(a, called.substr(1, 1)); });
    case address_kind::any:
        return { kind::any, self.front(), 0, {} };
    case address_kind::any_selected: {
        const auto end = called.substr(called[1] == '@' ? 2 : 1);
        return of_self(kind::any, [&](auto& a) { return ends_with(a, end); });
    }
    default:
        return {};
    }
    if (std::find(self.begin(), self.end(), called) != self.end())
        return { kind::individual, called, 0, {} };
    const auto net = nets.find(called);
    if (net == nets.end())
        return {};
    for (size_t k = 0; k < net->second.size(); ++k)
        if (std::find(self.begin(), self.end(), net->second[k]) != self.end())
            return { kind::net, net->second[k], k + 1, net->second };
    return {};
}

address_book::match address_book::find(const std::vector<std::string>& called) const
{
    if (called.size() == 1)
        return find(called.front());
    for (size_t k = called.size(); k-- > 0;)
        if (find(called[k]).how == match::kind::individual)
            return { match::kind::group,
                     called[k],
                     called.size() - k,
                     { called.rbegin(), called.rend() } };
    return {};
}

bool address_book::may_concern(const word& w) const
{
    if (w.kind != preamble::to && w.kind != preamble::thru && w.kind != preamble::rep)
        return false;
    const auto first = [&w](const std::string& a) {
        return address_words(preamble::to, a).front().text == w.text;
    };
    if (std::any_of(self.begin(), self.end(), first) ||
        std::any_of(nets.begin(), nets.end(), [&](auto& n) { return first(n.first); }))
        return true;
    // Special addresses are one word. A wildcard may have more words.
    const std::string text(w.text.begin(), w.text.end());
    return w.kind != preamble::rep && text.find_first_of("@?") != std::string::npos &&
           (find(address_of({ w })).how != match::kind::none ||
            (text[0] != '@' && text.find('?') != std::string::npos));
}

expected_words address_book::expected() const
{
    std::set<std::string> known(peers.begin(), peers.end());
    for (const auto& [net, members] : nets)
        known.insert(members.begin(), members.end());
    for (const auto& [station, channels] : scanned)
        known.insert(station);
    for (const auto& own : self)
        known.erase(own);
    expected_words e;
    for (const auto& a : self)
        e.called.push_back(address_words(preamble::to, a).front());
    for (const auto& a : known)
        for (const auto first : { preamble::tis, preamble::twas })
            e.callers.push_back(address_words(first, a));
    return e;
}

void address_book::check() const
{
    if (self.empty() || self.size() > max_self)
        throw std::invalid_argument(std::to_string(self.size()) +
                                    " self addresses: allowed are 1 to 20");
    for (const auto& a : self)
        check_address(a);
    for (const auto& [net, members] : nets) {
        check_address(net);
        if (members.empty() || members.size() > max_members)
            throw std::invalid_argument("net '" + net + "' with " +
                                        std::to_string(members.size()) +
                                        " members: allowed are 1 to 100");
        for (const auto& a : members)
            check_address(a);
    }
    for (const auto& [station, channels] : scanned) {
        check_address(station);
        if (channels < 0 || channels > 100)
            throw std::invalid_argument("scanned channels " + std::to_string(channels) +
                                        " of '" + station + "': allowed are 0 to 100");
    }
    for (const auto& a : peers)
        check_address(a);
}

void address_book::check_callable(const std::string& to) const
{
    if (kind_of_address(to) != address_kind::individual)
        throw std::invalid_argument("address '" + to +
                                    "': allowed are a station or a net, 1 to 15 of A-Z "
                                    "and 0-9");
    if (std::find(self.begin(), self.end(), to) != self.end())
        throw std::invalid_argument("address '" + to + "': it is one of our own");
}

} // namespace gr::hf::ale
