/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/families/high_rate/reception.h"

#include "waveform/families/high_rate/high_rate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace gr::hf::kernel::high_rate {

namespace {

using value = std::complex<float>;

/* Thresholds 24 and 26 are exceeded by noise once in some days: exp(-24) of 4800 places a
 * second times 23 offsets, exp(-26) times 13. A side peak may come first. Steps of the
 * offset: half a step costs 1.1 dB over 184 symbols, and over the 103 symbols that the 64
 * repeated ones span. */
constexpr float sync_threshold = 24, reinserted_threshold = 26;
constexpr size_t search_hold = 24;
constexpr double sync_step_hz = 7.2, reinserted_step_hz = 12.8;
// A quarter of the 184 symbols. The other pattern is too short for a first look.
constexpr double first_look_s = 0.02;
/* Offset at which the probes resemble themselves two symbols later: twice the 150 Hz of
 * their base. A turn of nearly four cycles from one to the next fits any mode words, so
 * that a signal 300 Hz off reads as another mode. */
constexpr double beyond_hz = 300;

// The patterns, in this order.
constexpr size_t whole = 0, repeated = 1;

// Known symbols around the mode words. They prove a preamble and give its phase.
constexpr size_t around = 32;
/* Least power of these symbols, and of the three words, relative to noise. Noise gives 2
 * and 3 (sums of 2 and 3 exponentials), and exceeds the limits once in 2e7 and in 2e12
 * candidates. A signal of -5 dB Es / N0 reaches the first limit on average with
 * 64 symbols, one of -0.5 dB the second with 39. The weakest mode needs at least 6 dB. */
constexpr float min_present = 20, min_words_present = 35;
// Lead of the best mode's log-likelihood: wrong once in 160000.
constexpr float clear_lead = 12;

std::vector<value> points_of(const std::vector<uint8_t>& numbers)
{
    std::vector<value> p;
    for (const uint8_t n : numbers)
        p.push_back(psk8_points()[n]);
    return p;
}

// Words: known symbols before, known symbols after, D0, D1, D2.
preamble_stretch stretch_of(size_t pattern)
{
    const size_t begin = pattern == repeated ? probe_plus_begin : 0;
    const auto symbols = points_of(preamble({ 1, 1 }));
    const auto known = [&symbols](size_t from) {
        const auto at = symbols.begin() + static_cast<std::ptrdiff_t>(from);
        return std::vector<value>(at, at + static_cast<std::ptrdiff_t>(around));
    };
    preamble_stretch s;
    s.symbols = preamble_symbols - begin;
    s.fixed = pattern == repeated ? preamble_tail() : points_of(sync());
    s.words = { { probe_plus_begin - begin, { known(probe_plus_begin) } },
                { probe_minus_begin - 1 - begin, { known(probe_minus_begin - 1) } } };
    std::vector<value> chips;
    for (const uint8_t chip : barker())
        chips.push_back(psk8_points()[chip]);
    for (size_t w = 0; w < 3; ++w)
        s.words.push_back({ words_begin + barker().size() * w - begin, { chips } });
    return s;
}

reception_plan plan()
{
    reception_plan p;
    p.presence = 0.35f;
    // Three frames: probes are 0.12 s apart.
    p.judged_after_s = 0.7;
    // Eight probes, 0.12 s apart, follow fading of 1 Hz with a loss of 0.8 to 1.4 dB.
    fading_class f;
    f.pace.terms = 6;
    f.pace.spread_hz = 1;
    f.pace.window_s = 0.42;
    // All taps, as the filter of an SSB receiver rings on each path.
    f.pace.max_selected = 60;
    f.pace.rows = 32;
    // A series of so few terms fits its fading only this far. A block in a fade cannot
    // make up for the error.
    f.refined = f.pace;
    f.refined.terms = 4;
    f.refined.window_s = 0.2;
    p.paces = { f };
    p.finds_paths = true;
    // Level steps confuse 64-QAM amplitudes.
    p.follows_level = true;
    p.look_ahead = 2;
    return p;
}

class words_reader : public preamble_reader
{
public:
    explicit words_reader(size_t pattern) : d_pattern(pattern) {}

    const preamble_stretch& stretch() const override
    {
        static const std::array<preamble_stretch, 2> s{ stretch_of(whole),
                                                        stretch_of(repeated) };
        return s[d_pattern];
    }
    verdict read(const preamble_evidence& e) override;
    preamble_meaning meaning() const override { return d_meaning; }

private:
    size_t d_pattern;
    preamble_meaning d_meaning;
};

preamble_reader::verdict words_reader::read(const preamble_evidence& e)
{
    const float unit = e.noise * std::max(e.gain, 1e-20f);
    const value before = e.match[0][0], after = e.match[1][0];
    const float present =
        (std::norm(before) + std::norm(after)) / (static_cast<float>(around) * unit);
    if (present < min_present)
        return verdict::rejected;
    const value phase = (before + after) / std::max(std::abs(before + after), 1e-20f);
    std::array<value, 3> word;
    float power = 0;
    for (size_t w = 0; w < 3; ++w) {
        word[w] = e.match[2 + w][0] * std::conj(phase);
        power += std::norm(word[w]);
    }
    // Known symbols prove nothing if the channel was estimated on them.
    const float words_present = power / (static_cast<float>(barker().size()) * unit);
    if (d_pattern == repeated && words_present < min_words_present)
        return verdict::rejected;

    float best = -1e30f, second = -1e30f;
    std::optional<mode> found;
    for (uint8_t rate = 0; rate < 8; ++rate)
        for (uint8_t il = 0; il < 8; ++il) {
            const auto d = words_of({ rate, il });
            float score = 0;
            for (size_t w = 0; w < 3; ++w)
                score += 2 * (word[w] * std::conj(psk8_points()[d[w]])).real() / e.noise;
            if (score > best) {
                second = best;
                best = score;
                found = mode_of({ rate, il });
            } else {
                second = std::max(second, score);
            }
        }
    if (!found || best - second < clear_lead)
        return verdict::rejected;
    const size_t length = stretch().symbols;
    d_meaning = { &kernel::describe(*found), &plan_of(*found), length, length };
    return verdict::found;
}

} // namespace

const family_reception* reception(int bandwidth_hz)
{
    static const family_reception r = [] {
        family_reception f;
        f.patterns = {
            { points_of(sync()), sync_threshold, search_hold, sync_step_hz, 0, false },
            { preamble_tail(),
              reinserted_threshold,
              search_hold,
              reinserted_step_hz,
              0,
              true,
              0,
              beyond_hz },
        };
        f.patterns.front().first_look_s = first_look_s;
        // An echo of 12 ms, and the pulse on both sides.
        f.synchroniser.wide_window_s = 0.01875;
        f.reader = [](size_t pattern, const reading_options&) {
            return std::make_unique<words_reader>(pattern);
        };
        return f;
    }();
    return bandwidth_hz == 3000 ? &r : nullptr;
}

const reception_plan& plan_of(const mode&)
{
    static const reception_plan p = plan();
    return p;
}

} // namespace gr::hf::kernel::high_rate
