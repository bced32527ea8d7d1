/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/words/expected_words.h"
#include "ale/words/word.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace gr::hf::ale {

/*! \brief Addresses that a station knows: its own ones, nets, and what other stations
 *         scan (MIL-STD-188-141B A.4.3.2).
 */
struct address_book {
    std::vector<std::string> self; //!< the first one names the station; 1 to 20
    //! Members of each net in the order of their slots, from slot 1; up to 100.
    std::map<std::string, std::vector<std::string>> nets;
    //! Channels that another station scans; 0: it hears all of them at once.
    std::map<std::string, int> scanned;
    //! Other stations that may call, besides those of \ref nets and \ref scanned.
    std::vector<std::string> peers{};

    //! How a called address concerns this station.
    struct match {
        enum class kind { none, individual, net, group, all, any };
        kind how = kind::none;
        std::string own; //!< own address to answer with
        size_t slot = 0; //!< of a net or group: 1 for the first
        //! Of a net or group: all that are called, in the order of their slots.
        std::vector<std::string> members;
    };
    match find(const std::string& called) const;
    /*! \brief The same for all addresses of a call. Stations of a group answer in the
     *         opposite order: the last one has slot 1 (A.5.5.4.3.4, A.5.5.4.3.7).
     */
    match find(const std::vector<std::string>& called) const;

    //! The word may be the first of an address that concerns this station.
    bool may_concern(const word& w) const;
    //! Words of calls to this station, and of all other stations of the book. No frames.
    expected_words expected() const;

    //! \throws std::invalid_argument that names the address and what is allowed
    void check() const;
    //! \throws std::invalid_argument if \p to is no address of another station or of a net
    void check_callable(const std::string& to) const;
};

} // namespace gr::hf::ale
