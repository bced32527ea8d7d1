/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/control_pdus.h"
#include "slep/stream_table.h"

namespace gr::hf::slep {

/*! \brief The ways in which a stream ends, and who is told.
 *  \details After each of them the stream is gone, and its number rests so that what is still
 *  under way of it does no harm.
 */
class stream_ends
{
public:
    stream_ends(endpoint_context& c,
                sis_queue& sis,
                control_pdus& control,
                stream_table& streams)
        : d_ctx(c), d_sis(sis), d_control(control), d_streams(streams)
    {
    }
    //! The user does not want the offered stream: the peer is told.
    void refuse(stream& s, uint8_t code, const std::string& text);
    //! The peer did not want it: the user is told.
    void refused(stream& s, const stream_refuse& d);
    //! The user gives it up: the peer is told if it can know the stream.
    void abort(stream& s, uint8_t code);
    //! It cannot go on: the user is told, and with \p tell_peer the peer.
    void fail(stream& s, uint8_t code, bool tell_peer);
    //! Ends it if both directions have ended and both sides know.
    void end_if_done(stream& s);

private:
    void end(stream& s, uint8_t rest_answer);

    endpoint_context& d_ctx;
    sis_queue& d_sis;
    control_pdus& d_control;
    stream_table& d_streams;
};

} // namespace gr::hf::slep
