/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/link/link_machine.h"

#include <map>
#include <string>

namespace gr::hf::ale {

//! Makes links for a data link: calls the peer it wants, holds the link while data wait.
class link_keeper
{
public:
    /*! A call that failed is repeated after this time while the peer is still wanted. Our
     *  choice: a failed call to ten channels takes minutes.
     */
    static constexpr station_time call_again = std::chrono::seconds(60);

    //! \param link must outlive this
    explicit link_keeper(link_machine& link) : d_link(link) {}

    /*! \brief What the data link wants now. Call often.
     *  \param wanted ALE address of the peer that it has data for; empty: none
     *  \param active it exchanges something, or can send
     *  \throws std::invalid_argument if \p wanted cannot be called
     */
    void update(const std::string& wanted, bool active, station_time now);
    //! Every action of the link engine.
    void on_action(const link_action& a, station_time now);

private:
    link_machine& d_link;
    std::string d_called; // our call that is under way or waits
    std::map<std::string, station_time> d_again_at;
};

} // namespace gr::hf::ale
