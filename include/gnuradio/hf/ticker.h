/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/block.h>
#include <hf/api.h>

#include <memory>

namespace gr::hf {

/*! \brief Station time from the host's clock, for blocks without a modem.
 *  \ingroup hf
 *
 * Message port \c ticks (out): a PDU without octets whose key now is the time since the
 * start of the flowgraph, every \p interval_ms.
 */
class HF_API ticker : virtual public gr::block
{
public:
    typedef std::shared_ptr<ticker> sptr; //!< pointer type for flowgraphs
    //! \param interval_ms time between ticks, 1 to 1000 \throws std::invalid_argument
    static sptr make(int interval_ms = 10);
};

} // namespace gr::hf
