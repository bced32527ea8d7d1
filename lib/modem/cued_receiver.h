/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/soft_receiver.h"
#include "waveform/reception.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace gr::hf::kernel {

//! A transmission that other receivers heard, as one receiver should find it.
struct cued_transmission {
    mode m;
    size_t blocks = 0;   //!< of its message
    double begin_s = 0;  //!< first symbol of its data, in the receiver's time
    double within_s = 0; //!< largest error of begin_s
};

//! Looks for one transmission where others say that it is. Gives its soft bits even where
//! its signal cannot be recognised.
class cued_receiver
{
public:
    //! Options as burst_receiver.
    cued_receiver(const cued_transmission& t, const rx_options& options);
    cued_receiver(const cued_receiver&) = delete;
    cued_receiver& operator=(const cued_receiver&) = delete;

    //! Take the samples of the whole recording, see burst_receiver::push().
    void push(const std::complex<float>* samples, size_t n, const float* erased);

    //! Transmissions found, without what follows their last block.
    std::vector<soft_transmission> heard() const;

private:
    cued_transmission d_cue;
    family_reception d_family;
    soft_receiver d_receiver;
    int64_t d_from, d_to; // samples that are of interest
    int64_t d_next = 0;   // number of the next sample
};

} // namespace gr::hf::kernel
