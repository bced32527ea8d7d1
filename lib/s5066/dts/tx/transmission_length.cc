/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/tx/transmission_length.h"

#include "s5066/dts/tx/segment_length.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {

// While an application waits for the peer's turns: share of the time spent on turns
// (preambles, an ACK, the delays of both stations), and transmission length per time
// since the last request.
constexpr double prompt_cost = 0.049;
constexpr double prompt_share = 0.04;
// Weight of turns with the peer's own data: they take longer and are not all loss.
constexpr double data_turn_weight = 0.5;
// Length of a transmission during a conversation of many turns, in turns.
constexpr double quick_turns = 3.5;
// D_PDU octets per octet of contents.
constexpr double header_share = 1.03;
// Octets of an ACK, and the time a modem takes to decode the last block.
constexpr size_t usual_ack_octets = 18;
constexpr double modem_delay_s = 0.1;
// Blocks that may at least be left out if D_PDUs fill the rest better.
constexpr size_t fit_blocks = 8;
// First transmission of a run on a shared channel whose stations do not know us: two that
// start together lose no more than this. An answer shows that the channel is ours for a
// longer one.
constexpr double contended_s = 5;
// A peer with unknown losses first gets the longest transmission divided by this.
constexpr size_t first_part = 12;
// Least number of longest D_PDUs in that first transmission, to measure the losses.
constexpr size_t min_sample = 8;
// A sample costs a turn, so it is sent only if more than this share of the longest
// transmission waits. It then costs 2 % if nothing is lost, and saves a fifth at BER
// 1e-4.
constexpr double worth_a_sample = 0.5;

} // namespace

size_t transmission_length::data_overhead() const
{
    return 15u + d_node.config.address_size + (d_tx.to() && d_tx.to()->arq.large ? 1 : 0);
}

size_t transmission_length::non_arq_overhead() const
{
    constexpr size_t more_than_type_0 = 6;
    return data_overhead() + more_than_type_0;
}

next_start transmission_length::earliest_repeat() const
{
    const auto& t = d_tx.timing();
    const station_time end = d_tx.end();
    const station_time keyed = end + t.block_end(1) - t.block_begin(1) +
                               d_access.longest_wait(end, d_node.peers.size());
    return { keyed, keyed + t.block_begin(0) };
}

size_t transmission_length::allowed_blocks(const peer& p,
                                           double longest_s,
                                           bool contended,
                                           size_t need) const
{
    const auto& t = d_tx.timing();
    const double max_s = d_node.config.max_transmission_s;
    longest_s = std::min(longest_s, max_s);
    if (p.addr.is_group() && longest_s >= max_s)
        longest_s = d_node.config.broadcast_s;
    if (contended && !p.non_arq.ready())
        longest_s = std::min(longest_s, contended_s);
    size_t longest = max_blocks(t, longest_s);
    if (d_access.shared() && longest_s < max_s)
        longest = std::max(longest, min_blocks(p, need));
    const size_t sample = min_sample * (max_segment + data_overhead());
    const size_t first = std::max(longest / first_part, t.blocks_for(sample));
    const double cap = static_cast<double>(t.octets_in(longest));
    if (!d_node.modes.adaptive && p.losses.bits() < 8 * double(sample) &&
        4 * first <= longest && double(p.arq.tx.unsent().total()) > worth_a_sample * cap)
        return first; // a short sample, so that the rest has the right segments
    return longest;
}

size_t transmission_length::min_blocks(const peer& p, size_t before) const
{
    const auto& t = d_tx.timing();
    const size_t first = std::max(p.arq.tx.first_octets(data_overhead()),
                                  p.expedited.tx.first_octets(data_overhead()));
    const size_t most =
        std::max(max_blocks(t, d_node.config.max_transmission_s),
                 t.blocks_for(before + min_whole_segment + data_overhead()));
    return first == 0 ? 1 : std::min(t.blocks_for(before + first), most);
}

// From the end of our data to the start of our next.
double transmission_length::turn_s(const peer& p) const
{
    const auto& t = d_tx.timing();
    const auto ack = kernel::timing_of(default_ack_mode(d_tx.mode()));
    const double ack_s = to_seconds(ack.duration(usual_ack_copies * usual_ack_octets));
    const double data_s = to_seconds(t.block_end(0));
    return to_seconds(t.block_begin(0)) + ack_s +
           p.turn.data_turns * data_turn_weight * (data_s - ack_s) +
           2 * (d_access.turnaround_s() + modem_delay_s);
}

double transmission_length::prompt_least_s(const peer& p) const
{
    return turn_s(p) * (1 - prompt_cost) / prompt_cost;
}

double transmission_length::prompt_longest_s(station_time now, const peer& p) const
{
    if (!p.turn.prompt_at || p.addr.is_group() || d_node.config.full_duplex)
        return max_eot_s;
    if (quick(p))
        return quick_s(p);
    // The longer no request came, the longer the next one may have to wait.
    const double since_s = to_seconds(now - *p.turn.prompt_at);
    return std::max(prompt_least_s(p), prompt_share * since_s);
}

size_t transmission_length::waiting_from(const peer& p, unsigned priority) const
{
    queue_states waiting;
    p.arq.tx.add_waiting(waiting);
    size_t octets = 0;
    for (unsigned k = priority; k < 16; ++k)
        octets += waiting.of(k).octets;
    return octets;
}

double transmission_length::quick_s(const peer& p) const
{
    // Answers are sent whole: only the data after them are cut short.
    const size_t answers = waiting_from(p, d_node.config.prompt_priority - 1);
    const double answers_s =
        8.0 * header_share * static_cast<double>(answers) / d_tx.mode().rate_bps;
    return std::min(answers_s + quick_turns * turn_s(p), prompt_least_s(p));
}

bool transmission_length::quick(const peer& p) const
{
    const bool conversation =
        p.turn.quick > 0 ||
        (p.turn.ask_waits && waiting_from(p, d_node.config.prompt_priority) > 0);
    return conversation && p.turn.quick_credits.left() &&
           8.0 * static_cast<double>(p.arq.tx.unsent().total()) >
               quick_s(p) * d_tx.mode().rate_bps;
}

bool transmission_length::shorten(const peer& p, size_t octets)
{
    if (!d_tx.planned() || d_tx.closed() || d_tx.to() != &p || d_node.config.full_duplex)
        return false;
    // EOT may fall faster than time passes, but never rise (C.3.2.3): the next D_PDUs
    // carry the new end. There is room for the data being cut, and for a little more.
    const auto& t = d_tx.timing();
    const size_t behind = 3 * (max_segment + data_overhead());
    const size_t soon = t.blocks_for(d_tx.produced() + octets + behind);
    const size_t usual = max_blocks(t, prompt_least_s(p));
    const size_t blocks = std::max(soon, p.turn.quick_credits.left() ? 1 : usual);
    if (blocks >= d_tx.blocks())
        return false;
    const bool early = blocks < usual;
    d_tx.set_blocks(blocks);
    return early;
}

void transmission_length::make_way(transmission_plan& plan)
{
    if (!d_tx.planned()) {
        plan.longest_s = std::min(plan.longest_s, prompt_least_s(*d_tx.to()));
        return;
    }
    if (d_tx.closed() || d_node.config.full_duplex)
        return;
    // Room for the D_PDUs that carry the new end, twice.
    const auto& t = d_tx.timing();
    const size_t last = 2 * (d_tx.to()->arq.tx.segment() + data_overhead());
    const size_t soon = t.blocks_for(d_tx.produced() + last);
    const size_t blocks = std::max(soon, max_blocks(t, prompt_least_s(*d_tx.to())));
    d_tx.set_blocks(std::min(d_tx.blocks(), blocks));
}

size_t
transmission_length::fitting_blocks(const peer& p, size_t before, size_t longest) const
{
    const auto& t = d_tx.timing();
    const auto pending = [&](size_t blocks) {
        const size_t cap = t.octets_in(blocks);
        return p.arq.tx.pending_octets(
            data_overhead(), cap - std::min(cap, before), true);
    };
    const size_t most = pending(longest);
    if (p.arq.tx.pending_octets(
            data_overhead(), most + max_segment + data_overhead(), true) <= most)
        return longest; // nothing more waits
    const auto speed = [&](size_t blocks) {
        return static_cast<double>(pending(blocks)) /
               (to_seconds(t.block_end(blocks - 1)) + turn_s(p));
    };
    // Blocks that the longest D_PDU leaves empty if it just does not fit.
    const size_t range =
        std::max(t.blocks_for(max_segment + data_overhead()), fit_blocks);
    size_t best = longest;
    for (size_t k = longest; k > 1 && k + range >= longest && 2 * k > longest; --k)
        best = speed(k) > speed(best) ? k : best;
    return best;
}

} // namespace gr::hf::s5066
