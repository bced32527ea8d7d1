/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/real_transfer.h"

#include "s5066/rate/adaptive_rate.h"
#include "sim/lock_step.h"
#include "sim/traffic_client.h"
#include "waveform/transmitter.h"

#include <algorithm>
#include <array>
#include <memory>

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

// A mode, or the fastest of a range.
mode fastest(const std::string& text)
{
    const auto range = s5066::rate_range::parse(text);
    return range ? range->ceiling : mode::parse(text);
}

double mean_power_of(const std::string& text)
{
    return kernel::mean_power(fastest(text));
}
int bandwidth_khz_of(const std::string& text)
{
    return fastest(text).bandwidth_hz / 1000;
}

// Octets that the client may have under way: of two longest transmissions where that is more than
// in any narrowband mode.
uint64_t outstanding_of(const std::string& text)
{
    constexpr double longest_transmission_s = 127.5;
    const traffic_client::config usual;
    return bandwidth_khz_of(text) == 3
               ? usual.outstanding
               : std::max(usual.outstanding,
                          static_cast<uint64_t>(2 * longest_transmission_s *
                                                fastest(text).rate_bps / 8));
}

} // namespace

real_transfer_result run(const real_transfer& t)
{
    kernel::half_duplex_options modem;
    modem.effort = t.effort;
    modem.bandwidth_khz = bandwidth_khz_of(t.mode);
    using client = lock_step_engine<traffic_client>;
    std::array<std::unique_ptr<client>, 2> clients;
    std::array<std::unique_ptr<lock_step_station>, 2> stations;
    real_transfer_result r;
    for (size_t k = 0; k < 2; ++k) {
        clients[k] = std::make_unique<client>(
            traffic_client::config{ s5066::address(addresses[1 - k]),
                                    k == 0 ? t.octets : 0,
                                    t.u_pdu_octets,
                                    sap,
                                    t.arq,
                                    outstanding_of(t.mode) });
        stations[k] = std::make_unique<lock_step_station>(node_of(t, k), modem);
        stations[k]->attach(*clients[k]);
        if (t.log)
            stations[k]->on_trace = [&r, k](const s5066::trace_line& l) {
                r.log.emplace_back(to_seconds(l.time), (k == 0 ? "A " : "B ") + l.text);
            };
    }
    const double power = t.signal_power > 0 ? t.signal_power : mean_power_of(t.mode);
    lock_step both({ 2, t.channel, t.seed, power, 10, modem.bandwidth_khz },
                   { stations[0].get(), stations[1].get() });
    const auto done = [&] {
        const auto& s = clients[0]->engine.state();
        return t.octets <= (t.arq ? s.octets_confirmed + s.octets_rejected
                                  : clients[1]->engine.state().octets_received);
    };
    both.run_until(done, from_seconds(t.limit_s));
    r.end_s = to_seconds(both.now());
    r.sender = clients[0]->engine.state();
    r.receiver = clients[1]->engine.state();
    r.node = stations[0]->node().stats();
    r.complete = r.receiver.octets_received >= t.octets && r.sender.octets_rejected == 0;
    return r;
}

} // namespace gr::hf::sim
