/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/stream_delivery.h"

namespace gr::hf::slep {

/*! \brief Handles the stream PDUs of peers: SO, SR, SD, SC and SX. Includes those for
 *         streams not known yet, or no longer.
 */
class stream_reception
{
public:
    stream_reception(endpoint_context& c,
                     control_pdus& control,
                     stream_table& streams,
                     stream_scheduler& scheduler,
                     stream_ends& ends,
                     stream_delivery& delivery)
        : d_ctx(c), d_control(control), d_streams(streams), d_scheduler(scheduler),
          d_ends(ends), d_delivery(delivery)
    {
    }
    // One call for each kind of PDU. \p priority is that of the answer.
    void on_pdu(peer_state& p, stream_open d, uint8_t priority);
    void on_pdu(peer_state& p, stream_accept d, uint8_t priority);
    void on_pdu(peer_state& p, const stream_refuse& d, uint8_t priority);
    void on_pdu(peer_state& p, stream_data d, uint8_t priority);
    void on_pdu(peer_state& p, const stream_control& d, uint8_t priority);
    void on_pdu(peer_state& p, const stream_abort& d, uint8_t priority);

    //! Time at which the oldest early data of the peer has waited long enough for its SO.
    static std::optional<station_time> next_deadline(const peer_state& p);
    void on_deadline(peer_state& p);
    //! Accepts what was doubted for long enough, on any stream: stream::doubted.
    void end_doubts();

private:
    void believe(stream& s, uint8_t priority);
    bool misses_pdus(stream& s, const stream_control& d, uint16_t ack) const;
    void unknown_stream(peer_state& p, uint8_t sid, uint8_t priority, uint16_t mark);
    void refuse_open(peer_state& p, const stream_open& d, uint8_t code, uint8_t priority);
    bool not_new(peer_state& p, const stream_open& d, uint8_t priority);
    bool not_wanted(peer_state& p, const stream_open& d, uint8_t priority);
    void receive(stream& s, stream_data d);
    template <typename T>
    void receive_first(stream& s, T& open_or_accept);
    void receive_early(stream_id id, std::vector<stream_data> pdus);
    void keep(orphan& o, stream_data d);
    void peer_restarted(peer_state& p, uint16_t instance);

    endpoint_context& d_ctx;
    control_pdus& d_control;
    stream_table& d_streams;
    stream_scheduler& d_scheduler;
    stream_ends& d_ends;
    stream_delivery& d_delivery;
};

} // namespace gr::hf::slep
