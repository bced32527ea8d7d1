/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/front/noise_whitener.h"

// before liquid, which then uses std::complex
#include <complex>

#include <liquid/liquid.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gr::hf::kernel {

namespace {

/* Order of the prediction: 16 symbols, 6.7 ms in 3 kHz. Of 16, 32, 48, 64, 96, 128 and 256
 * tried with 9600S behind elliptic filters (AWGN 30 dB, Poor 26 dB) 64 gave the highest
 * SNR. Longer ones learn more noise than filter. */
constexpr size_t order = 64;
// White noise assumed beside the learned one, relative: the edges rise by at most 30 dB.
// -15, -25, -30 and -40 dB differ by less than 0.5 dB there.
constexpr float floor_share = 1e-3f;
// Noise needed before anything is undone, and the longest average, s.
constexpr double min_noise_s = 3, max_noise_s = 60;
// A window this much stronger than the average is a signal. Windows this much weaker show
// that the average is of a signal.
constexpr float signal_above = 2.5f, signal_below = 0.3f;
/* Parts of the band, in symbol rates from its middle. A signal (roll-off 0.35) is flat up
 * to 0.325, and has fallen by 6 dB at 0.56. Noise that is not flat in the inner part is no
 * filtered white noise. */
constexpr double inner = 0.29, outer_from = 0.35, outer_to = 0.56;
// Largest deviation from the inner median within it, and the fall that is an edge. Three
// neighbours are averaged. Voice and teletype deviate by more.
constexpr float flat = 2.0f, edge = 0.1f;
constexpr long neighbours = 1;

} // namespace

void noise_whitener::destroy::operator()(void* filter) const
{
    firfilt_cccf_destroy(static_cast<firfilt_cccf>(filter));
}

noise_whitener::noise_whitener(const symbol_grid& grid)
    : d_spectrum(short_spectrum::length_at(grid.sample_rate())),
      d_psd(d_spectrum.size(), 0.0f), d_taps(order + 1, 0.0f), d_erased(order + 1, 0.0f)
{
    const double windows_per_s =
        grid.sample_rate() / static_cast<double>(d_spectrum.size());
    d_min_windows = static_cast<size_t>(min_noise_s * windows_per_s);
    d_max_windows = static_cast<size_t>(max_noise_s * windows_per_s);
    d_window.reserve(d_spectrum.size());
}

void noise_whitener::restart()
{
    d_window.clear();
    d_whole = true;
    d_erased_left = 0;
    if (d_filter)
        firfilt_cccf_reset(static_cast<firfilt_cccf>(d_filter.get()));
}

noise_whitener::sample noise_whitener::push(value x, float erased)
{
    d_whole = d_whole && d_idle && erased == 0;
    d_window.push_back(x);
    if (d_window.size() == d_spectrum.size())
        end_window();
    if (!d_filter)
        return { x, erased };
    value y;
    firfilt_cccf_push(static_cast<firfilt_cccf>(d_filter.get()), x);
    firfilt_cccf_execute(static_cast<firfilt_cccf>(d_filter.get()), &y);
    if (erased > 0)
        d_erased_left = d_erased.size();
    d_place = d_place > 0 ? d_place - 1 : order;
    d_erased[d_place] = erased;
    if (d_erased_left == 0)
        return { y, 0 };
    --d_erased_left;
    float missing = 0, all = 0;
    for (size_t k = 0; k <= order; ++k) {
        const float weight = std::norm(d_taps[k]);
        missing += weight * d_erased[(d_place + k) % d_erased.size()];
        all += weight;
    }
    return { y, std::min(1.0f, missing / all) };
}

void noise_whitener::end_window()
{
    const bool whole = d_whole;
    d_whole = true;
    if (!whole) {
        d_window.clear();
        return;
    }
    const value* const s = d_spectrum.of(d_window.data());
    d_window.clear();
    std::vector<float> power(d_psd.size());
    std::transform(
        s, s + power.size(), power.begin(), [](value v) { return std::norm(v); });
    const float now = std::accumulate(power.begin(), power.end(), 0.0f);
    const float mean = std::accumulate(d_psd.begin(), d_psd.end(), 0.0f);
    if (!(now > 0) || (d_windows > 0 && now > signal_above * mean))
        return;
    if (now < signal_below * mean)
        d_windows = 0;
    d_windows = std::min(d_windows + 1, d_max_windows);
    const float share = 1 / static_cast<float>(d_windows);
    for (size_t k = 0; k < d_psd.size(); ++k)
        d_psd[k] += share * (power[k] - d_psd[k]);
    if (d_windows >= d_min_windows && d_windows % d_min_windows == 0)
        solve();
}

// True if the noise is flat around the middle of the band and falls within the signal's.
bool noise_whitener::cut_off() const
{
    const auto n = static_cast<long>(d_psd.size());
    const auto bin = [n](double symbol_rates) {
        return std::lround(symbol_rates / symbol_grid::samples_per_symbol *
                           static_cast<double>(n));
    };
    const auto smooth = [&](long k) {
        float sum = 0;
        for (long j = k - neighbours; j <= k + neighbours; ++j)
            sum += d_psd[static_cast<size_t>((j + n) % n)];
        return sum / (2 * neighbours + 1);
    };
    std::vector<float> middle;
    for (long k = -bin(inner); k <= bin(inner); ++k)
        middle.push_back(smooth(k));
    std::sort(middle.begin(), middle.end());
    const float median = middle[middle.size() / 2];
    if (middle.back() > flat * median || middle.front() * flat < median)
        return false;
    for (long k = bin(outer_from); k <= bin(outer_to); ++k)
        if (smooth(k) < edge * median || smooth(-k) < edge * median)
            return true;
    return false;
}

// Taps of the prediction error (Levinson and Durbin), scaled so that the middle of the band
// keeps its power.
void noise_whitener::solve()
{
    if (!cut_off()) {
        d_filter.reset();
        return;
    }
    const size_t n = d_psd.size();
    fourier transform(n);
    std::copy(d_psd.begin(), d_psd.end(), transform.data());
    transform.backward();
    std::vector<std::complex<double>> r(transform.data(), transform.data() + order + 1);
    r[0] *= 1 + floor_share;
    std::vector<std::complex<double>> a(order + 1, 0.0);
    a[0] = 1;
    double error = r[0].real();
    for (size_t m = 1; m <= order; ++m) {
        std::complex<double> sum = 0;
        for (size_t k = 0; k < m; ++k)
            sum += a[k] * r[m - k];
        const auto reflection = -sum / error;
        std::vector<std::complex<double>> next = a;
        for (size_t k = 1; k <= m; ++k)
            next[k] = a[k] + reflection * std::conj(a[m - k]);
        a = std::move(next);
        error *= 1 - std::norm(reflection);
    }
    std::fill_n(transform.data(), n, value(0));
    std::copy(a.begin(), a.end(), transform.data());
    transform.forward();
    const auto half = static_cast<size_t>(inner / symbol_grid::samples_per_symbol *
                                          static_cast<double>(n));
    double power = 0;
    for (size_t k = 0; k <= half; ++k)
        power +=
            std::norm(transform.data()[k]) + std::norm(transform.data()[(n - k) % n]);
    const auto gain = 1 / std::sqrt(power / (2.0 * static_cast<double>(half + 1)));
    std::transform(a.begin(), a.end(), d_taps.begin(), [gain](std::complex<double> v) {
        return value(v * gain);
    });
    if (d_filter)
        d_filter.reset(firfilt_cccf_recreate(
            static_cast<firfilt_cccf>(d_filter.release()), d_taps.data(), order + 1));
    else
        d_filter.reset(firfilt_cccf_create(d_taps.data(), order + 1));
}

} // namespace gr::hf::kernel
