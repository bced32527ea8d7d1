/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/tx/segment_length.h"

#include "s5066/dts/tx/transmission.h"
#include "waveform/timing.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::s5066 {

namespace {
// Time per window without data, for choosing segments: two turns (one for the repeats)
// with turnarounds, preambles, answer and half an empty block.
constexpr double round_cost_s = 2.5;
// Header and CRC of a data D_PDU, and acknowledgements before it, in its transmission.
constexpr size_t octets_beside = 64;
} // namespace

size_t segment_length(const node_context& node, const peer& p, const gr::hf::mode& m)
{
    // No D_PDU longer than a minute, half of the longest transmission. With rate
    // adaptation half of that, because a lower rate makes it too long to get through.
    const size_t seconds = node.modes.adaptive ? 30 : 60;
    // A segment that does not fit the longest transmission would never be sent.
    const auto t = kernel::timing_of(m);
    const size_t room = t.octets_in(max_blocks(t, node.config.max_transmission_s));
    const size_t fits = std::max(room - std::min(room, octets_beside), min_whole_segment);
    if (node.config.segment_octets > 0)
        return std::min(node.config.segment_octets, fits);
    const auto longest = std::clamp<size_t>(
        std::min(size_t(m.rate_bps) * seconds / 8, fits), min_whole_segment, max_segment);
    const size_t top = longest > 1000 ? max_segment : longest;
    if (const auto best = node.modes.policy->segment_octets(p.addr, m))
        return std::min(*best, top);
    const double per_bit = p.losses.per_bit();
    if (per_bit <= 0)
        return top;
    // Finds the largest share of user octets in the air time. Losses grow with the length
    // of a D_PDU, and the window limits how much is sent before they are repeated. A
    // repeat mostly succeeds, at least combined with the first copy, unless D_PDUs were
    // far too long.
    const double header = 15.0 + node.config.address_size;
    size_t best = top;
    double best_gain = 0;
    // On a fading channel an interleaver block is lost as a whole. Rate adaptation avoids
    // modes with errors inside blocks, so shorter segments would not help.
    const size_t part_of_block = kernel::timing_of(m).bits_per_block / 96;
    const size_t least = node.modes.adaptive ? std::clamp<size_t>(part_of_block, 48, top)
                         : p.losses.too_long() ? 16
                                               : 48;
    for (size_t s = least;; s = std::min(s + s / 8, top)) {
        const double bits = 8 * (double(s) + header);
        const double x = per_bit * bits;
        const double sent =
            p.losses.too_long() ? 1 + x + x * x / 4 : 2 - std::exp(-per_bit * bits);
        const double turn = std::min(bits * p.arq.tx.window() / m.rate_bps,
                                     node.config.max_transmission_s) *
                            sent;
        const double gain = double(s) / (bits * sent) * turn / (turn + round_cost_s);
        if (gain > best_gain) {
            best_gain = gain;
            best = s;
        }
        if (s >= top)
            break;
    }
    return best;
}

} // namespace gr::hf::s5066
