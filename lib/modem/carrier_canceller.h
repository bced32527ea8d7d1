/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

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
 * Signals have lines too, those of their probes and those of constant data under a scrambler
 * that repeats: all of them under weakest, but for rare ones of slow modes, which do not mind.
 */
class carrier_canceller
{
public:
    static constexpr double sample_rate = 9600; //!< samples/s
    static constexpr size_t most = 4;           //!< lines at once
    //! Power of a line against everything else from which on it is taken for a carrier, -20 dB.
    static constexpr float weakest = 0.01f;

    carrier_canceller();

    //! The next sample without the carriers. \p erased: nothing is known of it.
    std::complex<float> push(std::complex<float> x, bool erased);

    //! Forget everything.
    void restart();

    //! Frequencies of the carriers that are being taken out, Hz.
    std::vector<double> frequencies() const;

private:
    using value = std::complex<float>;
    static constexpr size_t length = 4096; // of a spectrum; bins of 2.3 Hz

    struct line {
        double turns = 0; // per sample
        std::complex<double> phase{ 1, 0 }, step{ 1, 0 };
        value amplitude, before; // now; when the frequency was adjusted last
        size_t weak = 0;         // looks at which it was too weak
    };

    void look();
    void analyse();
    void adopt(double bin);
    void set(line& l, double turns);

    std::vector<value> d_recent; // a ring of what came in
    std::vector<float> d_window;
    std::vector<float> d_average; // of the spectrum
    std::vector<value> d_work, d_spectrum;
    size_t d_count = 0;
    size_t d_spectra = 0;
    float d_power = 0; // of what goes out, running mean
    std::vector<line> d_lines;
};

} // namespace gr::hf::kernel
