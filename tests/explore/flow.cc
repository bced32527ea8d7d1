/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explore/flow.h"

#include <algorithm>

namespace gr::hf::explore {

using namespace s5066;

namespace {

// A station that does not answer this often counts as not responding, at the soonest. One
// time less if the transmissions took this long (cas/link_failure.cc).
constexpr unsigned min_unanswered = 4;
constexpr double long_calling_s = 40;

bool true_silence(const silence& s)
{
    return s.transmissions + (s.lasts_s >= long_calling_s ? 1 : 0) >= min_unanswered;
}

} // namespace

flow::flow(sim::scheduler& time,
           sim::station& from,
           sim::station& to,
           const flow_plan& p,
           uint8_t number)
    : d_from(from), d_to(to), d_plan(p),
      d_source(time,
               from,
               static_cast<uint8_t>(first_sap + 2 * number),
               p.mode,
               static_cast<uint8_t>(first_sap + 2 * number + 1)),
      d_sink(time, to, static_cast<uint8_t>(first_sap + 2 * number + 1))
{
    d_source.on_submit = [this](uint32_t n, size_t) { d_fates[n]; };
    d_source.on_report = [this](const s_primitive& r) { reported(r); };
    d_sink.on_any = [this](uint32_t n) { delivered(n); };
}

void flow::send()
{
    d_source.send(d_to.address(), d_plan.u_pdus * d_plan.octets, d_plan.octets);
}

void flow::send_one() { d_source.send(d_to.address(), d_plan.octets, d_plan.octets); }

void flow::restarted(const sim::station& s)
{
    if (&s == &d_from) {
        for (auto& [number, f] : d_fates) {
            f.lost_with_sender = f.lost_with_sender || !f.confirmed;
        }
        d_source.rebind();
    }
    if (&s == &d_to) {
        // Its client's confirmation can be lost with it.
        for (auto& [number, f] : d_fates) {
            f.lost_with_receiver =
                d_plan.mode.confirmation == delivery_confirmation::client && !f.confirmed;
        }
        d_sink.rebind();
    }
}

void flow::delivered(uint32_t number)
{
    if (!d_fates.count(number)) {
        ++d_foreign;
        return;
    }
    fate& f = d_fates[number];
    const sim::numbering n{ d_to.restarts(), d_to.numbering() };
    const std::string name = "U_PDU " + std::to_string(number);
    if (std::find(f.deliveries.begin(), f.deliveries.end(), n) != f.deliveries.end()) {
        d_violations.push_back(name + " delivered twice on one link");
    }
    const std::pair on{ d_to.restarts(), links_begun() };
    if (!f.deliveries.empty() && f.delivered_on == on) {
        d_violations.push_back(name + " delivered twice, but no link was asked for");
    }
    f.delivered_on = on;
    f.deliveries.push_back(n);
    if (d_plan.mode.order != delivery_order::in_order) {
        return;
    }
    for (const auto& [other, o] : d_fates) {
        const bool here =
            std::find(o.deliveries.begin(), o.deliveries.end(), n) != o.deliveries.end();
        if (other < number && o.deliveries.empty() && !o.lost_with_sender &&
            !o.given_up) {
            d_violations.push_back(name + " delivered before " + std::to_string(other));
        } else if (other > number && here) {
            d_violations.push_back(name + " delivered after " + std::to_string(other));
        }
    }
}

void flow::reported(const s_primitive& p)
{
    if (const auto* c = std::get_if<s_unidata_request_confirm>(&p)) {
        fate& f = d_fates[sim::bulk_source::number_of(c->u_pdu)];
        f.missing = f.missing || f.deliveries.empty();
        f.confirmed = true;
    } else if (const auto* r = std::get_if<s_unidata_request_rejected>(&p)) {
        fate& f = d_fates[sim::bulk_source::number_of(r->u_pdu)];
        f.rejected = true;
        f.given_up = static_cast<unidata_reject_reason>(r->reason) ==
                         unidata_reject_reason::not_responding &&
                     true_silence(unanswered());
    }
}

size_t flow::done() const
{
    return static_cast<size_t>(
        std::count_if(d_fates.begin(), d_fates.end(), [](const auto& f) {
            return f.second.confirmed && !f.second.deliveries.empty();
        }));
}

std::vector<std::string> flow::violations() const
{
    auto found = d_violations;
    if (d_sink.altered() > 0) {
        found.push_back("a U_PDU was altered");
    }
    for (const auto& [number, f] : d_fates) {
        const std::string name = "U_PDU " + std::to_string(number) + " ";
        const std::pair<bool, const char*> wrong[] = {
            { f.missing, "confirmed before it was delivered" },
            { f.confirmed && f.rejected, "confirmed and rejected" },
            { f.rejected && !f.given_up && !f.lost_with_receiver,
              "rejected without a true reason" },
            { !f.lost_with_sender && !f.given_up && f.deliveries.empty(),
              "never delivered" },
            { !f.lost_with_sender && !f.confirmed && !f.rejected, "never reported" },
        };
        for (const auto& [is, what] : wrong) {
            if (is) {
                found.push_back(name + what);
            }
        }
    }
    return found;
}

} // namespace gr::hf::explore
