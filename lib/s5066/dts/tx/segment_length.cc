/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/tx/segment_length.h"

#include "waveform/timing.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::s5066 {

namespace {
// Time per window that does not carry data, for choosing segments: that of two turns (one for
// the repeats) with turnarounds, preambles, answer and half an empty block.
constexpr double round_cost_s = 2.5;
} // namespace

size_t segment_length(const node_context& node, const peer& p, const gr::hf::mode& m)
{
    if (node.config.segment_octets > 0) {
        return node.config.segment_octets;
    }
    // No D_PDU longer than a minute: half of the longest transmission.
    // If the rate may fall further on, such a D_PDU would not get through any more.
    const size_t seconds = node.modes.adaptive ? 30 : 60;
    const auto longest =
        std::clamp<size_t>(size_t(m.rate_bps) * seconds / 8, 64, max_segment);
    const size_t top = longest > 1000 ? max_segment : longest;
    if (const auto best = node.modes.policy->segment_octets(p.addr, m)) {
        return std::min(*best, top);
    }
    const double per_bit = p.losses.per_bit();
    if (per_bit <= 0) {
        return top;
    }
    // Largest share of user octets in the air time, for losses that grow with the length of a
    // D_PDU, and a window that limits how much goes out before the losses have been repeated.
    // Repeats mostly succeed, if only together with the first copy.
    const double header = 15.0 + node.config.address_size;
    size_t best = top;
    double best_gain = 0;
    // On a fading channel what is in one interleaver block is lost together: the adaptation
    // keeps away from modes with errors inside blocks, so shorter segments would not help.
    const size_t part_of_block = kernel::timing_of(m).bits_per_block / 96;
    const size_t least =
        node.modes.adaptive ? std::clamp<size_t>(part_of_block, 48, top) : 48;
    for (size_t s = least;; s = std::min(s + s / 8, top)) {
        const double bits = 8 * (double(s) + header);
        const double sent = 2 - std::exp(-per_bit * bits);
        const double turn = std::min(bits * p.arq.tx.window() / m.rate_bps,
                                     node.config.max_transmission_s) *
                            sent;
        const double gain = double(s) / (bits * sent) * turn / (turn + round_cost_s);
        if (gain > best_gain) {
            best_gain = gain;
            best = s;
        }
        if (s >= top) {
            break;
        }
    }
    return best;
}

} // namespace gr::hf::s5066
