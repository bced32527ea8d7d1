/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/front/noise_whitener.h"
#include "modem/front/sample_buffer.h"
#include "modem/track/burst_tracker.h"

#include <complex>
#include <cstdint>
#include <deque>

namespace gr::hf::kernel {

/*! \brief Decides by what was received whether the filter of the radio is undone.
 *
 * Noise shows only how strong a filter is at each frequency. noise_whitener is right if its
 * phase is the least that goes with that, as of a crystal filter. It would add to the
 * ringing of a filter of linear phase, as of most DSP. So while an edge of a filter is
 * known, the preamble of each transmission is measured with and without it, and the better
 * of both is used for the transmissions that follow.
 */
class filter_choice
{
public:
    using value = std::complex<float>;

    explicit filter_choice(const symbol_grid& grid) : d_grid(grid), d_whitener(grid) {}

    //! See noise_whitener::set_idle(). The choice changes only here, while idle.
    void set_idle(bool idle);
    //! Takes the next sample; returns the chosen version of it.
    noise_whitener::sample push(value x, float erased);
    //! A preamble was found in \p in, which has the samples that push() returned.
    void compare(const acquired& a, const sample_buffer& in);
    //! Samples before \p i will not be compared.
    void forget_before(int64_t i) { d_other.drop_before(i); }
    //! Forgets the samples, but not what was learned. The next one is sample \p next.
    void restart(int64_t next);

private:
    symbol_grid d_grid;
    noise_whitener d_whitener;
    sample_buffer d_other; // the version that is not used, while a filter is known
    int64_t d_next = 0;
    bool d_undone = false;
    bool d_better_undone = false;  // by the preambles measured
    std::deque<double> d_gains_db; // of the SNR by undoing the filter
};

} // namespace gr::hf::kernel
