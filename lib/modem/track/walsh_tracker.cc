/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/track/walsh_tracker.h"

#include "modem/track/delay_window.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel {

namespace {

// Rows before the first set at which the stream starts: the early delays and the filter's
// span.
int64_t rows_before(size_t early) { return static_cast<int64_t>(early) + 16; }

// Power of each tap of the correlator's window.
std::vector<float> profile_of(const acquired& a, const walsh_correlator& c)
{
    std::vector<float> profile(a.profile);
    profile.insert(profile.begin(), c.early(), 0);
    profile.resize(c.taps(), 0);
    return profile;
}

// Noise of a chip's correlation before any word was heard. Chips of other words and paths
// add the power of the signal itself, which the noise beside a clean preamble lacks.
float noise_of(const acquired& a, float overlap)
{
    return a.noise + std::accumulate(a.profile.begin(), a.profile.end(), 0.0f) / overlap;
}

} // namespace

walsh_tracker::walsh_tracker(const acquired& a, double lost_after_s, size_t rounds)
    : d_d(*a.waveform), d_plan(a.plan->walsh), d_first_tap(a.first_tap),
      d_grid(d_d.symbol_rate_bd),
      d_correlator(d_d,
                   static_cast<size_t>(d_grid.half_symbols(d_plan.early_s)),
                   static_cast<size_t>(d_grid.half_symbols(d_plan.early_s) +
                                       d_grid.half_symbols(d_plan.late_s))),
      d_stream(d_grid,
               a.origin,
               -rows_before(d_correlator.early()),
               a.frequency_hz,
               a.clock),
      d_presence(d_plan, word_s(), lost_after_s), d_readings(d_d),
      d_decoder(std::make_unique<block_decoder>(d_d)),
      d_taps(d_plan,
             d_d.chips(),
             profile_of(a, d_correlator),
             noise_of(a, d_plan.overlap)),
      d_coherent(d_d, d_plan.widest_average), d_doppler(word_s()),
      d_turn(d_plan, word_s()), d_rounds(rounds), d_words(d_d),
      d_meter(d_correlator.taps(), d_correlator.early())
{
    if (d_d.words.size() != size_t{ 2 } << d_d.alphabet.bits)
        throw std::invalid_argument("Walsh tracker: " + std::to_string(d_d.words.size()) +
                                    " words for " + std::to_string(d_d.alphabet.bits) +
                                    " bits, it wants two sets of 2^bits");
}

double walsh_tracker::sample_of(int64_t symbol) const
{
    return d_stream.input_time(2 * static_cast<double>(symbol) +
                               static_cast<double>(d_first_tap));
}

std::optional<received_block> walsh_tracker::advance(const sample_buffer& in)
{
    const size_t chips = d_d.chips(), sets = d_d.block_symbols() / chips;
    for (;;) {
        const auto begin = static_cast<int64_t>(d_set * chips);
        const int64_t last_row =
            2 * begin + 2 * static_cast<int64_t>(chips) +
            static_cast<int64_t>(d_correlator.taps() - d_correlator.early());
        d_stream.run(in, last_row);
        if (d_stream.end() < last_row)
            return std::nullopt;
        const bool last = d_set % sets == sets - 1;
        set(begin, last);
        ++d_set;
        if (last)
            return end_block(begin);
    }
}

// Rounds between words and decoder, until the bits stay as they are. \p evidence becomes
// the soft bits without what the decoder added.
void walsh_tracker::iterate(std::vector<float>& evidence)
{
    std::vector<float> posterior, last;
    for (size_t round = 0; round < d_rounds; ++round) {
        d_decoder->soft_output(d_soft, posterior);
        if (std::equal(posterior.begin(),
                       posterior.end(),
                       last.begin(),
                       last.end(),
                       [](float a, float b) { return (a < 0) == (b < 0); }))
            break;
        last = posterior;
        d_coherent.refine(posterior, d_plan.overlap, d_soft);
    }
    if (d_rounds == 0)
        return;
    d_words.take(posterior);
    evidence = d_coherent.received();
}

// The block ends with the set that begins at symbol \p begin.
received_block walsh_tracker::end_block(int64_t begin)
{
    received_block b;
    choose_reading();
    b.reading = &d_readings.chosen();
    std::vector<float> evidence = d_soft;
    iterate(evidence);
    d_coherent.clear();
    if (d_details)
        b.details = std::make_shared<block_details>(block_details{ {}, d_soft, {} });
    b.decoded = d_decoder->decode(d_soft, evidence);
    b.channel.freq_offset_hz = d_stream.frequency();
    b.channel.doppler_hz = d_doppler.take_spread_hz();
    b.channel.coded_ber = b.decoded.coded_ber;
    measure(b.channel);
    d_stream.drop_before(2 * begin - static_cast<int64_t>(d_correlator.early()));
    const auto margin = static_cast<size_t>(d_grid.half_symbols(d_plan.window_margin_s));
    if (const int rows = window_error(d_taps.above(), margin)) {
        d_stream.move(rows);
        d_doppler.move(rows);
        d_meter.move(rows);
        d_taps.move(rows);
        d_turn.move(rows);
    }
    d_soft.clear();
    d_words.clear();
    return b;
}

// The scrambling of the chips is the same in all readings, the code is not.
void walsh_tracker::choose_reading()
{
    if (!d_readings.open())
        return;
    d_readings.soft_bits(d_soft);
    d_readings.choose();
    d_readings.forget();
    if (&d_readings.chosen() != &d_decoder->waveform())
        d_decoder = std::make_unique<block_decoder>(d_readings.chosen());
}

void walsh_tracker::set(int64_t begin, bool last)
{
    const std::vector<float> rho = d_taps.above();
    std::vector<float> weight;
    for (const float p : rho)
        weight.push_back(d_taps.weight(p));
    walsh_values metric = d_correlator.despread(d_stream, begin, last, weight);
    if (last && d_plan.either_last_word) {
        const auto exceptional = d_correlator.last();
        const walsh_values usual = d_correlator.despread(d_stream, begin, false, weight);
        if (d_words.compare_last(*std::max_element(metric.begin(), metric.end()) -
                                 *std::max_element(usual.begin(), usual.end())))
            d_correlator.set_last(exceptional);
        else
            metric = usual;
    }
    word_soft_bits(d_d.alphabet, metric, nullptr, d_soft);
    if (d_rounds > 0)
        d_coherent.add(d_correlator.last(), metric, rho, d_taps.noise());
    d_presence.add(
        d_taps.power(), d_correlator.last(), begin + static_cast<int64_t>(d_d.chips()));
    learn(metric);
}

void walsh_tracker::learn(const walsh_values& metric)
{
    const auto best = static_cast<size_t>(std::max_element(metric.begin(), metric.end()) -
                                          metric.begin());
    d_words.add(best);
    d_taps.learn(metric, d_correlator.last());
    const auto& correlation = d_correlator.last()[best];
    auto taps = correlation;
    for (size_t k = 0; k < taps.size(); ++k)
        if (d_taps.empty(k))
            taps[k] = 0;
    d_doppler.add(std::move(taps));
    if (d_set % d_plan.sets_per_turn != 0)
        return;
    if (const double hz = d_turn.add(correlation, d_taps); hz != 0)
        d_stream.set_frequency(d_stream.frequency() + hz);
}

void walsh_tracker::measure(channel_report& r)
{
    const size_t sets = d_words.size(), chips = d_d.chips();
    const auto first = static_cast<int64_t>((d_set - sets) * chips);
    const size_t step = std::min(d_plan.measured_sets, sets / 3);
    for (size_t t = std::max(d_plan.sets_before, step / 2); t + d_plan.sets_after < sets;
         t += step) {
        const int64_t begin = first + static_cast<int64_t>(t * chips);
        d_meter.add(
            d_stream,
            begin,
            begin + static_cast<int64_t>(chips + chips / 2),
            [this, first](int64_t n) {
                return symbol_belief{ d_words.chip(n, first), 0 };
            },
            d_taps.power(),
            d_taps.noise());
    }
    r.snr_db = snr_in_bandwidth(d_meter.es_over_n0(), d_d);
    describe_delays(d_meter.profile(), d_grid, r);
}

} // namespace gr::hf::kernel
