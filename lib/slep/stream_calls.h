/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/stream_delivery.h"

namespace gr::hf::slep {

//! Calls of the user on streams. See the calls of \ref endpoint.
class stream_calls
{
public:
    stream_calls(endpoint_context& c,
                 peer_table& peers,
                 stream_table& streams,
                 stream_scheduler& scheduler,
                 stream_ends& ends,
                 stream_delivery& delivery)
        : d_ctx(c), d_peers(peers), d_streams(streams), d_scheduler(scheduler),
          d_ends(ends), d_delivery(delivery)
    {
    }
    std::optional<stream_id> open(const user_address& to,
                                  const octets& open_data,
                                  const octets& data,
                                  bool fin,
                                  stream_options o);
    void accept(stream_id id, const octets& open_data, stream_options o);
    void refuse(stream_id id, uint8_t code, const std::string& text);
    size_t writable(stream_id id) const;
    size_t write(stream_id id, const uint8_t* p, size_t n, bool push);
    void finish(stream_id id);
    void abort(stream_id id, uint8_t code);
    void consumed(stream_id id, size_t n);

private:
    //! nullptr: no such stream, or the user has not accepted it yet.
    stream* accepted(stream_id id);
    //! The next number that no stream has and that does not rest. Empty: none.
    std::optional<uint8_t> free_number(const peer_state& p) const;

    endpoint_context& d_ctx;
    peer_table& d_peers;
    stream_table& d_streams;
    stream_scheduler& d_scheduler;
    stream_ends& d_ends;
    stream_delivery& d_delivery;
};

} // namespace gr::hf::slep
