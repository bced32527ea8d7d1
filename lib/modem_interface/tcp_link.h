/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem_interface/tcp_codec.h"

#include <hf/station_time.h>

#include <functional>
#include <optional>
#include <string>

namespace gr::hf::modem_interface {

/*! \brief Initial exchange, keep-alive and errors of the TCP form (A.5.1.2.1 to
 *         A.5.1.2.3), for either end.
 */
class tcp_link
{
public:
    enum class role { modem, dte };

    /*! \param send puts octets on the connection
     *  \param finish requests to close the connection, with the reason
     */
    tcp_link(role r,
             std::function<void(octets)> send,
             std::function<void(const std::string&)> finish);

    void open(station_time now);
    void close() { d_phase = phase::closed; }
    void receive(const uint8_t* p, size_t n) { d_deframer.push(p, n); }

    //! Result of next().
    enum class event {
        none,    //!< nothing more
        up,      //!< the initial exchange is complete
        payload, //!< a packet for the owner, in \c payload
    };
    event next(station_time now, tcp_payload& payload);

    void send(station_time now, const tcp_payload& p);
    //! A.5.1.2.3: report the error to the far end, and close.
    void protocol_error(const std::string& why);

    //! Modem: time between the connection probe and its answer.
    station_time round_trip() const { return d_round_trip; }
    //! Deliberately not reading must not count as silence of the far end.
    void heard(station_time now) { d_heard_at = now; }

    std::optional<station_time> next_deadline() const;
    void on_deadline(station_time now);

private:
    enum class phase { closed, connecting, probing, up };

    void send_packet(station_time now, packet_type t, octets payload);
    bool greeting(station_time now, const tcp_packet& p);
    event data(station_time now, const tcp_packet& p, tcp_payload& payload);

    const role d_role;
    const std::function<void(octets)> d_send;
    const std::function<void(const std::string&)> d_finish;
    phase d_phase = phase::closed;
    tcp_deframer d_deframer;
    bool d_connect = false, d_ack = false; // packets received
    station_time d_phase_at{}, d_sent_at{}, d_heard_at{}, d_round_trip{};
};

} // namespace gr::hf::modem_interface
