/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <volk/volk_alloc.hh>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief The edges of the channel, as shares of the modem's sample rate (4 samples per
 *         symbol; 9600 samples/s in 3 kHz), around the subcarrier.
 */
struct channel_edges {
    //! 1700 Hz of 9600: the pulse (35 % roll-off) ends at 1620 Hz, and offsets of 75 Hz
    //! are allowed.
    static constexpr double pass = 1700.0 / 9600;
    //! 1950 Hz of 9600: the image of a real signal on 1800 Hz starts at 2 * 1800 -
    //! 1620 Hz.
    static constexpr double stop = 1950.0 / 9600;
    /*! 2700 Hz of 9600, for a modem's own samples, whose spectrum ends with the pulse.
     * The remains of a cut-off transmission further out are still suppressed.
     */
    static constexpr double own_stop = 2700.0 / 9600;
    static constexpr float stop_band_db = 60;
};

/*! \brief Linear-phase low-pass filter of odd length, unit gain at 0 Hz, edges as shares
 *         of the sample rate. Its ripple in the pass band is as small as the rest in the
 *         stop band.
 */
volk::vector<float> low_pass(double pass, double stop, float stop_band_db);

/*! \brief Keeps the channel of complex baseband at the modem's sample rate, and
 *         suppresses everything beside it. Streaming; output sample 0 is at the time of
 *         input sample 0.
 */
class channel_filter
{
public:
    //! \param stop edge as in channel_edges; a more distant one costs less delay
    explicit channel_filter(double stop = channel_edges::stop);

    //! Take \p n samples; append the finished output to \p out.
    void
    push(const std::complex<float>* x, size_t n, std::vector<std::complex<float>>& out);

    //! Append the output that depends on silence after the last sample.
    void finish(std::vector<std::complex<float>>& out);

    //! Input samples after an output sample that it depends on.
    size_t delay() const { return d_delay; }

private:
    // Oldest sample first. Aligned, as some of VOLK's kernels need it.
    volk::vector<float> d_taps;
    size_t d_delay;
    std::vector<std::complex<float>> d_history;
};

} // namespace gr::hf::kernel
