/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Rate 1/2 convolutional code of constraint length K, with repetition and
 *         puncturing.
 *
 * Masks have the newest bit at position K-1 and the oldest at 0: state = (state >> 1) |
 * (bit << (K-1)). Each input bit gives the pair T1, T2, T1 first.
 */
struct code_plan {
    bool coded = false;             //!< false: bits go to the symbols uncoded
    unsigned constraint_length = 7; //!< K
    uint32_t t1 = 0133;             //!< mask of T1: x^6+x^4+x^3+x+1 (110C 5.3.2.3.2)
    uint32_t t2 = 0171;             //!< mask of T2: x^6+x^5+x^4+x^3+1
    bool tail_biting = false; //!< true: each block separately; false: runs through blocks
    unsigned repetition = 1;  //!< times each pair is sent: T1 T2 T1 T2 ...
    std::vector<uint8_t>
        puncture; //!< cyclic keep-mask over T1 T2 T1 T2 ...; empty: keep all

    //! Coded bits after repetition and puncturing for \p n input bits.
    size_t coded_bits(size_t n) const;
    //! The code whose generators are these, reversed in time: the newest bit is where the
    //! oldest was.
    code_plan reversed() const;
    //! The code without its repetition and puncturing.
    code_plan mother() const;

    bool operator==(const code_plan& o) const;
    bool operator!=(const code_plan& o) const { return !(*this == o); }
};

//! Code of the serial tone: runs on through the blocks, each pair \p repetition times.
code_plan serial_tone_code(unsigned repetition);
//! Code of the high rate: tail-biting per block, punctured to 3/4 (110C C.5.3.2).
code_plan high_rate_code();

/*! \brief The encoder. Bits are unpacked, one per octet, 0 or 1. */
class convolutional_encoder
{
public:
    explicit convolutional_encoder(code_plan plan);

    /*! \brief Encode \p n input bits and append the whole result to \p out.
     *  \details A tail-biting plan takes the whole block at once. Pair k then has input
     *  bit (k+K-1) mod n as newest and k as oldest bit; n must be at least K-1. Other
     *  plans carry the register over to the next call.
     */
    void encode(const uint8_t* bits, size_t n, std::vector<uint8_t>& out);

    //! Register to all zero, as at the start of a transmission.
    void reset() { d_state = 0; }

    const code_plan& plan() const { return d_plan; }

private:
    void pair(unsigned bit, std::vector<uint8_t>& out);

    code_plan d_plan;
    uint32_t d_state = 0;
    size_t d_phase = 0; // position in the puncturing mask
};

} // namespace gr::hf::kernel
