/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/front/tone_bank.h"

#include <algorithm>

namespace gr::hf::kernel {

namespace {

// Price of a tone, relative to the power of the signal and that of the carrier. Swept at
// 9600S with Morse code, teletype and sweeps at 0 to 20 dB.
constexpr float price_by_signal = 1.5f, price_by_carrier = 0.1f;

} // namespace

tone_bank::tone_bank(double sample_rate, size_t count, double memory)
    : d_follow(static_cast<float>(1 / memory)),
      d_carriers(count, { piecewise_tone(sample_rate) })
{
}

void tone_bank::restart()
{
    for (carrier& c : d_carriers) {
        c.tone.restart();
        c.settled.clear();
    }
}

void tone_bank::push(size_t number, const value* x, size_t n, float signal)
{
    carrier& c = d_carriers[number];
    for (size_t i = 0; i < n; ++i)
        c.power += d_follow * (std::norm(x[i]) - c.power);
    c.tone.push(x, n, price_by_signal * signal + price_by_carrier * c.power);
    c.tone.take(c.settled);
}

void tone_bank::take(std::vector<value>& out)
{
    size_t n = d_carriers.front().settled.size();
    for (const carrier& c : d_carriers)
        n = std::min(n, c.settled.size());
    const size_t first = out.size();
    out.resize(first + n);
    for (carrier& c : d_carriers) {
        for (size_t i = 0; i < n; ++i)
            out[first + i] += c.settled[i];
        c.settled.erase(c.settled.begin(), c.settled.begin() + static_cast<long>(n));
    }
}

void tone_bank::finish()
{
    for (carrier& c : d_carriers) {
        c.tone.finish();
        c.tone.take(c.settled);
    }
}

} // namespace gr::hf::kernel
