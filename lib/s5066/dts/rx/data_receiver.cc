/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/rx/data_receiver.h"

#include <memory>
#include <optional>

namespace gr::hf::s5066 {

namespace {

soft_copies::key key_of(const peer& p, const d_pdu& d)
{
    return { p.addr, p.arq.numberings, d.arq.fsn, d.segment.size() };
}

} // namespace

bool data_receiver::on_data(station_time now, peer& p, const d_pdu& d)
{
    if (p.reset.active())
        return true;
    if (!p.arq.rx.in_sync(d.arq)) {
        d_resets.out_of_sync(now, p, false);
        return true;
    }
    if (d.segment_ok && p.arq.rx.contradicts(d.arq, d.segment)) {
        d_node.log.trace(now, p.addr.to_string() + " has restarted");
        return false;
    }
    p.reset.in_sync();
    p.heard.data = p.arq.data_last = true;
    p.arq.ack_due = true;
    d_tx.outdate_ack(p);
    p.link.last_data = now;
    std::vector<std::vector<uint8_t>> delivered;
    const auto made = repaired(now, p, d);
    if (d.arq.lwe && d.arq.fsn != 0)
        p.arq.rx.same_numbering();
    const bool ok = (d.segment_ok || made) && p.arq.rx.may_join(d.arq);
    const bool taken = p.arq.rx.take(d.arq, made ? *made : d.segment, ok, delivered);
    if (taken)
        d_soft.drop(key_of(p, d));
    d_node.stats.d_pdus_duplicate += !taken && ok ? 1 : 0;
    p.heard.news = p.heard.news || taken || !ok;
    deliver_arq(now, p, delivered, false);
    return true;
}

// A damaged copy, and those before it.
std::optional<std::vector<uint8_t>>
data_receiver::repaired(station_time now, peer& p, const d_pdu& d)
{
    const unsigned memory = d_node.config.copy_memory;
    auto octets = d.segment;
    octets.insert(octets.end(), d.segment_crc.begin(), d.segment_crc.end());
    if (d.segment_ok || d.arq.drop || d.segment_crc.empty() || memory == 0 ||
        !p.arq.rx.wants(d.arq, octets.size()))
        return std::nullopt;
    std::optional<std::vector<uint8_t>> made;
    if (memory > 1) {
        made = d_soft.add(now, key_of(p, d), d.segment_code);
        d_node.stats.segments_summed += made ? 1 : 0;
    }
    if (!made)
        made = p.arq.rx.repair(d.arq, octets);
    d_node.stats.segments_repaired += made ? 1 : 0;
    return made;
}

void data_receiver::deliver_arq(station_time now,
                                peer& p,
                                const std::vector<std::vector<uint8_t>>& c_pdus,
                                bool expedited)
{
    for (const auto& octets : c_pdus) {
        const auto c = decode_c_pdu(octets.data(), octets.size());
        if (c && c->type == c_pdu_type::data) {
            p.link.octets_received += octets.size();
            s_pdu_origin from;
            from.src = p.addr;
            from.dst = d_node.config.own;
            from.expedited = expedited;
            from.numbering = p.arq.numberings;
            const unsigned priority =
                d_node.upper.on_s_pdu(now, from, c->s_pdu.data(), c->s_pdu.size());
            if (!expedited && priority >= d_node.config.prompt_priority)
                p.turn.on_prompt(now, flow_of(c->s_pdu.data(), c->s_pdu.size()));
        }
    }
}

void data_receiver::on_ack(station_time now, peer& p, const d_pdu& d)
{
    if (p.reset.active())
        return;
    if (!p.arq.tx.in_sync(d.ack)) {
        d_resets.out_of_sync(now, p, true);
        return;
    }
    p.reset.in_sync();
    if (d.ack.rx_lwe != 0)
        p.arq.rx.same_numbering();
    p.heard.ack = true;
    p.link.last_data = now;
    std::vector<outgoing_ptr> done;
    d_node.stats.d_pdus_acked += p.arq.tx.acknowledge(d.ack, done);
    for (const auto& o : done) {
        p.link.octets_sent += o->c_pdu.size();
        if (!o->dropped)
            d_node.upper.on_delivered(now, *o);
    }
}

void data_receiver::on_expedited_data(station_time now, peer& p, const d_pdu& d)
{
    p.expedited.ack_due = p.expedited.data_last = p.heard.expedited = true;
    p.link.last_data = now;
    std::vector<std::vector<uint8_t>> delivered;
    const bool taken =
        p.expedited.rx.take(d.expedited, d.segment, d.segment_ok, delivered);
    d_node.stats.d_pdus_duplicate += !taken && d.segment_ok ? 1 : 0;
    deliver_arq(now, p, delivered, true);
}

void data_receiver::on_expedited_ack(station_time now, peer& p, const d_pdu& d)
{
    // An ACK that does not fit is a repeat for the C_PDU before: nothing to reset.
    if (!p.expedited.tx.in_sync(d.ack))
        return;
    p.link.last_data = now;
    std::vector<outgoing_ptr> done;
    d_node.stats.d_pdus_acked += p.expedited.tx.acknowledge(d.ack, done);
    for (const auto& o : done) {
        p.link.octets_sent += o->c_pdu.size();
        d_node.upper.on_delivered(now, *o);
    }
}

void data_receiver::on_non_arq(station_time now, const d_pdu& d)
{
    std::vector<non_arq_c_pdu> complete;
    d_non_arq.take(now, d, complete);
    for (const auto& c : complete)
        deliver(now, c);
}

void data_receiver::expire(station_time now)
{
    d_soft.expire(now);
    std::vector<non_arq_c_pdu> ended;
    d_non_arq.expire(now, ended);
    for (const auto& c : ended)
        deliver(now, c);
}

void data_receiver::deliver(station_time now, const non_arq_c_pdu& c)
{
    const auto data = decode_c_pdu(c.octets.data(), c.octets.size());
    if (!data || data->type != c_pdu_type::data)
        return;
    s_pdu_origin from;
    from.src = c.src;
    from.dst = c.dst;
    from.mode = transmission_mode::non_arq;
    from.expedited = c.expedited;
    from.errored = c.errored;
    from.missing = c.missing;
    d_node.upper.on_s_pdu(now, from, data->s_pdu.data(), data->s_pdu.size());
}

} // namespace gr::hf::s5066
