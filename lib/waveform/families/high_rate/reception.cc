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

/* On noise scores of 24 and 26 come once in some days: exp(-24) of 4800 places a second times 23
 * offsets, exp(-26) times 13. A side peak may come first. Steps of the offset: 1.1 dB is lost half
 * a step off over 184 symbols, and over the 103 that the 64 repeated ones span. */
constexpr float sync_threshold = 24, reinserted_threshold = 26;
constexpr size_t search_hold = 24;
constexpr double sync_step_hz = 7.2, reinserted_step_hz = 12.8;

// The patterns, in this order.
constexpr size_t whole = 0, repeated = 1;

// The known symbols around the mode words tell that this is a preamble, and its phase.
constexpr size_t around = 32;
/* How much of the noise's power they explain, and the three words. Noise gives 2 and 3 (sums of so many
 * exponentials) and comes so far once in 2e7 and in 2e12 candidates; of 64 and 39 symbols a signal
 * whose Es / N0 is -5 and -0.5 dB does on average; the weakest mode needs 6 dB and more. */
constexpr float least_present = 20, least_words_present = 35;
// Log-likelihood of the best mode over the next: wrong once in 160000.
constexpr float clear_lead = 12;

std::vector<value> points_of(const std::vector<uint8_t>& numbers)
{
    std::vector<value> p;
    for (const uint8_t n : numbers)
        p.push_back(psk8_points()[n]);
    return p;
}

// Words: known symbols before, known symbols behind, D0, D1, D2.
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
    // Probes 0.12 s apart follow 1 Hz: eight of them, receiver-notes section 4.
    fading_class f;
    f.pace.terms = 6;
    f.pace.spread_hz = 1;
    f.pace.window_s = 0.42;
    // All of them: the filter of an SSB receiver rings on each path.
    f.pace.max_selected = 60;
    f.pace.rows = 32;
    // Further away a series of so few terms no longer follows the fading it is made for, and a
    // block in a fade has nothing to make up for that.
    f.refined = f.pace;
    f.refined.terms = 4;
    f.refined.window_s = 0.2;
    p.paces = { f };
    p.finds_paths = true;
    // 64-QAM cannot be told from its level.
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
    if (present < least_present)
        return verdict::rejected;
    const value phase = (before + after) / std::max(std::abs(before + after), 1e-20f);
    std::array<value, 3> word;
    float power = 0;
    for (size_t w = 0; w < 3; ++w) {
        word[w] = e.match[2 + w][0] * std::conj(phase);
        power += std::norm(word[w]);
    }
    // Where the known symbols were what the channel was estimated from, they prove nothing.
    const float words_present = power / (static_cast<float>(barker().size()) * unit);
    if (d_pattern == repeated && words_present < least_words_present)
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
    static const reception_plan p = plan();
    const size_t length = stretch().symbols;
    d_meaning = { &kernel::describe(*found), &p, length, length };
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
              true },
        };
        f.reader = [](size_t pattern, const reading_options&) {
            return std::make_unique<words_reader>(pattern);
        };
        return f;
    }();
    return bandwidth_hz == 3000 ? &r : nullptr;
}

} // namespace gr::hf::kernel::high_rate
