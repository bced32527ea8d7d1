/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/detect/iterative_detector.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gr::hf::kernel {

namespace {

// Of the a-posteriori ratio and of what went into the decoder.
constexpr float weight_posterior = 0.8f, weight_input = 0.2f;
// Max-log ratios are too sure of themselves.
constexpr float largest_ratio = 25;

/* A block that will never decode shows it at once: many decisions change from round to round,
 * but the decoder corrects as much of its input as before. Shares of the coded bits. */
constexpr double restless = 0.02, no_better = 0.985;
// One that has settled changes hardly any and corrects no more.
constexpr double still = 0.001, as_good = 0.997;

} // namespace

iterative_detector::iterative_detector(const description& d, size_t rounds)
    : d_d(d), d_rounds(rounds), d_symbols(d.alphabet), d_decoder(d)
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
    note(first);
}

// The estimates, which are those of the block's symbols from the first on.
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
                std::clamp(weight_posterior * d_posterior[k] - weight_input * d_soft[k],
                           -largest_ratio,
                           largest_ratio);
        }
        d_beliefs[i] = d_symbols.belief_of(d_scrambling[i], ratio.data());
    }
}

decoded_block iterative_detector::end_block(frame_source& source)
{
    const unsigned bits = d_d.alphabet.bits;
    const size_t patience = d_rounds > 4 ? 2 : 1; // rounds without progress
    size_t idle = 0;
    double corrected_before = 1;
    d_decisions.clear();
    for (size_t round = 0; round < d_rounds; ++round) {
        d_decoder.soft_output(d_soft, d_posterior);
        size_t changed = 0, corrections = 0;
        d_decisions.resize(d_posterior.size(), 2); // 2: not decided before
        for (size_t i = 0; i < d_decisions.size(); ++i) {
            const uint8_t decision = d_posterior[i] < 0;
            changed += decision != d_decisions[i];
            corrections += decision != (d_soft[i] < 0);
            d_decisions[i] = decision;
        }
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
        if (changed == 0 || settled || idle >= patience)
            break;
        form_beliefs();
        source.observe_again(d_beliefs, d_frames);
        size_t symbol = 0;
        for (frame_observation& f : d_frames) {
            d_equaliser.equalise(f, &d_beliefs[symbol], d_estimates);
            note(symbol);
            for (size_t i = 0; i < d_estimates.size(); ++i, ++symbol)
                d_symbols.soft_bits(
                    d_scrambling[symbol], d_estimates[i], &d_soft[symbol * bits]);
        }
    }
    if (d_details)
        d_details->llrs = d_soft;
    decoded_block b = d_decoder.decode(d_soft);
    d_soft.clear();
    d_scrambling.clear();
    return b;
}

} // namespace gr::hf::kernel
