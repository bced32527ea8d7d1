/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace gr::hf::kernel {

//! A tone while a transmitter is keyed, for the second channel of its audio.
class keying_tone
{
public:
    //! Half of full scale, so that clipping does not spread it into the other channel.
    static constexpr double amplitude = 0.5;

    /*! \param ratio rate of the tone over the rate of the samples in key()
     *  \param radians phase step of the tone per sample
     */
    keying_tone(double ratio, double radians) : d_ratio(ratio), d_radians(radians) {}

    //! The key goes down or up at output sample \p sample, as counted by keying_line.
    void key(bool down, uint64_t sample)
    {
        const double at = std::round(static_cast<double>(sample) * d_ratio);
        d_changes.push_back({ down, static_cast<uint64_t>(at) });
    }

    //! The next samples of the tone.
    void produce(float* out, size_t n)
    {
        for (size_t k = 0; k < n; ++k, ++d_count) {
            for (; !d_changes.empty() && d_changes.front().at <= d_count;
                 d_changes.pop_front())
                d_down = d_changes.front().down;
            const double phase = d_radians * static_cast<double>(d_count);
            out[k] = d_down ? static_cast<float>(amplitude * std::sin(phase)) : 0;
        }
    }

private:
    struct change {
        bool down;
        uint64_t at; // sample of the tone
    };
    double d_ratio, d_radians;
    std::deque<change> d_changes;
    bool d_down = false;
    uint64_t d_count = 0;
};

} // namespace gr::hf::kernel
