/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

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
    static constexpr size_t most_bits = size_t{ 1 } << 19;
    //! Ratios after a segment that help to decode its last bits: those of the decoder's
    //! decision delay, 45 bits.
    static constexpr size_t bits_after = 48;

    //! A reception in \p m starts. Ratios are kept only if its code runs on through the
    //! blocks.
    void reset(const gr::hf::mode& m);
    //! Takes the next octets and their ratios. Ratios in impossible places are ignored.
    void push(const rx_octets& e);
    //! Octets without ratios take the place of a missing block.
    void skip(size_t octets) { d_octets += octets; }
    /*! \brief Ratios of the segment of \p r, its CRC and \ref bits_after, as if the header
     *         before them were zeros. Empty if some are missing, if those of the header do
     *         not agree with it, or if there is no segment.
     *  \details The code is linear, so the header's last bits only turn signs.
     */
    std::vector<int8_t> of_segment(const received_d_pdu& r) const;

private:
    bool agrees(const received_d_pdu& r, size_t header) const;

    std::optional<kernel::code_plan> d_code;
    uint64_t d_octets = 0;        // pushed
    std::vector<int8_t> d_ratios; // from the first bit of the reception
};

} // namespace gr::hf::s5066
