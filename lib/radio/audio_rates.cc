/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/audio_rates.h"

#include "radio/channel_filter.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace gr::hf::kernel {

namespace {

constexpr double max_modem = 153600; // 48 kHz
// Largest numerator and denominator of the ratio: the error is under 1e-8 of the rate.
constexpr uint64_t largest_number = 20000;

} // namespace

std::string audio_rates::text(double x)
{
    char s[32];
    std::snprintf(s, sizeof s, "%.7g", x);
    return s;
}

void audio_rates::check() const
{
    if (!(modem >= default_modem && modem <= max_modem))
        throw std::invalid_argument("modem rate " + text(modem) + ": allowed are " +
                                    text(default_modem) + " to " + text(max_modem) +
                                    " samples/s");
    const double least = min_audio * modem / default_modem;
    if (!(audio >= least && audio <= max_audio))
        throw std::invalid_argument("sample rate " + text(audio) + ": allowed are " +
                                    text(least) + " to 2000000 samples/s");
}

fraction audio_rates::ratio() const
{
    return fraction::of(modem / audio, largest_number);
}

double audio_rates::image_hz() const
{
    return std::min(audio, modem) - channel_edges::stop * modem;
}

} // namespace gr::hf::kernel
