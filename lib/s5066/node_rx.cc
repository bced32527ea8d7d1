/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// D_PDUs received: what they change and what they call for.
#include "s5066/node_impl.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gr::hf::s5066 {

namespace {

constexpr sim_time warning_interval = std::chrono::seconds(1);
// Reasons of WARNING D_PDUs (C.3.12)
constexpr uint8_t warning_unknown = 0;
constexpr uint8_t warning_no_link = 1;
constexpr uint8_t warning_state = 3;
// Blocks whose SNR is kept for the rate policy: more than a longest transmission has.
constexpr size_t max_block_snrs = 2048;

//! Priority of the U_PDU in an S_PDU.
unsigned priority_of(const std::vector<uint8_t>& s_pdu)
{
    const auto type = static_cast<s_pdu_type>(s_pdu.empty() ? 0xf : s_pdu[0] >> 4);
    if (type != s_pdu_type::data && type != s_pdu_type::data_with_id) {
        return 0;
    }
    return s_pdu[0] & 15u;
}

} // namespace

void node::impl::on_rx_start(sim_time now, const rx_start& e)
{
    d_receiving = true;
    d_carrier_since.reset();
    d_turn = nullptr;
    d_deframer.reset();
    d_early.clear();
    d_early_octets = 0;
    d_rx_begin_known = false;
    d_heard_eot = false;
    d_heard_non_arq = d_heard_other = false;
    d_rx_noted = d_rx_data = false;
    d_rx_mode = e.m;
    d_rx_snr_db = e.snr_db;
    d_rx_block_snr_db.clear();
    d_rx_octet_count = 0;
    try {
        d_rx_timing = kernel::timing_of(e.m);
    } catch (const std::invalid_argument&) {
        d_rx_timing =
            kernel::timing_of(d_data_mode); // a foreign modem; only EOT depends on it
    }
    ++d_stats.receptions;
    for (auto& [raw, p] : d_peers) {
        p->heard = p->heard_arq = p->heard_ack = p->heard_data = false;
        p->heard_expedited = false;
        p->heard_request = p->heard_accept = false;
        p->good_octets = p->heard_octets = p->d_pdu_octets = 0;
        p->good_d_pdus = p->lost_d_pdus = 0;
        p->heard_in = p->state();
    }
    trace(now, "receiving " + e.m.to_string());
}

void node::impl::on_rx_octets(sim_time now, const rx_octets& e)
{
    if (!d_receiving) {
        rx_start s;
        s.m = d_data_mode;
        on_rx_start(now, s);
    }
    if (!d_rx_begin_known) {
        d_rx_begin_known = true;
        d_rx_begin = now - d_rx_timing.block_end(0);
    }
    d_rx_snr_db = e.snr_db;
    if (d_rx_block_snr_db.size() < max_block_snrs) {
        d_rx_block_snr_db.push_back(e.snr_db);
    }
    d_rx_octet_count += e.octets.size();
    d_deframer.push(e.octets);
    while (const auto r = d_deframer.next()) {
        on_received(now, *r);
    }
}

void node::impl::on_rx_end(sim_time now, const rx_end& e)
{
    if (!d_receiving) {
        return;
    }
    while (const auto r = d_deframer.next_at_end()) {
        on_received(now, *r);
    }
    d_stats.false_syncs += d_deframer.false_syncs() - d_seen_false_syncs;
    d_seen_false_syncs = d_deframer.false_syncs();
    d_receiving = false;
    sim_time end = std::min(e.air_end, now);
    if (e.reason != rx_end_reason::eom && d_heard_eot) {
        end = std::max(end, d_heard_end);
    }
    // Who is addressed may answer first; all others, and new calls, wait for that.
    d_turn_at = end + from_seconds(turnaround_s());
    if (!d_rx_noted && d_rx_begin_known) {
        note_unknown(d_rx_begin);
    }
    d_busy_end = end;
    d_free_at = end + wait_of_heard(end);
    warn_of_early(now);
    after_reception(now);
    if (e.reason == rx_end_reason::preempted) {
        if (d_waiting) {
            d_answer_by = std::max(d_answer_by, now + guard_time());
        }
    } else if (d_config.full_duplex && d_transmitting) {
        // An acknowledgement goes along with the data that are being sent.
        d_tx.data_acks = d_tx.to->ack_due ? d_config.ack_copies : 0;
    } else if (d_config.full_duplex && d_waiting && d_waiting->heard &&
               !d_waiting->heard_ack) {
        d_answer_by = std::max(d_answer_by, now + guard_time());
    } else if (d_waiting && d_waiting->heard) {
        d_waiting = nullptr;
    } else if (d_waiting) {
        on_silence(now, *d_waiting);
    }
    tell_links(now);
}

void node::impl::after_reception(sim_time now)
{
    if (const peer* p = unread_sender(); p && !d_rx_block_snr_db.empty()) {
        // In D_PDUs of usual length: it was that of a longer one, or several.
        const double each = std::min<double>(max_segment, double(d_rx_octet_count));
        reception r;
        r.m = d_rx_mode;
        r.block_snr_db = d_rx_block_snr_db;
        r.lost_d_pdus = static_cast<unsigned>(double(d_rx_octet_count) / each);
        r.d_pdu_octets = each;
        r.good_share = 0;
        r.read = false;
        d_policy->on_reception(now, p->addr, r);
    }
    for (auto& [raw, q] : d_peers) {
        peer& p = *q;
        if (!p.heard) {
            continue;
        }
        p.silent = 0;
        d_unheard = 0;
        p.data_last = p.data_last && (p.heard_data || !p.heard_arq);
        p.expedited_last = p.expedited_last && (p.heard_expedited || !p.heard_arq);
        // The last few turns.
        p.data_turns += ((p.heard_data ? 1 : 0) - p.data_turns) / 4;
        p.acks_alone = p.heard_ack && !p.heard_data ? p.acks_alone + 1 : 0;
        p.ready_at = std::min(p.ready_at, now);
        if (p.managing()) {
            repeat_management(now, p);
        }
        reception r;
        r.m = d_rx_mode;
        r.block_snr_db = d_rx_block_snr_db;
        r.good_share = static_cast<double>(p.good_octets) /
                       static_cast<double>(std::max<size_t>(d_rx_octet_count, 1));
        r.good_d_pdus = p.good_d_pdus;
        r.lost_d_pdus = p.lost_d_pdus;
        if (const unsigned d_pdus = p.good_d_pdus + p.lost_d_pdus; d_pdus > 0) {
            r.d_pdu_octets = static_cast<double>(p.d_pdu_octets) / d_pdus;
            // What cannot be read, the end of the last block excepted, was D_PDUs of that length.
            const double room = kernel::timing_of(d_rx_mode).bits_per_block / 8.0;
            const double unread = static_cast<double>(d_rx_octet_count) -
                                  static_cast<double>(p.heard_octets) - room;
            r.lost_d_pdus +=
                static_cast<unsigned>(std::max(unread, 0.0) / r.d_pdu_octets);
        }
        d_policy->on_reception(now, p.addr, r);
        if (p.heard_ack) {
            measure_loss(now, p);
            p.probe = false;
        }
        if (p.heard_arq && !p.heard_request) {
            p.accept_due = false; // it would not send this without having seen our answer
        }
    }
}

// Of whom a reception was in which no D_PDU could be read: the only one it can be of.
peer* node::impl::unread_sender() const
{
    peer* only = nullptr;
    for (const auto& [raw, p] : d_peers) {
        if (p->heard || (p->linked() && only)) {
            return nullptr;
        }
        only = p->linked() ? p.get() : only;
    }
    return shared() ? nullptr : only;
}

void node::impl::measure_loss(sim_time now, peer& p)
{
    const unsigned sent = p.tx.sent_in_transmission();
    if (sent == 0 || d_tx.damaged) {
        return;
    }
    const unsigned lost = p.tx.lost_in_transmission();
    const double each = static_cast<double>(p.tx.octets_in_transmission()) / sent;
    d_policy->on_frames(now, p.addr, sent, lost, each);
    if (lost == sent) {
        return; // all gone: a fade or a missed preamble, which says nothing about length
    }
    // Losses in a row are a fade: they do not depend on length either, so only runs count.
    const double share =
        std::min(p.tx.loss_runs_in_transmission() / double(sent - lost), 0.95);
    const double keep = sent >= 16 ? 0.5 : 1 - sent / 32.0;
    p.loss_events = keep * p.loss_events - sent * std::log(1 - share);
    p.loss_bits =
        keep * p.loss_bits + 8.0 * static_cast<double>(p.tx.octets_in_transmission());
}

void node::impl::note_eot(const received_d_pdu& r)
{
    if (!d_rx_begin_known || r.pdu.eot == 0) {
        return;
    }
    const auto& t = d_rx_timing;
    const size_t block = r.bit_offset / t.bits_per_block;
    const double inside = static_cast<double>(r.bit_offset % t.bits_per_block) /
                          static_cast<double>(t.bits_per_block);
    const double block_s = static_cast<double>(t.block_symbols) / t.symbol_rate_bd;
    d_heard_end = d_rx_begin + t.block_begin(block) +
                  from_seconds(inside * block_s + eot_unit_s * r.pdu.eot);
    d_heard_eot = true;
}

// Who has had the channel, as all others hear it too.
void node::impl::note_turn(const d_pdu& d)
{
    if (!d_rx_begin_known || d.src == d_config.own) {
        return;
    }
    if (!d_rx_noted) {
        note_begin(d_rx_begin, d.src);
    }
    if (carries_data(d) && !d_rx_data) {
        d_share.served(d.src, d_rx_begin);
        d_rx_data = true;
    }
    d_rx_noted = true;
}

void node::impl::on_received(sim_time now, const received_d_pdu& r)
{
    const d_pdu& d = r.pdu;
    tap(now, false, d.segment_ok, r.octets);
    note_eot(r);
    d_stats.octets_received += r.octets.size();
    note_station(now, d.src);
    note_turn(d);
    const bool non_arq = d.type == d_pdu_type::non_arq_data && !d.dst.is_group();
    (non_arq ? d_heard_non_arq : d_heard_other) = true;
    const bool group = d.dst.is_group() && (d.dst.is_broadcast() ||
                                            std::find(d_config.groups.begin(),
                                                      d_config.groups.end(),
                                                      d.dst) != d_config.groups.end());
    if (d.src == d_config.own || (d.dst != d_config.own && !group)) {
        ++d_stats.d_pdus_for_others;
        return;
    }
    ++d_stats.d_pdus_received[static_cast<size_t>(d.type)];
    d_stats.segment_crc_errors += d.segment_ok ? 0 : 1;
    if (d_config.trace) {
        trace(now, d.src.to_string() + ">" + d.dst.to_string() + " " + describe(d));
    }
    peer* p = get_peer(d.src);
    if (!p) {
        return;
    }
    p->heard = true;
    p->heard_octets += r.octets.size();
    p->good_octets += d.segment_ok ? r.octets.size() : 0;
    if (!d.segment.empty() || !d.segment_ok) {
        ++(d.segment_ok ? p->good_d_pdus : p->lost_d_pdus);
        p->d_pdu_octets += r.octets.size();
    }
    d_shown_peer = p->addr;
    if (!group) {
        d_turn = p;
    }
    on_d_pdu(now, *p, d);
    tell_links(now);
}

namespace {

// What the tables of C.6.1 allow, in the state at the begin of the transmission: copies of an
// acknowledgement come after what it acknowledges has ended the state.
bool expected(const peer& p, d_pdu_type type)
{
    switch (type) {
    case d_pdu_type::ack_only:
        return p.heard_in != dts_state::idle || p.state() != dts_state::idle;
    case d_pdu_type::reset:
        return p.heard_in != dts_state::management;
    case d_pdu_type::expedited_ack_only:
        return p.heard_in == dts_state::expedited;
    default:
        return true;
    }
}

bool numbered(d_pdu_type type) { return type <= d_pdu_type::reset; }

bool carries_arq_data(const d_pdu& d)
{
    const auto type = d.large ? small_type(d.type) : d.type;
    return type == d_pdu_type::data_only || type == d_pdu_type::data_ack;
}

} // namespace

void node::impl::on_d_pdu(sim_time now, peer& p, const d_pdu& d)
{
    on_eow(now, p, d);
    const auto type = d.large ? small_type(d.type) : d.type;
    switch (type) {
    case d_pdu_type::data_only:
    case d_pdu_type::ack_only:
    case d_pdu_type::data_ack:
    case d_pdu_type::reset:
    case d_pdu_type::expedited_data_only:
    case d_pdu_type::expedited_ack_only:
        if (!p.linked() || (d.large != p.large && numbered(type))) {
            if (p.link == link_state::breaking && type == d_pdu_type::ack_only) {
                on_ack(now, p, d);
                return;
            }
            // Numbers of the other size belong to another link, which only one side has.
            hold_early(d);
            return;
        }
        on_connected(now, p, d);
        break;
    case d_pdu_type::management:
        if (p.link == link_state::calling) {
            hold_early(d); // about the link, if our request is accepted behind it
            return;
        }
        on_management(now, p, d);
        break;
    case d_pdu_type::non_arq_data:
    case d_pdu_type::expedited_non_arq_data:
        on_non_arq(now, &p, d);
        break;
    case d_pdu_type::warning:
        on_warning(now, p, d);
        break;
    default:
        warn(now, p, d, warning_unknown);
    }
}

void node::impl::hold_early(const d_pdu& d)
{
    constexpr size_t max_early_octets = size_t{ 1 } << 23;
    const size_t octets = sizeof d + d.segment.size();
    if (d.dst == d_config.own && d_early_octets + octets <= max_early_octets) {
        d_early_octets += octets;
        d_early.push_back(d);
    }
}

void node::impl::take_early(sim_time now, peer& p)
{
    std::vector<d_pdu> rest;
    rest.swap(d_early);
    for (const auto& d : rest) {
        if (d.src == p.addr) {
            on_d_pdu(now, p, d);
        } else {
            d_early.push_back(d);
        }
    }
}

void node::impl::warn_of_early(sim_time now)
{
    for (const auto& d : d_early) {
        // While our own link request waits for its answer, the request goes out again anyway and
        // settles it.
        peer* p = find_peer(d.src);
        if (p && p->link != link_state::calling) {
            if (d.segment_ok && carries_arq_data(d) &&
                p->rx.contradicts(d.arq, d.segment)) {
                p->new_connection();
            }
            push_last_acks(*p);
            warn(now, *p, d, warning_no_link);
        }
    }
    d_early.clear();
    d_early_octets = 0;
}

void node::impl::on_connected(sim_time now, peer& p, const d_pdu& d)
{
    const auto type = d.large ? small_type(d.type) : d.type;
    p.first_data_by = sim_time::zero();
    if (p.heard_in == dts_state::management && !p.managing()) {
        p.heard_in = p.state(); // the exchange has ended in this reception
    }
    if (!expected(p, type)) {
        warn(now, p, d, warning_state);
        return;
    }
    if (type == d_pdu_type::reset) {
        on_reset(now, p, d);
        return;
    }
    p.heard_arq = true;
    p.rates.on_data(p.management);
    if (type == d_pdu_type::expedited_data_only) {
        on_expedited_data(now, p, d);
        return;
    }
    if (type == d_pdu_type::expedited_ack_only) {
        on_expedited_ack(now, p, d);
        return;
    }
    if (type != d_pdu_type::data_only) {
        on_ack(now, p, d);
    }
    if (type != d_pdu_type::ack_only) {
        on_data(now, p, d);
    }
}

void node::impl::on_data(sim_time now, peer& p, const d_pdu& d)
{
    if (p.reset.active) {
        return;
    }
    if (!p.rx.in_sync(d.arq)) {
        out_of_sync(now, p, false);
        return;
    }
    if (d.segment_ok && p.rx.contradicts(d.arq, d.segment)) {
        // Its link request, if there was one, may still come in another copy.
        trace(now, p.addr.to_string() + " has started anew");
        link_closed(p);
        p.new_connection(); // what it sent before means nothing to it
        hold_early(d);
        return;
    }
    p.sync_failures = 0;
    p.heard_data = p.data_last = true;
    p.ack_due = true;
    d_tx.ack_sent = d_tx.ack_sent && d_tx.to != &p;
    p.last_data = now;
    std::vector<std::vector<uint8_t>> delivered;
    std::optional<std::vector<uint8_t>> repaired;
    if (!d.segment_ok && !d.arq.drop && !d.segment_crc.empty()) {
        auto octets = d.segment;
        octets.insert(octets.end(), d.segment_crc.begin(), d.segment_crc.end());
        repaired = p.rx.repair(d.arq, octets);
        d_stats.segments_repaired += repaired ? 1 : 0;
    }
    const bool ok = d.segment_ok || repaired;
    if (!p.rx.take(d.arq, repaired ? *repaired : d.segment, ok, delivered) && ok) {
        ++d_stats.d_pdus_duplicate;
    }
    deliver_arq(now, p, delivered, false);
}

void node::impl::deliver_arq(sim_time now,
                             peer& p,
                             const std::vector<std::vector<uint8_t>>& c_pdus,
                             bool expedited)
{
    for (const auto& octets : c_pdus) {
        const auto c = decode_c_pdu(octets.data(), octets.size());
        if (c && c->type == c_pdu_type::data) {
            s_pdu_origin from;
            from.src = p.addr;
            from.dst = d_config.own;
            from.expedited = expedited;
            if (!expedited && priority_of(c->s_pdu) >= d_config.prompt_priority) {
                p.prompt_at = now;
            }
            d_sis.on_s_pdu(now, from, c->s_pdu.data(), c->s_pdu.size());
        }
    }
}

void node::impl::on_ack(sim_time now, peer& p, const d_pdu& d)
{
    if (p.reset.active) {
        return;
    }
    if (!p.tx.in_sync(d.ack)) {
        out_of_sync(now, p, true);
        return;
    }
    p.sync_failures = 0;
    p.heard_ack = true;
    p.last_data = now;
    std::vector<outgoing_ptr> done;
    d_stats.d_pdus_acked += p.tx.acknowledge(d.ack, done);
    for (const auto& o : done) {
        if (!o->dropped) {
            d_sis.on_delivered(*o);
        }
    }
}

void node::impl::warn(sim_time now, peer& p, const d_pdu& d, uint8_t reason)
{
    if (d.dst != d_config.own || now - p.last_warning < warning_interval ||
        p.control.size() >= max_control) {
        return;
    }
    for (const auto& q : p.control) {
        if (q.type == d_pdu_type::warning && q.warning.reason == reason) {
            return; // one of a kind in a transmission is enough
        }
    }
    p.last_warning = now;
    d_pdu w = make(p, d_pdu_type::warning);
    w.warning.received_type = static_cast<uint8_t>(d.type);
    w.warning.reason = reason;
    p.control.push_back(w);
}

void node::impl::on_warning(sim_time now, peer& p, const d_pdu& d)
{
    ++d_stats.warnings_received;
    const auto type = static_cast<d_pdu_type>(d.warning.received_type);
    trace(now,
          p.addr.to_string() + " warns of " + to_string(type) + ", reason " +
              std::to_string(d.warning.reason));
    const bool about_link = d.warning.reason == warning_no_link &&
                            (d.warning.received_type <= 5 || (p.large && is_large(type)));
    if (!about_link && type == d_pdu_type::management) {
        p.management.withdraw();
        p.rates.give_up();
    }
    if (!about_link && type == d_pdu_type::expedited_data_only) {
        for (const auto& o : p.expedited_tx.take_all()) {
            d_sis.on_failed(*o, unidata_reject_reason::not_responding);
        }
    }
    // Together with an accepted request it is about data sent ahead of the answer: those are
    // simply not acknowledged and go out again. With a request the link is a new one already.
    if (!about_link || p.heard_accept || p.heard_request ||
        (p.link != link_state::made && p.link != link_state::breaking)) {
        return;
    }
    trace(now, p.addr.to_string() + " says that there is no link");
    link_closed(p);
}

} // namespace gr::hf::s5066
