/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/peer/flow_credits.h"

#include "s5066/pdu/s_pdu.h"

#include <algorithm>

namespace gr::hf::s5066 {

flow_number flow_of(const uint8_t* s_pdu, size_t octets)
{
    constexpr uint8_t has_ttd = 0x40;
    if (octets < s_pdu_data_header)
        return 0;
    const unsigned a = s_pdu[1] >> 4, b = s_pdu[1] & 0xf;
    const size_t u_pdu = s_pdu[2] & has_ttd ? s_pdu_data_header_ttd : s_pdu_data_header;
    const unsigned stream = u_pdu + 1 < octets ? s_pdu[u_pdu + 1] : 0;
    return std::min(a, b) << 12 | std::max(a, b) << 8 | stream;
}

void flow_credits::prompted(station_time now, flow_number flow)
{
    refill(now);
    d_flow = flow;
    if (d_flows.size() >= max_flows && d_flows.count(flow) == 0) {
        d_flows.erase(std::min_element(
            d_flows.begin(),
            d_flows.end(),
            [](const auto& a, const auto& b) { return a.second.used < b.second.used; }));
    }
    d_flows[flow].used = now;
}

void flow_credits::refill(station_time now)
{
    const double s = std::max(to_seconds(now - d_at), 0.0);
    d_at = std::max(d_at, now);
    d_all = std::min(d_all + s / refill_all_s, max_of_all);
    for (auto& [flow, c] : d_flows)
        c.left = std::min(c.left + s / refill_s, most);
}

double flow_credits::present() const
{
    const auto it = d_flows.find(d_flow);
    return it == d_flows.end() ? most : it->second.left;
}

void flow_credits::take()
{
    d_all -= 1;
    d_flows[d_flow].left -= 1;
}

} // namespace gr::hf::s5066
