/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/stations/fates.h"

#include "sim/stations/traffic.h"

namespace gr::hf::sim {

using namespace s5066;

u_pdu_fate* fate_book::find(bool answer, uint32_t number, size_t receiver)
{
    const auto it = d_places.find({ answer, number, receiver });
    return it == d_places.end() ? nullptr : &d_fates[it->second];
}

void fate_book::submitted(const u_pdu_fate& f, const std::vector<std::string>& names)
{
    for (size_t k = 0; k < names.size(); ++k) {
        d_places[{ f.answer, f.number, k }] = d_fates.size();
        d_fates.push_back(f);
        d_fates.back().receiver = k;
        d_fates.back().to = names[k];
        d_last.emplace_back();
    }
}

void fate_book::delivered(bool answer,
                          uint32_t number,
                          size_t receiver,
                          double now_s,
                          const numbering& n)
{
    u_pdu_fate* f = find(answer, number, receiver);
    if (!f)
        return;
    numbering& last = d_last[static_cast<size_t>(f - d_fates.data())];
    f->repeated_on_link += f->deliveries > 0 && last == n ? 1 : 0;
    last = n;
    ++f->deliveries;
    if (!f->delivered_s)
        f->delivered_s = now_s;
}

void fate_book::reported(bool answer, const s_primitive& report, double now_s)
{
    const auto note = [&](const std::vector<uint8_t>& u_pdu, auto&& what) {
        u_pdu_fate* f =
            u_pdu.size() < 4 ? nullptr : find(answer, bulk_source::number_of(u_pdu), 0);
        if (f)
            what(*f);
    };
    if (const auto* c = std::get_if<s_unidata_request_confirm>(&report)) {
        note(
            c->u_pdu,
            [&](u_pdu_fate& f) {
                f.confirmed_s = f.confirmed_s ? f.confirmed_s : now_s;
            });
    } else if (const auto* r = std::get_if<s_unidata_request_rejected>(&report)) {
        note(
            r->u_pdu,
            [&](u_pdu_fate& f) {
                f.rejected_s = f.rejected_s ? f.rejected_s : now_s;
                f.reason = static_cast<unidata_reject_reason>(r->reason);
            });
    }
}

const char* to_string(unidata_reject_reason r)
{
    switch (r) {
    case unidata_reject_reason::ttl_expired:
        return "ttl_expired";
    case unidata_reject_reason::sap_not_bound:
        return "sap_not_bound";
    case unidata_reject_reason::not_responding:
        return "not_responding";
    case unidata_reject_reason::larger_than_mtu:
        return "larger_than_mtu";
    case unidata_reject_reason::no_transmission_mode:
        return "no_transmission_mode";
    }
    return "";
}

const char* to_string(delivery_confirmation c)
{
    switch (c) {
    case delivery_confirmation::none:
        return "none";
    case delivery_confirmation::node:
        return "node";
    case delivery_confirmation::client:
        return "client";
    }
    return "";
}

} // namespace gr::hf::sim
