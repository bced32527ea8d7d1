/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <optional>

namespace gr::hf::kernel {

/*! \brief Takes atmospherics and switching noise out of a stream: short bursts far above the
 *         level around them become zero and are marked as erased.
 *
 * A burst is a sample whose power exceeds limit times the running mean, with what follows
 * until no sample has exceeded it for hold samples: a burst of noise has weak samples too.
 * What lasts longer than longest is the beginning of a signal or a step of its level: it
 * passes, and the mean follows at once. To tell, the stream is delayed by longest samples.
 *
 * Neither the waveforms (at most 8 dB above their mean) nor noise reach the limit: of
 * Gaussian noise 1 sample in 20000.
 */
class impulse_blanker
{
public:
    static constexpr float limit = 10; //!< of power, against the running mean
    static constexpr size_t hold = 3;  //!< samples
    static constexpr size_t guard = 2; //!< samples before a burst; it has weak ones too
    static constexpr size_t longest = 24;       //!< samples; 2.5 ms at 9600 samples/s
    static constexpr float memory = 1 / 480.0f; //!< of the mean, per sample; 50 ms

    //! A sample on its way out; an erased one is 0.
    struct passed {
        std::complex<float> value;
        bool erased = false;
    };

    /*! \brief Take the next sample; gives the one longest samples before it, if any.
     *  \param blank false: only follow the level. The beginning of a signal some 10 dB above
     *  the noise looks like bursts.
     */
    std::optional<passed> push(std::complex<float> x, bool blank)
    {
        judge(std::norm(x), blank);
        passed& place = d_kept[d_count++ % longest];
        const passed before = place;
        place = { x, false };
        return d_count > longest ? std::optional(before) : std::nullopt;
    }

    //! Forget the samples not given yet.
    void restart()
    {
        d_count = 0;
        d_run = d_hold = 0;
        d_sum = 0;
    }

private:
    void judge(float power, bool blank)
    {
        if (blank && power > limit * d_mean)
            d_hold = hold + 1;
        // Bursts count as far as they are not exceptional: after a step up the mean must rise.
        if (d_hold > 0 && d_mean > 0)
            d_mean += memory * (std::min(power, limit * d_mean) - d_mean);
        if (d_hold == 0) {
            if (d_run > 0)
                for (size_t k = std::min({ d_run + guard, longest, d_count }); k > 0; --k)
                    d_kept[(d_count - k) % longest] = { 0, true };
            d_run = 0;
            d_sum = 0;
            d_mean += memory * (power - d_mean);
            return;
        }
        --d_hold;
        d_sum += power;
        if (++d_run <= longest)
            return;
        d_mean = d_sum / static_cast<float>(d_run);
        d_run = d_hold = 0;
        d_sum = 0;
    }

    std::array<passed, longest> d_kept{};
    size_t d_count = 0; // samples taken
    float d_mean = 0;
    size_t d_run = 0; // samples of the burst so far
    size_t d_hold = 0;
    float d_sum = 0; // power of the burst
};

} // namespace gr::hf::kernel
