/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel {

/*! \brief The time raster of one modem: symbols of its bandwidth, four samples per
 *         symbol, and ticks of 10 ms.
 *
 * A modem listens in one bandwidth at a time. All waveforms of a bandwidth have one
 * symbol rate: 800 symbols/s per kHz (110C table D-I), 2400 in 3 kHz. Lengths set by the
 * channel (delays, fading) are kept in seconds, lengths set by the waveform in symbols.
 * Only this class converts them to samples.
 */
class symbol_grid
{
public:
    //! 110C E.5.1 asks a channel simulator for 4. The matched filter wants an even
    //! number, as the receiver continues with every second sample.
    static constexpr int samples_per_symbol = 4;
    //! Samples per half symbol.
    static constexpr int samples_per_row = samples_per_symbol / 2;
    static constexpr double tick_s = 0.01;

    /*! \param symbol_rate_bd symbols/s, 100 to 100000, a multiple of 25, so that ticks
     *        are whole
     *  \throws std::invalid_argument
     */
    explicit symbol_grid(double symbol_rate_bd) : d_symbol_rate_bd(symbol_rate_bd)
    {
        const double tick = tick_s * sample_rate();
        if (!(symbol_rate_bd >= 100 && symbol_rate_bd <= 1e5) ||
            std::abs(tick - std::round(tick)) > 1e-6)
            throw std::invalid_argument(
                "symbol rate " + std::to_string(symbol_rate_bd) +
                " Bd: allowed are multiples of 25 from 100 to 100000");
    }

    double symbol_rate_bd() const { return d_symbol_rate_bd; }
    double sample_rate() const { return samples_per_symbol * d_symbol_rate_bd; }
    double half_symbol_rate() const { return 2 * d_symbol_rate_bd; }

    //! Nearest whole number of samples, symbols or half symbols in \p seconds.
    int64_t samples(double seconds) const
    {
        return std::llround(seconds * sample_rate());
    }
    int64_t symbols(double seconds) const
    {
        return std::llround(seconds * d_symbol_rate_bd);
    }
    int64_t half_symbols(double seconds) const
    {
        return std::llround(seconds * half_symbol_rate());
    }
    //! Samples per tick.
    size_t tick_samples() const { return static_cast<size_t>(samples(tick_s)); }

    bool operator==(const symbol_grid& o) const
    {
        return d_symbol_rate_bd == o.d_symbol_rate_bd;
    }

private:
    double d_symbol_rate_bd;
};

} // namespace gr::hf::kernel
