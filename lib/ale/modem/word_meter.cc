/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/modem/word_meter.h"

#include "ale/modem/tone_rows.h"
#include "ale/words/coding.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gr::hf::ale {

namespace {

constexpr size_t samples_per_word = tones_per_word * samples_per_tone;

} // namespace

word_meter::word_meter(size_t history_words)
    : d_samples((history_words + 3) * samples_per_word)
{
}

void word_meter::push(const std::complex<float>* x, size_t n)
{
    for (size_t k = 0; k < n; ++k)
        d_samples[static_cast<size_t>(d_count++) % d_samples.size()] = x[k];
}

// Energy of \p count samples from \p first on, at a frequency relative to the middle tone.
float word_meter::energy(int64_t first, size_t count, double hz) const
{
    const double step = -2 * M_PI * hz / tone_row_sample_rate;
    const std::complex<float> turn(static_cast<float>(std::cos(step)),
                                   static_cast<float>(std::sin(step)));
    std::complex<float> phase(1), sum(0);
    for (size_t k = 0; k < count; ++k) {
        sum += phase * d_samples[(static_cast<size_t>(first) + k) % d_samples.size()];
        phase *= turn;
    }
    return std::norm(sum);
}

word_meter::result word_meter::measure(const word& text, int64_t end, size_t offset) const
{
    const auto tones = tones_of(text);
    const auto first = [end](size_t k) { // sample of tone k
        const auto tone_end = end + 1 - rows_per_tone * (tones_per_word - 1 - k);
        return (tone_end - static_cast<int64_t>(rows_per_tone)) * samples_per_row;
    };
    const auto hz = [](size_t tone, double offset_hz) {
        return lowest_tone_hz + tone_step_hz * static_cast<double>(tone) -
               middle_tone_hz + offset_hz;
    };
    // Vertex of a parabola through three bins, at most a little outside of the search.
    const size_t f = std::clamp<size_t>(offset, 1, offset_count - 2);
    const double middle =
        (static_cast<double>(f) - static_cast<double>(offset_count / 2)) * offset_step_hz;
    std::array<float, 3> bins{};
    for (size_t k = 0; k < tones_per_word; ++k)
        for (size_t j = 0; j < bins.size(); ++j)
            bins[j] += energy(
                first(k),
                samples_per_tone,
                hz(tones[k], middle + (static_cast<double>(j) - 1) * offset_step_hz));
    const float bend = bins[0] - 2 * bins[1] + bins[2];
    const float part =
        bend < 0 ? std::clamp((bins[0] - bins[2]) / (2 * bend), -1.25f, 1.25f) : 0.0f;
    result r;
    r.offset_hz = static_cast<float>(middle + part * offset_step_hz);
    // The middle half of a tone: paths with other delays bring no change of the tone there,
    // and the tones are orthogonal.
    constexpr size_t half = samples_per_tone / 2;
    float own = 0;
    std::vector<float> others;
    for (size_t k = 0; k < tones_per_word; ++k)
        for (size_t tone = 0; tone < tone_count; ++tone) {
            const float x = energy(
                first(k) + static_cast<int64_t>(half / 2), half, hz(tone, r.offset_hz));
            if (tone == tones[k])
                own += x / tones_per_word;
            else
                others.push_back(x);
        }
    const auto median = others.begin() + static_cast<ptrdiff_t>(others.size() / 2);
    std::nth_element(others.begin(), median, others.end());
    const float noise = std::max(*median / 0.6931f, 1e-12f);
    constexpr auto band =
        static_cast<float>(3000 / tone_step_hz); // of a half tone: 250 Hz
    r.snr_db = 10 * std::log10(std::max(own / noise - 1, 1e-3f) / band);
    return r;
}

} // namespace gr::hf::ale
