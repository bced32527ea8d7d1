/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/d_pdu.h"

#include <cstdint>
#include <optional>

namespace gr::hf::s5066 {

/*! \brief Resets and resynchronisations with one peer (C.6.3): our own unanswered one,
 *         and the last one of the peer that we acted on.
 */
class reset_exchange
{
public:
    //! True while our reset is not answered: data are suspended.
    bool active() const { return d_active; }
    //! Header of our reset, sent until it is answered.
    const reset_header& header() const { return d_header; }
    //! Starts a reset. It has a new frame identification, which its repeats keep.
    void begin(const reset_header& h)
    {
        d_header = h;
        d_header.frame_id = ++d_id;
        d_active = true;
        d_silent = 0;
    }
    void end() { d_active = false; }
    //! True if our reset asks for a window instead of setting one.
    bool asks() const { return d_active && d_header.tx_rqst; }
    //! True if \p h answers our reset.
    bool answered_by(const reset_header& h) const
    {
        return h.ack && d_active && !d_header.tx_rqst &&
               (d_header.full || h.frame_id == d_header.frame_id);
    }
    //! A transmission with ours was not answered. \return number of such transmissions
    unsigned on_silence() { return d_active ? ++d_silent : d_silent; }

    //! True if we acted on this command of the peer before.
    bool repeated(const reset_header& h) const { return d_heard_id == h.frame_id; }
    void heard(const reset_header& h) { d_heard_id = h.frame_id; }
    void forget_heard() { d_heard_id.reset(); }

    //! One of the five synchronisation tests failed. \return failures in a row
    unsigned on_sync_failure() { return ++d_sync_failures; }
    void in_sync() { d_sync_failures = 0; }

private:
    reset_header d_header;
    bool d_active = false;
    unsigned d_silent = 0;
    uint8_t d_id = 0;                  // last one of ours
    std::optional<uint8_t> d_heard_id; // last one acted on
    unsigned d_sync_failures = 0;
};

} // namespace gr::hf::s5066
