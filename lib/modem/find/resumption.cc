/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/find/resumption.h"

#include "modem/find/synchroniser.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace gr::hf::kernel {

namespace {

using value = std::complex<float>;

// Longest hole, and what the place of a path adds.
constexpr double longest_hole_s = 0.52;
/* Probes that are looked for at first, and at most: the signs of high-rate probes tell frames apart after
 * nine, the markers of short serial-tone blocks come every 0.6 s. */
constexpr double sought_s = 0.4, max_s = 1.15;
constexpr size_t min_probes = 4;
/* Pairs of probes, each of mean 1 on noise: by chance once in 1e8 looks at 5000 rows. The weakest usable
 * signal gives 100 and more in 0.4 s. */
constexpr float min_score = 32;
// A frame that gives so much less than the best one is another one: by chance exp(-20).
constexpr float clear_lead = 20;
// A probe that is there: power of its match, of the mean one, and on noise of mean 1.
constexpr float min_share = 0.2f, min_match = 4;
// Known symbols that the channel is estimated from.
constexpr size_t known_symbols = 128;
// Power of a row below which there is nothing, of the mean one.
constexpr double silence = 1e-3;
// Rows by which the pulse reaches before a path.
constexpr int64_t pulse_rows = 8;

size_t probes_in(double seconds, const description& d)
{
    return std::max(min_probes,
                    1 + static_cast<size_t>(seconds * d.symbol_rate_bd /
                                            static_cast<double>(d.frame_symbols())));
}

} // namespace

resumption::resumption(const acquired& followed, int64_t last_good)
    : d_a(followed), d_d(*followed.waveform), d_grid(d_d.symbol_rate_bd),
      d_reach(d_grid.half_symbols(longest_hole_s)),
      d_first_good(std::max<int64_t>(
          0,
          last_good - std::max(3 * static_cast<int64_t>(d_d.frame_symbols()),
                               d_grid.symbols(followed.plan->frames.recent_s)))),
      d_frame(
          frame_at(last_good + static_cast<int64_t>(d_d.frame_symbols()) + d_reach / 2) +
          1),
      d_first_row(2 * d_first_good - pulse_rows),
      d_stream(d_grid, d_a.origin, d_first_row, d_a.frequency_hz, d_a.clock),
      d_probes(probes_in(sought_s, d_d)), d_max_probes(probes_in(max_s, d_d))
{
    for (size_t p = 0; p * d_d.frame_symbols() < d_d.patterns.size(); ++p) {
        d_probe.emplace_back();
        for (size_t i = d_d.unknown; i < d_d.frame_symbols(); ++i)
            d_probe.back().push_back(
                d_d.known_point(d_d.patterns[p * d_d.frame_symbols() + i]));
    }
    d_match.resize(d_probe.size());
    d_power_up_to.push_back(0);
}

// Of the first symbol of the probe of a frame, where it is expected.
int64_t resumption::probe_row(uint64_t frame) const
{
    return 2 * static_cast<int64_t>(d_d.frame_begin(frame) + d_d.unknown);
}

// The frame that a symbol belongs to, or that comes before it.
uint64_t resumption::frame_at(int64_t symbol) const
{
    const auto n = static_cast<uint64_t>(std::max<int64_t>(0, symbol));
    const uint64_t in_cycle = n % d_d.cycle_symbols();
    return n / d_d.cycle_symbols() * d_d.frames_per_cycle +
           std::min<uint64_t>(in_cycle / d_d.frame_symbols(), d_d.frames_per_cycle - 1);
}

int64_t resumption::needs() const
{
    return static_cast<int64_t>(
        d_stream.input_time(static_cast<double>(d_first_row)) -
        static_cast<double>(
            half_symbol_stream::half_span +
            d_grid.samples(d_a.synchroniser->window_s + d_a.synchroniser->search_s)));
}

// Correlations at the rows that have come. False: there must be more.
bool resumption::hear(const sample_buffer& in)
{
    const auto count = static_cast<int64_t>(d_d.known);
    const int64_t last =
        probe_row(d_frame + d_probes - 1) + d_reach + 2 * count + pulse_rows;
    d_stream.run(in, last);
    if (d_stream.end() < last)
        return false;
    for (int64_t r = d_first_row + static_cast<int64_t>(d_power_up_to.size()) - 1;
         r < last;
         ++r)
        d_power_up_to.push_back(d_power_up_to.back() +
                                static_cast<double>(std::norm(*d_stream.at(r))));
    for (size_t p = 0; p < d_probe.size(); ++p)
        for (int64_t r = d_first_row + static_cast<int64_t>(d_match[p].size());
             r + 2 * count <= last;
             ++r) {
            const value* y = d_stream.at(r);
            value sum = 0;
            for (size_t i = 0; i < d_d.known; ++i)
                sum += std::conj(d_probe[p][i]) * y[2 * i];
            d_match[p].push_back(sum);
        }
    return true;
}

// Of a frame's probe at \p row, in units of what noise of the same power gives.
value resumption::match(uint64_t frame, int64_t row) const
{
    const size_t p = d_d.frame_patterns[frame % d_d.frames_per_cycle];
    const auto at = static_cast<size_t>(row - d_first_row);
    if (row < d_first_row || at >= d_match[p].size())
        return 0;
    const double mean =
        d_power_up_to.back() / static_cast<double>(d_power_up_to.size() - 1);
    const double power = (d_power_up_to[at + 2 * d_d.known] - d_power_up_to[at]) / 2 +
                         (silence * mean + 1e-30) * static_cast<double>(d_d.known);
    return d_match[p][at] / static_cast<float>(std::sqrt(power));
}

/* Score of \p probes probes in a row, from that of \p frame on. Each pair of neighbours is added with its
 * phases, so that signs count. */
float resumption::score(uint64_t frame, int64_t row, size_t probes) const
{
    value last = match(frame, row);
    float sum = 0;
    for (size_t m = 1; m < probes; ++m) {
        const value next =
            match(frame + m, row + probe_row(frame + m) - probe_row(frame));
        sum += std::norm(last + next) / 2;
        last = next;
    }
    return sum;
}

resumption::state resumption::find_probes()
{
    const int64_t expected = probe_row(d_frame);
    float best = 0;
    for (int64_t s = -d_reach; s <= d_reach; ++s)
        if (const float t = score(d_frame, expected + s, d_probes); t > best) {
            best = t;
            d_row = expected + s;
        }
    d_found_probes = true;
    return best < min_score + static_cast<float>(d_probes) ? state::none : state::pending;
}

// What frames the probes may be of, as far as those that were heard tell.
std::vector<resumption::place> resumption::places() const
{
    std::vector<place> all;
    float best = 0;
    const auto frames = static_cast<uint64_t>(
        2 * d_reach / (2 * static_cast<int64_t>(d_d.frame_symbols())) + 1);
    for (uint64_t f = d_frame - std::min(d_frame, frames); f <= d_frame + frames; ++f) {
        const int64_t shift = d_row - probe_row(f);
        if (std::abs(shift) > d_reach)
            continue;
        all.push_back({ f, shift, score(f, d_row, d_probes) });
        best = std::max(best, all.back().score);
    }
    all.erase(std::remove_if(
                  all.begin(),
                  all.end(),
                  [best](const place& p) { return p.score < best - clear_lead; }),
              all.end());
    std::stable_sort(all.begin(), all.end(), [](const place& a, const place& b) {
        return std::abs(a.shift) < std::abs(b.shift);
    });
    return all;
}

// Whether it may be where it was expected, on one of the paths: then it was a fade.
bool resumption::expected(const std::vector<place>& those) const
{
    return std::any_of(
        those.begin(),
        those.end(),
        [this](const place& p) {
            return p.shift >= -pulse_rows &&
                   p.shift < static_cast<int64_t>(d_a.profile.size());
        });
}

resumption::state resumption::choose(const sample_buffer& in)
{
    const auto those = places();
    if (those.size() > 1 && d_probes < d_max_probes) {
        ++d_probes;
        return advance(in);
    }
    if (those.empty() || expected(those))
        return state::none;
    const auto in_block = [this](const place& p) {
        return p.frame % d_d.frames_per_block;
    };
    const bool same = std::all_of(those.begin(), those.end(), [&](const place& p) {
        return in_block(p) == in_block(those.front());
    });
    d_possible = those;
    if (!same && d_d.code.coded)
        return try_blocks(in, those);
    const state s = settle(in, those.front().frame);
    read_as(those.front());
    return s;
}

/* Places whole blocks apart differ in the probes that mark the cycle alone. The nearest place is taken, and the
 * marks are read where any of the others expects them. */
void resumption::read_as(const place& chosen)
{
    auto d = std::make_shared<description>(*d_a.waveform);
    const size_t cycle = d->frames_per_cycle;
    for (const place& p : d_possible) {
        const size_t apart =
            (p.frame + cycle * (1 + chosen.frame / cycle) - chosen.frame) % cycle;
        if (apart == 0 || apart % d->frames_per_block != 0)
            continue;
        std::vector<uint16_t> patterns;
        for (size_t f = 0; f < cycle; ++f)
            patterns.push_back(d->frame_patterns[(f + apart) % cycle]);
        d->other_probes.push_back(std::move(patterns));
    }
    if (d->other_probes.size() == d_a.waveform->other_probes.size())
        return;
    d_result.waveform = d.get();
    d_result.with_readings = std::move(d);
}

/* The first frame after a probe that was heard, if d_frame is really \p frame: the data of that probe's own
 * frame may have been lost in part. */
uint64_t resumption::first_whole_frame(uint64_t frame) const
{
    const auto row = [&](uint64_t f) { return d_row + probe_row(f) - probe_row(frame); };
    float mean = 0;
    for (size_t m = 0; m < d_probes; ++m)
        mean +=
            std::norm(match(frame + m, row(frame + m))) / static_cast<float>(d_probes);
    const float least = std::max(min_match, min_share * mean);
    uint64_t f = frame + d_probes / 2;
    while (f > 0 && std::norm(match(f - 1, row(f - 1))) >= least)
        --f;
    return f + 1;
}

// Channel and noise by the probes from the one before \p frame on, if d_frame is really d_result's.
bool resumption::synchronise(const sample_buffer& in, uint64_t frame)
{
    const uint64_t before = d_result.first_frame - 1;
    const size_t probes =
        std::min((known_symbols + d_d.known - 1) / d_d.known, d_probes / 2);
    const auto from = static_cast<size_t>(d_d.frame_begin(before) + d_d.unknown);
    std::vector<value> fixed;
    for (size_t m = 0; m < probes; ++m) {
        const uint64_t f = before + m;
        fixed.resize(d_d.frame_begin(f) + d_d.unknown - from);
        const auto& probe = d_probe[d_d.frame_patterns[f % d_d.frames_per_cycle]];
        fixed.insert(fixed.end(), probe.begin(), probe.end());
    }
    const int64_t row = d_row + probe_row(before) - probe_row(frame);
    synchroniser_plan plan = *d_a.synchroniser;
    plan.fine_range_hz = 0;
    plan.other_half = 0;
    const synchroniser there(d_grid, plan);
    const auto place =
        there.locate(in,
                     std::llround(d_stream.input_time(static_cast<double>(row))),
                     d_a.frequency_hz,
                     fixed,
                     true);
    const auto s = place ? there.run(in, *place, fixed, true) : std::nullopt;
    if (!s)
        return false;
    d_result.origin = s->origin - symbol_grid::samples_per_row * (1 + d_a.clock) * 2 *
                                      static_cast<double>(from);
    d_result.first_symbol = static_cast<int64_t>(from);
    d_result.profile = s->profile;
    d_result.noise = s->noise;
    const float strongest = *std::max_element(s->profile.begin(), s->profile.end());
    d_result.first_tap = 0;
    while (s->profile[d_result.first_tap] < plan.first_path * strongest)
        ++d_result.first_tap;
    return true;
}

// d_frame is really \p frame.
resumption::state resumption::settle(const sample_buffer& in, uint64_t frame)
{
    d_result = d_a;
    d_result.first_frame = first_whole_frame(frame);
    return synchronise(in, frame) ? state::found : state::none;
}

resumption::state resumption::try_blocks(const sample_buffer& in,
                                         const std::vector<place>& those)
{
    const uint64_t frame = those.front().frame;
    if (settle(in, frame) == state::none)
        return state::none;
    for (const place& p : those) {
        const size_t blocks = d_d.frames_per_block;
        const auto first = (d_result.first_frame + p.frame - frame) % blocks;
        const auto wait = static_cast<size_t>((blocks - first) % blocks);
        // Of places whole blocks apart the nearest one.
        if (std::any_of(d_blocks.begin(), d_blocks.end(), [&](const possible_mode& b) {
                return b.first_frame == wait;
            }))
            continue;
        d_places.push_back(p);
        mode m = d_d.m;
        m.reading = d_a.reading.value_or(waveform_reading::standard);
        d_blocks.push_back({ m, d_a.plan, d_d.alphabet.bits, blocks, wait });
    }
    d_trial = std::make_unique<mode_trial>(d_result, d_blocks);
    return advance_trial(in);
}

resumption::state resumption::advance_trial(const sample_buffer& in)
{
    const auto s = d_trial->advance(in);
    if (s == mode_trial::state::pending)
        return state::pending;
    if (s == mode_trial::state::none)
        return state::none;
    const auto which = static_cast<size_t>(d_trial->found() - d_blocks.data());
    const auto before = static_cast<int64_t>(d_d.frame_begin(d_result.first_frame));
    d_result.first_frame += d_places[which].frame - d_places.front().frame;
    read_as(d_places[which]);
    const int64_t later =
        static_cast<int64_t>(d_d.frame_begin(d_result.first_frame)) - before;
    d_result.first_symbol += later;
    d_result.origin -=
        symbol_grid::samples_per_row * (1 + d_a.clock) * 2 * static_cast<double>(later);
    return state::found;
}

resumption::state resumption::advance(const sample_buffer& in)
{
    if (d_trial)
        return advance_trial(in);
    if (!hear(in))
        return state::pending;
    if (!d_found_probes && find_probes() == state::none)
        return state::none;
    return choose(in);
}

} // namespace gr::hf::kernel
