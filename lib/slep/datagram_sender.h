/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/datagrams.h"
#include "slep/sis_queue.h"

#include <map>

namespace gr::hf::slep {

/*! \brief Outgoing datagrams of the user: unreliable, confirmed and reliable ones.
 *  \details Waiting octets are limited by endpoint_config::datagram_octets. Priorities 15
 *  and 14 share the class 0 of streams, and so on down to class 7.
 */
class datagram_sender
{
public:
    datagram_sender(endpoint_context& c, peer_table& peers, sis_queue& sis)
        : d_ctx(c), d_peers(peers), d_sis(sis)
    {
    }
    // See the calls of endpoint.
    bool send_unreliable(const user_address& to,
                         const octets& data,
                         uint8_t priority,
                         bool arq);
    std::optional<stream_id> send_confirmed(const user_address& to,
                                            const octets& data,
                                            uint8_t priority,
                                            station_time ttl);
    std::optional<stream_id>
    send_reliable(const user_address& to, const octets& data, uint8_t priority);

    //! Next S_primitive of a class, 0 to 7. Empty: nothing can be sent now.
    std::optional<octets> poll(uint8_t service_class);
    //! SIS has settled a part. \p never: it cannot be sent again either.
    void settled(uint64_t id, size_t part, bool rejected, bool never);
    //! Datagrams for the peer wait or are in SIS.
    bool holds_for(const peer_state& p) const;
    std::optional<station_time> next_deadline() const;
    //! Drops datagrams whose time is over.
    void on_deadline();

private:
    using table = std::map<uint64_t, outgoing_datagram>;

    outgoing_datagram
    one_part(const user_address& to, const octets& data, uint8_t priority);
    bool queue(outgoing_datagram d);
    octets give_once(table::iterator it);
    void over(table::iterator it, uint8_t code);

    endpoint_context& d_ctx;
    peer_table& d_peers;
    sis_queue& d_sis;
    table d_datagrams; // keyed by handle
    size_t d_octets = 0;
};

} // namespace gr::hf::slep
