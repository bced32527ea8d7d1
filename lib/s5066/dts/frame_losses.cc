/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/frame_losses.h"

#include "s5066/dts/arq_sender.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::s5066 {

void frame_losses::measure(const arq_sender& tx)
{
    const unsigned sent = tx.sent_in_transmission();
    const unsigned lost = tx.lost_in_transmission();
    if (lost == sent) {
        return; // all gone: a fade or a missed preamble, which says nothing about length
    }
    // Losses in a row are a fade: they do not depend on length either, so only runs count.
    const double share =
        std::min(tx.loss_runs_in_transmission() / double(sent - lost), 0.95);
    const double keep = sent >= 16 ? 0.5 : 1 - sent / 32.0;
    d_events = keep * d_events - sent * std::log(1 - share);
    d_bits = keep * d_bits + 8.0 * static_cast<double>(tx.octets_in_transmission());
}

} // namespace gr::hf::s5066
