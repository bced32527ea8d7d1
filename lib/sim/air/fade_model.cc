/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/air/fade_model.h"

#include "s5066/rate/block_errors.h"
#include "waveform/description.h"
#include "waveform/timing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace gr::hf::sim {

namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double deepest_db = -40;
constexpr const char* steady = "awgn";
// Weight of fades inside a block. With it the model's curves are as steep as the measured
// ones: within 1 dB between 50 and 10 % of bad blocks, on Poor and Moderate from 1200
// bit/s on. With 0.2 they are flatter by 0.5 to 1 dB, with 0.6 steeper by as much. Their
// position is fitted for each mode.
constexpr double fade_weight = 0.35;
// Share of blocks that arrive at the SNR that levels are compared to.
constexpr double nearly_all = 0.99;
// Size of a D_PDU, and the losses at which the model is fitted.
constexpr size_t fit_octets = 220;
constexpr std::array<double, 2> fit_losses = { 0.2, 0.5 };
constexpr double unreachable_db = 100;
// Fading used for the fit: number of independent fades, and values in each.
constexpr double fit_fades = 2000, values_per_fade = 10;

struct fit_channel {
    double fading_hz;
    const char* curves;
};
constexpr std::array<fit_channel, 3> fit_channels = {
    { { 0.5, "moderate" }, { 1, "poor" }, { 10, "high-moderate" } }
};

double linear(double db) { return std::pow(10, db / 10); }

// SNR from which at most the share of D_PDUs is lost, dB.
double measured_db(const s5066::block_error_curves& curves, const mode& m, double share)
{
    constexpr double lowest_db = -25, highest_db = 50, step_db = 0.1;
    for (double db = lowest_db; db < highest_db; db += step_db)
        if (curves.at(m, db).loss(fit_octets) <= share)
            return db;
    return unreachable_db;
}

// Effective SNR of each block of the mode under Rayleigh fading at a mean SNR, dB.
std::vector<double> effective_of_blocks(const fade_model& model,
                                        const mode& m,
                                        double fading_hz,
                                        double mean_db)
{
    const auto t = kernel::timing_of(m);
    const double block_s = to_seconds(t.block_end(0) - t.block_begin(0));
    const double step_s =
        std::min(1 / (std::sqrt(pi) * fading_hz * values_per_fade), block_s / 4);
    const auto in_block = static_cast<size_t>(std::lround(block_s / step_s));
    const double fades = std::max(fit_fades, 200 * block_s * fading_hz);
    const double duration_s = fades / (std::sqrt(pi) * fading_hz);
    std::mt19937_64 random(1);
    two_path_fading fading(fading_hz, step_s, random);
    std::vector<double> all(static_cast<size_t>(duration_s / block_s) + 1);
    for (double& e : all) {
        fade_model::block b(model);
        for (size_t i = 0; i < in_block; ++i)
            b.add(mean_db + fading.next_db());
        e = b.effective_db();
    }
    return all;
}

// Loss of each block for which the share of lost D_PDUs is as given.
double fitted_loss(const mode& m, const std::vector<double>& blocks_db, double share)
{
    const auto& curves = s5066::measured_block_errors(steady);
    double low = -10, high = 10;
    while (high - low > 0.02) {
        const double loss_db = (low + high) / 2;
        double lost = 0;
        for (const double e : blocks_db)
            lost += curves.at(m, e - loss_db).loss(fit_octets);
        (lost < share * static_cast<double>(blocks_db.size()) ? low : high) = loss_db;
    }
    return (low + high) / 2;
}

} // namespace

two_path_fading::tap::tap(double two_sigma_hz, double step_s, std::mt19937_64& random)
{
    std::normal_distribution<double> normal; // a path that does not fade has no deviation
    std::uniform_real_distribution<double> phase(0, 2 * pi);
    for (size_t i = 0; i < d_phasor.size(); ++i) {
        d_phasor[i] = std::polar(1.0 / std::sqrt(double(d_phasor.size())), phase(random));
        d_turn[i] =
            std::polar(1.0, 2 * pi * (two_sigma_hz / 2 * normal(random)) * step_s);
    }
}

double two_path_fading::tap::next_power()
{
    std::complex<double> sum = 0;
    for (size_t i = 0; i < d_phasor.size(); ++i) {
        sum += d_phasor[i];
        d_phasor[i] *= d_turn[i];
    }
    return std::norm(sum);
}

two_path_fading::two_path_fading(double two_sigma_hz,
                                 double step_s,
                                 std::mt19937_64& random)
    : d_first(two_sigma_hz, step_s, random), d_second(two_sigma_hz, step_s, random)
{
}

double two_path_fading::next_db()
{
    const double power = (d_first.next_power() + d_second.next_power()) / 2;
    return std::max(10 * std::log10(std::max(power, 1e-9)), deepest_db);
}

void fade_model::block::add(double snr_db)
{
    d_sum += std::exp(-linear(snr_db) / d_of.d_scale);
    ++d_n;
}

double fade_model::block::effective_db() const
{
    const double mean = std::max(d_sum / static_cast<double>(d_n), 1e-300);
    return 10 * std::log10(std::max(-d_of.d_scale * std::log(mean), 1e-4)) -
           d_of.d_loss_db;
}

fade_model::fade_model(const mode& m, const char* curves, double fading_hz)
    : d_scale(fade_weight * linear(s5066::measured_block_errors(steady)
                                       .needed_db(m, nearly_all)
                                       .value_or(unreachable_db))),
      d_power(kernel::mean_power(m))
{
    if (!curves)
        return;
    const auto& measured = s5066::measured_block_errors(curves);
    const auto serves = measured.serving(m);
    if (serves && *serves != m) {
        d_loss_db = of(*serves, fading_hz).d_loss_db;
        return;
    }
    double loss_db = 0;
    for (const double share : fit_losses) {
        const double at_db = measured_db(measured, m, share);
        if (at_db == unreachable_db) {
            d_loss_db = unreachable_db;
            return;
        }
        loss_db += fitted_loss(m, effective_of_blocks(*this, m, fading_hz, at_db), share);
    }
    d_loss_db = loss_db / static_cast<double>(fit_losses.size());
}

const fade_model& fade_model::of(const mode& m, double fading_hz)
{
    static std::recursive_mutex guard; // a mode may take its loss from another
    static std::map<std::pair<std::string, double>, std::unique_ptr<const fade_model>>
        all;
    const fit_channel* nearest = nullptr;
    if (fading_hz > 0) {
        nearest = &*std::min_element(
            fit_channels.begin(),
            fit_channels.end(),
            [fading_hz](const fit_channel& a, const fit_channel& b) {
                return std::abs(std::log(a.fading_hz / fading_hz)) <
                       std::abs(std::log(b.fading_hz / fading_hz));
            });
    }
    const std::lock_guard<std::recursive_mutex> lock(guard);
    const double hz = nearest ? nearest->fading_hz : 0;
    auto& model = all[{ m.to_string(), hz }];
    if (!model)
        model.reset(new fade_model(m, nearest ? nearest->curves : nullptr, hz));
    return *model;
}

} // namespace gr::hf::sim
