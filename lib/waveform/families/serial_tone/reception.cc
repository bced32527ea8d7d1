/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/families/serial_tone/reception.h"

#include "waveform/coding/scrambler.h"
#include "waveform/families/serial_tone/serial_tone.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace gr::hf::kernel::serial_tone {

namespace {

using value = std::complex<float>;

/* Noise exceeds a score of 21 once in two hours: exp(-21) of 4800 places a second times
 * 35 offsets. The fixed part resembles itself 96 symbols off, so the search waits for the
 * true peak. Steps of the offset: half a step costs 1.1 dB over 288 symbols. */
constexpr float search_threshold = 21;
constexpr size_t search_hold = 100;
constexpr double search_step_hz = 4.6;
// A sixth of the fixed part, as in the wideband family.
constexpr double first_look_s = 0.02;

// Words after the fixed part: D1, D2, C1, C2, C3, and one that is always 0.
constexpr size_t words = 6, last_word = 5;
constexpr unsigned mode_words_each = 4; // 4..7, of D1 and of D2
constexpr unsigned counts = 24;         // segments of the longest preamble

/* Lead of the best hypothesis' log-likelihood: wrong once in 160000. Less is enough in
 * the last segment of a preamble, if the words explain the input and the next segment is
 * none. */
constexpr float clear_lead = 12, last_lead = 3;
// Segments before giving up: 2.4 s, longer than all but the slowest fades.
constexpr size_t max_segments = 12;
/* How much of the noise's deviation the words explain in a segment; noise gives about 12 over the
 * six words. In the first segment, in all after it on average, in the last one if it is to be
 * trusted, in what follows the last one at most. On noise `hf-lab ber noise` measures what they are
 * worth together with the search, at the threshold of the data `hf-lab ber acquisition`; no derivation is
 * known that would give the one against the other. */
constexpr float min_first = 22, min_present = 18, last_present = 26, ended_present = 22;
// A search score this high replaces the words for one segment.
constexpr float sure_score = 60;
/* In fast fading the channel has changed since the fixed part: the part that the words do
 * not explain counts as noise. by_chance: a word's power explained by chance. enough: Es
 * / N0 without any doubt. */
constexpr float by_chance = 1.5f, enough = 4;

std::vector<value> points_of(const std::vector<uint8_t>& numbers)
{
    std::vector<value> p;
    for (const uint8_t n : numbers)
        p.push_back(psk8_points()[n]);
    return p;
}

preamble_stretch segment()
{
    preamble_stretch s;
    s.symbols = segment_symbols;
    s.fixed = points_of(fixed_preamble());
    const auto& scrambler = serial_tone_sync_scrambler();
    for (size_t g = 0; g < words; ++g) {
        s.words.push_back({ (fixed_groups + g) * group_symbols, {} });
        for (unsigned w = 0; w < 8; ++w) {
            std::vector<uint8_t> numbers(group_symbols);
            for (size_t i = 0; i < group_symbols; ++i)
                numbers[i] = (walsh_word(w)[i % 8] + scrambler[i]) & 7;
            s.words.back().alternatives.push_back(points_of(numbers));
        }
    }
    return s;
}

/* How to follow a channel with known symbols every 17 or 20 ms, by its Doppler spread.
 * The series is exact to -30 dB within half a frame plus the longest delay of its centre:
 * 14 ms. Beyond, its error counts as noise. */
std::vector<fading_class> paces()
{
    return {
        { 0, { 2, 3, 0.08, 20, 0 }, 16 },     { 3.5, { 7, 5, 0.055, 18, 20 }, 12 },
        { 7, { 13, 7, 0.045, 16, 16 }, 8 },   { 14, { 23, 9, 0.035, 14, 12 }, 4 },
        { 24, { 35, 11, 0.030, 12, 10 }, 4 },
    };
}

reception_plan plan(float presence)
{
    reception_plan p;
    p.presence = presence;
    p.paces = paces();
    p.learns_delays = true;
    return p;
}

/* Adds the scores of all modes and counts over segments until one leads clearly. So any
 * good segment of a preamble is enough. */
class segment_reader : public preamble_reader
{
public:
    explicit segment_reader(const reading_options& o)
        : d_options(o), d_scores(mode_words_each * mode_words_each * counts, 0)
    {
    }

    const preamble_stretch& stretch() const override
    {
        static const preamble_stretch s = segment();
        return s;
    }
    verdict read(const preamble_evidence& e) override;
    preamble_meaning meaning() const override { return d_meaning; }

private:
    using word_scores = std::array<std::array<float, 8>, words>;

    float score_words(const preamble_evidence& e);
    void add_scores();
    verdict judge();

    reading_options d_options;
    preamble_meaning d_meaning;
    word_scores d_words{};
    size_t d_segment = 0;
    size_t d_last_at =
        0; // segments after which d_meaning is right if the preamble is over
    float d_present = 0;         // score of the words, over the segments
    std::vector<float> d_scores; // [d1][d2][count at the first segment]
};

// Score of each word, |matched| against noise; returns the score of the best ones.
float segment_reader::score_words(const preamble_evidence& e)
{
    float present = 0;
    for (size_t g = 0; g < words; ++g) {
        float best = 0;
        for (size_t w = 0; w < 8; ++w) {
            const float m = std::abs(e.match[g][w]);
            d_words[g][w] = 2 * m / e.noise;
            best = std::max(best, m);
        }
        if (g == last_word)
            best = d_words[g][0] * e.noise / 2;
        present +=
            best * best /
            (static_cast<float>(group_symbols) * e.noise * std::max(e.gain, 1e-20f));
    }
    return present;
}

void segment_reader::add_scores()
{
    for (unsigned a = 0; a < mode_words_each; ++a)
        for (unsigned b = 0; b < mode_words_each; ++b)
            for (unsigned count = 0; count < counts; ++count) {
                float& h = d_scores[(a * mode_words_each + b) * counts + count];
                const auto m = mode_of(4 + a, 4 + b, d_options.zero_interleaver);
                if (count < d_segment || (m && count >= segments(*m))) {
                    h = -1e30f;
                    continue;
                }
                const unsigned now = count - static_cast<unsigned>(d_segment);
                h += d_words[0][4 + a] + d_words[1][4 + b] +
                     d_words[2][4 + (now >> 4 & 3)] + d_words[3][4 + (now >> 2 & 3)] +
                     d_words[4][4 + (now & 3)];
            }
}

preamble_reader::verdict segment_reader::judge()
{
    size_t best = 0;
    for (size_t k = 1; k < d_scores.size(); ++k)
        if (d_scores[k] > d_scores[best])
            best = k;
    float second = -1e30f;
    for (size_t k = 0; k < d_scores.size(); ++k)
        if (k != best)
            second = std::max(second, d_scores[k]);
    const float lead = d_scores[best] - second;
    const size_t segment = d_segment++;
    const auto m = mode_of(static_cast<unsigned>(4 + best / (mode_words_each * counts)),
                           static_cast<unsigned>(4 + best / counts % mode_words_each),
                           d_options.zero_interleaver);
    const size_t left = best % counts - segment + 1; // including this segment
    if (m)
        d_meaning = { &kernel::describe(*m),
                      &plan_of(*m),
                      left * segment_symbols,
                      (left + segment) * segment_symbols };
    if (lead >= clear_lead)
        return m ? verdict::found : verdict::rejected; // reserved words
    // Perhaps this was the last segment; then the next one will not look like one.
    d_last_at = 0;
    if (m && left == 1 && segment > 0 && lead >= last_lead &&
        d_present >= last_present * static_cast<float>(d_segment)) {
        d_last_at = d_segment;
        return verdict::maybe;
    }
    return d_segment < max_segments ? verdict::more : verdict::rejected;
}

preamble_reader::verdict segment_reader::read(const preamble_evidence& e)
{
    const float present = score_words(e);
    if (d_last_at > 0 && d_last_at == d_segment && present < ended_present)
        return verdict::as_before;
    d_present += present;
    const float least =
        d_segment == 0 ? min_first : min_present * static_cast<float>(d_segment + 1);
    if (!(d_present >= least) && (d_segment > 0 || e.score < sure_score))
        return verdict::rejected;

    const float es_n0 = std::max(e.gain / std::max(e.noise, 1e-20f), 1e-6f);
    const float coherent = std::clamp((present / static_cast<float>(words) - by_chance) /
                                          (static_cast<float>(group_symbols) * es_n0),
                                      0.0f,
                                      1.0f);
    const float trust = 1 / (1 + (1 - coherent) * std::min(es_n0, enough));
    for (auto& scores : d_words)
        for (float& x : scores)
            x *= trust;
    add_scores();
    return judge();
}

} // namespace

const family_reception* reception(int bandwidth_hz)
{
    static const family_reception r = [] {
        family_reception f;
        f.patterns = { { points_of(fixed_preamble()),
                         search_threshold,
                         search_hold,
                         search_step_hz,
                         segment_symbols,
                         false } };
        f.patterns.front().first_look_s = first_look_s;
        // An echo of 12 ms, and the pulse on both sides.
        f.synchroniser.wide_window_s = 0.01875;
        f.reader = [](size_t, const reading_options& o) {
            return std::make_unique<segment_reader>(o);
        };
        // A preamble segment, and three times the data scrambler's 160 symbols.
        f.periods_s = { static_cast<double>(segment_symbols) / f.symbol_rate_bd };
        return f;
    }();
    return bandwidth_hz == 3000 ? &r : nullptr;
}

// 150 and 300 bit/s work on signals whose probes hardly exceed fitted noise.
const reception_plan& plan_of(const mode& m)
{
    static const reception_plan weakest = plan(0.13f), weak = plan(0.17f),
                                usual = plan(0.25f);
    return m.rate_bps <= 150 ? weakest : m.rate_bps <= 300 ? weak : usual;
}

} // namespace gr::hf::kernel::serial_tone
