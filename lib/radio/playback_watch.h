/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "radio/arrival_clock.h"

#include <cstdint>
#include <optional>

namespace gr::hf::kernel {

/*! \brief Finds by the host's clock that a playback device ran empty and did not say so.
 *
 * PulseAudio's plugin for ALSA hides an underrun of the server if more samples were on their way when
 * the server told of it; the server then plays silence until its buffer has filled again. Two things
 * give it away. What the device held after a write can only have been less than it said, so that a
 * write that comes a block later than that lasts is behind a hole. And what was played - given less held - is
 * late against the clock for good: by the whole of the silence, see arrival_clock.
 */
class playback_watch
{
public:
    /*! \param sample_rate of the device, samples/s, positive
     *  \param block_s the device takes so much at once, and plays it when it is no longer held, s
     */
    playback_watch(double sample_rate, double block_s)
        : d_rate(sample_rate), d_block_s(block_s), d_clock(sample_rate)
    {
    }

    //! The device begins anew: it was opened, or has told by itself that it ran empty.
    void restart()
    {
        d_clock = arrival_clock(d_rate);
        d_played_before = d_silence = 0;
        d_empty_at.reset();
    }

    //! What a write told.
    struct finding {
        double lacked_s =
            0; //!< the device had been empty for so long when samples came, or more
        double silent_s =
            0; //!< so much silence was played in between, as far as it is known yet
        explicit operator bool() const { return lacked_s > 0 || silent_s > 0; }
    };

    /*! \brief Samples were written to a device that plays.
     *  \param given samples, this write included, since the device began
     *  \param held_s in its buffer behind the write, s
     *  \param begin,end when the write began and ended, of a steady clock of the host, s
     *  \returns a hole that nothing has told of yet
     */
    finding wrote(uint64_t given, double held_s, double begin, double end);

private:
    double d_rate, d_block_s;
    arrival_clock d_clock;
    uint64_t d_played_before = 0; // what it told last
    uint64_t d_silence = 0;       // found so far, samples
    std::optional<double> d_empty_at;
};

} // namespace gr::hf::kernel
