/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstdint>

namespace gr::hf::s5066 {

/*! \brief Arithmetic of frame sequence numbers: modulo 256 in the standard, modulo 65536
 *         with large windows.
 */
class fsn_space
{
public:
    //! \param large modulo 65536
    explicit fsn_space(bool large = false) : d_mask(large ? 0xffff : 0xff) {}
    //! Largest window: half of the numbers.
    unsigned half() const { return (d_mask + 1u) / 2; }
    bool large() const { return d_mask == 0xffff; }
    uint16_t add(unsigned a, int n) const
    {
        return static_cast<uint16_t>((a + static_cast<unsigned>(n)) & d_mask);
    }
    //! Distance from \p b forward to \p a.
    unsigned ahead(unsigned a, unsigned b) const { return (a - b) & d_mask; }
    //! True if \p x lies between \p lo and \p hi, both included.
    bool in(unsigned lo, unsigned x, unsigned hi) const
    {
        return ahead(x, lo) <= ahead(hi, lo);
    }

private:
    unsigned d_mask;
};

} // namespace gr::hf::s5066
