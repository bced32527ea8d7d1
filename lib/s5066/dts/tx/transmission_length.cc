/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/tx/transmission_length.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {

// While somebody waits for the peer's turns: this part of the time goes into turns (preambles, an
// ACK, the delays of both stations). The time since the last request counts with this share.
constexpr double prompt_cost = 0.049;
constexpr double prompt_share = 0.04;
// Turns with the peer's own data take longer and are no loss as a whole.
constexpr double data_turn_weight = 0.5;
// While a conversation of many turns goes on a transmission lasts as long as so many turns.
constexpr double quick_turns = 3.5;
// D_PDUs have so many octets more than what is in them.
constexpr double header_share = 1.03;
// An ACK, and what a modem takes to decode the last block.
constexpr size_t usual_ack_octets = 18;
constexpr double modem_delay_s = 0.1;
// So many blocks at least may be left away if the D_PDUs fill the rest better.
constexpr size_t fit_blocks = 8;
// First transmission of a run on a shared channel whose stations do not know of us: two that begin
// together lose no more than this. The answer shows that the channel is ours for a longer one.
constexpr double contended_s = 5;
// Share of the longest transmission that is sent to a peer whose losses are not yet known.
constexpr size_t first_part = 12;
// D_PDUs in it, at least, for a measure of their losses; the longest ones.
constexpr size_t least_sample = 8;
// A sample costs a turn, so it is sent only if more than this share of a longest transmission
// waits: then it costs two percent if nothing is lost, and saves a fifth at BER 1e-4.
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

size_t transmission_length::most_blocks(const peer& p,
                                        double longest_s,
                                        bool contended,
                                        size_t need) const
{
    const auto& t = d_tx.timing();
    const double max_s = d_node.config.max_transmission_s;
    longest_s = std::min(longest_s, max_s);
    if (p.addr.is_group() && longest_s >= max_s) {
        longest_s = d_node.config.broadcast_s;
    }
    if (contended && p.non_arq.empty()) {
        longest_s = std::min(longest_s, contended_s);
    }
    size_t longest = max_blocks(t, longest_s);
    if (d_access.shared() && longest_s < max_s) {
        longest = std::max(longest, least_blocks(p, need));
    }
    const size_t sample = least_sample * (max_segment + data_overhead());
    const size_t first = std::max(longest / first_part, t.blocks_for(sample));
    const double cap = static_cast<double>(t.octets_in(longest));
    if (!d_node.modes.adaptive && p.losses.bits() < 8 * double(sample) &&
        4 * first <= longest &&
        double(p.arq.tx.unsent().total()) > worth_a_sample * cap) {
        return first; // what comes later shall have the right segments
    }
    return longest;
}

size_t transmission_length::least_blocks(const peer& p, size_t before) const
{
    const auto& t = d_tx.timing();
    const size_t first = std::max(p.arq.tx.first_octets(data_overhead()),
                                  p.expedited.tx.first_octets(data_overhead()));
    return first == 0 ? 1
                      : std::min(t.blocks_for(before + first),
                                 max_blocks(t, d_node.config.max_transmission_s));
}

// From the end of the own data to the begin of the next.
double transmission_length::turn_s(const peer& p) const
{
    const auto& t = d_tx.timing();
    const auto ack = kernel::timing_of(default_ack_mode(d_tx.mode()));
    const double ack_s =
        to_seconds(ack.duration(d_node.config.ack_copies * usual_ack_octets));
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
    if (!p.turn.prompt_at || p.addr.is_group() || d_node.config.full_duplex) {
        return max_eot_s;
    }
    if (quick(p)) {
        return quick_s(p);
    }
    // Whoever has been silent for so long may wait for a part of it once more.
    const double since_s = to_seconds(now - *p.turn.prompt_at);
    return std::max(prompt_least_s(p), prompt_share * since_s);
}

size_t transmission_length::waiting_from(const peer& p, unsigned priority) const
{
    queue_states waiting;
    p.arq.tx.add_waiting(waiting);
    size_t octets = 0;
    for (unsigned k = priority; k < 16; ++k) {
        octets += waiting.of(k).octets;
    }
    return octets;
}

double transmission_length::quick_s(const peer& p) const
{
    // Answers go whole: only what is behind them is cut short.
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
    return conversation && p.turn.quick_credit >= 1 &&
           8.0 * static_cast<double>(p.arq.tx.unsent().total()) >
               quick_s(p) * d_tx.mode().rate_bps;
}

bool transmission_length::shorten(const peer& p, size_t octets)
{
    if (!d_tx.planned() || d_tx.closed() || d_tx.to() != &p ||
        d_node.config.full_duplex) {
        return false;
    }
    // EOT may fall faster than time goes by, never rise (C.3.2.3): the D_PDUs from here on tell
    // the new end. There is room for what is being cut, and for a little that comes behind.
    const auto& t = d_tx.timing();
    const size_t behind = 3 * (max_segment + data_overhead());
    const size_t soon = t.blocks_for(d_tx.produced() + octets + behind);
    const size_t usual = max_blocks(t, prompt_least_s(p));
    const size_t blocks = std::max(soon, p.turn.quick_credit >= 1 ? 1 : usual);
    if (blocks >= d_tx.blocks()) {
        return false;
    }
    const bool early = blocks < usual;
    d_tx.set_blocks(blocks);
    return early;
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

} // namespace gr::hf::s5066
