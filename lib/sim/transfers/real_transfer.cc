/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/transfers/real_transfer.h"

#include "s5066/words/max_eot.h"
#include "sim/stations/traffic_client.h"

#include <algorithm>
#include <array>

namespace gr::hf::sim {
namespace {

constexpr int sap = 12;
constexpr std::array<const char*, 2> addresses{ "1.2.0.1", "1.2.0.2" };

s5066::node_config node_of(const real_transfer& t, size_t k)
{
    s5066::node_config c;
    c.own = s5066::address(addresses[k]);
    c.mode = t.mode;
    c.ack_mode = t.ack_mode;
    c.trace = t.log;
    c.seed = 2 * t.seed + k;
    s5066::apply(t.data_link, c);
    return c;
}

// Octets that the client may have on their way: two longest transmissions if that is more
// than in any narrowband mode.
uint64_t outstanding_of(const std::string& text)
{
    const traffic_client::config usual;
    const mode m = fastest_mode(text);
    return m.bandwidth_hz == 3000
               ? usual.outstanding
               : std::max(usual.outstanding,
                          static_cast<uint64_t>(2 * s5066::max_eot_s * m.rate_bps / 8));
}

} // namespace

real_transfer_result run(const real_transfer& t)
{
    using client = lock_step_engine<traffic_client>;
    const auto client_of = [&](size_t k) {
        return traffic_client::config{ s5066::address(addresses[1 - k]),
                                       k == 0 ? t.octets : 0,
                                       t.u_pdu_octets,
                                       sap,
                                       t.arq,
                                       outstanding_of(t.mode) };
    };
    std::array<client, 2> clients{ client(client_of(0)), client(client_of(1)) };
    lock_step_pair pair({ node_of(t, 0), node_of(t, 1) }, t.link, t.seed);
    for (size_t k = 0; k < 2; ++k)
        pair.attach(k, clients[k]);
    uint64_t reported = 0;
    const auto done = [&] {
        const auto& s = clients[0].engine.state();
        const uint64_t octets = t.arq ? s.octets_confirmed + s.octets_rejected
                                      : clients[1].engine.state().octets_received;
        if (t.progress && octets != reported)
            t.progress(static_cast<double>(octets) / static_cast<double>(t.octets));
        reported = octets;
        return t.octets <= octets;
    };
    pair.run_until(done, from_seconds(t.limit_s));
    real_transfer_result r;
    r.end_s = to_seconds(pair.now());
    r.log = std::move(pair.log);
    r.sender = clients[0].engine.state();
    r.receiver = clients[1].engine.state();
    r.node = pair.node(0).stats();
    r.far = pair.node(1).stats();
    r.complete = r.receiver.octets_received >= t.octets && r.sender.octets_rejected == 0;
    return r;
}

} // namespace gr::hf::sim
