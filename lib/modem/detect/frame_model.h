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

//! Makes the equations of one frame from an estimated channel and the received rows.
class frame_model
{
public:
    //! Symbols over which the channel counts as constant, at least 1.
    void set_sub_block(size_t symbols) { d_sub_block = symbols; }
    //! true: describe A by its paths; false: as a banded matrix.
    void set_sparse(bool sparse) { d_sparse = sparse; }

    /*! \brief Fill z and A of \p f for \p count unknown symbols from symbol \p begin on.
     *  \param channel known around this frame
     *  \param belief beliefs about the symbols on both sides, which are subtracted
     */
    void make(const channel_view& channel,
              const half_symbol_stream& stream,
              int64_t begin,
              size_t count,
              const belief_function& belief,
              frame_observation& f);

private:
    void make_banded(const channel_view& channel,
                     const half_symbol_stream& stream,
                     int64_t begin,
                     size_t count,
                     const belief_function& belief,
                     frame_observation& f);
    void make_sparse(const channel_view& channel,
                     const half_symbol_stream& stream,
                     int64_t begin,
                     size_t count,
                     const belief_function& belief,
                     frame_observation& f);
    struct erased_symbols { // contribution of symbols from first on to an erased sample
        int64_t first;
        float share; // erased share of the sample
        std::vector<std::complex<float>> h;
    };
    template <class Gains>
    std::vector<erased_symbols> erased_symbols_of(const half_symbol_stream& stream,
                                                  int64_t begin,
                                                  size_t symbols,
                                                  size_t around,
                                                  const std::vector<uint16_t>& taps,
                                                  const Gains& gains) const;
    void take_out_erased(const channel_view& channel,
                         const half_symbol_stream& stream,
                         int64_t begin,
                         const std::vector<channel_taps>& g,
                         int64_t blocks_before,
                         const belief_function& belief,
                         frame_observation& f);

    size_t d_sub_block = 16;
    bool d_sparse = false;
    // work space
    std::vector<std::complex<float>> d_correlation, d_rows, d_means;
    std::vector<uint8_t> d_correlation_made;
};

} // namespace gr::hf::kernel
