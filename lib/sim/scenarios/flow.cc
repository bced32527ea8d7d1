/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/scenarios/flow.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::sim {

namespace {

// Limit of U_PDUs whose times are kept while they are on their way.
constexpr size_t max_under_way = 100000;

s5066::delivery_mode service_of(const scenario_traffic& t)
{
    s5066::delivery_mode m;
    if (t.arq) {
        m.confirmation = t.confirmation;
    } else {
        m.mode = s5066::transmission_mode::non_arq;
        m.retransmissions = static_cast<uint8_t>(t.repeats);
    }
    m.order = t.in_order ? s5066::delivery_order::in_order
                         : s5066::delivery_order::as_they_arrive;
    return m;
}

const char* name_of(traffic_kind k)
{
    switch (k) {
    case traffic_kind::bulk:
        return "bulk";
    case traffic_kind::interactive:
        return "interactive";
    case traffic_kind::ping:
        return "ping";
    case traffic_kind::broadcast:
        return "broadcast";
    }
    return "";
}

} // namespace

flow::flow(scheduler& s,
           const scenario_traffic& t,
           const end& from,
           const std::vector<end>& to,
           s5066::address dst,
           uint64_t seed)
    : d_scheduler(s), d_traffic(t), d_dst(dst), d_random(seed), d_from(from), d_to(to),
      d_source(s, *from.at, from.sap, service_of(t), to.front().sap)
{
    d_source.priority = static_cast<uint8_t>(t.priority);
    d_source.expedited = t.expedited;
    d_source.on_indication = [this](station_time now,
                                    const s5066::s_unidata_indication& i) {
        on_answer(now, i);
    };
    for (const auto& e : to) {
        const size_t k = d_sinks.size();
        d_sinks.push_back(std::make_unique<bulk_sink>(s, *e.at, e.sap));
        d_sinks.back()->on_new = [this, k](station_time now,
                                           const s5066::s_unidata_indication& i) {
            on_u_pdu(now, k, i);
        };
    }
    s.at(from_seconds(t.start_s), [this] { start(); });
}

u_pdu_fate flow::submission(bool answer, uint32_t number, size_t octets) const
{
    const end& sink = d_to.front();
    u_pdu_fate f;
    f.flow = *d_index;
    f.answer = answer;
    f.number = number;
    f.from = answer ? d_traffic.to : d_traffic.from;
    f.from_sap = answer ? sink.sap : d_from.sap;
    f.to_sap = answer ? d_from.sap : sink.sap;
    f.octets = octets;
    f.priority = d_traffic.expedited ? 0 : d_traffic.priority;
    f.arq = d_traffic.arq;
    f.expedited = d_traffic.expedited;
    f.confirmation = service_of(d_traffic).confirmation;
    f.submitted_s = to_seconds(d_scheduler.now());
    return f;
}

void flow::note_delivery(bool answer, uint32_t number, size_t receiver)
{
    const station& at = answer ? *d_from.at : *d_to[receiver].at;
    d_fates.delivered(answer,
                      number,
                      answer ? 0 : receiver,
                      to_seconds(d_scheduler.now()),
                      { at.restarts(), at.numbering() });
}

void flow::keep_fates(size_t index, const std::vector<std::string>& receivers)
{
    d_index = index;
    const auto now_s = [this] { return to_seconds(d_scheduler.now()); };
    d_source.on_submit = [this, receivers](uint32_t number, size_t octets) {
        d_fates.submitted(submission(false, number, octets), receivers);
    };
    d_source.on_report = [this, now_s](const s5066::s_primitive& p) {
        d_fates.reported(false, p, now_s());
    };
    for (size_t k = 0; k < d_sinks.size(); ++k) {
        d_sinks[k]->on_any = [this, k](uint32_t number) {
            note_delivery(false, number, k);
        };
        d_sinks[k]->on_report = [this, now_s](const s5066::s_primitive& p) {
            d_fates.reported(true, p, now_s());
        };
    }
}

void flow::rebind(const station* at)
{
    if (at == d_from.at)
        d_source.rebind();
    for (size_t k = 0; k < d_to.size(); ++k)
        if (at == d_to[k].at)
            d_sinks[k]->rebind();
}

double flow::uniform()
{
    return static_cast<double>((d_random() >> 11) + 1) / 9007199254740993.0;
}

bool flow::finite() const
{
    const bool counted =
        d_traffic.kind == traffic_kind::bulk ? d_traffic.octets > 0 : d_traffic.count > 0;
    return counted || d_traffic.stop_s > 0;
}

bool flow::over() const
{
    if (d_traffic.stop_s > 0 && d_scheduler.now() >= from_seconds(d_traffic.stop_s))
        return true;
    return d_traffic.kind == traffic_kind::bulk
               ? d_traffic.octets > 0 && d_octets >= d_traffic.octets
               : d_traffic.count > 0 && d_count >= d_traffic.count;
}

bool flow::complete() const
{
    if (!finite())
        return true;
    if (!over() || d_waiting)
        return false;
    if (d_traffic.kind == traffic_kind::ping)
        return true;
    const auto answers = d_traffic.answer > 0 ? d_times.size() : d_source.submitted();
    return answers >= d_source.submitted() &&
           std::all_of(d_sinks.begin(), d_sinks.end(), [this](const auto& sink) {
               return sink->u_pdus() >= d_source.submitted() && d_source.drained();
           });
}

void flow::after(double seconds)
{
    const uint64_t wake = ++d_wake;
    d_scheduler.at(d_scheduler.now() + from_seconds(seconds), [this, wake] {
        if (wake == d_wake)
            send_next();
    });
}

void flow::start()
{
    const auto& t = d_traffic;
    if (t.kind == traffic_kind::bulk && t.rate_bps == 0) {
        d_octets = t.octets > 0 ? t.octets : uint64_t{ 1 } << 40;
        d_source.send(d_dst, d_octets, t.u_pdu);
        if (t.stop_s > 0)
            d_scheduler.at(from_seconds(t.stop_s), [this] { d_source.stop(); });
    } else if (t.kind == traffic_kind::interactive) {
        after(-t.interval_s * std::log(uniform()));
    } else {
        send_next();
    }
}

void flow::send_next()
{
    const auto& t = d_traffic;
    if (d_waiting) { // the answer to a ping did not arrive in time
        ++d_unanswered;
        d_waiting = false;
    }
    if (over())
        return;
    const size_t size = t.u_pdu;
    const auto number = static_cast<uint32_t>(d_count++);
    d_octets += size;
    if (d_sent.size() < max_under_way)
        d_sent[number] = d_scheduler.now();
    d_source.send(d_dst, size, size);
    switch (t.kind) {
    case traffic_kind::bulk:
        after(8.0 * static_cast<double>(size) / t.rate_bps);
        break;
    case traffic_kind::interactive:
        after(-t.interval_s * std::log(uniform()));
        break;
    case traffic_kind::broadcast:
        after(t.interval_s);
        break;
    case traffic_kind::ping:
        d_awaited = number;
        d_waiting = true;
        after(t.limit_s);
        break;
    }
}

void flow::on_u_pdu(station_time, size_t receiver, const s5066::s_unidata_indication& i)
{
    // Virtual time, because the station's clock may be wrong.
    const station_time now = d_scheduler.now();
    d_last = now;
    if (on_delivery)
        on_delivery(i.u_pdu.size());
    const uint32_t number = bulk_source::number_of(i.u_pdu);
    const bool ping = d_traffic.kind == traffic_kind::ping;
    if (ping || d_traffic.answer > 0) {
        s5066::s_unidata_request r;
        r.dst = i.src;
        r.dst_sap = i.src_sap;
        r.mode = service_of(d_traffic);
        r.priority = static_cast<uint8_t>(d_traffic.priority);
        r.u_pdu = bulk_source::u_pdu(number, ping ? d_traffic.u_pdu : d_traffic.answer);
        // Not from inside the station's callback.
        r.expedited = d_traffic.expedited;
        d_scheduler.at(now, [this, receiver, number, r] {
            if (d_index)
                d_fates.submitted(submission(true, number, r.u_pdu.size()),
                                  { d_traffic.from });
            d_sinks[receiver]->send(r);
        });
        return;
    }
    const auto it = d_sent.find(number);
    if (it != d_sent.end()) {
        d_times.push_back(to_seconds(now - it->second));
        if (d_sinks.size() == 1)
            d_sent.erase(it);
    }
}

void flow::on_answer(station_time, const s5066::s_unidata_indication& i)
{
    if (i.u_pdu.size() < 4)
        return;
    const uint32_t number = bulk_source::number_of(i.u_pdu);
    if (d_index)
        note_delivery(true, number, 0);
    const auto it = d_sent.find(number);
    if (it == d_sent.end())
        return;
    const bool ping = d_traffic.kind == traffic_kind::ping;
    if (ping && !(d_waiting && number == d_awaited))
        return; // too late
    d_times.push_back(to_seconds(d_scheduler.now() - it->second));
    d_sent.erase(it);
    if (ping) {
        d_waiting = false;
        after(d_traffic.interval_s);
    }
}

flow_result flow::result() const
{
    flow_result r;
    r.kind = name_of(d_traffic.kind);
    r.from = d_traffic.from;
    r.to = d_traffic.to;
    r.u_pdus_offered = d_source.submitted();
    r.octets_offered = d_source.octets();
    r.receivers = d_sinks.size();
    for (const auto& sink : d_sinks) {
        r.u_pdus_delivered += sink->u_pdus();
        r.octets_delivered += sink->octets();
        r.altered += sink->altered();
        r.repeated += sink->repeated();
        r.out_of_order += sink->out_of_order();
    }
    r.rejected = d_source.rejected();
    r.last_s = to_seconds(d_last);
    const double took = r.last_s - d_traffic.start_s;
    if (took > 0) {
        r.goodput_bps = 8.0 * static_cast<double>(r.octets_delivered) /
                        static_cast<double>(r.receivers) / took;
    }
    r.times = d_times;
    r.unanswered = d_unanswered;
    r.finite = finite();
    r.complete = r.finite && complete() && d_unanswered == 0;
    return r;
}

} // namespace gr::hf::sim
