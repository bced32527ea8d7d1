/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/base/grid.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Takes steady carriers of other stations out of a stream.
 *
 * A line that stands out of the averaged spectrum is followed in amplitude, phase and
 * frequency and subtracted: a notch some 0.5 Hz wide, which costs a signal under a thousandth
 * of its power. Nothing is delayed; without a line samples pass unchanged.
 *
 * Signals have lines too. Those of probes lie under weakest. A preamble, and constant data
 * under a scrambler that repeats, are lines altogether: such a signal is known by repeating
 * itself after one of some periods, and while one is heard a line must hold of_what_repeats.
 */
class carrier_canceller
{
public:
    static constexpr size_t most = 4; //!< lines at once
    //! Power of a line against everything else from which on it is taken for a carrier, -20 dB.
    static constexpr float weakest = 0.01f;
    /*! Power of a line against all that repeats after a period. The strongest line of a preamble
     *  holds 0.04 of it; where the paths add up on that line, twice as much. */
    static constexpr float of_what_repeats = 0.12f;

    /*! \param grid of the samples
     *  \param periods_s after which the signals to be spared repeat themselves, s
     */
    carrier_canceller(const symbol_grid& grid, const std::vector<double>& periods_s);

    //! The next sample without the carriers. \p erased: nothing is known of it.
    std::complex<float> push(std::complex<float> x, bool erased);

    //! Forget everything.
    void restart();

    //! Frequencies of the carriers that are being taken out, Hz.
    std::vector<double> frequencies() const;

private:
    using value = std::complex<float>;

    struct line {
        double turns = 0; // per sample
        std::complex<double> phase{ 1, 0 }, step{ 1, 0 };
        value amplitude, before; // now; when the frequency was adjusted last
        size_t weak = 0;         // looks at which it was too weak
    };

    void look();
    void analyse();
    bool is_of_a_signal(float power) const;
    void adopt(double bin);
    void set(line& l, double turns);

    // A signal that repeats itself.
    struct repetition {
        explicit repetition(size_t period) : sent(period) {}
        std::vector<value> sent; // a ring of what went out
        size_t at = 0;
        // Since the last analyse(): correlation with what went out a period before, power added.
        value correlation = 0;
        float added = 0;
        float power = 0; // that repeats, averaged like the spectrum
    };

    double d_sample_rate;
    size_t d_length; // of a spectrum; bins of 1.2 to 2.3 Hz
    size_t d_look_every;
    float d_agility;             // share of a difference taken over with each sample
    std::vector<value> d_recent; // a ring of what came in
    std::vector<float> d_window;
    std::vector<float> d_average; // of the spectrum
    std::vector<value> d_work, d_spectrum;
    size_t d_count = 0;
    size_t d_spectra = 0;
    float d_power = 0; // of what goes out, running mean
    std::vector<repetition> d_repetitions;
    std::vector<line> d_lines;
};

} // namespace gr::hf::kernel
