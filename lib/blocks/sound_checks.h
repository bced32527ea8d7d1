/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "radio/audio_rates.h"

#include <stdexcept>
#include <string>

namespace gr::hf {

//! \throws std::invalid_argument names the value and what is allowed
inline void check_sound(const char* name, double value, double least, double most)
{
    using kernel::audio_rates;
    if (!(value >= least && value <= most))
        throw std::invalid_argument(std::string(name) + " " + audio_rates::text(value) +
                                    ": allowed are " + audio_rates::text(least) + " to " +
                                    audio_rates::text(most));
}

//! Sample rate that sound cards support, samples/s.
inline unsigned checked_sound_rate(int rate)
{
    check_sound("audio_rate", rate, 8000, 192000);
    return static_cast<unsigned>(rate);
}

} // namespace gr::hf
