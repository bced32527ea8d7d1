/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/front/half_symbol_stream.h"
#include "modem/track/coherent_walsh.h"
#include "modem/track/presence.h"
#include "waveform/description.h"
#include "waveform/reception_plan.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

/*! \file The parts of walsh_tracker. A set is the chips of one word, 32 of one of four words at
 *        75 bit/s. */
namespace gr::hf::kernel {

//! A value for each word of a set.
using walsh_values = coherent_walsh::values_of_words;

//! Correlates sets with their words at every delay of a window.
class walsh_correlator
{
public:
    //! \param early, taps half symbols: before delay 0, in all. \p d must outlive this
    walsh_correlator(const description& d, size_t early, size_t taps)
        : d_d(d), d_early(early), d_taps(taps), d_correlation(d.words.size() / 2)
    {
    }

    /*! \brief Correlate the set that begins at symbol \p begin.
     *  \param exceptional its words are the exceptional ones
     *  \param weight of each tap's energy
     *  \returns the weighted energy of each word
     */
    walsh_values despread(const half_symbol_stream& y,
                          int64_t begin,
                          bool exceptional,
                          const std::vector<float>& weight);

    //! Of the last set, for each tap.
    const coherent_walsh::correlations& last() const { return d_correlation; }
    void set_last(const coherent_walsh::correlations& c) { d_correlation = c; }

    size_t early() const { return d_early; }
    size_t taps() const { return d_taps; }

private:
    const description& d_d;
    size_t d_early, d_taps;
    coherent_walsh::correlations d_correlation;
    std::vector<float> d_rows_re, d_rows_im; // of the stream, of one set
    std::vector<float> d_sum_re, d_sum_im;   // per tap, of one word
};

//! Power of each tap and noise, learned from the words as they are received.
class walsh_profile
{
public:
    /*! \param chips of a set
     *  \param power of each tap
     *  \param noise variance of a half-symbol row
     */
    walsh_profile(const walsh_plan& plan,
                  size_t chips,
                  std::vector<float> power,
                  float noise)
        : d_plan(plan), d_chips(static_cast<float>(chips)), d_power(std::move(power)),
          d_noise(noise)
    {
    }

    //! Unclipped averages.
    const std::vector<float>& power() const { return d_power; }
    //! Per row, self-interference of all delays included.
    float noise() const { return d_noise; }
    //! Power beyond what a tap without a path has by chance.
    std::vector<float> above() const;
    //! Weight of a tap's energy in the metric of a word, from above() of the tap.
    float weight(float above) const;
    //! The tap holds noise alone.
    bool empty(size_t tap) const;
    //! Its power is above that of the noise of a set.
    bool strong(size_t tap) const { return d_power[tap] > d_noise / d_chips; }
    //! Learn from a set: metric and correlations of its words.
    void learn(const walsh_values& metric, const coherent_walsh::correlations& c);
    //! Follow half_symbol_stream::move().
    void move(int rows);

private:
    const walsh_plan& d_plan;
    float d_chips;
    std::vector<float> d_power;
    float d_noise;
};

//! Decides whether the signal is still there, by how far the best word is above the others.
class walsh_presence
{
public:
    walsh_presence(const walsh_plan& plan, double set_s, double lost_after_s);

    /*! \brief Add a set. The score is in standard deviations of noise.
     *  \param power of each tap
     *  \param end   symbol after the set
     */
    void add(const std::vector<float>& power,
             const coherent_walsh::correlations& c,
             int64_t end);
    const presence& score() const { return d_presence; }

private:
    const walsh_plan& d_plan;
    presence d_presence;
    float d_level = 0; // energy of wrong words
    bool d_first = true;
};

//! Measures a carrier error by the phase turn of each path between sets.
class walsh_turn
{
public:
    walsh_turn(const walsh_plan& plan, double set_s) : d_plan(plan), d_set_s(set_s) {}

    /*! \brief Add the correlations of a set with its word.
     *  \returns Hz by which to correct the carrier; 0: nothing certain
     */
    double add(const std::vector<std::complex<float>>& now, const walsh_profile& taps);
    //! Follow half_symbol_stream::move().
    void move(int rows);

private:
    const walsh_plan& d_plan;
    double d_set_s;
    std::vector<std::complex<float>> d_last; // correlations of the last set
    std::complex<float> d_turn;
    float d_turn_power = 0;
    size_t d_turns = 0;
};

//! The words decided in the current block.
class walsh_words
{
public:
    //! \p d must outlive this.
    explicit walsh_words(const description& d) : d_d(d) {}

    void add(size_t word) { d_words.push_back(static_cast<uint8_t>(word)); }
    void clear() { d_words.clear(); }
    size_t size() const { return d_words.size(); }
    //! Take the words that the decoder found: it knows them better than each set alone.
    void take(const std::vector<float>& posterior);
    /*! \brief A last set was more like exceptional words by this log-likelihood.
     *  \returns true if the last words of all blocks are exceptional
     */
    bool compare_last(float exceptional);
    //! A decided chip; 0 outside of the block. The block's first symbol is \p first.
    std::complex<float> chip(int64_t symbol, int64_t first) const;

private:
    const description& d_d;
    std::vector<uint8_t> d_words;
    float d_score = 0;         // log-likelihood of the exceptional words, over blocks
    bool d_exceptional = true; // kind of the last set of the last block
};

} // namespace gr::hf::kernel
