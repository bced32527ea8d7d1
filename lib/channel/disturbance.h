/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "channel/channel_spec.h"
#include "channel/counter_random.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

//! Disturbances at the receiver by lightning and other stations: bursts of noise,
//! carriers, Morse code, radio teletype.
class disturbance
{
public:
    /*! \param spec a valid one; its impulses, carriers, morse and rtty are used
     *  \param sample_rate samples/s
     *  \param seed seed of the impulses
     *  \param signal_power power that the levels refer to
     */
    disturbance(const channel_spec& spec,
                double sample_rate,
                uint64_t seed,
                double signal_power);

    //! Add to \p n samples; the first one is number \p first of the stream.
    void add(std::complex<float>* x, size_t n, uint64_t first);

private:
    struct carrier {
        double turns_per_sample;
        float amplitude;
        // Movement: turns_per_sample's change per sample, and where it turns round.
        double speed = 0, edge = 0;

        double turns_at(double sample) const;
    };

    counter_random d_random;
    double d_begin = 0; // probability that an impulse starts at a sample
    size_t d_length = 0;
    float d_amplitude = 0;
    size_t d_left = 0; // samples left of the current impulse
    std::vector<carrier> d_carriers;

    void key(std::complex<float>* x, size_t n, uint64_t first);
    std::optional<carrier> d_morse;
    double d_dot = 0;     // samples
    float d_key_step = 0; // of the envelope, from sample to sample
    float d_envelope = 0;
    bool d_key_down = false;
    double d_key_changes = 0; // sample at which the key changes next
    uint64_t d_elements = 0;  // number keyed

    void teletype(std::complex<float>* x, size_t n, uint64_t first);
    std::optional<carrier> d_rtty;
    double d_deviation = 0; // turns per sample, half of the shift
    double d_bit = 0;       // samples
    bool d_mark = true;
    double d_bit_ends = 0; // sample at which the current bit ends
    uint64_t d_bits = 0;   // number sent
    double d_rtty_turns = 0;
};

/*! \brief The level at the receiver: steps, then the receiver's automatic gain control.
 *
 * The gain control divides by the root of a smoothed power. Its time constant is ten
 * times shorter upwards, so that it attacks fast and recovers slowly.
 */
class level
{
public:
    //! \param spec a valid one; its gain_db, step and agc_s are used
    level(const channel_spec& spec, double sample_rate);

    void process(std::complex<float>* x, size_t n, uint64_t first);

private:
    float d_gain, d_step_gain;
    uint64_t d_step_samples = 0;
    double d_attack = 0, d_decay = 0; // share of the difference followed per sample
    double d_power = 0;
};

} // namespace gr::hf::kernel
