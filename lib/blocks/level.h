/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/gr_complex.h>
#include <volk/volk.h>

#include <atomic>
#include <sstream>
#include <stdexcept>

namespace gr::hf {

/*! \brief Scales a modulator's samples to the level that a user wants.
 *
 * The modulator's constellations have the mean power 1 or less. Its pulses overlap to
 * peaks of 1.59 in a minute of random octets in each mode (tests/blocks/test_level.py).
 * 1.6 is taken as the highest peak. Any thread may set it.
 */
class level
{
public:
    static constexpr double modulators = 1.6;

    //! \param peak highest magnitude of the samples
    //! \param modulator that of the modulator's samples
    //! \throws std::invalid_argument
    explicit level(double peak, double modulator = modulators) : d_modulator(modulator)
    {
        set(peak);
    }

    //! Takes effect at the next samples. \throws std::invalid_argument
    void set(double peak)
    {
        if (!(peak >= 0.001 && peak <= 10)) {
            std::ostringstream said;
            said << "level " << peak << ": allowed are 0.001 to 10, full scale is 1";
            throw std::invalid_argument(said.str());
        }
        d_gain = static_cast<float>(peak / d_modulator);
    }

    void apply(gr_complex* samples, size_t count) const
    {
        const float gain = d_gain;
        if (gain != 1)
            volk_32f_s32f_multiply_32f(reinterpret_cast<float*>(samples),
                                       reinterpret_cast<const float*>(samples),
                                       gain,
                                       static_cast<unsigned>(2 * count));
    }

private:
    double d_modulator;
    std::atomic<float> d_gain{ 1 };
};

} // namespace gr::hf
