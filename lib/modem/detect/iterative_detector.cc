/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/detect/iterative_detector.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace gr::hf::kernel {

namespace {

// Weights of the a-posteriori ratio and of the decoder's input in the feedback.
constexpr float weight_posterior = 0.8f, weight_input = 0.2f;
// Limit, as max-log ratios are too confident.
constexpr float largest_ratio = 25;

/* Hopeless block: many decisions change from round to round, but the decoder corrects as
 * much of its input as before. Shares of the coded bits. */
constexpr double restless = 0.02, no_better = 0.985;
// Settled block: hardly any decision changes, and no more corrections.
constexpr double still = 0.001, as_good = 0.997;

constexpr size_t disturbed_rounds = 10; // while carriers are removed
/* Blocks in a row that no round helped while carriers are removed, after which a block
 * that begins no better gets no rounds. They take half of the time beside a strong
 * teletype (laboratory/results/log/hopeless-rounds.md). */
constexpr size_t hopeless_blocks = 2;

} // namespace

iterative_detector::iterative_detector(const description& d,
                                       size_t rounds,
                                       std::optional<waveform_reading> known)
    : d_d(d), d_rounds(rounds), d_readings(d, known), d_symbols(d.alphabet),
      d_decoder(std::make_unique<block_decoder>(d_readings.chosen()))
{
}

void iterative_detector::frame(frame_observation& f)
{
    const size_t first = d_scrambling.size();
    d_scrambling.insert(d_scrambling.end(), f.scrambling.begin(), f.scrambling.end());
    d_equaliser.equalise(f, d_estimates);
    const unsigned bits = f.alphabet->bits;
    size_t at = d_soft.size();
    d_soft.resize(at + bits * d_estimates.size());
    for (size_t i = 0; i < d_estimates.size(); ++i, at += bits)
        d_symbols.soft_bits(f.scrambling[i], d_estimates[i], &d_soft[at]);
    if (d_readings.open())
        for (size_t r = 0; r < d_readings.size(); ++r)
            d_readings.frame(r, f.frame_in_cycle, d_estimates);
    note(first);
}

// Store the estimates as those of the block's symbols from \p first on.
void iterative_detector::note(size_t first)
{
    if (!d_details)
        return;
    d_details->symbols.resize(
        std::max(d_details->symbols.size(), first + d_estimates.size()));
    for (size_t i = 0; i < d_estimates.size(); ++i)
        d_details->symbols[first + i] =
            unscrambled(d_d.alphabet, d_scrambling[first + i], d_estimates[i]);
}

// Mean and variance of each symbol from the ratios of its bits.
void iterative_detector::form_beliefs()
{
    const unsigned bits = d_d.alphabet.bits;
    d_beliefs.resize(d_scrambling.size());
    std::array<float, 8> ratio;
    for (size_t i = 0; i < d_beliefs.size(); ++i) {
        for (unsigned b = 0; b < bits; ++b) {
            const size_t k = i * bits + b;
            ratio[b] =
                std::clamp(weight_posterior * d_posterior[k] - weight_input * d_sum[k],
                           -largest_ratio,
                           largest_ratio);
        }
        d_beliefs[i] = d_symbols.belief_of(d_scrambling[i], ratio.data());
    }
}

// Another round: new symbols and soft bits with the beliefs. All evidence about a bit but
// that of this detector helps to demap the other bits of its symbol.
void iterative_detector::equalise_again(frame_source& source,
                                        const std::vector<symbol_belief>& beliefs,
                                        const std::vector<float>& posterior)
{
    std::array<float, 8> prior;
    const unsigned bits = d_d.alphabet.bits;
    source.observe_again(beliefs, d_frames);
    size_t symbol = 0;
    for (frame_observation& f : d_frames) {
        d_equaliser.equalise(f, &beliefs[symbol], d_estimates);
        note(symbol);
        for (size_t i = 0; i < d_estimates.size(); ++i, ++symbol) {
            const size_t k = symbol * bits;
            for (unsigned b = 0; b < bits; ++b)
                prior[b] = std::clamp(
                    posterior[k + b] - d_soft[k + b], -largest_ratio, largest_ratio);
            const uint8_t scrambling = d_scrambling[symbol];
            d_symbols.soft_bits(scrambling, d_estimates[i], &d_evidence[k]);
            d_symbols.soft_bits(scrambling, d_estimates[i], prior.data(), &d_soft[k]);
        }
    }
}

// Sum of the soft bits of all parts.
void iterative_detector::add_up(const std::vector<part>& parts,
                                std::vector<float> iterative_detector::*soft,
                                std::vector<float>& sum)
{
    sum = parts.front().detector->*soft;
    for (size_t p = 1; p < parts.size(); ++p)
        for (size_t i = 0; i < sum.size(); ++i)
            sum[i] += (parts[p].detector->*soft)[i];
}

// A-posteriori ratios of the sum. Counts decisions that changed, and decisions that
// differ from the input.
iterative_detector::progress iterative_detector::decide()
{
    d_decoder->soft_output(d_sum, d_posterior);
    progress p;
    d_decisions.resize(d_posterior.size(), 2); // 2: no decision yet
    for (size_t i = 0; i < d_decisions.size(); ++i) {
        const uint8_t decision = d_posterior[i] < 0;
        p.changed += decision != d_decisions[i];
        p.corrected += decision != (d_sum[i] < 0);
        d_decisions[i] = decision;
    }
    return p;
}

decoded_block iterative_detector::end_block(frame_source& source)
{
    return std::move(end_blocks({ { this, &source } }).front());
}

std::vector<decoded_block> iterative_detector::end_blocks(const std::vector<part>& parts)
{
    iterative_detector& first = *parts.front().detector;
    first.iterate(parts);
    // The decoder's help could confirm its own errors, so it does not count as evidence.
    std::vector<float> evidence;
    add_up(parts, &iterative_detector::d_evidence, evidence);
    std::vector<decoded_block> decoded;
    for (const part& p : parts) {
        iterative_detector& one = *p.detector;
        if (one.d_details)
            one.d_details->llrs = evidence;
        decoded.push_back(one.d_decoder->decode(first.d_sum, evidence));
        one.forget();
    }
    return decoded;
}

void iterative_detector::forget()
{
    d_readings.forget();
    d_soft.clear();
    d_scrambling.clear();
}

// By the first round's soft bits: the linear equaliser does not use the scrambling.
void iterative_detector::choose_reading(const std::vector<part>& parts)
{
    if (!d_readings.open())
        return;
    std::vector<code_readings*> others;
    for (const part& p : parts)
        if (p.detector != this && p.detector->d_readings.open())
            others.push_back(&p.detector->d_readings);
    d_readings.choose(others);
    for (const part& p : parts)
        p.detector->take_reading();
}

void iterative_detector::take_reading()
{
    const description& d = d_readings.chosen();
    if (d_scrambling == d_readings.scrambling() && &d == &d_decoder->waveform())
        return;
    d_soft = d_readings.soft_bits();
    d_scrambling = d_readings.scrambling();
    d_decoder = std::make_unique<block_decoder>(d);
}

void iterative_detector::iterate(const std::vector<part>& parts)
{
    const bool disturbed = std::any_of(
        parts.begin(), parts.end(), [](const part& p) { return p.source->disturbed(); });
    const size_t rounds = disturbed ? std::max(d_rounds, disturbed_rounds) : d_rounds;
    const size_t patience = rounds > 4 ? 2 : 1; // rounds without progress
    size_t idle = 0;
    double corrected_before = 1, corrected_first = 1;
    bool moving = false;
    d_decisions.clear();
    choose_reading(parts);
    for (const part& p : parts)
        p.detector->d_evidence = p.detector->d_soft;
    add_up(parts, &iterative_detector::d_soft, d_sum);
    for (size_t round = 0; round < rounds; ++round) {
        const auto [changed, corrections] = decide();
        const auto size = static_cast<double>(d_decisions.size());
        const double corrected = static_cast<double>(corrections) / size;
        if (static_cast<double>(changed) > restless * size &&
            corrected > no_better * corrected_before)
            ++idle;
        else
            idle = 0;
        const bool settled = static_cast<double>(changed) < still * size &&
                             corrected > as_good * corrected_before;
        corrected_before = corrected;
        moving = static_cast<double>(changed) > restless * size;
        if (round == 0)
            corrected_first = corrected;
        if (disturbed && d_unhelped >= hopeless_blocks &&
            corrected_first >= d_unhelped_at)
            break;
        if (changed == 0 || settled || idle >= patience)
            break;
        form_beliefs();
        for (const part& p : parts)
            p.detector->equalise_again(*p.source, d_beliefs, d_posterior);
        add_up(parts, &iterative_detector::d_soft, d_sum);
    }
    d_unhelped_at = moving ? std::min(d_unhelped_at, corrected_first) : 1;
    d_unhelped = moving ? d_unhelped + 1 : 0;
}

} // namespace gr::hf::kernel
