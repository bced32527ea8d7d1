/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/frame_tracker.h"

#include "modem/pulse.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::kernel {

namespace {

constexpr int64_t preamble_piece = 40; // symbols of one observation in the preamble
constexpr size_t sub_block = 16;  // symbols over which the channel is taken as constant
constexpr double retune_hz = 0.2; // how far the oscillator may be off the loop

bool is_high_rate(const description& d)
{
    return d.m.family == waveform_family::high_rate;
}

channel_estimator::options estimator_options(const description& d, size_t taps)
{
    channel_estimator::options o;
    o.taps = taps;
    o.symbol_rate = d.symbol_rate;
    if (is_high_rate(d)) { // 0.12 s between probes
        o.terms = 4;
        o.spread_hz = 1;
        o.window_s = 0.42;
    } else { // 17 or 20 ms: follows 5 Hz and loses nothing where there is none
        o.terms = 3;
        o.spread_hz = 2;
        o.window_s = 0.08;
    }
    return o;
}

// Share of a probe's power below which it counts as missing: well under what the weakest
// usable signal gives, above what fitting noise gives.
float presence_threshold(const description& d)
{
    if (is_high_rate(d))
        return 0.35f;
    return d.m.rate_bps <= 150 ? 0.13f : d.m.rate_bps <= 300 ? 0.17f : 0.25f;
}

} // namespace

frame_tracker::frame_tracker(const acquired& a,
                             double lost_after_s,
                             std::unique_ptr<detector> det)
    : d_d(describe(a.m)), d_a(a),
      d_stream(a.origin, 2 * a.first_symbol - 32, a.frequency_hz),
      d_estimator(estimator_options(d_d, a.profile.size()), a.profile, a.noise),
      d_loop(a.frequency_hz),
      d_presence(
          std::max<size_t>(3,
                           static_cast<size_t>(lost_after_s * d_d.symbol_rate /
                                               static_cast<double>(d_d.frame_symbols()))),
          presence_threshold(d_d)),
      d_detector(std::move(det)), d_to_observe(d_d), d_to_process(d_d),
      d_observing(d_to_observe.next()), d_processing(d_to_process.next()),
      d_preamble_at(a.first_symbol), d_symbol_power(d_d.alphabet.mean_power()),
      d_look_ahead(is_high_rate(d_d) ? 2 : 4)
{
}

double frame_tracker::sample_of(int64_t symbol) const
{
    return d_stream.input_time(2 * static_cast<double>(symbol) +
                               static_cast<double>(d_a.first_tap));
}

symbol_belief frame_tracker::belief(int64_t n) const
{
    const auto& psk = psk8_points();
    if (n < 0) {
        const auto length = static_cast<int64_t>(d_d.preamble.size());
        if (n >= -length)
            return { psk[d_d.preamble[static_cast<size_t>(n + length)]], 0 };
        return { 0, 1 };
    }
    const cell& c = d_d.at(static_cast<uint64_t>(n));
    return is_known(c.kind) ? symbol_belief{ psk[c.value], 0 } : symbol_belief{ 0, 1 };
}

// False: not enough samples yet.
bool frame_tracker::observe(const sample_buffer& in,
                            int64_t begin,
                            int64_t end,
                            bool exact)
{
    // Echoes of the last symbol; as much again of the pulse is not needed for rows.
    const int64_t last_row = 2 * end + static_cast<int64_t>(d_a.profile.size());
    d_stream.run(in, last_row);
    if (d_stream.end() < last_row)
        return false;
    // After a lone probe may come data, a known symbol or nothing at all.
    d_estimator.observe(
        d_stream,
        begin,
        end,
        [this, end, exact](int64_t n) {
            return n >= end && !exact ? symbol_belief{ 0, 1 } : belief(n);
        },
        exact);
    return true;
}

// Estimate around \p centre and keep the oscillator on the carrier.
void frame_tracker::follow(double centre)
{
    d_estimator.solve(d_stream, centre, d_loop.rate());
    const double dt = std::clamp((centre - d_centre) / d_d.symbol_rate, 0.0, 0.2);
    d_centre = centre;
    // In a fade the phase turns quickly without meaning anything.
    const double power = d_estimator.power();
    d_mean_power = d_mean_power > 0 ? d_mean_power + dt * (power - d_mean_power) : power;
    const double weight = std::min(1.0, power / std::max(d_mean_power, 1e-30));
    d_loop.update(
        d_stream.frequency_at(2 * centre) + d_estimator.frequency(), dt, weight);
    // What is mixed next lies after the centre.
    const double ahead =
        (static_cast<double>(d_stream.end()) / 2 - centre) / d_d.symbol_rate;
    const double next = d_loop.hz() + d_loop.rate() * ahead;
    if (std::abs(next - d_stream.frequency()) > retune_hz)
        d_stream.set_frequency(next);
}

/* The next stretch of known symbols in order: pieces of the preamble, then probe by probe,
 * each reinserted preamble by itself since it may not come. */
bool frame_tracker::observe_next(const sample_buffer& in)
{
    if (d_preamble_at < 0) {
        const int64_t end = std::min<int64_t>(0, d_preamble_at + preamble_piece);
        if (!observe(in, d_preamble_at, end, true))
            return false;
        d_centre = static_cast<double>(d_preamble_at);
        follow(static_cast<double>(d_preamble_at + end) / 2);
        d_preamble_at = end;
        return true;
    }
    const auto begin = static_cast<int64_t>(d_observing.begin);
    if (d_observing.reinserted > 0 && !d_reinserted_done) {
        if (!observe(
                in, begin - static_cast<int64_t>(d_observing.reinserted), begin, true))
            return false;
        d_reinserted_done = true;
        return true;
    }
    const int64_t probe = begin + static_cast<int64_t>(d_d.unknown);
    if (!observe(in, probe, probe + static_cast<int64_t>(d_d.known), false))
        return false;
    d_observing = d_to_observe.next();
    d_reinserted_done = false;
    ++d_observed;
    return true;
}

std::optional<received_block> frame_tracker::advance(const sample_buffer& in)
{
    for (;;) {
        const uint64_t ahead = d_observed - d_processed;
        const bool enough =
            ahead > d_look_ahead || (ahead > 0 && d_processed / d_d.frames_per_block !=
                                                      d_observed / d_d.frames_per_block);
        if (!enough) {
            if (!observe_next(in))
                return std::nullopt;
            continue;
        }
        const frame f = d_processing;
        d_processing = d_to_process.next();
        ++d_processed;
        process(f);
        d_stream.drop_before(2 * static_cast<int64_t>(f.begin) - 64);
        if (f.last_of_block) {
            received_block b;
            b.decoded = d_detector->end_block();
            b.snr_db = snr_in_3_khz(d_gain_sum / static_cast<double>(d_gain_count) *
                                    mean_power(d_d.m));
            d_gain_sum = 0;
            d_gain_count = 0;
            return b;
        }
    }
}

void frame_tracker::process(const frame& f)
{
    const auto begin = static_cast<int64_t>(f.begin);
    follow(static_cast<double>(begin) + static_cast<double>(d_d.unknown) / 2 - 0.5);
    const int64_t end =
        begin + static_cast<int64_t>(d_d.unknown) + static_cast<int64_t>(d_d.known);
    d_presence.add(d_estimator.explained(), end);

    d_frame.alphabet = &d_d.alphabet;
    d_frame.scrambling.resize(d_d.unknown);
    for (size_t i = 0; i < d_d.unknown; ++i)
        d_frame.scrambling[i] = f.data[i].value;
    d_frame.noise = d_estimator.noise();
    d_frame.symbol_power = static_cast<float>(d_symbol_power);
    fill_matrix(begin);
    double gain = 0;
    for (size_t i = 0; i < d_d.unknown; ++i)
        gain += d_frame.a.at(i, 0).real();
    d_gain_sum += gain / static_cast<double>(d_d.unknown) / d_frame.noise;
    ++d_gain_count;
    d_detector->frame(d_frame);
}

/* The channel's matched filter and A(n, m) = sum_{k,l} conj(g_k(n)) g_l(m) p(2(n-m)+k-l),
 * the channel constant within sub-blocks. Known neighbours are subtracted. */
void frame_tracker::fill_matrix(int64_t begin)
{
    const auto& taps = d_estimator.selected();
    const size_t s = taps.size(), count = d_d.unknown;
    const int span = taps.back() - taps.front();
    const size_t band =
        std::min<size_t>(static_cast<size_t>(span + half_symbol_reach) / 2, count - 1);
    const auto reach = static_cast<int64_t>(band);

    // Sub-blocks cover the frame and the neighbours on both sides.
    const auto blocks_before =
        (reach + static_cast<int64_t>(sub_block) - 1) / static_cast<int64_t>(sub_block);
    const auto block_of = [blocks_before](int64_t i) { // i: symbol - begin
        return static_cast<size_t>((i + blocks_before * static_cast<int64_t>(sub_block)) /
                                   static_cast<int64_t>(sub_block));
    };
    const size_t blocks = block_of(static_cast<int64_t>(count) - 1 + reach) + 1;
    std::vector<channel_taps> g(blocks);
    // composite responses h(j), j = first .. last, with a margin that covers 2 band + span
    const int first = taps.front() - half_symbol_reach;
    const size_t length =
        2 * band + static_cast<size_t>(span + 2 * half_symbol_reach) + 4;
    std::vector<std::vector<std::complex<float>>> h(blocks);
    for (size_t b = 0; b < blocks; ++b) {
        const double n =
            static_cast<double>(begin) +
            (static_cast<double>(b) - static_cast<double>(blocks_before) + 0.5) *
                static_cast<double>(sub_block) -
            0.5;
        d_estimator.at(n, g[b]);
        h[b].assign(length, 0);
        for (size_t a = 0; a < s; ++a)
            for (int j = -half_symbol_reach; j <= half_symbol_reach; ++j)
                h[b][static_cast<size_t>(taps[a] + j - first)] +=
                    g[b][a] * half_symbol_pulse(j);
    }
    // r(u, v, d) = sum_k conj(g^u_k) h^v(2 d + k), made when first needed
    const size_t spread_blocks = (band + sub_block - 1) / sub_block + 1;
    d_correlation.assign(blocks * spread_blocks * (band + 1), {});
    d_correlation_made.assign(blocks * spread_blocks, 0);
    const auto correlation = [&](size_t u, size_t v) {
        const size_t at = u * spread_blocks + (u - v);
        auto* r = &d_correlation[at * (band + 1)];
        if (!d_correlation_made[at]) {
            d_correlation_made[at] = 1;
            for (size_t d = 0; d <= band; ++d) {
                std::complex<float> sum = 0;
                for (size_t a = 0; a < s; ++a)
                    sum += std::conj(g[u][a]) *
                           h[v][2 * d + static_cast<size_t>(taps[a] - first)];
                r[d] = sum;
            }
        }
        return r;
    };

    d_frame.z.assign(count, 0);
    d_frame.a.resize(count, band);
    for (size_t i = 0; i < count; ++i) {
        const auto n = static_cast<int64_t>(i);
        const size_t u = block_of(n);
        const int64_t row = 2 * (begin + n);
        const auto turn = d_estimator.reference(d_stream, static_cast<double>(row));
        std::complex<float> z = 0;
        const auto* y = d_stream.at(row);
        for (size_t a = 0; a < s; ++a)
            z += std::conj(g[u][a]) * y[taps[a]];
        z *= turn;
        for (int64_t d = 0; d <= reach; ++d) {
            const auto dd = static_cast<size_t>(d);
            const std::complex<float> left = correlation(u, block_of(n - d))[dd];
            if (n - d >= 0)
                d_frame.a.at(i, dd) = left;
            else
                z -= left * belief(begin + n - d).mean;
            if (d > 0 && n + d >= static_cast<int64_t>(count)) {
                const size_t w = block_of(n + d);
                z -= std::conj(correlation(w, u)[dd]) * belief(begin + n + d).mean;
            }
        }
        d_frame.z[i] = z;
    }
}

} // namespace gr::hf::kernel
