/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/rate/rate_policy.h"

#include <optional>

namespace gr::hf::s5066 {

//! After each transmission that was not heard, the next mode needs this much less SNR, dB.
constexpr double fall_db = 6;

/*! \brief How well a peer hears our answers, before its first advice and after it had to ask
 *         again: in modes that need no more SNR than its own, and than those that reached it.
 */
class answer_reach
{
public:
    //! Our answer in mode \p m begins.
    void on_answer(const mode& m) { d_sent = m; }
    /*! \brief The next reception tells whether our last answer was heard.
     *  \param advised the peer has advised a mode
     */
    void on_reception(const reception& r, bool advised);
    //! Our last answer was not heard.
    bool lost() const { return d_lost; }
    //! Modes that need at most this SNR arrive there (mode_promises::needed_db()).
    double reaches_db() const { return d_reaches_db.value_or(1e9); }

private:
    std::optional<mode> d_sent;  // mode of our answer since the last reception
    std::optional<mode> d_heard; // mode of the last reception that was read
    std::optional<double> d_reaches_db;
    bool d_lost = false;
};

} // namespace gr::hf::s5066
