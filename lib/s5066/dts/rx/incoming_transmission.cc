/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/rx/incoming_transmission.h"

#include "s5066/pdu/c_pdu.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace gr::hf::s5066 {

namespace {
// Blocks whose SNR is kept for the rate policy: more than the longest transmission has.
constexpr size_t max_block_snrs = 2048;
// The EOT of other makers may not count the last block. With the long interleaver that
// block is longer than they wait for an answer.
constexpr double longest_doubt_s = 1;
// Most octets of a block that a modem holds back while it looks for the end-of-message
// marker.
constexpr size_t kept_back_octets = 5;
// A modem delivers the octets of each block, in fades too. One that delivers none for
// this time, plus two blocks, has lost the reception without reporting it.
constexpr double longest_pause_s = 30;
// A signal longer than any transmission and without a D_PDU is interference.
constexpr double longest_unread_s = 180;

// True if it accepts a link.
bool accepts_link(const d_pdu& d)
{
    if (d.type != d_pdu_type::expedited_non_arq_data || !d.segment_ok)
        return false;
    const auto c = decode_c_pdu(d.segment.data(), d.segment.size());
    return c && c->type == c_pdu_type::link_accepted;
}

// True if it acknowledges ARQ data.
bool carries_ack(const d_pdu& d)
{
    const auto type = d.large ? small_type(d.type) : d.type;
    return type == d_pdu_type::ack_only || type == d_pdu_type::data_ack ||
           type == d_pdu_type::expedited_ack_only;
}
} // namespace

incoming_transmission::incoming_transmission(node_context& node,
                                             channel_access& access,
                                             code_decoder decode)
    : d_node(node), d_access(access),
      d_lost(node.config.copy_memory > 1 ? std::move(decode) : code_decoder())
{
    d_deframer.set_sync_errors(node.config.sync_errors);
    // For D_PDUs between other stations this gives their length and whether they carry
    // data.
    d_deframer.set_large([&node](address src, address dst) {
        const peer* p = node.find_peer(src);
        return node.config.uses_large_windows() &&
               (dst != node.config.own || (p && p->link.takes_large));
    });
}

void incoming_transmission::begin(station_time now, const rx_start& e)
{
    d_event_at = d_d_pdu_at = now;
    d_order.reset();
    d_ratios.reset(e.m);
    d_deframer.reset();
    d_lost.reset(e.m);
    d_begin.reset();
    d_end.reset();
    d_read_at.reset();
    d_read = {};
    d_reported_begin = d_reported_data = false;
    d_mode = e.m;
    d_quality = {};
    d_quality.snr_db = e.snr_db;
    try {
        d_timing = kernel::timing_of(e.m);
    } catch (const std::invalid_argument&) {
        // A foreign modem; only EOT depends on the timing.
        d_timing = kernel::timing_of(d_node.modes.data_mode);
    }
}

void incoming_transmission::push(station_time now, const rx_octets& e)
{
    d_event_at = now;
    if (!d_begin) {
        const uint64_t number = e.number.value_or(0);
        d_begin =
            now - d_timing.block_end(number <= block_order::max_missing ? number : 0);
        d_began_in_blocks =
            8 * (e.octets.size() + kept_back_octets) >= d_timing.bits_per_block;
    }
    d_order.push(e);
}

// Adds the next block in order. A missing one has no octets. Ones take its place: zeros
// after a header would be a segment with a good CRC-32.
void incoming_transmission::add(const rx_octets& e)
{
    if (e.octets.empty()) {
        const std::vector<uint8_t> ones(d_timing.bits_per_block / 8, 0xff);
        d_ratios.skip(ones.size());
        d_deframer.push(ones);
        return;
    }
    d_quality.add(e);
    d_ratios.push(e);
    d_deframer.push(e.octets);
}

void incoming_transmission::signal_quality::add(const rx_octets& e)
{
    snr_db = e.snr_db;
    if (block_snr_db.size() < max_block_snrs) {
        block_snr_db.push_back(e.snr_db);
        if (e.doppler_hz)
            block_doppler_hz.push_back(*e.doppler_hz);
    }
    octets += e.octets.size();
}

void incoming_transmission::d_pdus_read::add(const d_pdu& d)
{
    only_to = !from || only_to == d.dst ? std::optional(d.dst) : std::nullopt;
    from = d.src;
    const bool alone = d.type == d_pdu_type::non_arq_data && !d.dst.is_group();
    (alone ? non_arq : other) = true;
}

// The next D_PDU, after those before it whose header was lost.
std::optional<received_d_pdu> incoming_transmission::find(bool over)
{
    if (auto r = d_lost.next())
        return r;
    auto r = d_deframer.next();
    while (!r) {
        const auto block = d_order.take(over);
        if (!block)
            break;
        add(*block);
        r = d_deframer.next();
    }
    if (!r && over)
        r = d_deframer.next_at_end();
    if (r)
        d_node.stats.headers_recovered += d_lost.take(std::move(*r), d_ratios);
    else if (over)
        d_node.stats.headers_recovered += d_lost.end(d_ratios);
    return d_lost.next();
}

std::optional<received_d_pdu> incoming_transmission::next(station_time now, bool over)
{
    auto r = find(over);
    if (r) {
        d_pdu& d = r->pdu;
        if (!d.segment_ok && carries_arq_data(d))
            d.segment_code = d_ratios.of_segment(*r);
        d_d_pdu_at = now;
        d_node.log.tap(now, false, d.segment_ok, r->octets);
        d_node.stats.octets_received += r->octets.size();
        note_eot(now, *r);
        d_access.heard(now, d.src);
        d_read.add(d);
        note_turn(d);
        d_access.overheard(
            now, d.dst, { carries_ack(d), carries_data(d), accepts_link(d) });
    }
    return r;
}

void incoming_transmission::note_eot(station_time now, const received_d_pdu& r)
{
    if (!d_begin || r.pdu.eot == 0)
        return;
    // The D_PDU was sent before it was read, with any modem. So this is the latest end.
    const station_time at_most = now + from_seconds(eot_unit_s * r.pdu.eot);
    d_over_by = d_read_at == now ? std::min(d_over_by, at_most) : at_most;
    d_read_at = now;
    const auto& t = d_timing;
    const size_t block = r.bit_offset / t.bits_per_block;
    const double inside = static_cast<double>(r.bit_offset % t.bits_per_block) /
                          static_cast<double>(t.bits_per_block);
    const double block_s = static_cast<double>(t.block_symbols) / t.symbol_rate_bd;
    d_end = std::min(d_over_by,
                     *d_begin + t.block_begin(block) +
                         from_seconds(inside * block_s + eot_unit_s * r.pdu.eot));
}

// Reports who has used the channel, as all other stations hear it too.
void incoming_transmission::note_turn(const d_pdu& d)
{
    if (!d_begin || d.src == d_node.config.own)
        return;
    if (!d_reported_begin)
        d_access.began(*d_begin, d.src);
    if (carries_data(d) && !d_reported_data) {
        d_access.carried_data(d.src, *d_begin);
        d_reported_data = true;
    }
    d_reported_begin = true;
}

void incoming_transmission::note_unread(bool may_be_answer)
{
    if (!d_reported_begin && d_begin)
        d_access.began_unknown(*d_begin, may_be_answer);
}

station_time incoming_transmission::finish(station_time now, const rx_end& e)
{
    d_node.stats.false_syncs += d_deframer.false_syncs() - d_seen_false_syncs;
    d_seen_false_syncs = d_deframer.false_syncs();
    const station_time end = std::min(e.air_end, now);
    if (e.reason == rx_end_reason::eom && d_begin && d_read.from) {
        // Octets arrive after their block by the receiver's delay, and so does the end.
        d_access.timed(*d_begin - (now - end), *d_read.from, d_read.only_to);
    }
    return e.reason != rx_end_reason::eom && d_end ? std::max(end, *d_end) : end;
}

incoming_transmission::overdue incoming_transmission::end_overdue() const
{
    const double block_s =
        static_cast<double>(d_timing.block_symbols) / d_timing.symbol_rate_bd;
    std::vector<overdue> ends{
        { d_event_at + from_seconds(longest_pause_s + 2 * block_s),
          "the modem reports nothing more of this reception" },
        { d_d_pdu_at + from_seconds(longest_unread_s), "interference, ignored" },
    };
    if (d_read_at) {
        ends.push_back({ (d_began_in_blocks ? *d_end : d_over_by) +
                             from_seconds(d_node.config.rx_latency_s +
                                          std::min(block_s, longest_doubt_s)),
                         "end of transmission by its EOT" });
    }
    return *std::min_element(
        ends.begin(), ends.end(), [](auto& a, auto& b) { return a.at < b.at; });
}

std::optional<double> incoming_transmission::signal_quality::mean_doppler_hz() const
{
    const auto& all = block_doppler_hz;
    if (all.empty())
        return std::nullopt;
    return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
}

reception incoming_transmission::heard_of(const peer& p) const
{
    reception r;
    r.m = d_mode;
    r.block_snr_db = d_quality.block_snr_db;
    r.doppler_hz = d_quality.mean_doppler_hz();
    r.good_share = static_cast<double>(p.heard.good_octets) /
                   static_cast<double>(std::max<size_t>(d_quality.octets, 1));
    r.good_d_pdus = p.heard.good_d_pdus;
    r.again = p.heard.again();
    r.lost_d_pdus = p.heard.lost_d_pdus;
    if (const unsigned d_pdus = r.good_d_pdus + r.lost_d_pdus; d_pdus > 0) {
        r.d_pdu_octets = static_cast<double>(p.heard.d_pdu_octets) / d_pdus;
        // Unread octets, except the end of the last block, were D_PDUs of that length.
        const double room = d_timing.bits_per_block / 8.0;
        const double unread = static_cast<double>(d_quality.octets) -
                              static_cast<double>(p.heard.octets) - room;
        r.lost_d_pdus += static_cast<unsigned>(std::max(unread, 0.0) / r.d_pdu_octets);
    }
    return r;
}

std::optional<std::pair<address, reception>> incoming_transmission::unread() const
{
    const peer* only = nullptr;
    for (const auto& [raw, p] : d_node.peers) {
        if (p->heard.any || (p->link.made() && only))
            return std::nullopt;
        only = p->link.made() ? p.get() : only;
    }
    if (!only || d_access.shared() || d_quality.block_snr_db.empty())
        return std::nullopt;
    // Counted as D_PDUs of the longest segment.
    const double each = std::min<double>(max_segment, double(d_quality.octets));
    reception r;
    r.m = d_mode;
    r.block_snr_db = d_quality.block_snr_db;
    r.lost_d_pdus = static_cast<unsigned>(double(d_quality.octets) / each);
    r.d_pdu_octets = each;
    r.good_share = 0;
    r.read = false;
    return std::pair{ only->addr, r };
}

} // namespace gr::hf::s5066
