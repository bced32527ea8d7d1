/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/front/piecewise_tone.h"

#include "modem/front/tone_sums.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

namespace gr::hf::kernel {

namespace {

constexpr double steps_per_s = 600;
constexpr size_t shortest = 5, longest = 90; // steps of a segment: 8 and 150 ms
constexpr size_t settle_every = 12;          // steps
// Steps whose segments may still change.
constexpr size_t open_steps = 24;
constexpr size_t frequencies = 256;
constexpr double price_of_segment = 0.2; // relative to that of a tone
constexpr double margin_s = 0.002, reach_s = 0.004;
constexpr double bends_from_s = 0.035; // shorter tones have a constant frequency
constexpr int fits = 3;
// Times that a change may take. Morse code is keyed softly, radio teletype is not.
constexpr std::array<double, 4> change_s{ 0, 0.0025, 0.005, 0.0075 };
constexpr double impossible = std::numeric_limits<double>::infinity();

} // namespace

piecewise_tone::piecewise_tone(double sample_rate)
    : d_stride(static_cast<size_t>(sample_rate / steps_per_s)),
      d_margin(static_cast<size_t>(margin_s * sample_rate)),
      d_reach(static_cast<size_t>(reach_s * sample_rate))
{
    for (size_t k = 0; k < frequencies; ++k)
        d_turns.push_back(std::polar(
            1.0, -2 * M_PI * static_cast<double>(k) / static_cast<double>(frequencies)));
    for (const double seconds : change_s) {
        const auto length = static_cast<size_t>(seconds * sample_rate);
        std::vector<float> ramp(length);
        for (size_t i = 0; i < length; ++i)
            ramp[i] = static_cast<float>(
                std::pow(std::sin(M_PI_2 * (static_cast<double>(i) + 0.5) /
                                  static_cast<double>(length)),
                         2));
        d_ramps.push_back(std::move(ramp));
    }
    restart();
}

void piecewise_tone::restart()
{
    d_x.clear();
    d_settled.clear();
    d_first = d_base = d_cut = 0;
    state start;
    start.sums.resize(2 * frequencies);
    start.cost = 0;
    d_states.assign(1, start);
}

void piecewise_tone::push(const value* x, size_t n, float price)
{
    d_price = price;
    d_x.insert(d_x.end(), x, x + n);
    while ((step_count() + 1) * d_stride <= d_first + d_x.size()) {
        add_step(sample(step_count() * d_stride + d_stride / 2));
        if (step_count() % settle_every == 0)
            settle(open_steps);
    }
}

void piecewise_tone::take(std::vector<value>& out)
{
    out.insert(out.end(), d_settled.begin(), d_settled.end());
    d_settled.clear();
}

void piecewise_tone::finish() { settle(0); }

// Extend the best ways by a step, and keep the best one to its end.
void piecewise_tone::add_step(value x)
{
    const size_t number = step_count();
    state next;
    const state& last = d_states.back();
    next.energy = last.energy + static_cast<double>(std::norm(x));
    next.sums = last.sums;
    const double re = static_cast<double>(x.real()), im = static_cast<double>(x.imag());
    for (size_t k = 0; k < frequencies; ++k) {
        const std::complex<double>& t = d_turns[k * number % frequencies];
        next.sums[k] += re * t.real() - im * t.imag();
        next.sums[frequencies + k] += re * t.imag() + im * t.real();
    }
    next.cost = impossible;
    bool silent = true; // the best last segment
    const size_t count = d_states.size();
    for (size_t length = shortest; length <= std::min(longest, count); ++length) {
        const state& from = d_states[count - length];
        if (from.cost == impossible)
            continue;
        const double energy = next.energy - from.energy;
        const double base = from.cost + price_of_segment * d_price;
        // A tone explains no more than all energy.
        if (base + std::min(energy, d_price) >= next.cost)
            continue;
        double most = 0;
        if (energy > 0)
            most = largest_difference(next.sums.data(), from.sums.data(), frequencies) /
                   static_cast<double>(length);
        const double gain = std::max(most - d_price, 0.0);
        if (const double cost = base + energy - gain; cost < next.cost) {
            next.cost = cost;
            next.from = number + 1 - length;
            silent = gain == 0; // all are 0 in silence
        }
    }
    if (!silent)
        next.bin = static_cast<int>(strongest(d_states[next.from - d_base], next));
    d_states.push_back(std::move(next));
}

// The frequency that explains most of what lies between two steps.
size_t piecewise_tone::strongest(const state& from, const state& to)
{
    double most = 0;
    size_t bin = 0;
    for (size_t k = 0; k < frequencies; ++k) {
        const double re = to.sums[k] - from.sums[k];
        const double im = to.sums[frequencies + k] - from.sums[frequencies + k];
        if (re * re + im * im > most) {
            most = re * re + im * im;
            bin = k;
        }
    }
    return bin;
}

// Settle the segments that end before the last \p unsettled steps; with 0 all samples.
void piecewise_tone::settle(size_t unsettled)
{
    const size_t end = step_count();
    std::vector<segment> segments; // the last one first
    size_t to = end;
    size_t to_sample = unsettled == 0 ? d_first + d_x.size() : end * d_stride;
    while (to > d_base) {
        const state& s = d_states[to - d_base];
        const bool way = s.cost < impossible;
        const size_t from = way ? std::max(s.from, d_base) : d_base;
        segments.push_back(
            { std::max(from * d_stride, d_first), to_sample, way ? s.bin : silence });
        to = from;
        to_sample = from * d_stride;
    }
    if (segments.empty() && to_sample > d_cut)
        segments.push_back({ d_cut, to_sample, silence });
    std::optional<tone> fitted; // to the next segment
    while (!segments.empty()) {
        const bool last = segments.size() == 1;
        if (unsettled > 0 && (last || segments.back().end > (end - unsettled) * d_stride))
            break;
        const tone t = fitted ? *fitted : fit(segments.back());
        if (!last) {
            fitted = fit(segments[segments.size() - 2]);
            settle_change(t, *fitted);
        }
        for (; last && d_cut < t.end; ++d_cut)
            d_settled.push_back(t.at(d_cut));
        const size_t base = std::min(t.end / d_stride, end);
        d_states.erase(d_states.begin(),
                       d_states.begin() + static_cast<long>(base - d_base));
        d_base = base;
        segments.pop_back();
    }
    const size_t keep = std::min(d_cut, d_base * d_stride);
    d_x.erase(d_x.begin(), d_x.begin() + static_cast<long>(keep - d_first));
    d_first = keep;
}

std::complex<double> piecewise_tone::turn(const tone& t, size_t sample)
{
    const double centre = 0.5 * static_cast<double>(t.begin + t.end - 1);
    const double half = std::max(1.0, 0.5 * static_cast<double>(t.end - t.begin));
    const double at = (static_cast<double>(sample) - centre) / half;
    return std::polar(1.0,
                      2 * M_PI * t.turns * (static_cast<double>(sample) - centre) +
                          t.bend[0] + at * (t.bend[1] + at * t.bend[2]));
}

/* Least squares for amplitude and phase. The steps tell the frequency but for multiples of
 * their rate, the samples the rest. */
piecewise_tone::tone piecewise_tone::fit(const segment& s) const
{
    const auto [begin, end, bin] = s;
    tone t{ begin, end };
    if (bin == silence || end < begin + 2)
        return t;
    t.silent = false;
    const size_t margin = end - begin > 8 * d_margin ? d_margin : 0;
    const size_t from = begin + margin, to = end - margin;
    value lag = 0;
    for (size_t i = from; i + 1 < to; ++i)
        lag += std::conj(sample(i)) * sample(i + 1);
    const auto stride = static_cast<double>(d_stride);
    const double coarse = std::arg(lag) / (2 * M_PI);
    t.turns = static_cast<double>(bin) / static_cast<double>(frequencies) / stride;
    t.turns += std::round((coarse - t.turns) * stride) / stride;

    const double centre = 0.5 * static_cast<double>(begin + end - 1);
    const double half = std::max(1.0, 0.5 * static_cast<double>(end - begin));
    const auto count = static_cast<double>(to - from);
    double square = 0; // mean of the places' squares
    for (size_t i = from; i < to; ++i)
        square += std::pow((static_cast<double>(i) - centre) / half, 2) / count;
    const bool bends =
        static_cast<double>(end - begin) > bends_from_s * steps_per_s * stride;
    // The samples with the phase of the tone undone, and their mean.
    std::vector<std::complex<double>> still(to - from);
    const auto amplitude = [this, &t, &still, from, count] {
        // The phase is a parabola: its second difference is constant.
        std::complex<double> turned = std::conj(turn(t, from)),
                             step = std::conj(turn(t, from + 1)) * std::conj(turned);
        const std::complex<double> bend =
            std::conj(turn(t, from + 2)) * turn(t, from + 1) * std::conj(step);
        std::complex<double> sum = 0;
        for (size_t i = 0; i < still.size(); ++i) {
            still[i] = std::complex<double>(sample(from + i)) * turned;
            sum += still[i];
            turned *= step;
            step *= bend;
        }
        return sum / count;
    };
    for (int round = 0; round < fits; ++round) {
        const std::complex<double> a = amplitude();
        if (!(std::norm(a) > 0))
            return { begin, end }; // no tone to follow
        double linear = 0, bent = 0, linear_power = 0, bent_power = 0;
        for (size_t i = from; i < to; ++i) {
            const double at = (static_cast<double>(i) - centre) / half;
            const double off = std::imag(still[i - from] * std::conj(a)) / std::norm(a);
            const double bow = at * at - square;
            linear += off * at;
            linear_power += at * at;
            bent += off * bow;
            bent_power += bow * bow;
        }
        t.bend[1] += linear / linear_power;
        if (bends)
            t.bend[2] += bent / bent_power;
    }
    t.amplitude = value(amplitude());
    return t;
}

// Settle \p before, and its change to \p after. Near the step the best place is taken,
// and the best duration.
void piecewise_tone::settle_change(const tone& before, const tone& after)
{
    if (before.silent && after.silent) {
        for (; d_cut < before.end; ++d_cut)
            d_settled.push_back(0);
        return;
    }
    const size_t from =
        std::max(d_cut, before.end - std::min(before.end - d_cut, 2 * d_reach));
    const size_t to = std::min({ before.end + 2 * d_reach, after.end });
    for (; d_cut < from; ++d_cut)
        d_settled.push_back(before.at(d_cut));
    const size_t count = to - from;
    std::vector<value> old_tone(count), step(count), best;
    // The rest of the power before each sample without a change, and after it with one.
    std::vector<double> unchanged(count + 1), changed(count + 1);
    for (size_t i = 0; i < count; ++i) {
        old_tone[i] = before.at(from + i);
        step[i] = after.at(from + i) - old_tone[i];
        const value rest = sample(from + i) - old_tone[i];
        unchanged[i + 1] = unchanged[i] + static_cast<double>(std::norm(rest));
        changed[i + 1] = changed[i] + static_cast<double>(std::norm(rest - step[i]));
    }
    double least = impossible;
    size_t best_place = 0;
    const std::vector<float>* best_ramp = nullptr;
    for (const std::vector<float>& share : d_ramps) {
        const size_t length = share.size();
        if (length > 0 && !before.silent && !after.silent)
            break; // a jump
        for (size_t place = 0; place + length <= count; ++place) {
            double sum = unchanged[place] + changed[count] - changed[place + length];
            for (size_t i = 0; i < length && sum < least; ++i)
                sum += static_cast<double>(std::norm(sample(from + place + i) -
                                                     old_tone[place + i] -
                                                     share[i] * step[place + i]));
            if (sum < least) {
                least = sum;
                best_place = place;
                best_ramp = &share;
            }
        }
    }
    for (size_t i = 0; i < best_place; ++i)
        d_settled.push_back(old_tone[i]);
    for (size_t i = 0; i < best_ramp->size(); ++i)
        d_settled.push_back(old_tone[best_place + i] +
                            (*best_ramp)[i] * step[best_place + i]);
    d_cut += best_place + best_ramp->size();
}

} // namespace gr::hf::kernel
