/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/carrier_canceller.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
// after complex, so that the transform takes std::complex
#include <fftw3.h>

namespace gr::hf::kernel {

namespace {

// Share of the difference taken over with each sample: 0.25 s.
constexpr float agility = 1 / 2400.0f;
constexpr float power_memory = 1 / 2400.0f;
constexpr size_t look_every = 480; // samples
constexpr double frequency_gain = 0.1;
constexpr size_t weak_looks = 20;   // after which a line is left alone; 1 s
constexpr float hysteresis = 0.3f;  // of the power at which one is taken
constexpr size_t averaged = 8;      // spectra, half overlapping: 1.7 s
constexpr size_t least_spectra = 3; // before the average tells anything
constexpr double highest_hz =
    1700; // the channel's half width, and what filters let through
constexpr size_t background = 40; // bins to either side
constexpr size_t lobe = 3;        // bins next to a line that are its own
// Against the mean of the bins around, over so many spectra as there are at first and later.
constexpr float stands_out_early = 12, stands_out = 8;

fftwf_plan transform_plan(size_t n)
{
    static const fftwf_plan plan = [n] {
        // Others in the process plan transforms too, each under a lock of its own.
        fftwf_make_planner_thread_safe();
        std::vector<std::complex<float>> in(n), out(n);
        return fftwf_plan_dft_1d(static_cast<int>(n),
                                 reinterpret_cast<fftwf_complex*>(in.data()),
                                 reinterpret_cast<fftwf_complex*>(out.data()),
                                 FFTW_FORWARD,
                                 FFTW_ESTIMATE | FFTW_UNALIGNED);
    }();
    return plan;
}

} // namespace

carrier_canceller::carrier_canceller()
    : d_recent(length), d_window(length), d_average(length), d_work(length),
      d_spectrum(length)
{
    // Hann, of unit energy per bin: noise of power 1 has bins of 1 / length.
    for (size_t i = 0; i < length; ++i)
        d_window[i] = static_cast<float>(
            (1 - std::cos(2 * M_PI * (static_cast<double>(i) + 0.5) / length)) *
            std::sqrt(2.0 / 3.0) / length);
}

void carrier_canceller::restart()
{
    d_count = d_spectra = 0;
    d_power = 0;
    d_lines.clear();
}

std::vector<double> carrier_canceller::frequencies() const
{
    std::vector<double> f;
    for (const line& l : d_lines)
        f.push_back(l.turns * sample_rate);
    return f;
}

std::complex<float> carrier_canceller::push(std::complex<float> x, bool erased)
{
    d_recent[d_count++ % length] = x;
    value y = x;
    if (!erased && !d_lines.empty()) {
        for (const line& l : d_lines)
            y -= l.amplitude * value(l.phase);
        for (line& l : d_lines)
            l.amplitude += agility * y * std::conj(value(l.phase));
    }
    for (line& l : d_lines)
        l.phase *= l.step;
    d_power += power_memory * (std::norm(y) - d_power);
    if (d_count % look_every == 0 && !d_lines.empty())
        look();
    if (d_count % (length / 2) == 0 && d_count >= length)
        analyse();
    return y;
}

void carrier_canceller::set(line& l, double turns)
{
    l.turns = turns;
    l.step = std::polar(1.0, 2 * M_PI * turns);
}

// Keep each line on its frequency, and see whether it is still there.
void carrier_canceller::look()
{
    for (line& l : d_lines) {
        const float power = std::norm(l.amplitude);
        if (const value turned = l.amplitude * std::conj(l.before); turned != value{})
            set(l,
                l.turns + frequency_gain * std::arg(turned) /
                              (2 * M_PI * double{ look_every }));
        l.phase /= std::abs(l.phase);
        l.before = l.amplitude;
        l.weak = power < hysteresis * weakest * d_power ? l.weak + 1 : 0;
    }
    d_lines.erase(std::remove_if(d_lines.begin(),
                                 d_lines.end(),
                                 [](const line& l) { return l.weak > weak_looks; }),
                  d_lines.end());
}

void carrier_canceller::analyse()
{
    for (size_t i = 0; i < length; ++i)
        d_work[i] = d_window[i] * d_recent[(d_count + i) % length];
    fftwf_execute_dft(transform_plan(length),
                      reinterpret_cast<fftwf_complex*>(d_work.data()),
                      reinterpret_cast<fftwf_complex*>(d_spectrum.data()));
    d_spectra = std::min(d_spectra + 1, averaged);
    const float share = 1 / static_cast<float>(d_spectra);
    float total = 0;
    for (size_t k = 0; k < length; ++k) {
        d_average[k] += share * (std::norm(d_spectrum[k]) - d_average[k]);
        total += d_average[k];
    }
    if (d_spectra < least_spectra || !(total > 0))
        return;
    const float clear = d_spectra < averaged ? stands_out_early : stands_out;
    const auto at = [this](int k) -> float {
        return d_average[static_cast<size_t>(k + static_cast<int>(length)) % length];
    };
    const auto edge = static_cast<int>(highest_hz / sample_rate * length);
    for (int k = -edge; k <= edge && d_lines.size() < most; ++k) {
        if (at(k) < at(k - 1) || at(k) <= at(k + 1))
            continue;
        const float power = at(k - 1) + at(k) + at(k + 1); // the window's main lobe
        if (power < weakest * (total - power))
            continue;
        float around = 0;
        for (int j = lobe; j < static_cast<int>(background); ++j)
            around += at(k + j) + at(k - j);
        around /= 2 * static_cast<float>(background - lobe);
        if (power < clear * 3 * around)
            continue;
        const bool known =
            std::any_of(d_lines.begin(), d_lines.end(), [k](const line& l) {
                return std::abs(l.turns * length - k) < lobe + 1;
            });
        if (known)
            continue;
        const float l = std::sqrt(at(k - 1)), c = std::sqrt(at(k)),
                    r = std::sqrt(at(k + 1));
        adopt(k + (r - l) / (2 * c)); // close enough for the window's main lobe
    }
}

// A line at this bin, as it is in what came last.
void carrier_canceller::adopt(double bin)
{
    line l;
    set(l, bin / double{ length });
    // Phase 1 at the next sample.
    std::complex<double> sum = 0, phase = 1;
    for (size_t i = 1; i <= length / 2; ++i) {
        phase *= l.step; // l.step^i, i samples before
        sum += std::complex<double>(d_recent[(d_count - i) % length]) * phase;
    }
    l.amplitude = l.before = value(sum / (length / 2.0));
    // The average remembers lines that have gone.
    if (std::norm(l.amplitude) > hysteresis * weakest * d_power)
        d_lines.push_back(l);
}

} // namespace gr::hf::kernel
