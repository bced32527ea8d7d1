/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/words/coding.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::ale {

/*! \brief Tones of words as samples: 8FSK with continuous phase, which changes tones at
 *         the crests (MIL-STD-188-141B A.5.1.3).
 *  \details Every tone has whole cycles in its 8 ms, so its phase is that of an
 *  oscillator that never stops.
 */
class transmitter
{
public:
    /*! \param words to send, one after the other
     *  \param rate samples/s, at least 5100
     *  \param centre_hz audio frequency that is 0 Hz in the samples: 0 for audio, whose
     *         samples are the real parts
     *  \throws std::invalid_argument
     */
    transmitter(const std::vector<word>& words, double rate, double centre_hz = 0);

    //! The next samples, of magnitude 1. Returns their number: fewer than \p n at the end.
    size_t produce(std::complex<float>* out, size_t n);
    //! Number of samples altogether.
    uint64_t length() const { return d_length; }

private:
    std::vector<uint8_t> d_tones;
    double d_rate, d_centre;
    uint64_t d_length, d_at = 0;
};

} // namespace gr::hf::ale
