/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "radio/audio_rates.h"
#include "radio/channel_filter.h"
#include "radio/mixer.h"
#include "radio/resampler.h"

#include <complex>
#include <cstddef>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Converts the modem's complex baseband to a real signal on a subcarrier, for the
 *         audio input of a transmitter.
 *
 * Signals beside the channel are suppressed, as mirrored at 0 Hz they would fall into
 * the channel. The audio's peak is that of the baseband's magnitude. Streaming and times
 * are as in audio_to_baseband.
 */
class baseband_to_audio
{
public:
    /*! \param audio_rate samples/s of the output, see audio_rates
     *  \param subcarrier_hz middle of the channel, which must fit between 0 Hz and half
     *        of audio_rate
     *  \param modem_rate samples/s of the input
     *  \param from_modem the input comes from a modem and has nothing beside the
     *        channel: use a shorter filter with less delay
     *  \throws std::invalid_argument that names the value and what is allowed
     */
    explicit baseband_to_audio(double audio_rate,
                               double subcarrier_hz = audio_rates::default_subcarrier,
                               double modem_rate = audio_rates::default_modem,
                               bool from_modem = false);

    //! Take \p n samples; append the finished output to \p out.
    void push(const std::complex<float>* x, size_t n, std::vector<float>& out);

    //! End of the input: append the rest of the output.
    void finish(std::vector<float>& out);

private:
    baseband_to_audio(const audio_rates& rates, double filter_stop);
    void convert(std::vector<float>& out);

    channel_filter d_filter;
    mixer d_mixer;
    resampler d_resampler;
    std::vector<std::complex<float>> d_filtered;
};

} // namespace gr::hf::kernel
