/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/dts/arq/arq_sender.h"

namespace gr::hf::s5066 {

/*! \brief Loss of D_PDUs on the way to one peer, for the choice of the segment length.
 *         Older transmissions count less.
 */
class frame_losses
{
public:
    //! Takes the result of the last transmission, as its acknowledgement shows it.
    void measure(const arq_sender::tally& t);
    //! Enough losses to matter.
    bool some() const { return d_events > some_events; }
    //! Too few losses to matter.
    bool few() const { return d_events < some_events; }
    //! Losses per bit of a D_PDU; 0: none seen.
    double per_bit() const
    {
        return d_events <= 0 || d_bits <= 0 ? 0 : d_events / d_bits;
    }
    //! True if D_PDUs were too long: not one of several transmissions arrived.
    bool too_long() const { return d_too_long; }
    //! Bits of the D_PDUs behind this estimate.
    double bits() const { return d_bits; }

private:
    static constexpr double some_events = 0.5;

    double d_events = 0;
    double d_bits = 0;
    unsigned d_all_lost = 0; // transmissions in a row
    bool d_too_long = false;
};

} // namespace gr::hf::s5066
