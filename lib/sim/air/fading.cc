/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/air/fading.h"

#include "s5066/rate/mode_promise.h"
#include "sim/air/fade_model.h"
#include "waveform/family.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>

namespace gr::hf::sim {

namespace {

constexpr double pi = 3.14159265358979323846;
constexpr const char* steady = "awgn";

double preamble_db(const mode& m) { return kernel::family_of(m).link.preamble_db; }

void within(const char* name, double v, double lo, double hi)
{
    if (!(v >= lo && v <= hi)) {
        throw std::invalid_argument(std::string("trace ") + name + " " +
                                    std::to_string(v) + ": must be " +
                                    std::to_string(lo) + " to " + std::to_string(hi));
    }
}

} // namespace

void trace_config::validate() const
{
    within("mean_db", mean_db, -40, 100);
    within("swing_db", swing_db, 0, 60);
    within("period_s", period_s, 1, 1e9);
    within("slow_db", slow_db, 0, 30);
    within("slow_s", slow_s, 0.1, 1e6);
    within("fading_hz", fading_hz, 0, 50);
    within("duration_s", duration_s, 1, 1e6);
    within("step_s", step_s, 0.01, 10);
    within("signal_power", signal_power, 0, 1);
}

snr_trace::snr_trace(std::vector<float> db,
                     double step_s,
                     double signal_power,
                     double fading_hz)
    : d_db(std::move(db)), d_step(step_s), d_signal_power(signal_power),
      d_fading_hz(fading_hz)
{
    if (d_db.empty() || !(step_s > 0)) {
        throw std::invalid_argument("SNR trace of " + std::to_string(d_db.size()) +
                                    " values every " + std::to_string(step_s) +
                                    " s: must have values and a positive step");
    }
}

snr_trace snr_trace::make(const trace_config& c)
{
    c.validate();
    std::mt19937_64 random(c.seed);
    std::normal_distribution<double> normal;
    two_path_fading fading(c.fading_hz, c.step_s, random);
    const double keep = std::exp(-c.step_s / c.slow_s);
    const double fresh = std::sqrt(1 - keep * keep);
    double slow = normal(random);
    std::vector<float> db(static_cast<size_t>(std::ceil(c.duration_s / c.step_s)));
    for (size_t i = 0; i < db.size(); ++i) {
        const double t = static_cast<double>(i) * c.step_s;
        double v =
            c.mean_db + c.swing_db * std::sin(2 * pi * t / c.period_s) + c.slow_db * slow;
        if (c.fading_hz > 0)
            v += fading.next_db();
        if (c.slow_db > 0)
            slow = keep * slow + fresh * normal(random);
        db[i] = static_cast<float>(v);
    }
    return snr_trace(std::move(db), c.step_s, c.signal_power, c.fading_hz);
}

size_t snr_trace::index(station_time t) const
{
    const auto i = static_cast<size_t>(std::max(to_seconds(t), 0.0) / d_step);
    return i % d_db.size();
}

double snr_trace::power_db(const mode& m) const
{
    const double power = fade_model::of(m, d_fading_hz).power();
    return d_signal_power > 0 ? 10 * std::log10(power / d_signal_power) : 0;
}

double snr_trace::mean_db(station_time from, station_time to, const mode& m) const
{
    double sum = 0;
    size_t n = 0;
    for (station_time t = from; n == 0 || t < to; t += from_seconds(d_step), ++n)
        sum += std::pow(10, at(t) / 10);
    return 10 * std::log10(sum / static_cast<double>(n)) + power_db(m);
}

double snr_trace::effective_db(station_time from, station_time to, const mode& m) const
{
    const double power = power_db(m);
    fade_model::block b(fade_model::of(m, d_fading_hz));
    size_t n = 0;
    for (station_time t = from; n == 0 || t < to; t += from_seconds(d_step), ++n)
        b.add(at(t) + power);
    return b.effective_db();
}

s5066::block_error_point
snr_trace::block(station_time from, station_time to, const mode& m) const
{
    return s5066::measured_block_errors(steady).at(m, effective_db(from, to, m));
}

std::optional<double>
snr_trace::doppler_hz(station_time from, station_time to, std::mt19937_64& random) const
{
    if (!(d_fading_hz > 0))
        return std::nullopt;
    std::normal_distribution<double> reading(
        d_fading_hz, s5066::doppler_error_hz(d_fading_hz, to_seconds(to - from)));
    return std::max(reading(random), 0.0);
}

bool snr_trace::preamble_heard(station_time from, station_time to, const mode& m) const
{
    return mean_db(from, to, m) >= preamble_db(m);
}

namespace {

// Share of D_PDUs that arrive. They begin anywhere and may touch several blocks.
double arriving(const std::vector<s5066::block_error_point>& blocks,
                double octets,
                double block_octets)
{
    const double touched = 1 + (octets - 1) / block_octets;
    const auto most = static_cast<size_t>(std::ceil(touched));
    const auto part = static_cast<size_t>(std::ceil(octets / touched));
    double sum = 0;
    for (size_t i = 0; i < blocks.size(); ++i) {
        const size_t end = std::min(i + most, blocks.size());
        double log = 0;
        for (size_t k = i; k < end; ++k)
            log += std::log(std::max(1 - blocks[k].loss(part), 1e-9));
        sum += std::exp(log / static_cast<double>(end - i) * touched);
    }
    return sum / static_cast<double>(blocks.size());
}

} // namespace

double oracle_goodput(const snr_trace& t,
                      station_time from,
                      station_time to,
                      station_time period,
                      const std::vector<mode>& modes)
{
    constexpr double header = 22;  // data D_PDU header with the longest addresses
    constexpr double turn_s = 1.0; // two turnarounds, the answer, and the receivers'
                                   // delays
    constexpr std::array<double, 5> segments = { 64, 155, 300, 514, 1023 };
    double bits = 0;
    for (station_time begin = from; begin < to; begin += period) {
        const station_time end = std::min(begin + period, to);
        double best = 0;
        for (const mode& m : modes) {
            const auto timing = kernel::timing_of(m);
            const station_time block = timing.block_end(0) - timing.block_begin(0);
            std::vector<s5066::block_error_point> blocks;
            for (station_time b = begin; b < end; b += block)
                blocks.push_back(t.block(b, b + block, m));
            const double block_octets = static_cast<double>(timing.bits_per_block) / 8;
            for (size_t i = 0; i < segments.size(); ++i) {
                const double octets = segments[i] + header;
                const double share = arriving(blocks, octets, block_octets);
                const double s =
                    s5066::windowed_transmission_s(8 * octets / m.rate_bps, 1 - share);
                const double cycle = s / (s + turn_s + to_seconds(timing.block_begin(0)));
                best = std::max(best, segments[i] / octets * share * m.rate_bps * cycle);
            }
        }
        bits += best * to_seconds(end - begin);
    }
    return bits / to_seconds(to - from);
}

} // namespace gr::hf::sim
