/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "channel/channel_spec.h"
#include "channel/counter_random.h"
#include "channel/disturbance.h"
#include "channel/path.h"
#include "channel/receiver_filter.h"
#include "channel/sample_clock.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

/*! \brief A simulated HF channel for complex baseband. In this order: the sender's sample
 *         clock, paths (static, Watterson fading or learned), frequency offset and
 *         drift, white noise, impulses and carriers, the radio's filter, level.
 *
 * The SNR is defined in a bandwidth B, channel_spec::bandwidth_khz, by default 3 kHz. It
 * refers to the *long-term mean* signal power, which the caller gives. The noise power
 * per hertz is \p signal_power / (B 10^(snr/10)), so a complex sample has noise power
 * signal_power * sample_rate / B / 10^(snr/10). It is not measured from the samples and
 * not renormalised to the fading.
 *
 * Deterministic for a seed, however the input is cut into chunks. Each path and the
 * noise have their own stream of random numbers.
 */
class channel
{
public:
    static constexpr double usual_bandwidth_khz = 3; //!< of SNR figures

    /*! \param spec the impairments
     *  \param sample_rate samples/s, 2000 to 1e7
     *  \param seed seed of fading and noise
     *  \param signal_power mean power of the input while a signal is on, above 0
     *  \throws std::invalid_argument
     */
    channel(const channel_spec& spec,
            double sample_rate,
            uint64_t seed,
            double signal_power = 1);

    //! Pass \p n samples through the channel; \p out may be \p in.
    void process(const std::complex<float>* in, std::complex<float>* out, size_t n);

    /*! \brief Delay of a path of 0 ms through this object, samples.
     *  \details Usually 0. It is delay_line::half_length() if some path has a short
     *  delay that is not a whole number of samples. With a clock error it is larger by
     *  sample_clock::latency().
     */
    size_t latency() const { return d_latency; }

    //! Samples/s.
    double sample_rate() const { return d_rate; }

    //! Noise power of an output sample; 0 without noise.
    double noise_power() const { return d_noise_power; }

    const channel_spec& spec() const { return d_spec; }

    //! The paths, for their gains and delays. Without the delay that a clock error adds.
    const std::vector<path>& paths() const { return d_paths; }

    //! Phase turned by offset, drift and sweep up to a sample, turns.
    double carrier_turns(double sample) const;

private:
    void make_room_for(double delay_ms);
    void make_paths(uint64_t seed);
    void shift_frequency(std::complex<float>* x, size_t n);

    channel_spec d_spec;
    double d_rate;
    size_t d_latency = 0;
    std::vector<path> d_paths;
    bool d_pass = false; // a single static path without any effect
    std::optional<sample_clock> d_clock;
    counter_random d_noise;
    double d_noise_power = 0;
    disturbance d_disturbance;
    std::optional<receiver_filter> d_filter;
    level d_level;
    uint64_t d_count = 0;
    std::vector<std::complex<float>> d_sum;
};

} // namespace gr::hf::kernel
