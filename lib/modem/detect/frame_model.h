/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/detect/belief.h"
#include "modem/detect/channel_view.h"
#include "modem/detect/equaliser.h"
#include "modem/front/half_symbol_stream.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

//! From an estimated channel and what was received to the equations of one frame.
class frame_model
{
public:
    //! \p symbols over which the channel is taken as constant, at least 1.
    void set_sub_block(size_t symbols) { d_sub_block = symbols; }

    /*! \brief Fill z and A of \p f for \p count unknown symbols from symbol \p begin on.
     *  \param channel known around this frame
     *  \param belief about the symbols on both sides, which are subtracted
     */
    void make(const channel_view& channel,
              const half_symbol_stream& stream,
              int64_t begin,
              size_t count,
              const belief_function& belief,
              frame_observation& f);

private:
    void take_out_erased(const channel_view& channel,
                         const half_symbol_stream& stream,
                         int64_t begin,
                         const std::vector<channel_taps>& g,
                         int64_t blocks_before,
                         const belief_function& belief,
                         frame_observation& f);

    size_t d_sub_block = 16;
    std::vector<std::complex<float>> d_correlation; // work space
    std::vector<uint8_t> d_correlation_made;
};

} // namespace gr::hf::kernel
