/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/audio_to_baseband.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <type_traits>

namespace gr::hf::kernel {

namespace {

// No device gives larger numbers; their squares still fit a float.
constexpr float largest_sample = 1e15f;

float sound(float x) { return std::abs(x) < largest_sample ? x : 0; }

// A real signal has half of its amplitude at the subcarrier.
float taken(float x) { return 2 * sound(x); }
std::complex<float> taken(std::complex<float> x)
{
    return { sound(x.real()), sound(x.imag()) };
}

/* Samples of 0 in a row that are a hole: more than low levels give in a period of the
 * subcarrier. After the longest one the signal may have ended. A receiver that gets no
 * samples for longer has to notice. */
constexpr double min_hole_s = 0.002, max_hole_s = 0.2;

// Few enough samples to stay in the nearest cache between steps.
constexpr size_t piece = 2048;

audio_rates checked(const audio_rates& r)
{
    r.check();
    if (!(std::abs(r.subcarrier) < r.audio / 2))
        throw std::invalid_argument("subcarrier " + audio_rates::text(r.subcarrier) +
                                    " Hz: allowed is less than half of " +
                                    audio_rates::text(r.audio) + " samples/s");
    return r;
}

} // namespace

audio_to_baseband::audio_to_baseband(double audio_rate,
                                     double subcarrier_hz,
                                     double modem_rate,
                                     bool blank_bursts)
    : audio_to_baseband(checked({ audio_rate, subcarrier_hz, modem_rate }), blank_bursts)
{
}

audio_to_baseband::audio_to_baseband(const audio_rates& rates, bool blank_bursts)
    : d_resampler(rates.audio,
                  rates.ratio(),
                  rates.subcarrier,
                  channel_edges::pass * rates.modem,
                  rates.image_hz(),
                  1),
      d_mixer(-rates.subcarrier / rates.modem), d_ratio(rates.modem / rates.audio)
{
    if (!blank_bursts)
        return;
    // A period of the subcarrier of a 3 kHz channel, at any sample rate. Power is
    // averaged over it, and a gap fades over it.
    const double period = 1 / audio_rates::default_subcarrier;
    burst_finder::options o;
    o.sample_rate = rates.audio;
    o.average_ms = 1e3 * period;
    d_finder.emplace(o);
    d_real_shape.emplace(d_finder->reach(), d_finder->average());
    d_complex_shape.emplace(d_finder->reach(), d_finder->average());
    d_hit.resize(static_cast<size_t>(std::lround(period * rates.audio)));
    d_silence.min_hole = static_cast<size_t>(std::lround(min_hole_s * rates.audio));
    d_silence.max_hole = static_cast<size_t>(std::lround(max_hole_s * rates.audio));
    for (size_t k = 0; k <= d_hit.size(); ++k)
        d_share.push_back(static_cast<float>(std::pow(
            std::sin(M_PI_2 * static_cast<double>(k) / static_cast<double>(d_hit.size())),
            2)));
}

void audio_to_baseband::push(const float* x,
                             size_t n,
                             std::vector<std::complex<float>>& out)
{
    const size_t before = out.size();
    push(x, n, d_real, out);
    tell_erased(out.size() - before);
}

void audio_to_baseband::push(const std::complex<float>* x,
                             size_t n,
                             std::vector<std::complex<float>>& out)
{
    const size_t before = out.size();
    push(x, n, d_complex, out);
    tell_erased(out.size() - before);
}

template <class T>
void audio_to_baseband::push(const T* x,
                             size_t n,
                             std::vector<T>& waiting,
                             std::vector<std::complex<float>>& out)
{
    for (size_t count; n > 0; x += count, n -= count) {
        count = std::min(n, piece);
        const size_t waited = waiting.size();
        waiting.resize(waited + count);
        std::transform(x,
                       x + count,
                       waiting.begin() + static_cast<long>(waited),
                       [](T y) { return taken(y); });
        const size_t judged = d_finder ? blank(waiting, waited) : count;
        d_resampler.push(waiting.data(), judged);
        waiting.erase(waiting.begin(), waiting.begin() + static_cast<long>(judged));
        convert(out);
    }
}

void audio_to_baseband::convert(std::vector<std::complex<float>>& out)
{
    d_resampled.resize(d_resampler.ready());
    d_resampler.take(d_resampled.data());
    d_mixer.run(d_resampled.data(), d_resampled.size());
    d_filter.push(d_resampled.data(), d_resampled.size(), out);
}

void audio_to_baseband::finish(std::vector<std::complex<float>>& out)
{
    // Silence follows for the samples without a verdict. It is no hole.
    d_silence.now = SIZE_MAX;
    const size_t before = out.size();
    push(std::vector<float>(d_real.size()).data(), d_real.size(), d_real, out);
    push(std::vector<std::complex<float>>(d_complex.size()).data(),
         d_complex.size(),
         d_complex,
         out);
    d_resampler.finish();
    convert(out);
    d_filter.finish(out);
    tell_erased(out.size() - before);
}

// Verdicts on d_power. A hole is erased as soon as it is long enough, and the length of a
// fade before it.
template <class OnBurst>
void audio_to_baseband::find(OnBurst&& on_burst)
{
    const size_t n = d_power.size();
    size_t pushed = 0;
    const auto push_to = [&](size_t end) {
        d_finder->push(
            d_power.data() + pushed, end - pushed, d_verdict.data() + pushed, on_burst);
        pushed = end;
    };
    for (size_t i = 0; i < n; ++i) {
        if (d_power[i] != 0) {
            d_silence.now = 0;
            // Zeros are rare.
            i = static_cast<size_t>(std::find(d_power.begin() + static_cast<long>(i),
                                              d_power.end(),
                                              0.0f) -
                                    d_power.begin()) -
                1;
            continue;
        }
        if (d_silence.now >= d_silence.max_hole || ++d_silence.now < d_silence.min_hole)
            continue;
        push_to(i);
        const int64_t now = d_finder->latest(); // sample i
        const size_t back =
            d_silence.now == d_silence.min_hole ? d_silence.now + d_hit.size() : 0;
        for (int64_t k = now - static_cast<int64_t>(back); k <= now; ++k)
            d_finder->erase(k);
    }
    push_to(n);
}

// Gets verdicts on the samples after the first \p waited. Removes bursts from all samples
// that have a verdict then, and returns the number of these samples.
template <class T>
size_t audio_to_baseband::blank(std::vector<T>& x, size_t waited)
{
    const size_t n = x.size() - waited, delay = d_finder->delay();
    d_power.resize(n);
    std::transform(x.begin() + static_cast<long>(waited),
                   x.end(),
                   d_power.begin(),
                   [](T y) { return std::norm(y); });
    d_verdict.resize(n);
    find([this, &x](const burst_finder::burst& b) {
        if constexpr (std::is_same_v<T, float>)
            take_out(*d_real_shape, x, b);
        else
            take_out(*d_complex_shape, x, b);
    });
    // The first samples wait for \p delay more.
    const size_t judged = x.size() - std::min(std::max(delay, waited), x.size());
    if (d_hits == 0 && std::find(d_verdict.end() - static_cast<long>(judged),
                                 d_verdict.end(),
                                 1) == d_verdict.end()) { // the usual case
        d_judged += judged;
        return judged;
    }
    for (size_t i = 0; i < judged; ++i) {
        const bool hit = d_verdict[n - judged + i] != 0;
        if (!hit && d_hits == 0) { // the usual case
            ++d_judged;
            continue;
        }
        fade(hit);
        if (d_hits > 0)
            x[i] *= 1 - d_share[d_hits];
    }
    return judged;
}

// \p x starts with the first sample without a verdict.
template <class T>
void audio_to_baseband::take_out(pulse_shape<T>& shape,
                                 std::vector<T>& x,
                                 const burst_finder::burst& b)
{
    // Neither more nor fewer, however the input is cut.
    const int64_t origin = std::max<int64_t>(0, d_finder->oldest());
    const auto rest = shape.take_out(origin,
                                     x.data() + origin - static_cast<int64_t>(d_judged),
                                     d_finder->latest() + 1 - origin,
                                     b.first - origin,
                                     b.last - origin,
                                     b.before);
    if (!rest) {
        d_finder->erase_with_skirts(b);
        return;
    }
    for (size_t k = 0; k < rest->erased.size(); ++k)
        if (rest->erased[k])
            d_finder->erase(origin + rest->first + static_cast<int64_t>(k));
}

// One more sample has a verdict: distribute its missing share over the modem's samples.
void audio_to_baseband::fade(bool hit)
{
    uint8_t& oldest = d_hit[d_judged % d_hit.size()];
    d_hits += size_t{ hit } - oldest;
    oldest = hit;
    const auto at = static_cast<double>(d_judged++);
    if (d_hits == 0)
        return;
    const float share = d_share[d_hits];
    const double from = (at - 0.5) * d_ratio, to = (at + 0.5) * d_ratio;
    for (auto m = static_cast<int64_t>(std::lround(from));
         static_cast<double>(m) - 0.5 < to;
         ++m) {
        const auto middle = static_cast<double>(m);
        const double part = std::min(to, middle + 0.5) - std::max(from, middle - 0.5);
        if (m < 0 || part <= 0)
            continue;
        if (d_missing.empty() || d_missing.back().sample < m)
            d_missing.push_back({ m, 0 });
        d_missing.back().share += share * static_cast<float>(part);
    }
}

void audio_to_baseband::tell_erased(size_t appended)
{
    d_erased.clear();
    const int64_t end = d_reported + static_cast<int64_t>(appended);
    for (; !d_missing.empty() && d_missing.front().sample < end; d_missing.pop_front()) {
        d_erased.resize(appended, 0);
        const auto& m = d_missing.front();
        if (m.sample >= d_reported)
            d_erased[static_cast<size_t>(m.sample - d_reported)] =
                std::min(m.share, 1.0f);
    }
    d_reported = end;
}

} // namespace gr::hf::kernel
