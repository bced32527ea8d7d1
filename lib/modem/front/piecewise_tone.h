/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <complex>
#include <cstddef>
#include <deque>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Describes a carrier that is keyed, jumps or moves by as few numbers as possible.
 *
 * The samples are cut into segments of 8 to 150 ms. Each is one tone, whose frequency may
 * change steadily, or silence. The cuts leave the least power outside the tones, plus a
 * price for each tone (dynamic programming, optimal partitioning). A tone has about two
 * numbers, where the band that it was found in has many. So little of a wanted signal in
 * that band goes with it.
 */
class piecewise_tone
{
public:
    using value = std::complex<float>;

    explicit piecewise_tone(double sample_rate);

    //! Forget everything.
    void restart();

    /*! \brief Take the next \p n samples, of one carrier and a share of the wanted signal.
     *  \param price energy that a tone must explain, relative to that of one sample
     */
    void push(const value* x, size_t n, float price);

    //! Append the tones at the samples that are settled, each sample once, to \p out.
    void take(std::vector<value>& out);

    //! Settle all samples taken so far.
    void finish();

private:
    struct state {         // after a step
        double energy = 0; // of all steps before
        std::vector<double>
            sums;          // of these at each frequency: real, then imaginary parts
        double cost;       // of the best way here
        size_t from = 0;   // step at which its last segment starts
        int bin = silence; // frequency of that segment
    };
    struct segment {
        size_t begin, end; // samples
        int bin;           // frequency
    };
    struct tone {
        size_t begin, end; // samples
        bool silent = true;
        double turns = 0;    // per sample
        double bend[3] = {}; // of the phase, over -1 to 1: constant, linear, square
        value amplitude = 0;

        value at(size_t i) const
        {
            return silent ? 0 : amplitude * value(turn(*this, i));
        }
    };
    static constexpr int silence = -1;

    static std::complex<double> turn(const tone& t, size_t sample);
    void add_step(value x);
    static size_t strongest(const state& from, const state& to);
    void settle(size_t unsettled);
    tone fit(const segment& s) const;
    void settle_change(const tone& before, const tone& after);
    size_t step_count() const { return d_base + d_states.size() - 1; }
    value sample(size_t i) const { return d_x[i - d_first]; }

    size_t d_stride; // samples per step
    size_t d_margin; // samples at either end that a fit leaves out
    size_t d_reach;  // samples by which a change may move
    std::vector<std::vector<float>> d_ramps; // changes of several durations
    std::vector<std::complex<double>> d_turns;
    double d_price = 0;
    // Samples and steps are counted since the restart.
    std::deque<value> d_x;
    size_t d_first = 0;         // sample in front of d_x
    std::deque<state> d_states; // the first one: where the first segment starts
    size_t d_base = 0;          // its step
    size_t d_cut = 0;           // samples settled
    std::vector<value> d_settled;
};

} // namespace gr::hf::kernel
