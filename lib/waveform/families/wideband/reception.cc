/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/families/wideband/reception.h"

#include "waveform/families/wideband/plans.h"
#include "waveform/families/wideband/preamble.h"
#include "waveform/families/wideband/preamble_scores.h"
#include "waveform/families/wideband/wideband.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

namespace gr::hf::kernel::wideband {

namespace {

using value = std::complex<float>;
using points = std::vector<value>;

constexpr size_t fixed_symbols = fixed_dibits.size();
constexpr size_t short_symbols = 1 + countdown_symbols; // fixed ones in the short form
constexpr size_t superframe_symbols =
    fixed_symbols + countdown_symbols + waveform_symbols;
// The short form has one fixed symbol and is sent once, so its downcount is 0.

/* Noise exceeds a score of 21 once in two hours in 3 kHz: exp(-21) of 4800 places a
 * second times 35 offsets. Wider bands have more places. Steps of the offset: half a step
 * costs 1.1 dB over the 120 ms of nine symbols, and over the 67 ms of the short form's
 * five. */
constexpr double threshold_3_khz = 21;
// A sixth of the nine symbols, a quarter of the five.
constexpr double first_look_s = 0.02;
constexpr double whole_step_hz = 4.6, short_step_hz = 8.3;

/* Lead of the best hypothesis' log-likelihood: wrong once in 160000. Less is enough in
 * the last super-frame, if the words explain the input and no super-frame follows. */
constexpr float clear_lead = 12, last_lead = 0.5f, faded_lead = 3;
/* SNR that a waveform is made for, dB in its bandwidth: 110C table D-LII, AWGN. Some
 * words differ in one di-bit only, such as those of waveforms 0 and 12, or 1 and 13. So
 * on a weak signal prefer a waveform made for weak signals. Limited by the deepest
 * fade. */
constexpr std::array<double, 14> made_for_db{ -6, -3, 0,  3,  5,  6,  9,
                                              13, 16, 19, 21, 24, 30, 6 };
constexpr double es_n0_over_snr_db = 0.97, deepest_fade_db = 20;
// Impossible.
constexpr float never = -1e30f;
// Super-frames before giving up: 2.4 s, longer than all but the slowest fades.
constexpr size_t tried_superframes = 10;
/* certain_evidence: evidence over noise alone. At -9 dB in 3 kHz the mean is 37, and
 * three deviations of 9.5 lower leave 8. count_contradicts: a super-frame without a
 * successor was the last, unless its downcount contradicts by this much. */
constexpr float certain_evidence = 8, count_contradicts = 6;
/* The same without phases, for fading: a word's score in deviations of the noise,
 * averaged over the words of a super-frame. Noise gives 2.1, the best of four, with a
 * deviation of 0.4 over nine words. Limits: first super-frame, mean of later ones,
 * trusted last one, most in the input after it. */
constexpr float min_first = 3.5f, min_present = 3, last_present = 4, ended_present = 3.5f;
// A search score this high replaces the words for one super-frame.
constexpr float sure_score = 60;
/* If the words leave this much less noise than the fixed symbols, the fixed symbols were
 * others. Then the start of the super-frame was missed, or the downcount of a short form
 * differs. 1.6: for equal noise six deviations, over the 160 symbols of 3 kHz. Also
 * allowed: three deviations of noise times signal, and three times the share of the
 * signal (a 70th) that few fitted taps leave of a path between taps. */
constexpr float fixed_not_so = 1.6f, deviations_of_product = 3, left_by_taps = 0.04f;
/* In fast or new fading the channel has changed since the fixed part: the part that the
 * words do not explain counts as noise. by_chance: a word's power explained by chance. */
constexpr float by_chance = 1.5f;
/* A symbol with less than this share left is in a fade, unless noise may have done it.
 * Noise removes 80 % of an energy of 20 once in 10^5. Then others may be in a fade too,
 * and less is certain. */
constexpr float faded_share = 0.2f, faded_energy = 20;

//! A possible form of the preamble.
struct form {
    preamble_scrambling scrambling;
    bool is_short;

    preamble_options options(size_t superframes) const
    {
        preamble_options o;
        o.superframes = static_cast<int>(superframes);
        o.short_form = is_short;
        o.scrambling = scrambling;
        return o;
    }
};

//! Everything to listen for in one bandwidth.
struct listener {
    int khz = 3;
    std::vector<form> forms; // one for each search pattern
    std::vector<preamble_stretch> stretches;
    // words used in this bandwidth
    std::vector<codeword<waveform_word, waveform_symbols>> words;
    std::array<reception_plan, 14> plans; // by waveform
    family_reception family;
};

void append(points& all, const points& more)
{
    all.insert(all.end(), more.begin(), more.end());
}

// All di-bits at one place of a part.
std::vector<points>
alternatives(preamble_part part, size_t position, int khz, const preamble_options& o)
{
    std::vector<points> all;
    for (unsigned dibit = 0; dibit < 4; ++dibit)
        all.push_back(channel_symbol_points(part, position, dibit, khz, o));
    return all;
}

preamble_stretch stretch_of(const form& f, int khz)
{
    const auto o = f.options(1);
    const size_t chips = channel_symbol_chips(khz);
    preamble_stretch s;
    s.fixed = fixed_part_points(khz, o);
    size_t at = s.fixed.size();
    for (size_t c = 0; c < countdown_symbols; ++c, at += chips)
        if (f.is_short)
            append(s.fixed,
                   channel_symbol_points(
                       preamble_part::countdown, c, countdown_dibits(0)[c], khz, o));
        else
            s.words.push_back({ at, alternatives(preamble_part::countdown, c, khz, o) });
    for (size_t w = 0; w < waveform_symbols; ++w, at += chips)
        s.words.push_back({ at, alternatives(preamble_part::waveform, w, khz, o) });
    s.symbols = at;
    return s;
}

/* Adds the scores of all downcounts and waveforms over super-frames until one of each
 * leads clearly. So any good super-frame is enough. */
class superframe_reader : public preamble_reader
{
public:
    superframe_reader(const listener& l, size_t pattern)
        : d_l(l), d_form(l.forms[pattern]), d_stretch(l.stretches[pattern]), d_scores{
              std::vector<float>(d_form.is_short ? 1 : max_superframes, 0),
              std::vector<float>(l.words.size(), 0)
          }
    {
    }

    const preamble_stretch& stretch() const override { return d_stretch; }
    verdict read(const preamble_evidence& e) override;
    preamble_meaning meaning() const override { return d_meaning; }

private:
    struct decision {
        size_t best = 0;
        float lead = 0;
    };

    float score_symbols(const preamble_evidence& e);
    void expect_waveforms(const preamble_evidence& e);
    float add_scores();
    bool fixed_so(const preamble_evidence& e) const;
    verdict judge(bool certain);
    bool understand(size_t count, const waveform_word& w, size_t at);
    static decision decide(const std::vector<float>& scores);

    const listener& d_l;
    const form d_form;
    const preamble_stretch& d_stretch;
    preamble_meaning d_meaning;
    std::vector<dibit_evidence> d_symbols; // [word of the stretch]
    bool d_fixed_so = true; // fixed symbols of the last super-frame were right
    float d_energy = 0;     // Es / N0 of all their chips
    bool d_faded = false;   // some of them are in a fade
    size_t d_superframe = 0;
    size_t d_last_at = 0; // super-frames after which d_meaning is right if no more follow
    float d_present = 0;  // score of the symbols, over the super-frames
    preamble_scores d_scores;
};

/* Score of each di-bit, |matched| against noise; returns the mean score of the best ones.
 * Each symbol is weighted separately, as a fade may start between two of them. */
float superframe_reader::score_symbols(const preamble_evidence& e)
{
    const auto chips = static_cast<float>(channel_symbol_chips(d_l.khz));
    const float gain = std::max(e.gain, 1e-20f);
    const float es_n0 = std::max(gain / std::max(e.noise, 1e-20f), 1e-6f);
    d_symbols.assign(e.match.size(), {});
    d_energy = 0;
    d_faded = false;
    float present = 0;
    for (size_t g = 0; g < e.match.size(); ++g) {
        float best = 0;
        for (const value& m : e.match[g])
            best = std::max(best, std::norm(m));
        const float explained = best / (chips * e.noise * gain);
        present += explained;
        const float coherent =
            std::clamp((explained - by_chance) / (chips * es_n0), 0.0f, 1.0f);
        const float trust = 1 / (1 + (1 - coherent) * es_n0);
        d_energy += trust * chips * es_n0;
        d_faded |= chips * es_n0 > faded_energy && coherent < faded_share;
        for (size_t v = 0; v < 4; ++v)
            d_symbols[g][v] = trust * 2 * e.match[g][v] / e.noise;
    }
    return present / static_cast<float>(e.match.size());
}

// Prior likelihood of the waveforms, by the SNR of the first super-frame.
void superframe_reader::expect_waveforms(const preamble_evidence& e)
{
    const double snr_db =
        10 * std::log10(std::max(e.gain / std::max(e.noise, 1e-20f), 1e-6f)) -
        es_n0_over_snr_db;
    for (size_t k = 0; k < d_l.words.size(); ++k)
        d_scores.words[k] = faded_by(std::clamp(
            made_for_db[d_l.words[k].meaning.wid] - snr_db, 0.0, deepest_fade_db));
}

// Log-likelihood ratio of this super-frame to noise alone.
float superframe_reader::add_scores()
{
    dibit_words counts(d_scores.counts.size()), words;
    if (!d_form.is_short)
        for (size_t count = 0; count < counts.size(); ++count) {
            if (count < d_superframe)
                d_scores.counts[count] = never;
            const auto dibits = countdown_dibits(
                static_cast<unsigned>(count - std::min(count, d_superframe)));
            counts[count].assign(dibits.begin(), dibits.end());
        }
    for (const auto& w : d_l.words)
        words.emplace_back(w.dibits.begin(), w.dibits.end());
    return add_superframe(d_scores, d_symbols, counts, words) - d_energy;
}

superframe_reader::decision superframe_reader::decide(const std::vector<float>& scores)
{
    decision d;
    d.best = static_cast<size_t>(std::max_element(scores.begin(), scores.end()) -
                                 scores.begin());
    float second = -1e30f;
    for (size_t k = 0; k < scores.size(); ++k)
        if (k != d.best)
            second = std::max(second, scores[k]);
    d.lead = scores[d.best] - second;
    return d;
}

// \p count is the first super-frame's downcount, \p at this super-frame. False if this
// bandwidth lacks the waveform.
bool superframe_reader::understand(size_t count, const waveform_word& w, size_t at)
{
    const auto m = mode_of(d_l.khz, w);
    if (!m)
        return false;
    const auto plan = preamble(*m, d_form.options(count + 1));
    d_meaning = {};
    d_meaning.waveform = &kernel::describe(*m);
    d_meaning.plan = &d_l.plans[w.wid];
    d_meaning.symbols_seen = plan.symbols.size();
    d_meaning.symbols_to_data = plan.symbols.size() - at * d_stretch.symbols;
    for (const uint8_t number : plan.symbols)
        d_meaning.preamble.push_back(d_meaning.waveform->known_points[number]);
    return true;
}

// \p certain: this was certainly a super-frame.
preamble_reader::verdict superframe_reader::judge(bool certain)
{
    const decision count = decide(d_scores.counts), word = decide(d_scores.words);
    const float lead = d_form.is_short ? word.lead : std::min(count.lead, word.lead);
    const waveform_word& meaning = d_l.words[word.best].meaning;
    const size_t at = d_superframe++;
    // The measured channel and carrier are wrong then, so wait for the next super-frame.
    if (lead >= clear_lead && !d_fixed_so && count.best > at)
        return verdict::more;
    if (lead >= clear_lead)
        return understand(count.best, meaning, at) ? verdict::found : verdict::rejected;
    const bool readable = certain && word.lead >= (d_faded ? faded_lead : last_lead);
    if (d_form.is_short)
        return readable && understand(0, meaning, at) ? verdict::found
                                                      : verdict::rejected;
    // Perhaps this was the last super-frame; then the next one will not look like one.
    d_last_at = 0;
    if (readable &&
        d_scores.counts[at] >= d_scores.counts[count.best] - count_contradicts &&
        understand(at, meaning, at)) {
        d_last_at = d_superframe;
        return verdict::maybe;
    }
    return d_superframe < tried_superframes ? verdict::more : verdict::rejected;
}

// True if the fixed symbols were as expected, as far as the words can tell.
bool superframe_reader::fixed_so(const preamble_evidence& e) const
{
    const auto symbols =
        static_cast<float>(d_stretch.words.size() * channel_symbol_chips(d_l.khz));
    const float deviation = std::sqrt(2 * e.gain * e.noise_of_fixed / symbols);
    return e.noise_of_fixed <= fixed_not_so * e.noise_of_words +
                                   deviations_of_product * deviation +
                                   left_by_taps * e.gain;
}

preamble_reader::verdict superframe_reader::read(const preamble_evidence& e)
{
    d_fixed_so = fixed_so(e);
    if (d_form.is_short && !d_fixed_so)
        return verdict::rejected;
    const float present = score_symbols(e);
    if (d_superframe == 0)
        expect_waveforms(e);
    const bool certain = add_scores() >= certain_evidence;
    if (!certain && d_last_at > 0 && d_last_at == d_superframe && present < ended_present)
        return verdict::as_before;
    d_present += present;
    const float least = d_superframe == 0
                            ? min_first
                            : min_present * static_cast<float>(d_superframe + 1);
    if (!certain && !(d_present >= least) && (d_superframe > 0 || e.score < sure_score))
        return verdict::rejected;
    return judge(certain || present >= last_present);
}

void add_patterns(listener& l)
{
    const size_t chips = channel_symbol_chips(l.khz);
    const auto threshold = static_cast<float>(threshold_3_khz + std::log(l.khz / 3.0));
    for (const bool is_short : { false, true })
        for (const auto scrambling :
             { preamble_scrambling::restart, preamble_scrambling::running }) {
            const form f{ scrambling, is_short };
            const auto s = stretch_of(f, l.khz);
            // In 24 kHz and 48 kHz both readings are the same.
            if (scrambling == preamble_scrambling::running &&
                s.fixed == l.stretches.back().fixed &&
                s.words.back().alternatives ==
                    l.stretches.back().words.back().alternatives)
                continue;
            search_pattern p;
            p.symbols = s.fixed;
            p.threshold = threshold;
            /* The scrambling repeats itself, so side peaks may be early by as many
             * channel symbols as there are fixed ones. The whole form also has such peaks
             * for the short form's pattern, once its first symbol enters the last one of
             * the short form. */
            p.hold = (fixed_symbols + short_symbols) * chips;
            p.step_hz = is_short ? short_step_hz : whole_step_hz;
            p.repeats_after = superframe_symbols * chips;
            p.contest = 1;
            p.place = is_short ? 0 : (fixed_symbols - 1) * chips;
            p.first_look_s = first_look_s;
            l.family.patterns.push_back(std::move(p));
            l.forms.push_back(f);
            l.stretches.push_back(s);
        }
}

listener listener_of(int khz)
{
    listener l;
    l.khz = khz;
    for (const auto& c : waveform_codebook())
        if (mode_of(khz, c.meaning))
            l.words.push_back(c);
    for (const waveform_row& w : waveforms)
        if (w.bandwidth_khz == khz)
            l.plans[w.wid] = plan_of(w);
    add_patterns(l);
    l.family.symbol_rate_bd = 800.0 * khz;
    /* At 8 times the noise, noise would make a path in one of 70 preambles of a weak
     * signal, up to ten milliseconds early. The signal would then be outside the window
     * of delays. */
    l.family.synchroniser.min_path_over_noise = 13;
    // A super-frame; it contains a whole number of TLC blocks.
    l.family.periods_s = { 0.24 };
    return l;
}

// Of a bandwidth, Hz; null: this family lacks it.
const listener* listener_in(int bandwidth_hz)
{
    static const auto all = [] {
        std::vector<std::unique_ptr<listener>> list;
        for (const int khz : bandwidths_khz) {
            list.push_back(std::make_unique<listener>(listener_of(khz)));
            const listener* l = list.back().get();
            list.back()->family.reader = [l](size_t pattern, const reading_options&) {
                return std::make_unique<superframe_reader>(*l, pattern);
            };
        }
        return list;
    }();
    for (const auto& l : all)
        if (1000 * l->khz == bandwidth_hz)
            return l.get();
    return nullptr;
}

} // namespace

const family_reception* reception(int bandwidth_hz)
{
    const listener* l = listener_in(bandwidth_hz);
    return l == nullptr ? nullptr : &l->family;
}

const reception_plan& plan_of(const mode& m)
{
    return listener_in(m.bandwidth_hz)->plans[word_of(m).wid];
}

} // namespace gr::hf::kernel::wideband
