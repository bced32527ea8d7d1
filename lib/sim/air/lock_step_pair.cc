/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/air/lock_step_pair.h"

#include "s5066/rate/rate_range.h"
#include "waveform/transmitter.h"

namespace gr::hf::sim {
namespace {

constexpr double air_delay_ms = 10;

kernel::half_duplex_options modem_of(const std::string& mode_text,
                                     const waveform_link& link)
{
    kernel::half_duplex_options o;
    o.effort = link.effort;
    o.bandwidth_khz = fastest_mode(mode_text).bandwidth_hz / 1000;
    return o;
}

double power_of(const std::string& mode_text, const waveform_link& link)
{
    return link.signal_power > 0 ? link.signal_power
                                 : kernel::mean_power(reference_mode(mode_text));
}

} // namespace

mode fastest_mode(const std::string& text)
{
    const auto range = s5066::rate_range::parse(text);
    return range ? range->ceiling : mode::parse(text);
}

mode reference_mode(const std::string& text)
{
    const auto range = s5066::rate_range::parse(text);
    return range ? range->reference() : mode::parse(text);
}

lock_step_pair::lock_step_pair(const std::array<s5066::node_config, 2>& nodes,
                               const waveform_link& link,
                               uint64_t seed)
    : lock_step_pair(nodes, link, seed, modem_of(nodes[0].mode, link))
{
}

lock_step_pair::lock_step_pair(const std::array<s5066::node_config, 2>& nodes,
                               const waveform_link& link,
                               uint64_t seed,
                               const kernel::half_duplex_options& modem)
    : d_stations{ lock_step_station(nodes[0], modem),
                  lock_step_station(nodes[1], modem) },
      d_both({ 2,
               link.channel,
               seed,
               power_of(nodes[0].mode, link),
               air_delay_ms,
               modem.bandwidth_khz },
             { &d_stations[0], &d_stations[1] })
{
    for (size_t k = 0; k < 2; ++k)
        d_stations[k].on_trace = [this, k](const s5066::log_record& l) {
            log.emplace_back(to_seconds(l.time), (k == 0 ? "A " : "B ") + l.text);
        };
}

} // namespace gr::hf::sim
