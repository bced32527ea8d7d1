/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/base/grid.h"
#include "modem/front/carrier_bins.h"
#include "modem/front/sample_buffer.h"
#include "modem/front/short_spectrum.h"
#include "modem/front/tone_bank.h"

#include <complex>
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Removes carriers that are keyed or move: Morse code, radio teletype, sweeps.
 *
 * A carrier stands out of the spectrum of a few hundred milliseconds. While one does, the
 * bins that it fills in each short window become tones (piecewise_tone), which are
 * subtracted. What of the signal goes with them comes back in narrow_residual. Without a
 * carrier samples pass unchanged and at once. With one they wait about 0.2 s.
 */
class moving_carriers
{
public:
    using value = std::complex<float>;

    explicit moving_carriers(const symbol_grid& grid);

    /*! \brief Take the next sample, and append what is ready to \p out.
     *  \param erased missing share of the sample, 0 to 1
     *  \param repeating share of the power that repeats, 0 to 1: it may be lines of a signal
     */
    void push(value x, float erased, float repeating, sample_buffer& out);

    //! Forget everything. Drops the samples that wait.
    void restart();

    //! True while a carrier stands out.
    bool active() const { return d_windows_left > 0; }

private:
    struct waiting {
        value sample;
        float erased;
    };

    void forget_carriers();
    void end_window(float repeating, sample_buffer& out);
    void subtract_tones(sample_buffer& out);
    bool notice(float repeating);
    bool stands_out(float repeating);
    void take_out();
    float floor_of(const std::vector<float>& powers);

    short_spectrum d_spectrum;
    carrier_bins d_bins;
    tone_bank d_tones;
    int d_edge;                  // highest bin of the channel
    long d_outside;              // bins at either end that the signal does not fill
    float d_follow;              // share of a new window in the average
    size_t d_hold;               // windows
    std::vector<value> d_recent; // the last window
    std::vector<std::vector<value>> d_samples; // of each carrier in it, found so far
    std::vector<value> d_work;
    std::vector<float> d_power, d_average; // of the bins of the channel
    std::vector<float> d_share;            // of a bin that carriers are
    std::vector<float> d_sorted;
    size_t d_place = 0; // in d_recent
    size_t d_count = 0; // samples since the restart
    size_t d_windows_left = 0;
    float d_floor = 0;                  // of a bin without carriers
    std::optional<size_t> d_waits_from; // sample; empty: none waits
    std::deque<waiting> d_waiting;
};

} // namespace gr::hf::kernel
