/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "pep/proxy.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace gr::hf::sim {

using octets = std::vector<uint8_t>;

/*! \brief The sockets of one proxy and its applications, without a kernel. Applications
 *         have data to send and read what arrives.
 *
 * It acts as the edge of hfpep::proxy. A socket is read only within its credit. An
 * application that does not read (\c reads false) leaves its octets with the engine.
 */
class tcp_host
{
public:
    explicit tcp_host(const hfpep::proxy_config& c) : pep(c) {}

    //! One TCP connection with its application.
    struct socket {
        hfpep::destination to;                 //!< destination of a connect
        std::optional<hfpep::tls_request> tls; //!< of a connect
        octets to_send;                        //!< data of the application
        bool then_eof = false;                 //!< afterwards it closes its direction
        bool reads = true;
        bool eof_after_eof = false; //!< it closes when the other side has closed
        size_t reply_after = 0;     //!< received octets after which to send the reply
        octets reply;

        size_t sent = 0; //!< octets of to_send already sent
        bool eof_sent = false;
        size_t credit = 0; //!< octets that the engine may still read from the application
        octets got;
        size_t unwritten = 0; //!< taken from the engine, not yet read by the application
        size_t max_unwritten = 0;
        bool connected = false; //!< action::connected was received
        std::string alpn;       //!< of action::connected
        bool got_eof = false, closed = false, reset = false;
        hfpep::status why = hfpep::status::connected;
        station_time connect_at{ -1 }; //!< time of a connect requested by the engine
        station_time sent_at{ -1 };    //!< the application's last octet was read
        station_time first_at{ -1 }, last_at{ -1 }, eof_at{ -1 }, closed_at{ -1 };
    };

    hfpep::proxy pep;
    std::map<hfpep::connection_id, socket> sockets;
    std::vector<hfpep::connection_id> connects; //!< requested by the engine, in order
    //! Outcome of connects. Empty: they succeed. It returns nothing for a destination that
    //! never answers.
    std::function<std::optional<hfpep::status>(const hfpep::destination&)> on_connect;
    //! Prepares a connected server socket.
    std::function<void(socket&)> on_server;
    //! Called when the engine has closed or reset a socket.
    std::function<void(hfpep::connection_id, socket&)> on_over;
    //! Result of the last accept().
    hfpep::rule_action verdict = hfpep::rule_action::proxy;

    /*! \brief An application connects to \p host (address or name).
     *  \return its number. There is no socket of this number unless verdict is proxy
     */
    hfpep::connection_id accept(station_time now, const std::string& host, uint16_t port);
    //! The application aborts: RST.
    void abort(station_time now, hfpep::connection_id id);

    void sis_in(station_time now, const uint8_t* p, size_t n) { pep.sis_in(now, p, n); }
    std::optional<octets> poll_sis() { return pep.poll_sis(); }
    std::optional<station_time> next_deadline() const { return pep.next_deadline(); }
    void on_deadline(station_time now) { pep.on_deadline(now); }
    std::function<void(station_time)> hook()
    {
        return [this](station_time now) { work(now); };
    }

    //! Do what the engine wants and what the applications can, until nothing changes.
    void work(station_time now);

private:
    bool pump(station_time now, hfpep::connection_id id, socket& s);
    void act(station_time now, const hfpep::action& a);
    void over(hfpep::connection_id id, socket& s);

    hfpep::connection_id d_next = 1;
};

} // namespace gr::hf::sim
