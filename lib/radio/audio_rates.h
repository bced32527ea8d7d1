/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "radio/resampler.h"

#include <string>

namespace gr::hf::kernel {

//! Sample rates of audio and of the modem's baseband, and their limits.
struct audio_rates {
    static constexpr double default_subcarrier = 1800; //!< Hz, in a channel of 3 kHz
    static constexpr double default_modem = 9600; //!< samples/s, in a channel of 3 kHz
    static constexpr double min_audio = 8000;     //!< samples/s, for the default modem
    static constexpr double max_audio = 2e6;      //!< samples/s

    double audio;      //!< samples/s, 8000 to 2 000 000; at least 5/6 of modem
    double subcarrier; //!< middle of the channel in the audio, Hz
    //! samples/s of the complex baseband, 3200 for each kHz of bandwidth: 9600 to 153600
    double modem;

    //! \throws std::invalid_argument that names the rate and what is allowed
    void check() const;
    //! modem / audio
    fraction ratio() const;
    //! Lowest image of the channel at the lower of both rates, Hz from the subcarrier.
    double image_hz() const;
    //! A number for messages.
    static std::string text(double x);
};

} // namespace gr::hf::kernel
