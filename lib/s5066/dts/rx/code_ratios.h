/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/code_piece.h"
#include "s5066/pdu/deframer.h"
#include "waveform/description.h"

#include <hf/modem_user.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief Log-likelihood ratios of the code bits of one reception, in the order of its
 *         bits. See rx_octets::ratios.
 */
class code_ratios
{
public:
    /*! \brief Bits of one reception whose ratios are kept, 2 octets each. The longest
     *         transmission, 127.5 s, has 306,000 bits at 2400 bit/s.
     */
    static constexpr size_t max_bits = size_t{ 1 } << 19;
    //! Ratios after a segment that help to decode its last bits: those of the decoder's
    //! decision delay, 45 bits, or 58 with a constraint length of 9.
    static constexpr size_t bits_after = 64;
    //! Constraint length up to which one octet fills the encoder's register.
    static constexpr unsigned longest_constraint = 9;

    //! A reception in \p m starts. See reset(const kernel::code_plan&).
    void reset(const gr::hf::mode& m);
    /*! \brief A reception with \p code starts. Ratios are kept only if it runs on through the
     *         blocks, and if its constraint length is at most \ref longest_constraint.
     */
    void reset(const kernel::code_plan& code);
    //! Takes the next octets and their ratios. Ratios in impossible places are ignored.
    void push(const rx_octets& e);
    //! Octets without ratios take the place of a missing block.
    void skip(size_t octets) { d_octets += octets; }
    /*! \brief Ratios of the segment of \p r, its CRC and \ref bits_after, as if the header
     *         before them were zeros. Empty if some are missing, if those of the header do
     *         not agree with it, or if there is no segment.
     *  \details The code is linear, so the header's last bits only turn signs.
     */
    code_piece of_segment(const received_d_pdu& r) const;
    /*! \brief Ratios of \p bits bits from \p from on, and of \ref bits_after, as if the
     *         octet \p before them were zeros. Empty if some are missing.
     */
    code_piece after(uint64_t from, uint8_t before, size_t bits) const;
    /*! \brief Share of the ratios' magnitude that agrees with \p octets, received from
     *         bit \p from on, less the share that does not. 0 if some are missing.
     */
    double agreement(uint64_t from, const std::vector<uint8_t>& octets) const;
    /*! \brief Least agreement of ratios with their octets.
     *  \details Of 200 noisy ratios, 0.09 is one standard deviation. Of octets that were
     *         read, more than half of the magnitude agrees by far.
     */
    static constexpr double min_agreement = 0.4;
    //! Bits received so far, with all before them.
    uint64_t bits() const { return d_ratios.size() / 2; }

private:
    std::optional<kernel::code_plan> d_code; // without repetition and puncturing
    uint64_t d_octets = 0;                   // pushed
    std::vector<int8_t> d_ratios;            // from the first bit of the reception
};

} // namespace gr::hf::s5066
