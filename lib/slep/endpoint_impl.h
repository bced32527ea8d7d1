/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/datagram_receiver.h"
#include "slep/datagram_sender.h"
#include "slep/stream_calls.h"
#include "slep/stream_reception.h"
#include "slep/stream_timers.h"

namespace gr::hf::slep {

/*! \brief Conductor of one endpoint: passes events of the user, SIS and time to the parts
 *         in the right order. It has no rules of its own.
 *
 * | part | duty |
 * |---|---|
 * | peer_table | peers and their nodes: numbers, restarts, back-off |
 * | sis_queue | U_PDUs in SIS, and their limits |
 * | control_pdus | PDUs that belong to no stream |
 * | datagram_sender, datagram_receiver | datagrams |
 * | stream_table | the streams by id and by SID |
 * | stream_calls | calls of the user on streams |
 * | stream_scheduler | which stream sends next, and which PDU |
 * | stream_reception | handles the stream PDUs of peers |
 * | stream_delivery | delivers stream data to the user |
 * | stream_ends | how streams end, and who is notified |
 * | stream_timers | timers of streams |
 *
 * Each part knows only the parts that it gets here. Shared state is in endpoint_context.
 */
class endpoint::impl
{
public:
    explicit impl(const endpoint_config& c);

    void sis_in(const uint8_t* p, size_t n);
    void sis_reset();
    std::optional<octets> poll_sis();
    std::optional<event> poll_event();
    std::optional<station_time> next_deadline() const;
    void on_deadline();

    endpoint_context d_ctx;
    peer_table d_peers;
    sis_queue d_sis{ d_ctx };
    control_pdus d_control{ d_ctx, d_sis };
    datagram_sender d_datagrams{ d_ctx, d_peers, d_sis };
    datagram_receiver d_datagrams_in{ d_ctx, d_control };
    stream_table d_streams{ d_ctx };
    stream_scheduler d_scheduler{ d_ctx, d_sis, d_streams };
    stream_ends d_ends{ d_ctx, d_sis, d_control, d_streams };
    stream_delivery d_delivery{ d_ctx, d_scheduler, d_ends };
    stream_reception d_reception{ d_ctx,       d_control, d_streams,
                                  d_scheduler, d_ends,    d_delivery };
    stream_timers d_timers{ d_ctx, d_streams, d_scheduler, d_ends };
    stream_calls d_calls{ d_ctx, d_peers, d_streams, d_scheduler, d_ends, d_delivery };

private:
    void indication(const s5066::s_unidata_indication& u);
    void lost_sis();
    void note_ready();
    void settled(const sis_queue::entry& e, std::optional<uint8_t> reject_reason);
    void data_settled(const owner& o, bool rejected, bool never);
};

} // namespace gr::hf::slep
