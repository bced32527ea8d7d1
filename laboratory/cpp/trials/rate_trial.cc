/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trials/rate_trial.h"

#include "s5066/rate/adaptive_rate.h"
#include "sim/air/lock_step_pair.h"
#include "sim/stations/traffic.h"
#include "trials/published_rates.h"
#include "waveform/description.h"

#include <cstdio>

namespace gr::hf::sim {

namespace {

std::string line(const char* who, const s5066::log_record& l)
{
    char time[32];
    std::snprintf(time, sizeof time, "%10.2f ", to_seconds(l.time));
    return time + std::string(who) + " " + l.text;
}

std::vector<mode> modes_of(const std::string& text)
{
    if (const auto range = s5066::rate_range::parse(text))
        return range->modes();
    return { mode::parse(text) };
}

//! Sets the channels of both directions. Returns the trace from \p a to \p b.
std::shared_ptr<snr_trace> set_paths(emulated_air& air,
                                     station& a,
                                     station& b,
                                     const rate_trial& t,
                                     const mode& reference)
{
    // Fading and the medium-term variation are independent. The swing is the same.
    trace_config there = t.channel, back = t.channel;
    there.duration_s = back.duration_s = t.duration_s;
    if (t.channel.signal_power == 0)
        there.signal_power = back.signal_power = kernel::mean_power(reference);
    back.seed += 1000;
    back.mean_db = t.back_mean_db.value_or(back.mean_db);
    air_path p;
    const auto trace = std::make_shared<snr_trace>(snr_trace::make(there));
    p.fading = trace;
    air.set_path(a.modem(), b.modem(), p);
    p.fading = std::make_shared<snr_trace>(snr_trace::make(back));
    air.set_path(b.modem(), a.modem(), p);
    return trace;
}

//! Runs until \p end. Returns the time on the air in each mode, seconds.
std::map<std::string, double> air_time(scheduler& s, const station& a, station_time end)
{
    std::map<std::string, double> by_mode;
    std::string mode_now;
    station_time tx_before{};
    while (s.now() < end) {
        // Steps are shorter than any transmission, so that each mode is seen.
        s.run_until(std::min(s.now() + std::chrono::milliseconds(100), end));
        const auto state = a.node().state();
        const station_time tx = a.node().stats().tx_time;
        if (tx != tx_before) {
            by_mode[mode_now] += to_seconds(tx - tx_before);
            tx_before = tx;
        }
        mode_now = state.tx_mode;
    }
    return by_mode;
}

} // namespace

rate_trial_result run(const rate_trial& t)
{
    const std::vector<mode> modes = modes_of(t.mode);
    scheduler s;
    emulated_air air(s, t.seed);
    s5066::node_config c = t.base;
    c.mode = t.mode;
    c.trace = true;
    c.default_ttl_s = 1296000; // only the amount delivered counts, not the delay
    c.own = s5066::address("1.1.0.0");
    c.seed = t.seed * 2;
    station a(s, air, c);
    c.own = s5066::address("1.2.0.0");
    c.seed += 1;
    c.mode = t.back_mode.empty() ? t.mode : t.back_mode;
    station b(s, air, c);

    if (!t.rule.empty()) {
        a.node().set_rate_policy(published_rate_policy(t.rule));
        b.node().set_rate_policy(published_rate_policy(t.rule));
    }
    const auto trace = set_paths(air, a, b, t, reference_mode(t.mode));
    a.on_trace = [&](const s5066::log_record& l) {
        if (t.log)
            t.log(line("A", l));
    };
    b.on_trace = [&](const s5066::log_record& l) {
        if (t.log) {
            t.log(line("B", l));
        }
    };

    bulk_source source(s, a, 3);
    bulk_sink sink(s, b, 3);
    s.run_until(std::chrono::milliseconds(1));
    source.send(b.address(), size_t{ 1 } << 40, a.node().aligned_u_pdu_octets());
    const station_time end = from_seconds(t.duration_s);
    rate_trial_result r;
    r.air_time_s = air_time(s, a, end);
    r.goodput_bps = 8.0 * static_cast<double>(sink.octets()) / t.duration_s;
    r.transmissions = a.node().stats().transmissions;
    r.silent_rounds = a.node().stats().silent_rounds;
    r.links_failed = a.node().stats().links_failed;
    r.altered = sink.altered() + sink.repeated();
    r.oracle_bps =
        oracle_goodput(*trace, station_time::zero(), end, std::chrono::minutes(1), modes);
    return r;
}

} // namespace gr::hf::sim
