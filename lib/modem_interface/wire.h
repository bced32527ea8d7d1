/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem_interface/tcp_codec.h"

#include <hf/station_time.h>

#include <deque>
#include <optional>
#include <string>

namespace gr::hf::modem_interface {

/*! \brief The network side of either end of the LAN interface, without sockets.
 *
 * The TCP form exchanges a stream, the UDP form datagrams. Times are those of the host,
 * since the far end runs in real time even if the air is simulated.
 */
class wire
{
public:
    virtual ~wire() = default;

    //! A connection exists (UDP form: control was granted). May follow an earlier one.
    virtual void open(station_time now) = 0;
    //! The connection has ended.
    virtual void close(station_time now) = 0;
    //! Octets of the stream, or one datagram. Any content is allowed.
    virtual void receive(station_time now, const uint8_t* p, size_t n) = 0;
    //! False: pass no more of the stream until it returns true.
    virtual bool reading() const { return true; }
    //! Time of the next on_deadline().
    virtual std::optional<station_time> next_deadline() const = 0;
    virtual void on_deadline(station_time now) = 0;

    //! Octets for the stream, or one datagram.
    std::optional<octets> poll_wire()
    {
        if (d_out.empty())
            return std::nullopt;
        octets o = std::move(d_out.front());
        d_out.pop_front();
        d_out_octets -= o.size();
        return o;
    }
    //! Not empty: close the connection when poll_wire() has run dry, for this reason.
    const std::string& finished() const { return d_finished; }
    //! The far end has completed the initial exchange.
    bool connected() const { return d_connected; }

protected:
    void send(octets o)
    {
        d_out_octets += o.size();
        d_out.push_back(std::move(o));
    }
    size_t unsent() const { return d_out_octets; }
    void reset_wire()
    {
        d_out.clear();
        d_out_octets = 0;
        d_finished.clear();
        d_connected = false;
    }
    void finish(const std::string& why)
    {
        if (d_finished.empty())
            d_finished = why;
        d_connected = false;
    }
    void set_connected(bool on) { d_connected = on; }

private:
    std::deque<octets> d_out;
    size_t d_out_octets = 0;
    std::string d_finished;
    bool d_connected = false;
};

} // namespace gr::hf::modem_interface
