/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "channel/channel_spec.h"
#include "channel/fading_tap.h"
#include "channel/learned_channel.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

/*! \brief A delay in samples, fractional, for streams.
 *
 * Whole delays are a shift. Others use a windowed-sinc filter of 2 * half_length() taps,
 * flat to 0.8 of the Nyquist frequency. The filter's own delay is part of the requested
 * delay. So a fractional delay must be at least half_length().
 */
class delay_line
{
public:
    static constexpr size_t half_length() { return 16; }

    //! \throws std::invalid_argument for a negative or too short fractional delay.
    explicit delay_line(double samples);

    //! \p out may be \p in.
    void process(const std::complex<float>* in, std::complex<float>* out, size_t n);

private:
    size_t d_shift;            // whole samples before the filter
    std::vector<float> d_taps; // oldest sample first; one tap for whole delays
    std::vector<std::complex<float>> d_work; // history, then the input
};

//! One path: delay, then gain (static, fading or learned) and Doppler shift. Adds to its
//! output.
class path
{
public:
    /*! \param extra_delay samples added to the path's own delay
     *  \param amplitude root of the mean power
     */
    path(const path_spec& spec,
         double sample_rate,
         double extra_delay,
         double amplitude,
         counter_random random);

    //! Path number \p number of a learned channel.
    path(std::shared_ptr<const learned_channel> channel,
         size_t number,
         double sample_rate,
         double extra_delay);

    void add(const std::complex<float>* in, std::complex<float>* out, size_t n);

    //! Delay in samples, including the extra delay.
    double delay() const { return d_delay_samples; }
    //! Gain at output sample \p sample. No state; slow.
    std::complex<double> gain(double sample) const;

private:
    double d_delay_samples;
    delay_line d_delay;
    std::optional<fading_tap> d_fading;
    std::optional<learned_tap> d_learned;
    std::complex<float> d_gain;
    double d_turns_per_sample;
    uint64_t d_count = 0;
    std::vector<std::complex<float>> d_delayed, d_gains;
};

} // namespace gr::hf::kernel
