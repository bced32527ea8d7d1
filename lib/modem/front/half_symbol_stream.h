/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/base/grid.h"
#include "modem/front/sample_buffer.h"

#include <array>
#include <complex>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Front end: mixes samples (4 per symbol) to zero offset, filters them by the
 *         root-raised-cosine matched filter, and returns 2 samples per symbol (Falconer
 *         1985; docs/receiver.md, "What each idea is worth").
 *
 * Output i is centred at input sample start + 2 (1 + clock) i. start may be fractional.
 * clock is the known relative lag of the sender's sample clock.
 */
class half_symbol_stream
{
public:
    //! Input samples on either side: 8 symbols.
    static constexpr int half_span = 8 * symbol_grid::samples_per_symbol;

    /*! \param grid of the input
     *  \param start input sample at which output 0 is centred
     *  \param first index of the first output to make; may be negative
     *  \param frequency_hz carrier offset to remove
     *  \param clock clock difference, see above
     */
    half_symbol_stream(const symbol_grid& grid,
                       double start,
                       int64_t first,
                       double frequency_hz,
                       double clock = 0);

    //! Make every output before \p limit for which \p in has the samples.
    void run(const sample_buffer& in, int64_t limit = INT64_MAX);

    //! Oldest input sample still needed.
    int64_t needs() const { return d_next_input; }
    //! Outputs made: indices begin() .. end() - 1.
    int64_t begin() const { return d_out.begin(); }
    int64_t end() const { return d_out.end(); }
    const std::complex<float>* at(int64_t i) const { return d_out.at(i); }
    void drop_before(int64_t i);
    //! Subtract \p n values from output \p i and those after it.
    void subtract(int64_t i, const std::complex<float>* x, size_t n)
    {
        d_out.subtract(i, x, n);
    }

    //! Erased input samples that outputs from begin() on depend on, ascending.
    const std::deque<erasure>& erased() const { return d_erased; }

    /*! \brief Expected power that erased samples remove from output \p i, for a signal of
     *         power 1.
     */
    float missing(int64_t i) const;

    /*! \brief Interference found on output \p i: its power above the noise; 0 for none.
     *  \details The rest of a burst, which shows only once the data are known.
     */
    void set_interference(int64_t i, float power);
    float interference(int64_t i) const;
    //! Forget that on output \p first and later ones.
    void forget_interference_from(int64_t first)
    {
        d_interference.erase(d_interference.lower_bound(first), d_interference.end());
    }
    //! True if there is any on outputs \p first .. \p last - 1.
    bool interference_within(int64_t first, int64_t last) const;

    /*! \brief Renumber: output i + \p rows, past or future, becomes output i.
     *  \details Moves the receiver's window of delays; no output changes.
     */
    void move(int rows);

    /*! \brief The level changed at input sample \p i: multiply all input from there on by
     *         \p factor, also outputs already made.
     *  \details The time of the change is known to a few samples; these count as erased.
     *  \returns the first output that has changed
     */
    int64_t rescale(int64_t i, float factor);
    //! How far back rescale() may reach, input samples: longer than the delay of
    //! level_steps.
    int64_t rescalable() const { return d_rescalable; }

    //! Input sample on which output \p i is centred.
    double input_time(double i) const
    {
        const timing& t = timing_at(i);
        return t.input + t.step * (i - static_cast<double>(t.row));
    }
    //! Output index at input sample \p input, the inverse of input_time().
    double row_at(double input) const;

    //! From the next output on, follow a sender's clock \p difference slower than ours.
    void set_clock(double difference);
    double clock() const { return clock_at(static_cast<double>(d_out.end())); }
    //! Clock difference followed at output \p i.
    double clock_at(double i) const
    {
        return timing_at(i).step / symbol_grid::samples_per_row - 1;
    }

    //! From the next input sample on, remove \p hz; the phase is continuous.
    void set_frequency(double hz);
    double frequency() const { return d_segments.back().hz; }
    //! Frequency removed at output \p i.
    double frequency_at(double i) const { return segment_at(input_time(i)).hz; }

    //! Phase of the oscillator at output \p i, turns, without whole ones.
    double phase(double i) const;

private:
    struct segment {  // of constant frequency
        double from;  // input sample
        double turns; // phase there
        double hz;
    };
    const segment& segment_at(double input) const;
    struct timing { // timing of outputs from row on
        int64_t row;
        double input; // input sample of that row
        double step;  // samples from row to row
        bool whole;   // that sample is on the input grid
    };
    const timing& timing_at(double row) const;
    const float* taps_of(int64_t i) const;
    int64_t possible_outputs(int64_t end) const;
    void mix(const sample_buffer& in, int64_t end);
    void make_outputs(int64_t end);
    //! First input of the filter for output \p i.
    int64_t first_input(int64_t i) const;

    static constexpr size_t filter_taps = 2 * half_span + 4;
    using filter = std::array<float, 2 * filter_taps>; // each twice: real, imaginary
    static filter filter_at(double fraction);

    double d_input_rate;
    int64_t d_rescalable;
    std::vector<timing> d_timing; // ascending
    filter d_taps{};              // for outputs on the input grid
    sample_buffer d_mixed, d_out;
    std::deque<erasure> d_erased;
    std::map<int64_t, float> d_interference; // by output
    int64_t d_next_input;
    float d_gain = 1;
    std::vector<segment> d_segments;
};

} // namespace gr::hf::kernel
