/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/burst_receiver.h"
#include "modem/soft_bits.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Receives all transmissions as soft bits, to be combined with those of other
 *         receivers or of other times.
 *
 * A block without a signal since before it is dropped, unless the signal returns. The soft
 * bits stay in memory: 4 octets for each coded bit, 50 kB a second at 9600 bit/s.
 */
class soft_receiver
{
public:
    //! As burst_receiver.
    soft_receiver(const rx_options& options,
                  const std::vector<const family_reception*>& families);

    //! As burst_receiver::push().
    void
    push(const std::complex<float>* samples, size_t n, const float* erased = nullptr);

    //! As burst_receiver::skip().
    void skip(uint64_t n) { d_receiver.skip(n); }

    //! Grid of the input.
    const symbol_grid& grid() const { return d_receiver.grid(); }

    //! Transmissions so far, in order of their starts.
    const std::vector<soft_transmission>& heard() const { return d_heard; }
    //! The same, given away.
    std::vector<soft_transmission> take() { return std::move(d_heard); }

private:
    void take(const rx_event& e);
    double seconds(int64_t sample) const;

    burst_receiver d_receiver;
    std::vector<soft_transmission> d_heard;
};

} // namespace gr::hf::kernel
