/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/peer/frame_losses.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::s5066 {

void frame_losses::measure(const arq_sender::tally& t)
{
    const bool all = t.lost == t.sent;
    constexpr unsigned min_lost = 4, by_chance = 1;
    d_all_lost = !all ? 0 : t.sent >= min_lost ? d_all_lost + 1 : d_all_lost;
    if (all && d_all_lost <= by_chance)
        return; // a fade or a missed preamble, which tells nothing about length
    d_too_long = d_too_long || all;
    // Losses in a row are a fade and do not depend on length either, so only runs count. If
    // all are lost again, but headers were read, they are too long: half of one arrives.
    const double share =
        all ? 1 - 0.5 / t.sent : std::min(t.runs / double(t.sent - t.lost), 0.95);
    const double keep = t.sent >= 16 ? 0.5 : 1 - t.sent / 32.0;
    d_events = keep * d_events - t.sent * std::log(1 - share);
    d_bits = keep * d_bits + 8.0 * static_cast<double>(t.octets);
}

} // namespace gr::hf::s5066
