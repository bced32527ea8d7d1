/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep_forger.h"

#include "pep/codec.h"
#include "s5066/auth/trailer.h"
#include "s5066/pdu/c_pdu.h"
#include "s5066/pdu/s_pdu.h"

#include <algorithm>
#include <chrono>

namespace gr::hf::sim {

using namespace s5066;

namespace {

constexpr uint8_t proxy_sap = 13;
constexpr size_t largest_part = 300; // several PDUs fit into one short transmission

bool carries_data(d_pdu_type t)
{
    return t == d_pdu_type::data_only || t == d_pdu_type::data_ack ||
           t == d_pdu_type::large_data_only || t == d_pdu_type::large_data_ack;
}

} // namespace

const char* to_string(slep_forgery f)
{
    constexpr const char* names[slep_forgeries] = { "open",   "accept",  "refuse",
                                                    "data",   "end",     "control",
                                                    "abort",  "restart", "datagram",
                                                    "garbage" };
    return names[static_cast<unsigned>(f)];
}

slep::octets slep_forger::octets_of(size_t most)
{
    slep::octets v(below(most + 1));
    std::generate(v.begin(), v.end(), [this] { return any(); });
    return v;
}

std::optional<mode> slep_forger::want_tx(station_time now)
{
    if (d_hears || now < d_next || now >= d_plan.until) {
        return std::nullopt;
    }
    if (d_octets.empty()) {
        add_transmission();
        d_sent = 0;
    }
    return mode::parse(d_plan.mode_text);
}

tx_octets slep_forger::pull(station_time, station_time, size_t max_octets)
{
    tx_octets o;
    const size_t n = std::min(max_octets, d_octets.size() - d_sent);
    const auto at = d_octets.begin() + static_cast<std::ptrdiff_t>(d_sent);
    o.octets.assign(at, at + static_cast<std::ptrdiff_t>(n));
    d_sent += n;
    o.last = d_sent == d_octets.size();
    return o;
}

void slep_forger::on_tx_end(station_time now)
{
    d_octets.clear();
    d_next = now + std::chrono::milliseconds(200 + below(4000));
}

void slep_forger::on_rx_start(station_time, const rx_start&)
{
    d_hears = true;
    d_deframer.reset();
}

void slep_forger::on_rx_octets(station_time, const rx_octets& e)
{
    d_deframer.push(e.octets);
    while (const auto d = d_deframer.next()) {
        note(d->pdu);
    }
}

void slep_forger::on_rx_end(station_time now, const rx_end&)
{
    d_hears = false;
    while (const auto d = d_deframer.next_at_end()) {
        note(d->pdu);
    }
    if (below(3) == 0) { // before the answer
        d_next = std::min(d_next, std::max(now, d_plan.from));
    }
}

void slep_forger::note(const d_pdu& d)
{
    overheard& h = d_heard[d.src == d_ends[0] ? 0 : 1];
    if (!carries_data(d.type)) {
        return;
    }
    h.large = is_large(d.type);
    h.next_fsn = static_cast<uint16_t>(d.arq.fsn + 1);
    const auto c =
        d.arq.start ? decode_c_pdu(d.segment.data(), d.segment.size()) : std::nullopt;
    auto s = c ? decode_s_pdu(c->s_pdu.data(), c->s_pdu.size()) : std::nullopt;
    if (d_plan.sealed && s && d.arq.end && s->u_pdu.size() > tag_trailer_octets) {
        const auto proof = s->u_pdu.end() - std::ptrdiff_t(tag_trailer_octets);
        h.trailer.assign(proof, s->u_pdu.end());
        s->u_pdu.erase(proof, s->u_pdu.end());
    }
    auto p = s ? slep::decode(s->u_pdu) : std::nullopt;
    if (!p) {
        return;
    }
    if (auto* so = std::get_if<slep::stream_open>(&p->body)) {
        h.instance = so->instance;
        h.open = std::move(*so);
    } else if (auto* sr = std::get_if<slep::stream_accept>(&p->body)) {
        h.instance = sr->instance;
    } else if (auto* sd = std::get_if<slep::stream_data>(&p->body)) {
        h.data = std::move(*sd);
    }
}

slep::octets slep_forger::opening(const overheard& me)
{
    slep::stream_open o;
    o.number = any() & 0x7f;
    o.instance = static_cast<uint16_t>(d_random());
    o.use = any();
    if (d_plan.listens && me.open) {
        o.instance = me.open->instance;
        o.use = static_cast<uint8_t>(below(2));
        o.number = static_cast<uint8_t>((me.open->number + below(4)) & 0x7f);
    }
    o.compressed = below(4) == 0;
    o.fin = below(4) == 0;
    hfpep::connect_request q;
    q.to = { ip::address("10.0.0.66"), forged_port };
    o.open_data = below(4) == 0 ? octets_of(60) : hfpep::encode(q);
    o.data = octets_of(largest_part);
    return slep::encode({ 0, std::move(o) });
}

slep::octets slep_forger::answer(const overheard& me, const overheard& other)
{
    const bool known = d_plan.listens && other.open;
    const uint8_t number = known ? other.open->number : any();
    const uint16_t name = known ? slep::incarnation::of_opener(other.open->instance,
                                                               other.open->number,
                                                               other.open->use)
                                      .name()
                                : static_cast<uint16_t>(d_random() & 0x7fff);
    const auto sid = static_cast<uint8_t>(number | slep::sid_responder);
    if (d_plan.forgery == slep_forgery::refuse) {
        slep::stream_refuse r;
        r.sid = sid;
        r.reason = any();
        r.answers = name;
        return slep::encode({ 0, std::move(r) });
    }
    slep::stream_accept a;
    a.sid = sid;
    a.instance = d_plan.listens && me.instance != 0 ? me.instance
                                                    : static_cast<uint16_t>(d_random());
    a.answers = name;
    a.fin = below(3) == 0;
    a.other_ended = below(2) == 0;
    a.digest = static_cast<uint32_t>(d_random());
    a.open_data = hfpep::encode(hfpep::connect_answer());
    a.data = octets_of(largest_part);
    return slep::encode({ 0, std::move(a) });
}

slep::octets slep_forger::in_stream(const overheard& me, const overheard& other)
{
    const bool known = d_plan.listens && me.data;
    const uint8_t sid = known ? me.data->sid : any();
    if (d_plan.forgery == slep_forgery::control) {
        slep::stream_control c;
        c.sid = sid;
        c.ack = d_plan.listens && other.data
                    ? static_cast<uint16_t>(other.data->seq + below(8))
                    : static_cast<uint16_t>(d_random());
        c.window = static_cast<uint8_t>(below(16));
        c.answer_wanted = below(2) == 0;
        return slep::encode({ 0, c });
    }
    if (d_plan.forgery == slep_forgery::abort) {
        slep::stream_abort x;
        x.sid = sid;
        x.reason = any();
        x.mark = d_plan.listens && other.data ? other.data->seq
                                              : static_cast<uint16_t>(d_random());
        return slep::encode({ 0, x });
    }
    slep::stream_data d;
    d.sid = sid;
    d.seq = known ? static_cast<uint16_t>(me.data->seq + below(4))
                  : static_cast<uint16_t>(d_random());
    d.check = known ? me.data->check : std::optional<uint8_t>(any() & 0x7f);
    d.control_wanted = below(2) == 0;
    d.other_ended = below(2) == 0;
    d.fin = d_plan.forgery == slep_forgery::end;
    d.digest = static_cast<uint32_t>(d_random());
    d.data = octets_of(largest_part);
    return slep::encode({ 0, std::move(d) });
}

slep::octets slep_forger::some_datagram()
{
    switch (below(3)) {
    case 0:
        return slep::encode(
            { 0, slep::unreliable_datagram{ below(2) == 0, octets_of(largest_part) } });
    case 1: {
        slep::reliable_datagram d;
        d.number = static_cast<uint16_t>(d_random());
        d.seg = slep::reliable_datagram::segment{ static_cast<uint8_t>(any() & 0x7f),
                                                  below(4) == 0 };
        d.answer_wanted = below(2) == 0;
        d.data = octets_of(largest_part);
        return slep::encode({ 0, std::move(d) });
    }
    default:
        return slep::encode(
            { 0, slep::datagram_answer{ static_cast<uint16_t>(d_random()), any() } });
    }
}

slep::octets slep_forger::forged(size_t side)
{
    const overheard& me = d_heard[side];
    const overheard& other = d_heard[1 - side];
    switch (d_plan.forgery) {
    case slep_forgery::open:
        return opening(me);
    case slep_forgery::accept:
    case slep_forgery::refuse:
        return answer(me, other);
    case slep_forgery::data:
    case slep_forgery::end:
    case slep_forgery::control:
    case slep_forgery::abort:
        return in_stream(me, other);
    case slep_forgery::restart:
        return slep::encode({ 0,
                              slep::stream_abort{ 0,
                                                  slep::reason_peer_restarted,
                                                  static_cast<uint16_t>(d_random()) } });
    case slep_forgery::datagram:
        return some_datagram();
    case slep_forgery::garbage:
        break;
    }
    return octets_of(largest_part);
}

d_pdu slep_forger::carrier(size_t side, slep::octets u_pdu)
{
    s_pdu s;
    s.src_sap = s.dst_sap = proxy_sap;
    s.u_pdu = std::move(u_pdu);
    if (d_plan.sealed && below(2) == 0) {
        const auto& t = d_heard[side].trailer;
        s.u_pdu.insert(s.u_pdu.end(), t.begin(), t.end());
    }
    d_pdu d;
    d.src = d_ends[side];
    d.dst = d_ends[1 - side];
    d.segment = encode(c_pdu{ c_pdu_type::data, 0, encode(s) });
    overheard& h = d_heard[side];
    if (d_plan.arq) {
        d.type = h.large ? d_pdu_type::large_data_only : d_pdu_type::data_only;
        d.large = h.large;
        d.arq.start = d.arq.end = true;
        d.arq.fsn = h.large ? h.next_fsn : h.next_fsn & 0xff;
        ++h.next_fsn;
    } else {
        d.type = d_pdu_type::non_arq_data;
        d.non_arq.c_pdu_id = static_cast<uint16_t>(below(0x1000));
        d.non_arq.c_pdu_size = static_cast<uint16_t>(d.segment.size());
        d.non_arq.window = 60;
    }
    return d;
}

void slep_forger::add_transmission()
{
    const size_t side = below(2);
    for (uint64_t left = 1 + below(3); left > 0; --left) {
        const auto v = encode(carrier(side, forged(side)));
        d_octets.insert(d_octets.end(), v.begin(), v.end());
        ++d_count;
    }
}

} // namespace gr::hf::sim
