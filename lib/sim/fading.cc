/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/fading.h"

#include "waveform/description.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>

namespace gr::hf::sim {

namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double deepest_db = -40;
// How much fades inside a block count: chosen so that the Poor channel with the longest
// interleaver needs some 3 dB less than the standard asks for, as good receivers do.
constexpr double fade_weight = 0.35;
// Share of the blocks that arrive at the SNR to which fades inside a block are compared.
constexpr double nearly_all = 0.99;
const char* const steady = "awgn";

struct of_mode {
    double needed_db; // SNR in 3 kHz at which nearly all blocks arrive without fading
    double power;     // mean, at the same peak
};

const of_mode& known(const mode& m)
{
    static std::mutex guard;
    static std::map<std::tuple<int, int, int, int, int>, of_mode> all;
    const std::lock_guard<std::mutex> lock(guard);
    const auto [it, is_new] = all.try_emplace({ static_cast<int>(m.family),
                                                m.bandwidth_hz,
                                                m.rate_bps,
                                                static_cast<int>(m.il),
                                                m.constraint_length });
    if (is_new) {
        const auto& curves = s5066::measured_block_errors(steady);
        it->second = { curves.needed_db(m, nearly_all).value_or(100),
                       kernel::mean_power(m) };
    }
    return it->second;
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
    within("signal_power", signal_power, 0, 1);
}

snr_trace::snr_trace(std::vector<float> db, double step_s, double signal_power)
    : d_db(std::move(db)), d_step(step_s), d_signal_power(signal_power)
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
    return snr_trace(std::move(db), c.step_s, c.signal_power);
}

size_t snr_trace::index(sim_time t) const
{
    const auto i = static_cast<size_t>(std::max(to_seconds(t), 0.0) / d_step);
    return i % d_db.size();
}

double snr_trace::power_db(const mode& m) const
{
    return d_signal_power > 0 ? 10 * std::log10(kernel::mean_power(m) / d_signal_power)
                              : 0;
}

double snr_trace::mean_db(sim_time from, sim_time to, const mode& m) const
{
    double sum = 0;
    size_t n = 0;
    for (sim_time t = from; n == 0 || t < to; t += from_seconds(d_step), ++n) {
        sum += std::pow(10, at(t) / 10);
    }
    return 10 * std::log10(sum / static_cast<double>(n)) + power_db(m);
}

double snr_trace::effective_db(sim_time from, sim_time to, const mode& m) const
{
    const double power = power_db(m);
    const double scale = fade_weight * std::pow(10, known(m).needed_db / 10);
    double sum = 0;
    size_t n = 0;
    for (sim_time t = from; n == 0 || t < to; t += from_seconds(d_step), ++n) {
        sum += std::exp(-std::pow(10, (at(t) + power) / 10) / scale);
    }
    const double mean = std::max(sum / static_cast<double>(n), 1e-300);
    return 10 * std::log10(std::max(-scale * std::log(mean), 1e-4));
}

s5066::block_error_point snr_trace::block(sim_time from, sim_time to, const mode& m) const
{
    return s5066::measured_block_errors(steady).at(m, effective_db(from, to, m));
}

bool snr_trace::preamble_heard(sim_time from, sim_time to, const mode& m) const
{
    // The preambles are spread: they are found where the family's lowest rates work.
    const double least = m.family == waveform_family::serial_tone ? -8.0 : 1.0;
    return mean_db(from, to, m) >= least;
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
                const auto point = t.block(b, b + block, m);
                for (size_t i = 0; i < segments.size(); ++i) {
                    const double octets = segments[i] + header;
                    good[i] += segments[i] / octets *
                               (1 - point.loss(static_cast<size_t>(octets)));
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
