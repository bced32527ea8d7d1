/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/front/burst_finder.h"
#include "modem/front/pulse_shape.h"
#include "radio/audio_rates.h"
#include "radio/channel_filter.h"
#include "radio/mixer.h"
#include "radio/resampler.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Converts a receiver's audio output to the complex baseband of the modem.
 *
 * Takes real or complex (I and Q) samples of any rate. Mixes the subcarrier to 0 Hz,
 * keeps the channel around it (0.18 of the modem's rate to either side: 1.7 kHz in a
 * channel of 3 kHz) and resamples. Real samples count twice, so that the baseband has
 * the amplitude of the signal. Streaming: the output does not depend on how the input is
 * cut. Output sample 0 is at the time of input sample 0.
 *
 * Optionally removes short bursts of noise ahead of every filter, as filters would
 * stretch them. It then reports which output samples are missing, for
 * burst_receiver::push(). The gaps fade out and in over 0.6 ms, so that the mirrored
 * half of a real signal hardly reaches into the channel. Holes are missing, too: samples
 * that are exactly 0 for 2 ms or more, up to 200 ms of them, as sound devices and networks
 * put them where samples were lost.
 */
class audio_to_baseband
{
public:
    /*! \param audio_rate samples/s of the input, see audio_rates
     *  \param subcarrier_hz middle of the channel, less than half of audio_rate; 0 for
     *        complex samples around the channel
     *  \param modem_rate samples/s of the output
     *  \param blank_bursts remove bursts of noise, for input to a receiver
     *  \throws std::invalid_argument that names the value and what is allowed
     */
    explicit audio_to_baseband(double audio_rate,
                               double subcarrier_hz = audio_rates::default_subcarrier,
                               double modem_rate = audio_rates::default_modem,
                               bool blank_bursts = false);

    /*! \brief Take \p n samples; append the finished output to \p out.
     *  \details Samples that are not finite, or absurdly large, count as 0.
     */
    void push(const float* x, size_t n, std::vector<std::complex<float>>& out);
    void
    push(const std::complex<float>* x, size_t n, std::vector<std::complex<float>>& out);

    //! End of the input: append the rest of the output.
    void finish(std::vector<std::complex<float>>& out);

    /*! \brief Blanked share, 0 to 1, of each sample appended by the last push() or
     *         finish(); empty if none was blanked.
     */
    const std::vector<float>& erased() const { return d_erased; }

private:
    audio_to_baseband(const audio_rates& rates, bool blank_bursts);
    void convert(std::vector<std::complex<float>>& out);
    template <class T>
    void push(const T* x,
              size_t n,
              std::vector<T>& waiting,
              std::vector<std::complex<float>>& out);
    template <class T>
    size_t blank(std::vector<T>& x, size_t waited);
    template <class T>
    void take_out(pulse_shape<T>& shape, std::vector<T>& x, const burst_finder::burst& b);
    template <class OnBurst>
    void find(OnBurst&& on_burst);
    void fade(bool hit);
    void tell_erased(size_t appended);

    resampler d_resampler;
    mixer d_mixer;
    channel_filter d_filter;
    std::vector<float> d_real; // waiting for the verdict
    std::vector<std::complex<float>> d_complex, d_resampled;

    std::optional<burst_finder> d_finder;
    // Shapes of the pulses, for samples of either kind.
    std::optional<pulse_shape<float>> d_real_shape;
    std::optional<pulse_shape<std::complex<float>>> d_complex_shape;
    std::vector<float> d_power;
    std::vector<uint8_t> d_verdict;
    struct silence {           // in samples of 0
        size_t now = SIZE_MAX; // at first, no signal is missing
        size_t min_hole = 0, max_hole = 0;
    } d_silence;
    double d_ratio;             // modem rate over audio rate
    std::vector<uint8_t> d_hit; // verdicts of the latest samples, for the length of a
                                // fade at a gap
    size_t d_hits = 0;          // number set in d_hit
    std::vector<float> d_share; // missing share, by d_hits
    uint64_t d_judged = 0;      // samples
    struct missing {
        int64_t sample; // of the output
        float share;
    };
    std::deque<missing> d_missing; // not reported yet
    int64_t d_reported = 0;        // output samples reported
    std::vector<float> d_erased;
};

} // namespace gr::hf::kernel
