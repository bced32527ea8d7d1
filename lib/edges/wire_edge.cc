/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges/wire_edge.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <stdexcept>

namespace gr::hf {

using boost::asio::ip::tcp;
using boost::asio::ip::udp;
using boost::system::error_code;

namespace {

using namespace std::chrono_literals;

constexpr auto goodbye = 1s;
// Limit of octets in one write. The rest stays with the session, which has its own limit.
constexpr size_t write_octets = 65536;

} // namespace

bool udp_form(const std::string& form)
{
    if (form != "tcp" && form != "udp")
        throw std::invalid_argument("form '" + form + "': allowed are tcp and udp");
    return form == "udp";
}

wire_edge::wire_edge(boost::asio::io_context& io,
                     modem_interface::wire& session,
                     std::mutex& mutex,
                     std::function<station_time()> clock)
    : d_session(session), d_mutex(mutex), d_clock(std::move(clock)), d_stream(io),
      d_timer(io)
{
}

template <class F>
void wire_edge::tell(F f)
{
    std::lock_guard<std::mutex> lock(d_mutex);
    f();
    if (after)
        after();
}

void wire_edge::open(tcp::socket stream)
{
    d_stream = std::move(stream);
    begin();
}

void wire_edge::open(tcp::socket control, udp::socket datagrams, udp::endpoint peer)
{
    d_stream = std::move(control);
    d_datagrams.emplace(std::move(datagrams));
    d_peer = std::move(peer);
    begin();
    read_datagrams();
}

void wire_edge::begin()
{
    error_code ignored;
    d_stream.set_option(tcp::no_delay(true), ignored);
    d_stream.set_option(boost::asio::socket_base::keep_alive(true), ignored);
    d_open = true;
    tell([this] { d_session.open(d_clock()); });
    pump();
}

void wire_edge::read()
{
    if (!d_open || d_reading)
        return;
    d_reading = true;
    d_stream.async_read_some(
        boost::asio::buffer(d_in),
        [self = shared_from_this()](const error_code& error, size_t n) {
            self->d_reading = false;
            if (!self->d_open)
                return;
            if (error) {
                self->close(error.message());
                return;
            }
            // The control connection carries no more messages.
            if (!self->d_datagrams)
                self->tell([&] {
                    self->d_session.receive(self->d_clock(), self->d_in.data(), n);
                });
            self->pump();
        });
}

void wire_edge::read_datagrams()
{
    d_datagrams->async_receive_from(
        boost::asio::buffer(d_datagram),
        d_from,
        [self = shared_from_this()](const error_code& error, size_t n) {
            if (!self->d_open || error == boost::asio::error::operation_aborted)
                return;
            // Accept datagrams only from the terminal, or modem, of the control
            // connection.
            if (!error && self->d_from == self->d_peer) {
                self->tell([&] {
                    self->d_session.receive(self->d_clock(), self->d_datagram.data(), n);
                });
                self->pump();
            }
            if (self->d_open)
                self->read_datagrams();
        });
}

void wire_edge::pump()
{
    if (!d_open)
        return;
    std::optional<station_time> due;
    bool reading;
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        if (d_datagrams) {
            error_code ignored; // a datagram may be lost
            while (const auto o = d_session.poll_wire())
                d_datagrams->send_to(boost::asio::buffer(*o), d_peer, 0, ignored);
        } else if (!d_writing) {
            while (d_out.size() < write_octets) {
                const auto o = d_session.poll_wire();
                if (!o)
                    break;
                d_out.insert(d_out.end(), o->begin(), o->end());
            }
        }
        due = d_session.next_deadline();
        reading = d_datagrams || d_session.reading();
        if (!d_session.finished().empty()) {
            d_why = d_session.finished();
            if (!d_end_at)
                d_end_at = d_clock() + goodbye;
            reading = false;
        }
    }
    write();
    if (!d_open)
        return;
    if (d_end_at && !d_writing && d_out.empty()) {
        close(d_why);
        return;
    }
    if (d_end_at)
        due = d_end_at;
    if (reading)
        read();
    set_timer(due);
}

void wire_edge::write()
{
    if (d_writing || d_out.empty())
        return;
    d_writing = true;
    boost::asio::async_write(
        d_stream,
        boost::asio::buffer(d_out),
        [self = shared_from_this()](const error_code& error, size_t) {
            self->d_writing = false;
            self->d_out.clear();
            if (!self->d_open)
                return;
            if (error)
                self->close(error.message());
            else
                self->pump();
        });
}

void wire_edge::set_timer(std::optional<station_time> due)
{
    if (!due) {
        d_timer.cancel();
        return;
    }
    d_timer.expires_after(std::max<station_time>(*due - d_clock(), 1ms));
    d_timer.async_wait([self = shared_from_this()](const error_code& error) {
        if (error || !self->d_open)
            return;
        if (self->d_end_at && self->d_clock() >= *self->d_end_at) {
            self->close(self->d_why);
            return;
        }
        self->tell([&] { self->d_session.on_deadline(self->d_clock()); });
        self->pump();
    });
}

void wire_edge::close(const std::string& why)
{
    if (!d_open)
        return;
    d_open = false;
    error_code ignored;
    d_timer.cancel();
    d_stream.close(ignored);
    if (d_datagrams)
        d_datagrams->close(ignored);
    tell([this] { d_session.close(d_clock()); });
    // Defer on_closed: the caller may still use what it destroys.
    boost::asio::post(d_timer.get_executor(), [self = shared_from_this(), why] {
        if (self->on_closed)
            self->on_closed(why);
    });
}

} // namespace gr::hf
