/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// How long segments are, by rate and measured loss, and what to do when they no longer fit.
#include "s5066/node_impl.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::s5066 {

namespace {
// Time per window that does not carry data, for choosing segments: that of two turns (one for
// the repeats) with turnarounds, preambles, answer and half an empty block.
constexpr double round_cost_s = 2.5;
} // namespace

size_t node::impl::segment_length(const peer& p, const gr::hf::mode& m) const
{
    if (d_config.segment_octets > 0) {
        return d_config.segment_octets;
    }
    // No D_PDU longer than a minute: half of the longest transmission.
    // If the rate may fall further on, such a D_PDU would not get through any more.
    const size_t seconds = d_adaptive ? 30 : 60;
    const auto longest =
        std::clamp<size_t>(size_t(m.rate_bps) * seconds / 8, 64, max_segment);
    const size_t top = longest > 1000 ? max_segment : longest;
    if (const auto best = d_policy->segment_octets(p.addr, m)) {
        return std::min(*best, top);
    }
    if (p.loss_events <= 0 || p.loss_bits <= 0) {
        return top;
    }
    // Largest share of user octets in the air time, for losses that grow with the length of a
    // D_PDU, and a window that limits how much goes out before the losses have been repeated.
    // Repeats mostly succeed, if only together with the first copy.
    const double per_bit = p.loss_events / p.loss_bits;
    const double header = 15.0 + d_config.address_size;
    size_t best = top;
    double best_gain = 0;
    // On a fading channel what is in one interleaver block is lost together: the adaptation
    // keeps away from modes with errors inside blocks, so shorter segments would not help.
    const size_t part_of_block = kernel::timing_of(m).bits_per_block / 96;
    const size_t least = d_adaptive ? std::clamp<size_t>(part_of_block, 48, top) : 48;
    for (size_t s = least;; s = std::min(s + s / 8, top)) {
        const double bits = 8 * (double(s) + header);
        const double sent = 2 - std::exp(-per_bit * bits);
        const double turn =
            std::min(bits * p.tx.window() / m.rate_bps, d_config.max_transmission_s) *
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

void node::impl::fit_segments(sim_time now, peer& p)
{
    if (!d_adaptive || p.tx.unacknowledged() == 0) {
        return;
    }
    // Segments may have been cut for a faster mode. After silence first an ACK, so that nothing
    // is sent again that has arrived; then, if they are far too long, a new window, in which
    // the rest is cut again.
    constexpr double longest_probe_s = 3;
    const double first_s =
        8.0 * static_cast<double>(p.tx.first_octets(data_overhead())) / d_tx.m.rate_bps;
    if (p.silent > 0 && p.linked() && !p.reset.active && first_s > longest_probe_s) {
        d_tx.ask = d_tx.no_data = true;
        return;
    }
    if (!recut_needed(p, d_tx.m)) {
        return;
    }
    trace(now, "new segments for " + d_tx.m.to_string());
    p.tx.rewind(p.tx.lwe());
    reset_header h;
    h.rx_cmnd = true;
    h.new_rx_lwe = p.tx.lwe();
    begin_reset(p, h);
}

bool node::impl::emit_question(sim_time now)
{
    // A repeat of the last acknowledged number: every receiver must answer it with an ACK, and
    // none takes anything from it. It passes synchronisation test 3 as long as fewer than half of
    // the numbers are in use.
    const peer& p = *d_tx.to;
    d_pdu d = make_arq(p, d_pdu_type::data_only);
    d.arq.start = d.arq.end = true;
    d.arq.fsn = p.tx.before_lwe();
    return emit(now, d);
}

bool node::impl::recut_needed(const peer& p, const gr::hf::mode& m) const
{
    constexpr double longest_d_pdu_s = 40;
    return p.linked() && !p.reset.active &&
           8.0 * static_cast<double>(p.tx.longest_in_flight()) / m.rate_bps >
               longest_d_pdu_s;
}

} // namespace gr::hf::s5066
