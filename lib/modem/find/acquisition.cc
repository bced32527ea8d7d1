/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/find/acquisition.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gr::hf::kernel {

namespace {

using value = std::complex<float>;
using verdict = preamble_reader::verdict;

// Least error of a measured offset that no signal within the range has: more than a step of
// the search, 12.8 Hz at most. Hum resembles probes at the distance of its harmonics.
constexpr double beyond_range_hz = 20;

/* Least power of probes at their delay, over the median of all delays that are searched.
 * Signals had 35 and more at the SNR of 10 % bad blocks on Poor, harmonics of 50 Hz at
 * most 12, mostly below 2: they resemble probes at every delay. */
constexpr float at_one_delay = 10;

// Rows of room for the filter before a stretch.
constexpr int64_t room_before = 8;

// A median, as one stretch may be off by the inverse of the time between its pieces.
double median(std::vector<double> v)
{
    const auto middle = v.begin() + static_cast<long>(v.size() / 2);
    std::nth_element(v.begin(), middle, v.end());
    return *middle;
}

bool is_at_one_delay(const synchroniser::located& l)
{
    std::vector<float> power = l.power;
    const auto middle = power.begin() + static_cast<long>(power.size() / 2);
    std::nth_element(power.begin(), middle, power.end());
    return l.correlation() > at_one_delay * *middle;
}

} // namespace

acquisition::acquisition(const symbol_grid& grid,
                         const family_reception& family,
                         const preamble_candidate& c,
                         const reading_options& options,
                         double max_offset_hz)
    : d_grid(grid), d_family(&family), d_candidate(c),
      d_max_offset_hz(max_offset_hz + beyond_range_hz),
      d_reader(family.reader(c.pattern, options)),
      d_synchroniser(grid, family.synchroniser)
{
}

// Input samples from one stretch to the next.
int64_t acquisition::step() const
{
    const preamble_stretch& s = d_reader->stretch();
    return symbol_grid::samples_per_symbol *
           static_cast<int64_t>(s.step > 0 ? s.step : s.symbols);
}

int64_t acquisition::sample() const { return d_candidate.sample + d_first * step(); }

int64_t acquisition::needs() const { return sample() - d_synchroniser.reach_before(); }

// Match every word with all its alternatives, through the channel found.
preamble_evidence acquisition::match(const sample_buffer& in, const synchronised& s) const
{
    const preamble_stretch& sought = d_reader->stretch();
    const size_t taps = d_synchroniser.taps();
    half_symbol_stream y(d_grid, s.origin, -room_before, s.hz);
    y.run(in, static_cast<int64_t>(2 * sought.symbols + taps));
    preamble_evidence e;
    e.noise = e.noise_of_fixed = e.noise_of_words = s.noise;
    e.gain = s.gain;
    e.score = d_candidate.score;
    std::vector<size_t> certain;
    for (size_t k = 0; k < taps; ++k)
        if (s.taps[k] != value{})
            certain.push_back(k);
    std::vector<value> z;
    double power = 0, explained = 0, rows = 0;
    for (const auto& word : sought.words) {
        z.clear();
        const auto length = static_cast<double>(word.alternatives.front().size());
        for (size_t i = 0; i < word.alternatives.front().size(); ++i) {
            const value* row = y.at(static_cast<int64_t>(2 * (word.begin + i)));
            value sum = 0;
            for (const size_t k : certain)
                sum += std::conj(s.taps[k]) * row[k];
            z.push_back(sum);
            power += (std::norm(row[d_synchroniser.lead()]) +
                      std::norm(row[d_synchroniser.lead() + 1])) /
                     2;
        }
        rows += length;
        e.match.emplace_back();
        double best = 0;
        for (const auto& symbols : word.alternatives) {
            value sum = 0;
            for (size_t i = 0; i < symbols.size(); ++i)
                sum += std::conj(symbols[i]) * z[i];
            e.match.back().push_back(sum);
            best = std::max<double>(best, std::norm(sum));
        }
        explained += best / length;
    }
    /* If a strong signal starts within the fixed symbols, its part there resembles them a
     * little. The residual of the fixed symbols then says nothing about the noise under
     * the words. */
    const double gain = std::max(s.gain, 1e-20f);
    if (rows > 0)
        e.noise_of_words = static_cast<float>(
            std::max(0.0, power - explained * s.row_power / (gain * gain)) / rows);
    e.noise = std::max(e.noise_of_fixed, e.noise_of_words);
    return e;
}

/* The first stretch decides between the search's offset and the others at which the
 * pattern resembles itself. The search cannot: its steps cost more than these offsets
 * differ by. */
std::optional<synchroniser::located> acquisition::locate(const sample_buffer& in,
                                                         int64_t start) const
{
    const search_pattern& pattern = d_family->patterns[d_candidate.pattern];
    const auto at = [&](double hz) {
        return d_synchroniser.locate(
            in, start, hz, d_reader->stretch().fixed, pattern.periodic);
    };
    if (d_hz)
        return at(*d_hz);
    auto best = at(d_candidate.frequency_hz);
    if (pattern.resembles_hz > 0)
        for (const double other : { -pattern.resembles_hz, pattern.resembles_hz })
            if (auto l = at(d_candidate.frequency_hz + other);
                l && (!best || l->correlation() > best->correlation()))
                best = std::move(l);
    return best;
}

// Whether a signal outside of the range explains the pattern better. Only what has been
// read is tested: most candidates are no signals.
bool acquisition::fits_beyond(const sample_buffer& in,
                              int64_t start,
                              const synchronised& s) const
{
    const search_pattern& pattern = d_family->patterns[d_candidate.pattern];
    if (pattern.resembles_beyond_hz == 0)
        return false;
    for (const double other :
         { -pattern.resembles_beyond_hz, pattern.resembles_beyond_hz }) {
        const auto there = d_synchroniser.locate(
            in, start, s.hz + other, d_reader->stretch().fixed, pattern.periodic);
        if (there && there->correlation() > s.correlation)
            return true;
    }
    return false;
}

// Empty if more samples are needed.
std::optional<verdict> acquisition::read_stretch(const sample_buffer& in)
{
    const preamble_stretch& sought = d_reader->stretch();
    const int64_t start = d_candidate.sample + d_stretch * step();
    if (in.end() < start + d_synchroniser.reach(sought.fixed.size(), sought.symbols))
        return std::nullopt;
    const auto place = locate(in, start);
    if (sought.alone)
        d_first = d_stretch;
    ++d_stretch;
    // The channel costs most of the time: measure it only of what is within the range.
    if (place && std::abs(place->hz) > d_max_offset_hz)
        return verdict::rejected;
    if (sought.alone && d_first == 0 && place && !is_at_one_delay(*place))
        return verdict::rejected;
    const bool periodic = d_family->patterns[d_candidate.pattern].periodic;
    auto s =
        place ? d_synchroniser.run(in, *place, sought.fixed, periodic) : std::nullopt;
    if (!s)
        return d_reader->read_nothing();
    if (!d_hz)
        d_hz = s->hz;
    if (sought.alone)
        d_seen.push_back(s->hz);
    const verdict v = d_reader->read(match(in, *s));
    if (v == verdict::found && fits_beyond(in, start, *s))
        return verdict::rejected;
    if (v == verdict::found || v == verdict::maybe) {
        // A periodic pattern shows a late path at a wrong delay, too.
        if (!periodic)
            d_synchroniser.widen(*s, in, sought.fixed);
        take(d_reader->meaning(), *s);
    }
    return v;
}

void acquisition::take(const preamble_meaning& m, const synchronised& s)
{
    d_may_be = m.may_be;
    d_result.joined = m.joined;
    d_result.waveform = m.waveform;
    d_result.plan = m.plan;
    d_result.synchroniser = &d_family->synchroniser;
    d_result.origin = s.origin + static_cast<double>(symbol_grid::samples_per_symbol) *
                                     static_cast<double>(m.symbols_to_data);
    d_result.frequency_hz = d_seen.empty() ? s.hz : median(d_seen);
    d_result.first_symbol = -static_cast<int64_t>(m.symbols_seen);
    d_result.read_symbol = -static_cast<int64_t>(m.symbols_to_data);
    d_result.preamble = m.preamble;
    d_result.profile = s.profile;
    const float strongest = *std::max_element(s.profile.begin(), s.profile.end());
    d_result.first_tap = 0;
    while (s.profile[d_result.first_tap] < d_family->synchroniser.first_path * strongest)
        ++d_result.first_tap;
    d_result.noise = s.noise;
    d_result.snr_db =
        snr_in_bandwidth(s.gain / s.noise * mean_power(*m.waveform), *m.waveform);
}

// Decide which of the possible modes is on the air.
acquisition::state acquisition::try_modes(const sample_buffer& in)
{
    if (!d_modes)
        d_modes = std::make_unique<mode_trial>(d_result, *d_may_be);
    const mode_trial::state s = d_modes->advance(in);
    if (s == mode_trial::state::found) {
        d_result.waveform = d_modes->waveform();
        d_result.plan = d_modes->plan();
        return state::locked;
    }
    return s == mode_trial::state::pending ? state::pending : state::rejected;
}

acquisition::state acquisition::advance(const sample_buffer& in)
{
    while (!d_modes) {
        const auto v = read_stretch(in);
        if (!v)
            return state::pending;
        if (*v == verdict::rejected)
            return state::rejected;
        if (*v == verdict::found || *v == verdict::as_before) {
            if (d_may_be == nullptr)
                return state::locked;
            break;
        }
    }
    return try_modes(in);
}

} // namespace gr::hf::kernel
