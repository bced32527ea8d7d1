/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/find/mode_trial.h"

#include "modem/decode/block_decoder.h"
#include "modem/detect/equaliser.h"
#include "modem/detect/soft_symbols.h"
#include "modem/track/frame_tracker.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace gr::hf::kernel {

namespace {

// The transmission has ended after this long without a signal.
constexpr double lost_after_s = 4;
// Symbols that tell alphabets apart. After 256 symbols, the log likelihood of the right
// alphabet led by 8 (64QAM, Poor at 24 dB) to 170.
constexpr size_t min_symbols = 200;
/* Limits for the right mode. right_mode: share of the contradictions expected by chance
 * that are missing. beyond_chance: missing contradictions over the root of the expected
 * ones. Measured at 150 and 300 bit/s, which have the fewest bits, at the SNR needed on
 * AWGN, with six transmissions per interleaver: the sent mode had a share of at least
 * 0.83. Other modes had at most 4.6 of the second figure, in thousands of looks. 256QAM
 * on Poor reached neither, as it is equalised once. */
constexpr double right_mode = 0.5, beyond_chance = 7.5;
// A mode below the share wrong_mode is dropped, but only after this many contradictions
// expected by chance: a fade proves nothing.
constexpr double max_contradictions = 500, wrong_mode = 0.25;

} // namespace

//! Keeps the equaliser's estimates of the data symbols.
class mode_trial::estimates : public detector
{
public:
    void frame(frame_observation& f) override
    {
        d_equaliser.equalise(f, d_of_frame);
        all.insert(all.end(), d_of_frame.begin(), d_of_frame.end());
    }
    decoded_block end_block(frame_source&) override { return {}; }
    void forget() override {}

    std::vector<symbol_estimate> all;

private:
    linear_equaliser d_equaliser;
    std::vector<symbol_estimate> d_of_frame;
};

mode_trial::mode_trial(const acquired& a, const std::vector<possible_mode>& modes)
    : d_frame(a.waveform->unknown), d_first_frame(a.first_frame),
      d_most(2 * a.waveform->frames_per_cycle * a.waveform->unknown)
{
    auto keeper = std::make_unique<estimates>();
    d_estimates = keeper.get();
    d_tracker = std::make_unique<frame_tracker>(a, lost_after_s, std::move(keeper));
    for (const possible_mode& m : modes)
        d_hypotheses.push_back({ &m, nullptr });
    std::stable_sort(d_hypotheses.begin(),
                     d_hypotheses.end(),
                     [](const hypothesis& x, const hypothesis& y) {
                         return x.what->frames_per_block < y.what->frames_per_block;
                     });
    for (hypothesis& h : d_hypotheses) {
        const auto same =
            std::find_if(d_alphabets.begin(), d_alphabets.end(), [&h](const auto& known) {
                return known->d->alphabet.bits == h.what->bits;
            });
        if (same != d_alphabets.end()) {
            h.points = same->get();
            continue;
        }
        d_alphabets.push_back(
            std::make_unique<alphabet>(alphabet{ &describe(h.what->m) }));
        h.points = d_alphabets.back().get();
    }
}

mode_trial::~mode_trial() = default;

// Of data symbol \p n of those that were equalised.
uint8_t mode_trial::scrambling(const description& d, size_t n) const
{
    const size_t frame = (d_first_frame + n / d_frame) % d.frames_per_cycle;
    return d.patterns[d.frame_patterns[frame] * d.frame_symbols() + n % d_frame].value;
}

// Of the estimates that came since.
void mode_trial::weigh_alphabets()
{
    for (auto& a : d_alphabets) {
        const description& d = *a->d;
        for (size_t n = d_weighed; n < d_estimates->all.size(); ++n) {
            const symbol_estimate& e = d_estimates->all[n];
            const uint8_t scramble = scrambling(d, n);
            double sum = 0;
            for (size_t l = 0; l < d.alphabet.label_to_number.size(); ++l)
                sum += std::exp(-static_cast<double>(
                    std::norm(e.value -
                              d.alphabet.point(static_cast<uint8_t>(l), scramble)) /
                    e.error));
            a->likelihood += std::log(
                sum / static_cast<double>(d.alphabet.label_to_number.size()) + 1e-30);
        }
    }
    d_weighed = d_estimates->all.size();
}

const mode_trial::alphabet* mode_trial::likeliest() const
{
    return std::max_element(
               d_alphabets.begin(),
               d_alphabets.end(),
               [](const auto& a, const auto& b) { return a->likelihood < b->likelihood; })
        ->get();
}

// False if the block has not arrived yet.
bool mode_trial::decode_next(hypothesis& h)
{
    const size_t symbols = h.what->frames_per_block * d_frame;
    const size_t first = h.what->first_frame * d_frame + h.blocks * symbols;
    if (first + symbols > d_estimates->all.size())
        return false;
    const description& d = describe(h.what->m);
    const soft_symbols demapper(d.alphabet);
    std::vector<float> soft(d.coded_bits);
    for (size_t i = 0; i < symbols; ++i)
        demapper.soft_bits(scrambling(d, first + i),
                           d_estimates->all[first + i],
                           &soft[i * d.alphabet.bits]);
    double magnitude = 0;
    for (const float l : soft)
        magnitude += std::abs(l);
    block_decoder decoder(d);
    const decoded_block sent = decoder.decode(soft);
    // By chance: the same magnitudes with random signs, from a fixed seed.
    std::mt19937 random(static_cast<unsigned>(++h.blocks));
    for (float& l : soft)
        l = (random() & 1) != 0 ? l : -l;
    const double chance = decoder.decode(soft).agreement;
    h.all += magnitude;
    h.agree += magnitude * sent.agreement;
    h.chance += magnitude * chance;
    h.contradictions += (1 - chance) / 2 * static_cast<double>(sent.compared);
    return true;
}

mode_trial::state mode_trial::judge(hypothesis& h)
{
    const double clear = h.clear();
    if (clear >= std::max(right_mode, beyond_chance / std::sqrt(h.contradictions)))
        return state::found;
    h.refuted = h.contradictions >= max_contradictions && clear < wrong_mode;
    return h.refuted ? state::none : state::pending;
}

/* Blocks of a tail-biting code that are read some frames off agree with it but for these frames: of places
 * of the same mode the best one is right. Null: not decided yet. */
const mode_trial::hypothesis* mode_trial::best_place_like(const hypothesis& h) const
{
    const hypothesis* best = &h;
    for (const hypothesis& other : d_hypotheses) {
        if (!(other.what->m == h.what->m) || other.refuted)
            continue;
        if (other.blocks < h.blocks)
            return nullptr;
        if (other.clear() > best->clear())
            best = &other;
    }
    return best;
}

mode_trial::state mode_trial::advance(const sample_buffer& in)
{
    while (d_tracker->advance(in)) {
    }
    weigh_alphabets();
    if (d_weighed < min_symbols)
        return d_tracker->lost() ? state::none : state::pending;
    const alphabet* const sent = likeliest();
    bool open = false;
    for (hypothesis& h : d_hypotheses) {
        if (h.points != sent)
            continue;
        while (!h.refuted && !h.right && decode_next(h))
            h.right = judge(h) == state::found;
        open = open || !h.refuted;
        if (!h.right)
            continue;
        if (const hypothesis* best = best_place_like(h)) {
            d_waveform = &describe(best->what->m);
            d_plan = best->what->plan;
            d_found = best->what;
            return state::found;
        }
    }
    return open && !d_tracker->lost() && d_estimates->all.size() < d_most ? state::pending
                                                                          : state::none;
}

} // namespace gr::hf::kernel
