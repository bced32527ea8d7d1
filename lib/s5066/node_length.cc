/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// How long a transmission is while somebody waits for the other side's turns.
#include "s5066/node_impl.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {

// While somebody waits for the peer's turns: this part of the time goes into turns (preambles, an
// ACK, the delays of both stations). The time since the last request counts with this share.
constexpr double prompt_cost = 0.049;
constexpr double prompt_share = 0.04;
// Turns with the peer's own data take longer and are no loss as a whole.
constexpr double data_turn_weight = 0.5;
// An ACK, and what a modem takes to decode the last block.
constexpr size_t usual_ack_octets = 18;
constexpr double modem_delay_s = 0.1;
// So many blocks at least may be left away if the D_PDUs fill the rest better.
constexpr size_t fit_blocks = 8;

} // namespace

double node::impl::turn_s(const peer& p) const
{
    const auto& t = d_tx.timing;
    const auto ack = kernel::timing_of(default_ack_mode(d_tx.m));
    const double ack_s = to_seconds(ack.duration(d_config.ack_copies * usual_ack_octets));
    const double data_s = to_seconds(t.block_end(0));
    return to_seconds(t.block_begin(0)) + ack_s +
           p.data_turns * data_turn_weight * (data_s - ack_s) +
           2 * (turnaround_s() + modem_delay_s);
}

double node::impl::prompt_least_s(const peer& p) const
{
    return turn_s(p) * (1 - prompt_cost) / prompt_cost;
}

double node::impl::prompt_longest_s(sim_time now, const peer& p) const
{
    if (!p.prompt_at || p.addr.is_group() || d_config.full_duplex) {
        return max_eot_s;
    }
    // Whoever has been silent for so long may wait for a part of it once more.
    const double since_s = to_seconds(now - *p.prompt_at);
    return std::max(prompt_least_s(p), prompt_share * since_s);
}

void node::impl::shorten(const peer& p, size_t octets)
{
    if (!d_transmitting || !d_tx.planned || d_tx.ended || d_tx.to != &p ||
        d_config.full_duplex) {
        return;
    }
    // EOT may fall faster than time goes by, never rise (C.3.2.3): the D_PDUs from here on tell
    // the new end. There is room for what is being cut, and for a little that comes behind.
    const auto& t = d_tx.timing;
    const size_t behind = 3 * (max_segment + data_overhead());
    const size_t soon = t.blocks_for(d_tx.produced + octets + behind);
    const size_t blocks = std::max(soon, max_blocks(t, prompt_least_s(p)));
    if (blocks < d_tx.blocks) {
        d_tx.blocks = blocks;
        d_tx.octets = t.octets_in(blocks);
    }
}

size_t node::impl::fitting_blocks(const peer& p, size_t before, size_t longest) const
{
    const auto& t = d_tx.timing;
    const auto pending = [&](size_t blocks) {
        const size_t cap = t.octets_in(blocks);
        return p.tx.pending_octets(data_overhead(), cap - std::min(cap, before), true);
    };
    const size_t most = pending(longest);
    if (p.tx.pending_octets(
            data_overhead(), most + max_segment + data_overhead(), true) <= most) {
        return longest; // there is no more
    }
    const auto speed = [&](size_t blocks) {
        return static_cast<double>(pending(blocks)) /
               (to_seconds(t.block_end(blocks - 1)) + turn_s(p));
    };
    // A longest D_PDU that just does not fit leaves so much empty.
    const size_t range =
        std::max(t.blocks_for(max_segment + data_overhead()), fit_blocks);
    size_t best = longest;
    for (size_t k = longest; k > 1 && k + range >= longest && 2 * k > longest; --k) {
        best = speed(k) > speed(best) ? k : best;
    }
    return best;
}

size_t node::impl::max_blocks(const kernel::mode_timing& t, double s) const
{
    const sim_time limit = from_seconds(s) + t.block_begin(0);
    size_t b = 1;
    const auto guess =
        static_cast<size_t>(s * t.symbol_rate_bd / static_cast<double>(t.block_symbols));
    b = std::max<size_t>(guess, 1) + 1;
    while (b > 1 && t.block_end(b - 1) > limit) {
        --b;
    }
    return b;
}

} // namespace gr::hf::s5066
