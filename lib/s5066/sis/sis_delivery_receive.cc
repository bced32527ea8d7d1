/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Handles received S_PDUs: U_PDUs for clients, and delivery reports from the remote node.
#include "s5066/sis/sis_delivery.h"

#include "s5066/sis/time_to_die.h"

#include <algorithm>

namespace gr::hf::s5066 {

void sis_delivery::on_data(station_time now,
                           const s_pdu_origin& from,
                           s_pdu s,
                           size_t header)
{
    if (s.ttd && d_config.utc_at_zero_s && is_over(*s.ttd, utc(now))) {
        ++d_stats.u_pdus_expired;
        return;
    }
    if (!is_proved(now, from, s))
        return;
    const bool ok = indicate(from, s, header);
    if (s.confirm_required && from.mode == transmission_mode::arq)
        answer(now, from, s, ok);
}

// Removes the trailer from the U_PDU. False: the U_PDU is refused.
bool sis_delivery::is_proved(station_time now, const s_pdu_origin& from, s_pdu& s)
{
    const bool whole = from.errored.empty() && from.missing.empty();
    const auto v =
        whole ? d_proofs.open(now, from.src, from.dst, s.src_sap, s.dst_sap, s.u_pdu)
              : d_proofs.open_damaged(from.src, from.dst);
    if (v == auth_verdict::off)
        return true;
    ++(v == auth_verdict::proved       ? d_stats.u_pdus_proved
       : v == auth_verdict::not_proved ? d_stats.u_pdus_not_proved
                                       : d_stats.u_pdus_refused);
    if (v != auth_verdict::proved) {
        d_log.trace(now,
                    std::string("U_PDU ") +
                        (is_delivered(v) ? "delivered, not proved"
                                         : std::string("refused: ") + to_string(v)) +
                        ", from " + from.src.to_string() + " SAP " +
                        std::to_string(s.src_sap) + " to SAP " +
                        std::to_string(s.dst_sap));
    }
    return is_delivered(v);
}

bool sis_delivery::indicate(const s_pdu_origin& from, const s_pdu& s, size_t header)
{
    const sis_client* k = d_clients.at(s.dst_sap);
    if (k == nullptr) {
        ++d_stats.indications_dropped;
        return false;
    }
    s_unidata_indication i;
    i.expedited = from.expedited;
    i.priority = from.expedited ? 0 : s.low;
    i.dst_sap = s.dst_sap;
    i.dst = from.dst;
    i.mode = from.mode;
    i.src_sap = s.src_sap;
    i.src = from.src;
    i.u_pdu = s.u_pdu;
    if (!from.errored.empty() || !from.missing.empty()) {
        if (k->service.mode != transmission_mode::non_arq_with_errors) {
            ++d_stats.indications_dropped;
            return false;
        }
        i.mode = transmission_mode::non_arq_with_errors;
        // Offsets count from the start of the U_PDU. Damage in the header cannot be
        // reported.
        const size_t skip = header + 1;
        const auto shift = [skip](const auto& list, auto& to) {
            for (const auto& [offset, length] : list) {
                const size_t end = size_t(offset) + length;
                if (end > skip) {
                    const size_t b = offset > skip ? offset - skip : 0;
                    to.emplace_back(static_cast<uint16_t>(b),
                                    static_cast<uint16_t>(end - skip - b));
                }
            }
        };
        shift(from.errored, i.errored);
        shift(from.missing, i.missing);
    }
    ++d_stats.u_pdus_delivered;
    d_stats.u_pdu_octets_delivered += s.u_pdu.size();
    d_clients.send(k->who.client, i, from.numbering);
    return true;
}

void sis_delivery::answer(station_time now,
                          const s_pdu_origin& from,
                          const s_pdu& s,
                          bool ok)
{
    s_pdu a;
    a.type = ok ? s_pdu_type::delivery_confirm : s_pdu_type::delivery_fail;
    a.low = ok ? 0 : 1; // destination SAP not bound
    a.src_sap = s.src_sap;
    a.dst_sap = s.dst_sap;
    if (ok && s.type == s_pdu_type::data_with_id) {
        a.type = s_pdu_type::compact_confirm;
        a.id = s.id;
    } else {
        a.u_pdu = s.u_pdu;
    }
    auto o = std::make_shared<outgoing>();
    o->dst = from.src;
    o->submitted_at = now;
    o->priority = s.low;
    o->expedited = from.expedited;
    o->expires = now + from_seconds(d_config.default_ttl_s);
    o->c_pdu = encode(c_pdu{ c_pdu_type::data, 0, encode(a) });
    dispatch(now, std::move(o));
}

void sis_delivery::on_delivery_report(station_time now,
                                      const s_pdu_origin& from,
                                      const s_pdu& s)
{
    const auto meant = [&](const outgoing& o) {
        if (s.type == s_pdu_type::compact_confirm)
            return o.id == s.id;
        return o.c_pdu.size() - o.place.header >= s.u_pdu.size() &&
               std::equal(s.u_pdu.begin(),
                          s.u_pdu.end(),
                          o.c_pdu.begin() + static_cast<std::ptrdiff_t>(o.place.header));
    };
    const auto it =
        std::find_if(d_confirms.begin(), d_confirms.end(), [&](const confirm& f) {
            const outgoing& o = *f.o;
            return o.dst == from.src && o.src_sap == s.src_sap &&
                   o.dst_sap == s.dst_sap && meant(o);
        });
    if (it == d_confirms.end())
        return;
    // The remote node reports in turn, so the reports on later ones are still to come.
    for (auto later = std::next(it); later != d_confirms.end(); ++later)
        if (later->deadline && later->o->dst == from.src)
            later->deadline = confirm_deadline(now, *later->o);
    const outgoing_ptr o = it->o;
    if (s.type == s_pdu_type::delivery_fail) {
        on_failed(*o, unidata_reject_reason::sap_not_bound);
        return;
    }
    d_confirms.erase(it);
    o->known.confirmed = true;
    confirm_to_client(*o);
}

} // namespace gr::hf::s5066
