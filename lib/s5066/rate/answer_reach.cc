/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/rate/answer_reach.h"

#include "s5066/rate/mode_promise.h"

#include <algorithm>
#include <utility>

namespace gr::hf::s5066 {

namespace {

// After an answer that was heard, the next mode may need this much more SNR. Not used once
// the peer has advised a mode.
constexpr double climb_db = 6;

double needed_db(const mode& m) { return mode_promises::of(m).needed_db(); }

} // namespace

// An answer was lost if the peer asks again, or falls to a slower mode than before without
// advice from us.
void answer_reach::on_reception(const reception& r, bool advised)
{
    if (!d_reaches_db)
        d_reaches_db = needed_db(r.m);
    if (!r.read)
        return;
    const auto before = std::exchange(d_heard, r.m);
    if (!d_sent)
        return;
    const double sent_db = needed_db(*d_sent), now_db = needed_db(r.m);
    d_lost = r.again || (before && !advised && now_db <= needed_db(*before) - fall_db);
    d_reaches_db = d_lost ? std::min(sent_db - fall_db, now_db)
                          : std::max(*d_reaches_db, sent_db + climb_db);
    d_sent.reset();
}

} // namespace gr::hf::s5066
