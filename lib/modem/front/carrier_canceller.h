/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/base/grid.h"

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Removes steady carriers of other stations from a stream.
 *
 * Follows a line that stands out of the averaged spectrum in amplitude, phase and
 * frequency, and subtracts it. That is a notch some 0.5 Hz wide, which costs a signal
 * less than a thousandth of its power. There is no delay. Without a line samples pass
 * unchanged.
 *
 * Signals have lines too. Those of probes lie below weakest. A preamble consists of
 * lines, and so do constant data under a repeating scrambler. Such a signal repeats
 * itself after a known period; then a line must exceed of_what_repeats.
 */
class carrier_canceller
{
public:
    //! Lines at once: those of hum in 3 kHz, 50 Hz apart.
    static constexpr size_t most = 64;
    //! Least power of a carrier, relative to everything else: -20 dB.
    static constexpr float weakest = 0.01f;
    /*! Least power of a carrier, relative to all power that repeats after a period. A
     * preamble repeats, too: its strongest line has 0.04 of that power, and 0.08 where paths
     * add up. */
    static constexpr float of_what_repeats = 0.12f;

    /*! \param grid of the samples
     *  \param periods_s periods after which protected signals repeat themselves, s
     */
    carrier_canceller(const symbol_grid& grid, const std::vector<double>& periods_s);

    //! The next sample without the carriers. \p erased: the sample is unknown.
    std::complex<float> push(std::complex<float> x, bool erased);

    //! Share of the latest power that repeats after a period, 0 to 1: what may be lines of a
    //! signal.
    float repeating() const { return d_repeating; }

    //! Forget everything.
    void restart();

    //! Frequencies of the carriers being removed, Hz.
    std::vector<double> frequencies() const;

private:
    using value = std::complex<float>;

    struct line {
        double turns = 0; // per sample
        std::complex<double> phase{ 1, 0 }, step{ 1, 0 };
        value amplitude, before; // now; at the last frequency adjustment
        bool of_hum = false;
        size_t weak = 0; // looks in which it was too weak
    };

    // Bins of lines at equal distances. Distance 0: none.
    struct comb {
        int line = 0;        // a bin with a line
        double distance = 0; // bins
        bool has(int k) const
        {
            constexpr double next =
                2.5; // bins of a line, and of a difference of the mains
            if (!(distance > 0))
                return false;
            const double lines = (k - line) / distance;
            const auto nearest = static_cast<double>(std::lrint(lines));
            return std::abs(lines - nearest) * distance < next;
        }
    };

    void look();
    void analyse();
    void adopt_lines(float total);
    comb hum_among(int edge) const;
    bool is_of_a_signal(float power) const;
    float mean_beside(int k) const;
    float middle_beside(int k, int from, int to) const;
    bool is_steady(int k, int edge) const;
    bool crowded(int k) const;
    bool is_even(double bin, float around) const;
    //! Averaged spectrum at bin \p k, which may be negative.
    float at(int k) const { return d_average[static_cast<size_t>(k) & (d_length - 1)]; }
    void adopt(double bin, bool of_hum);
    void set(line& l, double turns);

    // A signal that repeats itself.
    struct repetition {
        explicit repetition(size_t period) : sent(period) {}
        std::vector<value> sent; // ring of output samples
        size_t at = 0;
        // Since the last analyse(): correlation with the output a period before, and
        // power added.
        value correlation = 0;
        float added = 0;
        float power = 0; // repeating power, averaged like the spectrum
    };

    double d_sample_rate;
    size_t d_length; // of a spectrum; bins of 1.2 to 2.3 Hz
    size_t d_look_every;
    float d_agility;  // share of a difference that is followed with each sample
    size_t d_silence; // samples of 0 after which all is forgotten
    std::vector<value> d_recent; // ring of input samples
    std::vector<float> d_window;
    std::vector<float> d_average; // of the spectrum
    std::vector<value> d_work, d_spectrum;
    size_t d_zeros = 0; // latest samples that are 0
    size_t d_count = 0;
    size_t d_spectra = 0;
    float d_power = 0; // of the output, running mean
    float d_added = 0; // to it since the last analyse()
    float d_repeating = 0;
    std::vector<repetition> d_repetitions;
    std::vector<line> d_lines;
};

} // namespace gr::hf::kernel
