/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/base/grid.h"
#include "modem/front/half_symbol_stream.h"
#include "modem/front/short_spectrum.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Takes carriers out of the rows of a block, once its data are partly known.
 *
 * The rows without the signal that is already known are noise, errors of the decoder, and
 * carriers. Carriers fill few bins of a short spectrum, the others fill all. What
 * moving_carriers took from the signal is narrow, too, and comes back here. Each round
 * knows more of the data, so that less of the signal is taken for a carrier.
 */
class narrow_residual
{
public:
    using value = std::complex<float>;

    explicit narrow_residual(const symbol_grid& grid);

    //! Carriers were taken out of the input up to sample \p sample.
    void heard_carriers_until(int64_t sample) { d_until = sample; }
    //! True if there were carriers at sample \p sample or later.
    bool wanted(double sample) const { return sample < static_cast<double>(d_until); }

    /*! \brief Subtract carriers from the rows \p first and following of \p y.
     *  \param residual the rows without what is known of the signal
     */
    void
    take_out(half_symbol_stream& y, int64_t first, const std::vector<value>& residual);

private:
    bool leave_carriers(value* spectrum);

    short_spectrum d_spectrum;
    int d_edge; // highest bin of the signal
    int64_t d_until = INT64_MIN;
    std::vector<value> d_padded, d_narrow;
    std::vector<float> d_power, d_sorted;
};

} // namespace gr::hf::kernel
