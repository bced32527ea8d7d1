/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/detect/detector.h"

namespace gr::hf::kernel {

void single_pass_detector::frame(frame_observation& f)
{
    d_equaliser->equalise(f, d_estimates);
    const unsigned bits = f.alphabet->bits;
    size_t at = d_soft.size();
    d_soft.resize(at + bits * d_estimates.size());
    for (size_t i = 0; i < d_estimates.size(); ++i, at += bits)
        d_symbols.soft_bits(f.scrambling[i], d_estimates[i], &d_soft[at]);
    if (d_details)
        for (size_t i = 0; i < d_estimates.size(); ++i)
            d_details->symbols.push_back(
                unscrambled(*f.alphabet, f.scrambling[i], d_estimates[i]));
}

decoded_block single_pass_detector::end_block(frame_source&)
{
    if (d_details)
        d_details->llrs = d_soft;
    decoded_block b = d_decoder.decode(d_soft);
    d_soft.clear();
    return b;
}

} // namespace gr::hf::kernel
