/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/d_pdu.h"

#include <cstdint>
#include <optional>

namespace gr::hf::s5066 {

/*! \brief Resets and resynchronisations with one peer (C.6.3): the one that was begun here and is
 *         not yet answered, and which of the peer's was acted upon last.
 */
class reset_exchange
{
public:
    //! One was begun here and is not answered: data are suspended.
    bool active() const { return d_active; }
    //! What goes out until it is answered.
    const reset_header& header() const { return d_header; }
    //! Begins one; the same frame identification goes with its repeats.
    void begin(const reset_header& h)
    {
        d_header = h;
        d_header.frame_id = ++d_id;
        d_active = true;
        d_silent = 0;
    }
    void end() { d_active = false; }
    //! Ours asks for a window, not tells one.
    bool asks() const { return d_active && d_header.tx_rqst; }
    //! It is answered by \p h.
    bool answered_by(const reset_header& h) const
    {
        return h.ack && d_active && !d_header.tx_rqst &&
               (d_header.full || h.frame_id == d_header.frame_id);
    }
    //! A transmission with it was not answered. \return how many so far
    unsigned on_silence() { return d_active ? ++d_silent : d_silent; }

    //! The peer's command was acted upon before.
    bool repeated(const reset_header& h) const { return d_heard_id == h.frame_id; }
    void heard(const reset_header& h) { d_heard_id = h.frame_id; }
    void forget_heard() { d_heard_id.reset(); }

    //! One of the five synchronisation tests failed. \return how often in a row
    unsigned on_sync_failure() { return ++d_sync_failures; }
    void in_sync() { d_sync_failures = 0; }

private:
    reset_header d_header;
    bool d_active = false;
    unsigned d_silent = 0;
    uint8_t d_id = 0;                  // last one used here
    std::optional<uint8_t> d_heard_id; // last one acted upon
    unsigned d_sync_failures = 0;
};

} // namespace gr::hf::s5066
