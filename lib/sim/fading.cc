/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/fading.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <random>
#include <stdexcept>
#include <string>

namespace gr::hf::sim {

namespace {

constexpr double pi = 3.14159265358979323846;
// From the ideal receiver to a good one.
constexpr double implementation_loss_db = 1.0;
constexpr double deepest_db = -40;
// How much fades inside a block count: chosen so that the Poor channel with the longest
// interleaver needs some 3 dB less than the standard asks for, as good receivers do.
constexpr double fade_weight = 0.35;

// SNR in 3 kHz at a bit error rate of 1e-5 and decades per dB around it: ideal receiver on a
// channel without fading, longest interleaver (the fact base's own computation).
struct curve {
    int rate_bps;
    double at_1e5_db;
    double decades_per_db;
};
constexpr std::array<curve, 12> curves = { {
    { 75, -10.82, 1.52 },
    { 150, -5.82, 1.24 },
    { 300, -2.93, 1.32 },
    { 600, 0.34, 1.14 },
    { 1200, 3.27, 1.20 },
    { 2400, 7.94, 0.98 },
    { 3200, 5.94, 1.28 },
    { 4800, 10.31, 1.25 },
    { 6400, 12.78, 1.13 },
    { 8000, 15.60, 1.19 },
    { 9600, 18.41, 0.99 },
    { 12800, 24.83, 0.74 },
} };

const curve& curve_of(int rate_bps)
{
    const auto it =
        std::find_if(curves.begin(), curves.end(), [rate_bps](const curve& c) {
            return c.rate_bps == rate_bps;
        });
    if (it == curves.end()) {
        std::string known;
        for (const curve& c : curves) {
            known += (known.empty() ? "" : ", ") + std::to_string(c.rate_bps);
        }
        throw std::invalid_argument("fading channel: bit errors at " +
                                    std::to_string(rate_bps) +
                                    " bit/s are not known; allowed are " + known);
    }
    return *it;
}

void within(const char* name, double v, double lo, double hi)
{
    if (!(v >= lo && v <= hi)) {
        throw std::invalid_argument(std::string("trace ") + name + " " +
                                    std::to_string(v) + ": must be " +
                                    std::to_string(lo) + " to " + std::to_string(hi));
    }
}

// Complex Gaussian process with a Gaussian spectrum, as a sum of rotating phasors.
class tap
{
public:
    tap(double two_sigma_hz, double step_s, std::mt19937_64& random)
    {
        std::normal_distribution<double> frequency(0, two_sigma_hz / 2);
        std::uniform_real_distribution<double> phase(0, 2 * pi);
        for (size_t i = 0; i < d_phasor.size(); ++i) {
            d_phasor[i] =
                std::polar(1.0 / std::sqrt(double(d_phasor.size())), phase(random));
            d_turn[i] = std::polar(1.0, 2 * pi * frequency(random) * step_s);
        }
    }
    double next_power()
    {
        std::complex<double> sum = 0;
        for (size_t i = 0; i < d_phasor.size(); ++i) {
            sum += d_phasor[i];
            d_phasor[i] *= d_turn[i];
        }
        return std::norm(sum);
    }

private:
    std::array<std::complex<double>, 24> d_phasor;
    std::array<std::complex<double>, 24> d_turn;
};

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
}

snr_trace::snr_trace(std::vector<float> db, double step_s)
    : d_db(std::move(db)), d_step(step_s)
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
    tap first(c.fading_hz, c.step_s, random), second(c.fading_hz, c.step_s, random);
    const double keep = std::exp(-c.step_s / c.slow_s);
    const double fresh = std::sqrt(1 - keep * keep);
    double slow = normal(random);
    std::vector<float> db(static_cast<size_t>(std::ceil(c.duration_s / c.step_s)));
    for (size_t i = 0; i < db.size(); ++i) {
        const double t = static_cast<double>(i) * c.step_s;
        double v =
            c.mean_db + c.swing_db * std::sin(2 * pi * t / c.period_s) + c.slow_db * slow;
        if (c.fading_hz > 0) {
            const double power = (first.next_power() + second.next_power()) / 2;
            v += std::max(10 * std::log10(std::max(power, 1e-9)), deepest_db);
        }
        if (c.slow_db > 0) {
            slow = keep * slow + fresh * normal(random);
        }
        db[i] = static_cast<float>(v);
    }
    return snr_trace(std::move(db), c.step_s);
}

size_t snr_trace::index(sim_time t) const
{
    const auto i = static_cast<size_t>(std::max(to_seconds(t), 0.0) / d_step);
    return i % d_db.size();
}

double snr_trace::mean_db(sim_time from, sim_time to) const
{
    double sum = 0;
    size_t n = 0;
    for (sim_time t = from; n == 0 || t < to; t += from_seconds(d_step), ++n) {
        sum += std::pow(10, at(t) / 10);
    }
    return 10 * std::log10(sum / static_cast<double>(n));
}

double snr_trace::effective_db(sim_time from, sim_time to, int rate_bps) const
{
    const double scale =
        fade_weight *
        std::pow(10, (curve_of(rate_bps).at_1e5_db + implementation_loss_db) / 10);
    double sum = 0;
    size_t n = 0;
    for (sim_time t = from; n == 0 || t < to; t += from_seconds(d_step), ++n) {
        sum += std::exp(-std::pow(10, at(t) / 10) / scale);
    }
    const double mean = std::max(sum / static_cast<double>(n), 1e-300);
    return 10 * std::log10(std::max(-scale * std::log(mean), 1e-4));
}

double awgn_ber(int rate_bps, double snr_db)
{
    const curve& c = curve_of(rate_bps);
    const double margin = snr_db - implementation_loss_db - c.at_1e5_db;
    return std::min(0.5, std::pow(10, -5 - c.decades_per_db * margin));
}

double snr_trace::block_ber(sim_time from, sim_time to, const mode& m) const
{
    const double b = awgn_ber(m.rate_bps, effective_db(from, to, m.rate_bps));
    return b < 1e-9 ? 0 : b;
}

bool snr_trace::preamble_heard(sim_time from, sim_time to, const mode& m) const
{
    // The preambles are spread: they are found where the family's lowest rates work.
    const double least = m.family == waveform_family::serial_tone ? -8.0 : 1.0;
    return mean_db(from, to) >= least;
}

double oracle_goodput(const snr_trace& t,
                      sim_time from,
                      sim_time to,
                      sim_time period,
                      const std::vector<mode>& modes)
{
    constexpr double header = 22;  // of a data D_PDU with the longest addresses
    constexpr double turn_s = 1.0; // two turnarounds, the answer, the receivers' delays
    constexpr double longest_s = 127.5;
    constexpr std::array<double, 5> segments = { 64, 155, 300, 514, 1023 };
    double bits = 0;
    for (sim_time begin = from; begin < to; begin += period) {
        const sim_time end = std::min(begin + period, to);
        double best = 0;
        for (const mode& m : modes) {
            const auto timing = kernel::timing_of(m);
            const sim_time block = timing.block_end(0) - timing.block_begin(0);
            const double cycle =
                longest_s / (longest_s + turn_s + to_seconds(timing.block_begin(0)));
            std::array<double, segments.size()> good{};
            double n = 0;
            for (sim_time b = begin; b < end; b += block, ++n) {
                const double ber = t.block_ber(b, b + block, m);
                for (size_t i = 0; i < segments.size(); ++i) {
                    const double octets = segments[i] + header;
                    good[i] += segments[i] / octets *
                               std::exp(-8 * octets * ber * 2 / s5066::error_burst_bits);
                }
            }
            for (const double g : good) {
                best = std::max(best, g / n * m.rate_bps * cycle);
            }
        }
        bits += best * to_seconds(end - begin);
    }
    return bits / to_seconds(to - from);
}

} // namespace gr::hf::sim
