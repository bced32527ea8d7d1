/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/modem/receiver.h"

#include "ale/words/address.h"
#include "radio/audio_rates.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace gr::hf::ale {

namespace {

// Noise exceeds it in 1 % of 300 tries, ALE at -6 dB in 95 %, at -3 dB in all.
constexpr float min_prominence = 6.8f;

using rates = kernel::audio_rates;

// Band around the middle tone: the tones, their bandwidth and the offsets pass.
constexpr double pass_hz = 1100, stop_hz = 3000;
// No receiver gives larger samples; their squares still fit a float.
constexpr float largest_power = 1e18f;

// Rows within which one place is the strongest: half a tone.
constexpr int64_t apart = rows_per_tone / 2;

// Words that are read before the one that started a track.
constexpr size_t earlier_words = 2;

// Twice the logarithm of how many words there are for one in each set: fewer words need
// less proof.
constexpr std::array<float, word_sets> advantage{ 8.2f, 4.2f, 10.1f, 2.8f };

// The set that fits best among those that may follow.
const word_match& chosen(const std::array<word_match, word_sets>& found, bool message)
{
    size_t best = 0;
    for (size_t set = 1; set < word_sets; ++set) {
        const auto not_here =
            message ? word_set::address_extension : word_set::any_extension;
        if (set != static_cast<size_t>(not_here) &&
            found[set].score + advantage[set] > found[best].score + advantage[best])
            best = set;
    }
    return found[best];
}

// Score of the word that fits best.
float best_score(const soft_word& w)
{
    float best = 0;
    for (const auto& match : best_words(w.bits))
        best = std::max(best, match.score);
    return best / w.norm;
}

} // namespace

receiver::receiver(const receiver_limits& limits, size_t history_words)
    : d_limits(limits),
      d_resampler(rates::default_modem,
                  kernel::fraction::of(tone_row_sample_rate / rates::default_modem, 100),
                  middle_tone_hz - rates::default_subcarrier,
                  pass_hz,
                  stop_hz,
                  1),
      d_mixer((rates::default_subcarrier - middle_tone_hz) / tone_row_sample_rate),
      d_history_words(history_words), d_bits(history_words), d_meter(history_words)
{
    if (history_words < min_history)
        throw std::invalid_argument("history " + std::to_string(history_words) +
                                    " words: allowed are " + std::to_string(min_history) +
                                    " and more");
}

void receiver::expect(const expected_words& e)
{
    d_called = e.called;
    d_callers = e.callers;
    auto frames = e.frames;
    frames.erase(std::remove_if(frames.begin(),
                                frames.end(),
                                [this](const auto& words) {
                                    return words.empty() || !words.back() ||
                                           words.size() > d_history_words;
                                }),
                 frames.end());
    d_frames.start(frames);
}

void receiver::push(const std::complex<float>* x, size_t n)
{
    constexpr size_t piece = 2048;
    for (; n > 0; x += std::min(n, piece), n -= std::min(n, piece)) {
        d_piece.assign(x, x + std::min(n, piece));
        for (auto& sample : d_piece)
            if (!(std::norm(sample) < largest_power)) // nor if it is not finite
                sample = 0;
        d_resampler.push(d_piece.data(), d_piece.size());
        d_piece.resize(d_resampler.ready());
        d_resampler.take(d_piece.data());
        d_mixer.run(d_piece.data(), d_piece.size());
        d_meter.push(d_piece.data(), d_piece.size());
        d_rows.push(d_piece.data(), d_piece.size(), [this](const tone_rows::row& r) {
            on_row(r);
        });
    }
}

std::optional<rx_event> receiver::poll()
{
    if (d_events.empty())
        return std::nullopt;
    const rx_event e = d_events.front();
    d_events.pop_front();
    return e;
}

std::optional<bool> receiver::presence() const
{
    if (d_presence.rows < presence_rows)
        return std::nullopt;
    return d_presence.sum > min_prominence * static_cast<float>(d_presence.rows);
}

void receiver::on_row(const tone_rows::row& r)
{
    if (d_rows.prominence() > 0) {
        d_presence.sum += d_rows.prominence();
        ++d_presence.rows;
    }
    const int64_t now = d_bits.rows();
    d_bits.push(r);
    await_frame();
    follow(now);
    search(now);
}

// Before follow(), which would read or lose the last word of the frame.
void receiver::await_frame()
{
    const auto m = d_frames.push(d_bits, d_limits.frame, apart);
    if (!m || m->end - d_last.end < 2 * apart) // its last word was read already
        return;
    if (!contradicted(*m))
        take_frame(*m);
}

// Whether another word was sent where the frame has one, or nothing where it has its last.
bool receiver::contradicted(const frame_search::match& m) const
{
    const auto& words = d_frames.words(m.frame);
    place p{ m.end, m.offset };
    for (auto w = words.rbegin(); w != words.rend(); ++w, p.end -= rows_per_word) {
        if (!*w)
            continue;
        const soft_word soft = d_bits.at(p.end, p.offset);
        const float score = correlate(encode(**w), soft.bits) / soft.norm;
        const bool last = w == words.rbegin();
        if (last && (score < d_limits.frame_last ||
                     score < best_score(soft) - d_limits.frame_worse))
            return true;
        const auto e = read_standing(p, false);
        if (e && score < e->score - d_limits.frame_worse)
            return true;
    }
    return false;
}

// A frame follows whose last word ends in row \p end.
void receiver::restart_track(int64_t end)
{
    if (!d_track)
        return;
    const int64_t phase = (end - d_track->where.end + rows_per_word) % rows_per_word;
    if (std::min(phase, rows_per_word - phase) >= 2 * apart)
        return end_track();
    rx_event e;
    e.what = rx_event::kind::again;
    e.start_s = start_of(end);
    d_events.push_back(e);
    d_track.reset();
}

void receiver::take_frame(const frame_search::match& m)
{
    restart_track(m.end);
    d_best.reset();
    const auto& words = d_frames.words(m.frame);
    const auto before = static_cast<int64_t>(words.size()) - 1;
    place p{ m.end - before * rows_per_word, m.offset };
    d_track.emplace().where = p;
    d_last = { m.end, 0 };
    for (const auto& expected : words) {
        const soft_word w = d_bits.at(p.end, p.offset);
        auto e = read_standing(p, false);
        if (expected) {
            e = event_of(p, w, *expected, correlate(encode(*expected), w.bits));
            measure(p, *e);
        }
        if (e)
            report(*e);
        else
            lose(p.end);
        d_last.score = std::max(d_last.score, e ? e->score : 0);
        d_track->where = p;
        p.end += rows_per_word;
    }
    d_track->lost = 0;
}

// A word of the track.
void receiver::report(const rx_event& e)
{
    d_events.push_back(e);
    auto& t = *d_track;
    const auto kind = e.text.kind;
    if (is_extension(kind)) {
        if (!t.conclusion.empty())
            t.conclusion.push_back(e.text);
        return;
    }
    t.message = kind == preamble::cmd;
    if (kind == preamble::to)
        t.called = e.text;
    t.conclusion.clear();
    if (kind == preamble::tis || kind == preamble::twas)
        t.conclusion.push_back(e.text);
}

void receiver::lose(int64_t end)
{
    rx_event missing;
    missing.what = rx_event::kind::lost;
    missing.start_s = start_of(end);
    d_events.push_back(missing);
    if (!d_track->conclusion.empty())
        d_track->conclusion.emplace_back(); // continues no address
}

void receiver::search(int64_t now)
{
    for (size_t f = 0; f < offset_count; ++f) {
        const soft_word w = d_bits.at(now, f);
        const float sum = w.strength * w.norm;
        // No score is above the strength.
        if (w.strength >= d_limits.lock && (!d_place || sum > d_place->sum))
            d_place = place{ now, f, sum };
    }
    if (d_place && now - d_place->end >= apart) {
        judge(*d_place);
        d_place.reset();
    }
    if (d_best && now >= d_settled) {
        const candidate c = *d_best;
        d_best.reset();
        settle(c);
    }
}

void receiver::judge(const place& p)
{
    if (d_track) {
        const int64_t phase =
            (p.end - d_track->where.end + rows_per_word / 2) % rows_per_word -
            rows_per_word / 2;
        if (std::abs(phase) < apart)
            return; // followed already
    }
    const auto e = read(p, false);
    if (!e || e->score < d_limits.lock || e->fit < d_limits.lock_fit ||
        !starts_address(e->text))
        return;
    if (!d_best)
        d_settled = p.end + rows_per_word - 1;
    if (!d_best || e->score > d_best->event.score)
        d_best = candidate{ p, *e };
}

void receiver::settle(const candidate& c)
{
    // A word that overlaps one that was read is mostly made of its tones.
    if (c.where.end - rows_per_word < d_last.end &&
        c.event.score < d_last.score + d_limits.better)
        return;
    end_track();
    d_track.emplace().where = c.where;
    read_earlier(c);
    report(c.event);
    d_last = { c.where.end, c.event.score };
    follow(d_bits.rows() - 1);
}

void receiver::read_earlier(const candidate& c)
{
    std::deque<rx_event> earlier;
    place p = c.where;
    for (size_t words = 0; words < earlier_words; ++words) {
        p = best_near(p.end - rows_per_word, p.offset);
        auto e = read_known(p, called_words(c.event.text));
        if (!e)
            e = read_standing(p, false);
        if (!e || !starts_address(e->text) || p.end - rows_per_word < d_last.end)
            break;
        earlier.push_front(*e);
    }
    for (const auto& e : earlier)
        report(e);
}

void receiver::follow(int64_t now)
{
    // A frame that ends here is found first.
    const int64_t delay = rows_per_word + (d_frames.active() ? 2 * apart : 0);
    if (!d_track || now <= d_track->where.end + delay)
        return;
    const int64_t expected = d_track->where.end + rows_per_word;
    const place p = best_near(expected, d_track->where.offset);
    auto e = read_known(p, known_next());
    if (!e)
        e = read_standing(p, d_track->message);
    if (e) {
        report(*e);
        d_track->where = p;
        d_track->lost = 0;
        d_last = { p.end, e->score };
        return;
    }
    d_track->where.end = expected;
    ++d_track->lost;
    lose(expected);
    if (d_track->lost >= d_limits.max_lost)
        end_track();
}

void receiver::end_track()
{
    if (!d_track)
        return;
    rx_event e;
    e.what = rx_event::kind::end;
    e.start_s = start_of(d_track->where.end + (1 - d_track->lost) * rows_per_word);
    d_events.push_back(e);
    d_track.reset();
}

receiver::place receiver::best_near(int64_t end, size_t offset) const
{
    place best{ end, offset, -1 };
    const size_t last = std::min(offset + 1, offset_count - 1);
    for (size_t f = offset > 0 ? offset - 1 : 0; f <= last; ++f)
        for (int64_t row = end - 1; row <= end + 1; ++row) {
            const soft_word w = d_bits.at(row, f);
            if (w.strength * w.norm > best.sum)
                best = { row, f, w.strength * w.norm };
        }
    return best;
}

// The word in its place, if it counts.
std::optional<rx_event> receiver::read_standing(const place& p, bool message) const
{
    auto e = read(p, message);
    if (e && !stands(*e))
        e.reset();
    return e;
}

// Whether a word in its place counts without being expected.
bool receiver::stands(const rx_event& e) const
{
    const auto& t = e.text.text;
    const bool any =
        e.text.kind == preamble::cmd ||
        (is_extension(e.text.kind) && !std::all_of(t.begin(), t.end(), is_basic));
    return e.fit >= d_limits.follow_fit &&
           e.score >= (any ? d_limits.follow_any : d_limits.follow);
}

std::optional<rx_event> receiver::read(const place& p, bool message) const
{
    const soft_word w = d_bits.at(p.end, p.offset);
    if (w.norm <= 0)
        return std::nullopt;
    const auto found = best_words(w.bits);
    const auto& match = chosen(found, message);
    auto e = event_of(p, w, match.what, match.score);
    if (e.score >= d_limits.follow)
        measure(p, e);
    return e;
}

rx_event
receiver::event_of(const place& p, const soft_word& w, const word& text, float sum) const
{
    rx_event e;
    e.text = text;
    e.start_s = start_of(p.end);
    if (w.norm <= 0) // silence
        return e;
    e.score = sum / w.norm;
    e.fit = e.score / w.strength;
    e.votes = d_bits.votes(p.end, p.offset);
    return e;
}

// First words of the called address, where \p read is a word of the same frame.
std::vector<word> receiver::called_words(const word& read) const
{
    auto words = d_called;
    if (!words.empty() && read.kind == preamble::to)
        words.push_back(read);
    return words;
}

// Words that may be next in a call: its called address again, or that of a known caller.
std::vector<word> receiver::known_next() const
{
    std::vector<word> next;
    const auto& t = *d_track;
    if (!t.called)
        return next;
    if (t.conclusion.empty() && !t.message)
        next = called_words(*t.called);
    for (const auto& words : d_callers)
        if (words.size() > t.conclusion.size() &&
            std::equal(t.conclusion.begin(), t.conclusion.end(), words.begin()))
            next.push_back(words[t.conclusion.size()]);
    return next;
}

// The best of some words, if it counts where they are expected.
std::optional<rx_event> receiver::read_known(const place& p,
                                             const std::vector<word>& known) const
{
    const soft_word w = d_bits.at(p.end, p.offset);
    if (known.empty() || w.norm <= 0)
        return std::nullopt;
    word_match best;
    for (const auto& next : known) {
        const float sum = correlate(encode(next), w.bits);
        if (sum > best.score)
            best = { next, sum };
    }
    auto e = event_of(p, w, best.what, best.score);
    if (e.score < d_limits.known || e.score < best_score(w) - d_limits.known_worse)
        return std::nullopt;
    measure(p, e);
    return e;
}

void receiver::measure(const place& p, rx_event& e) const
{
    const auto found = d_meter.measure(e.text, p.end, p.offset);
    e.offset_hz = found.offset_hz;
    e.snr_db = found.snr_db;
}

double receiver::start_of(int64_t end) const
{
    return static_cast<double>(end + 1 - rows_per_word) / row_rate;
}

} // namespace gr::hf::ale
