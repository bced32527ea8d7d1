/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/control_pdus.h"
#include "slep/stream_table.h"

namespace gr::hf::slep {

/*! \brief The ways in which a stream ends, and who is notified.
 *  \details After each of them the stream is removed. Its number rests, so that PDUs
 *  still on their way do no harm.
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
    //! The user refuses the offered stream. The peer is notified.
    void refuse(stream& s, uint8_t code, const std::string& text);
    //! The peer refused the stream. The user is notified.
    void refused(stream& s, const stream_refuse& d);
    //! The user aborts the stream. The peer is notified if it can know the stream.
    void abort(stream& s, uint8_t code);
    //! The stream cannot go on. The user is notified, and with \p tell_peer the peer.
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
