/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/detect/detector.h"

namespace gr::hf::kernel {

// Decision feedback depends on the reading, so each one equalises the frame itself.
void single_pass_detector::compare_readings(const frame_observation& f)
{
    for (size_t r = 0; r < d_readings.size(); ++r) {
        frame_observation copy = f;
        const cell* data = d_readings.of(r).data_of(f.frame_in_cycle);
        for (size_t i = 0; i < copy.scrambling.size(); ++i)
            copy.scrambling[i] = data[i].value;
        d_equaliser->equalise(copy, d_estimates);
        d_readings.frame(r, f.frame_in_cycle, d_estimates);
    }
}

void single_pass_detector::frame(frame_observation& f)
{
    if (d_readings.open())
        compare_readings(f);
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
    if (d_readings.open()) {
        const description* const before = reading();
        d_readings.choose();
        d_soft = d_readings.soft_bits();
        if (reading() != before)
            d_decoder = std::make_unique<block_decoder>(*reading());
    }
    if (d_details)
        d_details->llrs = d_soft;
    decoded_block b = d_decoder->decode(d_soft);
    forget();
    return b;
}

void single_pass_detector::forget()
{
    d_readings.forget();
    d_soft.clear();
}

} // namespace gr::hf::kernel
