/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "radio/arrival_clock.h"

#include <cstdint>
#include <optional>

namespace gr::hf::kernel {

/*! \brief Detects, by the host's clock, that a playback device ran empty without a
 *         report.
 *
 * PulseAudio's plugin for ALSA hides an underrun of the server if more samples were on
 * their way when the server reported it. The server then plays silence until its buffer
 * is full again. Two things reveal it:
 * - The device never holds more than it reports. If the next write is a block later than
 *   the reported amount lasts, there was a hole before it.
 * - The number of samples played, written less held, stays late against the clock by the
 *   whole silence, see arrival_clock.
 */
class playback_watch
{
public:
    /*! \param sample_rate of the device, samples/s, positive
     *  \param block_s block that the device takes at once, and plays after it no longer
     *        counts as held, s
     */
    playback_watch(double sample_rate, double block_s)
        : d_rate(sample_rate), d_block_s(block_s), d_clock(sample_rate)
    {
    }

    //! The device starts again: it was opened, or has itself reported that it ran empty.
    void restart()
    {
        d_clock = arrival_clock(d_rate);
        d_played_before = d_silence = 0;
        d_empty_at.reset();
    }

    //! Result of a write.
    struct finding {
        double lacked_s =
            0; //!< least time that the device was empty before these samples
        double silent_s = 0; //!< silence played meanwhile, as far as known
        explicit operator bool() const { return lacked_s > 0 || silent_s > 0; }
    };

    /*! \brief Samples were written to a device that plays.
     *  \param given samples since the device started, including this write
     *  \param held_s in its buffer after the write, s
     *  \param begin,end start and end of the write, by a steady clock of the host, s
     *  \returns a hole that was not reported yet
     */
    finding wrote(uint64_t given, double held_s, double begin, double end);

private:
    double d_rate, d_block_s;
    arrival_clock d_clock;
    uint64_t d_played_before = 0; // last result
    uint64_t d_silence = 0;       // found so far, samples
    std::optional<double> d_empty_at;
};

} // namespace gr::hf::kernel
