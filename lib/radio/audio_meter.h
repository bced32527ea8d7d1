/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace gr::hf::kernel {

//! Level of a receiver's audio, for the operator, and to detect a deaf device.
class audio_meter
{
public:
    //! Levels of the last whole second, dB below full scale (1); -200 for silence.
    struct values {
        double peak_db = floor_db, rms_db = floor_db;
        uint64_t clipped = 0; //!< samples at full scale, since the start
        double silent_s = 0;  //!< time without any change of the samples
    };
    static constexpr double floor_db = -200;
    //! Least magnitude of a clipped sample: the highest code of 16 bits.
    static constexpr float full_scale = 32767.0f / 32768.0f;

    explicit audio_meter(double sample_rate) : d_rate(sample_rate) {}

    void push(const float* x, size_t n)
    {
        for (size_t k = 0; k < n; ++k) {
            const float a = std::abs(x[k]);
            d_peak = std::max(d_peak, a);
            d_power += static_cast<double>(a) * a;
            d_values.clipped += a >= full_scale;
            d_same = x[k] == d_last ? d_same + 1 : 0;
            d_last = x[k];
            if (++d_count >= d_rate)
                end_of_second();
        }
        d_values.silent_s = static_cast<double>(d_same) / d_rate;
    }
    const values& reading() const { return d_values; }

private:
    static double decibels(double power)
    {
        return power > 1e-20 ? 10 * std::log10(power) : floor_db;
    }
    void end_of_second()
    {
        d_values.peak_db = decibels(static_cast<double>(d_peak) * d_peak);
        d_values.rms_db = decibels(d_power / static_cast<double>(d_count));
        d_peak = 0;
        d_power = 0;
        d_count = 0;
    }

    double d_rate;
    values d_values;
    float d_peak = 0, d_last = 0;
    double d_power = 0;
    uint64_t d_count = 0, d_same = 0;
};

} // namespace gr::hf::kernel
