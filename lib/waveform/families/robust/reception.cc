/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/families/robust/reception.h"

#include "waveform/families/robust/robust.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

namespace gr::hf::kernel::robust {

namespace {

using value = std::complex<float>;
using points = std::vector<value>;

constexpr double symbol_rate_bd = 2400;
constexpr double period_s = period_symbols / symbol_rate_bd;

/* Score of a candidate: noise exceeds 18 once in an hour, exp(-18) of 126 places and 174 offsets
 * every 0.7 s. At -16 dB the mean is 38 before losses of up to 1.5 dB for carrier and
 * place. */
constexpr float search_threshold = 18;
// Half a step costs 1.1 dB over the 0.63 s of the pattern.
constexpr double search_step_hz = 0.87;
// A third of the pattern. On noise, quarters reach the limit at 49 of 69 blocks of 64 positions,
// thirds at a third of them, halves at a fifth, and shorter stretches have fewer offsets.
constexpr double first_look_s = 0.21;

/* A stretch is the pattern and the periods after it. Each time, the stretch moves on by
 * step_periods, so that one stretch shows the whole part that names the mode. */
constexpr size_t step_periods = 6, word_periods = step_periods + mode_periods;
/* Energy of a name in units of noise, and its lead over that of other names and of the fixed
 * part in the same place: at -16 dB the mean is 25, and it is below 8 once in 300 names.
 * Noise reaches 8 in one of 50 candidates, at any place. */
constexpr float min_name = 8, min_lead = 5;
/* Least ratio to the others. A tone without noise resembles all names, with ratios up to 1.42
 * (robust.is_not_heard_in_tones_and_steps). Names that were sent had 4 and more at -9 dB. */
constexpr float min_ratio = 2;
// The same for six more periods of the fixed part, mean of the stretches: 13 at -16 dB, 1 on
// noise. One of them may be in a fade.
constexpr float min_fixed = 3;
/* Power of the first periods after the pattern, relative to the channel of the pattern, from
 * which on the pattern had only started: carrier and channel are then wrong, and the next look
 * sees all of it. At -16 dB it is 1.1 with a deviation of 0.6; 7 dB in 0.4 s are a rare fade. */
constexpr float only_started = 5;
// Below this score, noise hides that half of the pattern is missing.
constexpr float weak_score = 72;
// Periods in which fading leaves the phases alike, 0.1 s. Groups after the first may each
// reach 2 on noise.
constexpr size_t in_phase = 4;
constexpr float by_chance = 2;

points points_of(const uint8_t* numbers, size_t n)
{
    points p;
    for (size_t i = 0; i < n; ++i)
        p.push_back(psk8_points()[numbers[i]]);
    return p;
}

points fixed_points()
{
    points all;
    const points one = points_of(preamble_period().data(), period_symbols);
    for (size_t k = 0; k < search_periods; ++k)
        all.insert(all.end(), one.begin(), one.end());
    return all;
}

// Alternatives of a word: the fixed period, then the periods of each mode's name.
size_t alternative(size_t mode, size_t period)
{
    return 1 + mode * mode_periods + period;
}

preamble_stretch stretch_of_all()
{
    preamble_stretch s;
    s.fixed = fixed_points();
    std::vector<points> alternatives{ points_of(preamble_period().data(),
                                                period_symbols) };
    for (size_t m = 0; m < modes().size(); ++m) {
        const auto part = mode_part(m);
        for (size_t k = 0; k < mode_periods; ++k)
            alternatives.push_back(points_of(&part[k * period_symbols], period_symbols));
    }
    for (size_t w = 0; w < word_periods; ++w)
        s.words.push_back({ s.fixed.size() + w * period_symbols, alternatives });
    s.symbols = s.fixed.size() + word_periods * period_symbols;
    s.step = step_periods * period_symbols;
    return s;
}

//! Looks for the part that names the mode, stretch by stretch.
class name_reader : public preamble_reader
{
public:
    const preamble_stretch& stretch() const override
    {
        static const preamble_stretch s = stretch_of_all();
        return s;
    }
    verdict read(const preamble_evidence& e) override;
    // A fade, if a stretch before was received.
    verdict read_nothing() override
    {
        return d_stretches > 0 ? next_stretch() : verdict::rejected;
    }
    preamble_meaning meaning() const override { return d_meaning; }

private:
    verdict next_stretch();

    preamble_meaning d_meaning;
    size_t d_stretches = 0;
    float d_fixed = 0; // energy of fixed periods after the pattern, over the stretches
};

/* Energy of \p words consecutive words in units of noise: of all together, or of groups whose
 * phases differ. \p alternative_of gives the alternative of each word. */
template <class Function>
float energy(const preamble_evidence& e,
             size_t first,
             size_t words,
             Function alternative_of)
{
    const float unit = static_cast<float>(period_symbols) * std::max(e.noise, 1e-20f) *
                       std::max(e.gain, 1e-20f);
    value all = 0;
    float groups = by_chance;
    for (size_t from = 0; from < words; from += in_phase) {
        const size_t n = std::min(in_phase, words - from);
        value match = 0;
        for (size_t k = from; k < from + n; ++k)
            match += e.match[first + k][alternative_of(k)];
        groups += std::norm(match) / (unit * static_cast<float>(n)) - by_chance;
        all += match;
    }
    const float together =
        words > 0 ? std::norm(all) / (unit * static_cast<float>(words)) : 0;
    return std::max(together, groups);
}

preamble_reader::verdict name_reader::read(const preamble_evidence& e)
{
    const auto fixed = [](size_t) { return size_t{ 0 }; };
    struct {
        float all = 0, own = 0;
        size_t mode = 0, place = 0;
    } best;
    float second = 0; // the next name
    for (size_t m = 0; m < modes().size(); ++m)
        for (size_t k = 0; k < step_periods; ++k) {
            const float own =
                energy(e, k, mode_periods, [m](size_t i) { return alternative(m, i); });
            const float all = own + energy(e, 0, k, fixed);
            if (all > best.all) {
                second = best.mode == m ? second : std::max(second, best.own);
                best = { all, own, m, k };
            } else if (m != best.mode) {
                second = std::max(second, own);
            }
        }
    const float instead = energy(e, best.place, mode_periods, fixed);
    const float others = std::max(second, instead);
    // Without noise and channel both are infinite.
    if (best.own >= min_name && best.own >= others + min_lead &&
        best.own > min_ratio * others) {
        const auto& d = kernel::describe(modes()[best.mode]);
        const size_t left = (search_periods + best.place + mode_periods) * period_symbols;
        d_meaning = { &d, &plan_of(d.m), left, d.preamble.size() };
        return verdict::found;
    }
    const float more = energy(e, 0, step_periods, fixed);
    const float by_channel = e.gain * static_cast<float>(step_periods * period_symbols);
    if (d_stretches == 0 && e.score < weak_score &&
        more * e.noise > only_started * by_channel)
        return verdict::rejected;
    d_fixed += more;
    return next_stretch();
}

preamble_reader::verdict name_reader::next_stretch()
{
    ++d_stretches;
    const bool goes_on = d_fixed >= min_fixed * static_cast<float>(d_stretches) &&
                         d_stretches * step_periods <= fixed_periods + search_periods;
    return goes_on ? verdict::more : verdict::rejected;
}

reception_plan plan(const mode& m)
{
    const description& d = kernel::describe(m);
    const double word_s = static_cast<double>(d.chips()) / symbol_rate_bd;
    // Words of 75 bit/s of the standards, for which the plan's numbers are.
    const double usual_s = 32 / symbol_rate_bd;
    const auto longer = static_cast<float>(word_s / usual_s);
    reception_plan p;
    walsh_plan& w = p.walsh;
    // The profile is averaged over as many words as usual: over the usual time, chance would
    // make paths of noise.
    w.noise_share *= longer;
    // Swept at -10.5 dB on AWGN, 200S: 17, 16, 19 of 60 blocks bad at 1.3, 1.1, 0.9. With the
    // plan's 1.77, 55 of 60 at -10 dB: the first round then believes too little.
    w.overlap = 1.2f;
    w.level_rises = std::min(w.level_rises * longer, 0.5f);
    w.level_falls *= longer;
    w.sets_per_update = std::max<size_t>(8, w.sets_per_update * 32 / d.chips());
    w.widest_average /= static_cast<double>(longer);
    /* Best of 32 or 64 words on noise: a mean of 3.1 or 3.7 with a deviation of 1.3, so 0.25
     * over the 24 recent ones. */
    w.present = d.alphabet.bits == 5 ? 3.9f : 4.5f;
    // Blocks that can be decoded at all hardly change after six rounds.
    w.rounds = 8;
    w.max_rounds = 12;
    return p;
}

} // namespace

const family_reception* reception(int bandwidth_hz)
{
    static const family_reception r = [] {
        family_reception f;
        search_pattern p;
        p.symbols = fixed_points();
        p.threshold = search_threshold;
        p.hold = period_symbols;
        p.step_hz = search_step_hz;
        p.repeats_after = period_symbols;
        // A look that sees the pattern begin has its carrier and channel wrong. The next one
        // sees all of it.
        p.periodic = true;
        p.first_look_s = first_look_s;
        f.patterns = { p };
        // The fixed part repeats itself: some places of one period, and a rest at its end.
        f.look_every_s = static_cast<double>(look_periods) * period_s;
        // 128 positions of half a symbol, two batches of the search.
        f.look_s = period_s + 1 / symbol_rate_bd;
        // Half a step of the search and more. Steps: a tenth of what turns the pattern once.
        f.synchroniser.fine_range_hz = 0.9;
        f.synchroniser.fine_step_hz = 0.15;
        // Less may be a fade of the half: 20 dB.
        f.synchroniser.other_half = 0.01f;
        // The period has no side peaks.
        f.synchroniser.min_path_periodic = f.synchroniser.min_path;
        // As in the wideband family: noise makes no path before the first one.
        f.synchroniser.min_path_over_noise = 13;
        f.reader = [](size_t, const reading_options&) {
            return std::make_unique<name_reader>();
        };
        f.periods_s = { period_s };
        return f;
    }();
    return bandwidth_hz == 3000 ? &r : nullptr;
}

const reception_plan& plan_of(const mode& m)
{
    static const std::vector<reception_plan> plans = [] {
        std::vector<reception_plan> all;
        for (const mode& one : modes())
            all.push_back(plan(one));
        return all;
    }();
    return plans[static_cast<size_t>(std::find(modes().begin(), modes().end(), m) -
                                     modes().begin())];
}

} // namespace gr::hf::kernel::robust
