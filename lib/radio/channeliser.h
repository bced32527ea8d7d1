/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/front/fourier.h"
#include "radio/mixer.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Cuts channels out of one wide complex stream, each as baseband at its own,
 *         lower rate. Method: fast convolution with one transform for all channels.
 *  \details The response between \ref pass and \ref stop is half a cosine. Its echo in
 *  time is far shorter than the half block that is discarded.
 */
class channeliser
{
public:
    using value = std::complex<float>;

    /*! Length of a block, s; half of it is new each time. Centres are rounded to
     * multiples of 10 Hz, and a mixer removes the rest sample by sample.
     */
    static constexpr double block_s = 0.1;
    /*! Pass band and stop band edges, as shares of a channel's rate on either side. The
     * modem's signal of 3 kHz at 9600 samples/s fills 0.17.
     */
    static constexpr double pass = 0.19, stop = 0.33;
    //! Delay of the output: its sample 0 is this long before input sample 0.
    static constexpr double delay_s = block_s / 4;

    /*! \param rate of the stream, samples/s: a multiple of 20, at least twice the
     *        channels'
     *  \param centres_hz from the middle of the stream
     *  \param channel_rate of each channel, samples/s, a multiple of 40
     *  \throws std::invalid_argument that names the value that does not fit
     */
    channeliser(double rate,
                const std::vector<double>& centres_hz,
                double channel_rate = 9600);

    /*! \brief Centres from one end of a stream to the other, with one in the middle.
     *  \param spacing_hz between them, positive; rates as above
     */
    static std::vector<double>
    grid(double rate, double spacing_hz, double channel_rate = 9600);

    size_t channels() const { return d_cuts.size(); }

    /*! \brief Take \p n samples; append the finished output to \p out[channel], all of
     *         one length. \p out has channels() entries.
     */
    void push(const value* x, size_t n, std::vector<std::vector<value>>& out);

private:
    struct cut {
        int64_t bin; // of the wide transform, in the middle of the channel
        mixer rest;  // removes the rest of its centre
    };

    void block(std::vector<std::vector<value>>& out);
    void one(cut& c, std::vector<value>& out);

    size_t d_size; // of a block, samples of the stream
    std::vector<cut> d_cuts;
    std::vector<value> d_held; // the last half block, and the samples since
    fourier d_wide, d_narrow;
    std::vector<float> d_response; // of the passing bins 0 .. n on either side
    bool d_odd = false;            // number of the block
};

} // namespace gr::hf::kernel
