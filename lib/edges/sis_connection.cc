/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges/sis_connection.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

namespace gr::hf {

using boost::system::error_code;

namespace {

// Beyond this the far end sends noise, not primitives.
constexpr uint64_t max_invalid = 10;
constexpr size_t max_octets_without_primitive = 262144;

} // namespace

sis_connection::sis_connection(boost::asio::ip::tcp::socket socket, size_t max_out)
    : d_socket(std::move(socket)), d_max_out(max_out)
{
}

void sis_connection::open()
{
    error_code ignored;
    d_socket.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
    // A client that loses its power does not close the connection.
    d_socket.set_option(boost::asio::socket_base::keep_alive(true), ignored);
    d_open = true;
    read();
    write();
}

std::optional<std::vector<uint8_t>> sis_connection::next()
{
    if (!d_open)
        return std::nullopt;
    auto p = d_deframer.next();
    if (const auto& fault = d_deframer.size_fault(); fault && fault->swapped) {
        // Not noise: none of this client's primitives will ever be valid. Ending the
        // connection is the only answer that it will understand.
        broken(fault->to_string());
        return std::nullopt;
    }
    if (d_deframer.foreign()) {
        broken(why_foreign());
        return std::nullopt;
    }
    if (p)
        d_without_primitive = 0;
    else
        read();
    return p;
}

void sis_connection::send(std::vector<uint8_t> primitive)
{
    if (d_waiting + primitive.size() > d_max_out) {
        broken("does not read: " + std::to_string(d_waiting) + " octets wait");
        return;
    }
    d_waiting += primitive.size();
    d_out.push_back(std::move(primitive));
    write();
}

void sis_connection::close()
{
    d_reported = true;
    shut();
}

void sis_connection::shut()
{
    d_open = false;
    error_code ignored;
    d_socket.close(ignored);
}

// Called only when next() has run dry, so that at most one primitive and one read are
// held.
void sis_connection::read()
{
    if (!d_open || d_reading)
        return;
    d_reading = true;
    d_socket.async_read_some(
        boost::asio::buffer(d_in),
        [self = shared_from_this()](const error_code& error, size_t n) {
            self->d_reading = false;
            if (!self->d_open)
                return;
            self->d_deframer.push(self->d_in.data(), n);
            self->d_without_primitive += n;
            if (n > 0)
                self->on_readable();
            if (self->d_open && error)
                self->broken(error == boost::asio::error::eof &&
                                     self->d_deframer.buffered() == 0
                                 ? far_closed
                                 : error.message());
            else if (self->d_open &&
                     (self->invalid() > max_invalid ||
                      self->d_without_primitive > max_octets_without_primitive))
                self->broken(self->why_foreign());
        });
}

std::string sis_connection::why_foreign() const
{
    const auto& fault = d_deframer.size_fault();
    return fault ? fault->to_string() : "does not send primitives";
}

void sis_connection::write()
{
    if (!d_open || d_writing || d_out.empty())
        return;
    d_writing = true;
    boost::asio::async_write(
        d_socket,
        boost::asio::buffer(d_out.front()),
        [self = shared_from_this()](const error_code& error, size_t) {
            self->d_writing = false;
            if (!self->d_open)
                return;
            if (error) {
                self->broken(error.message());
                return;
            }
            self->d_waiting -= self->d_out.front().size();
            self->d_out.pop_front();
            self->on_written();
            self->write();
        });
}

void sis_connection::broken(const std::string& why)
{
    if (!d_open)
        return;
    shut();
    // Defer on_broken: the sender may be iterating over a list of connections.
    boost::asio::post(d_socket.get_executor(), [self = shared_from_this(), why] {
        if (!self->d_reported)
            self->on_broken(why);
        self->d_reported = true;
    });
}

} // namespace gr::hf
