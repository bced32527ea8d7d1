/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/words/coding.h"
#include "modem/front/fourier.h"

#include <array>
#include <complex>
#include <cstddef>
#include <vector>

namespace gr::hf::ale {

//! Samples/s from which rows are made.
constexpr double tone_row_sample_rate = 6000;
//! Audio frequency that is 0 Hz in these samples: the middle of the tones.
constexpr double middle_tone_hz = 1625;
//! Rows per second.
constexpr int64_t row_rate = 1000;
//! Rows in a tone.
constexpr size_t rows_per_tone = 8;
//! Samples from one row to the next, and in a tone.
constexpr size_t samples_per_row = 6;
constexpr size_t samples_per_tone = rows_per_tone * samples_per_row;
//! Frequency offsets that are searched, 31.25 Hz apart: -93.75 to 93.75 Hz.
constexpr size_t offset_count = 7;
constexpr double offset_step_hz = 31.25;

/*! \brief Energy on all tone frequencies in each millisecond, relative to the noise.
 *  \details A Fourier transform over the 8 ms of a tone, four bins for its bandwidth. The
 *  noise is the median over the bins, averaged over 0.1 s: tones fill an eighth of them.
 */
class tone_rows
{
public:
    //! Bins of a row: tone k with offset f is in bin 8 k + f. The last is not used.
    static constexpr size_t bins = tone_count * 8;
    using row = std::array<float, bins>;

    tone_rows();

    //! Take a piece of the input. \p on_row is called with each new row.
    template <class OnRow>
    void push(const std::complex<float>* x, size_t n, OnRow on_row)
    {
        for (size_t k = 0; k < n; ++k)
            if (take(x[k]))
                on_row(next());
    }

    //! Highest energy of the latest row over the median of its bins; silence: 0.
    float prominence() const { return d_prominence; }

private:
    static constexpr size_t points = 4 * samples_per_tone;

    bool take(std::complex<float> x);
    const row& next();
    float median(const row& energies);

    kernel::fourier d_transform;
    std::array<std::complex<float>, samples_per_tone> d_held{};
    size_t d_at = 0; // of the next sample in d_held
    size_t d_new = 0;
    float d_noise = 0, d_prominence = 0;
    row d_row{}, d_sorted{};
};

} // namespace gr::hf::ale
