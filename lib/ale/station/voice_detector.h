/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/front/fourier.h"

#include <volk/volk_alloc.hh>

#include <array>
#include <complex>
#include <cstddef>
#include <vector>

namespace gr::hf::ale {

/*! \brief Detects speech in SSB on a channel, for listen before transmit.
 *  \details Voiced sounds are periodic: the autocorrelation of 40 ms has a peak at the pitch
 *  period, and is low at shorter lags. That needs neither a level nor a noise floor, and no
 *  exact tuning. Noise, impulses, single tones and modems do not have it, except tones on a
 *  grid, as of ALE. The caller must reset the detector when it hears those.
 */
class voice_detector
{
public:
    static constexpr double rate = 9600; //!< samples/s of the input
    //! Voiced frames within the last two seconds that are speech.
    static constexpr size_t min_voiced = 5;

    voice_detector();
    //! Take \p n samples of baseband, 1800 Hz of audio at 0 Hz.
    void push(const std::complex<float>* x, size_t n);
    //! There is speech on the channel.
    bool present() const { return d_present; }
    //! Start again on another channel.
    void reset();

private:
    static constexpr size_t decimation = 3, taps = 64;
    static constexpr size_t length = 128, hop = 64; // of a frame, 3200 samples/s
    static constexpr size_t finer = 4;              // lags for each sample
    static constexpr size_t frames = 100;           // 2 s

    void frame();
    bool voiced();

    volk::vector<float> d_filter;
    volk::vector<std::complex<float>> d_held; // input that the filter still needs
    size_t d_phase = 0;
    std::vector<std::complex<float>> d_samples; // of the next frame
    std::vector<float> d_window;
    std::vector<float> d_overlap; // of the window with itself, by lag
    kernel::fourier d_spectrum{ 2 * length }, d_lags{ 2 * length * finer };
    std::array<bool, frames> d_voiced{};
    size_t d_at = 0, d_count = 0;
    bool d_present = false;
};

} // namespace gr::hf::ale
