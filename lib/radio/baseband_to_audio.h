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

/*! \brief From the modem's complex baseband to a real signal on a subcarrier, for the audio
 *         input of a transmitter.
 *
 * What lies beside the channel is suppressed: mirrored at 0 Hz it would fall into it. The
 * audio's peak is that of the baseband's magnitude. Streaming, times kept, as in
 * audio_to_baseband.
 */
class baseband_to_audio
{
public:
    /*! \param audio_rate samples/s of the output, see audio_rates
     *  \param subcarrier_hz middle of the channel, which must fit between 0 Hz and half of
     *  audio_rate
     *  \param modem_rate samples/s of the input
     *  \param from_modem the input is a modem's own, with nothing beside the channel: a shorter
     *  filter does, and its delay is shorter
     *  \throws std::invalid_argument that names the value and what is allowed
     */
    explicit baseband_to_audio(double audio_rate,
                               double subcarrier_hz = audio_rates::default_subcarrier,
                               double modem_rate = audio_rates::default_modem,
                               bool from_modem = false);

    //! Take \p n samples; append what they complete to \p out.
    void push(const std::complex<float>* x, size_t n, std::vector<float>& out);

    //! The last sample was pushed: append the rest of the output.
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
