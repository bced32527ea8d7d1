/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/base/grid.h"
#include "modem/front/short_spectrum.h"

#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Undoes the filter of the radio, as far as the noise between transmissions shows
 *         it: makes the noise white again.
 *
 * The edges of a steep filter ring for longer than the probes of a waveform can resolve.
 * Noise from the antenna passes through the same filter. So its spectrum is the filter's,
 * and linear prediction of the noise (autocorrelation method) is the inverse of its
 * minimum-phase equivalent. The filter of a radio never changes: what was learned in one
 * pause serves for all later transmissions. While no edge of a filter cuts into the band
 * of the signal, samples pass unchanged.
 */
class noise_whitener
{
public:
    using value = std::complex<float>;
    //! A sample, and its missing share, 0 to 1.
    struct sample {
        value x;
        float erased;
    };

    explicit noise_whitener(const symbol_grid& grid);

    //! Whether the samples from now on are noise, as far as is known. Otherwise nothing is
    //! learned, and the filter stays as it is.
    void set_idle(bool idle) { d_idle = idle; }
    //! Takes the next sample. There is no delay.
    sample push(value x, float erased);
    //! True if an edge of a filter was found, and is undone.
    bool active() const { return d_filter != nullptr; }
    //! Forgets the samples, but not what was learned.
    void restart();

private:
    struct destroy {
        void operator()(void* filter) const;
    };

    void end_window();
    bool cut_off() const;
    void solve();

    short_spectrum d_spectrum;
    std::vector<value> d_window; // of samples, being filled
    std::vector<float> d_psd;    // mean of the windows learned
    std::vector<value> d_taps;   // order + 1
    std::vector<float> d_erased; // of the last samples, a ring
    size_t d_place = 0;          // in it
    size_t d_erased_left = 0;    // samples that an erased one still has effect on
    size_t d_min_windows, d_max_windows;
    size_t d_windows = 0; // learned
    bool d_idle = false;
    bool d_whole = true; // nothing of the window was erased or not idle
    std::unique_ptr<void, destroy> d_filter;
};

} // namespace gr::hf::kernel
