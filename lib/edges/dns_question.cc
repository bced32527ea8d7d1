/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges/dns_question.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <random>

namespace gr::hf {

using boost::asio::ip::tcp;
using boost::asio::ip::udp;
using boost::system::error_code;

namespace {

// Waits for an answer by UDP: 2, 4 and 6 s. The engine gives up after 20 s.
constexpr int tries_max = 3;
constexpr auto first_wait = std::chrono::seconds(2);
constexpr auto tcp_wait = std::chrono::seconds(6);
constexpr size_t udp_max = 4096;
constexpr uint8_t truncated = 0x02; // flag in the third octet

} // namespace

dns_edge::question::question(boost::asio::io_context& io,
                             const udp::endpoint& resolver,
                             dns::octets message)
    : d_resolver(resolver), d_udp(io), d_tcp(io), d_timer(io),
      d_message(std::move(message))
{
    std::random_device random;
    d_id = { static_cast<uint8_t>(random()), static_cast<uint8_t>(random()) };
    std::copy(d_id.begin(), d_id.end(), d_message.begin());
}

void dns_edge::question::ask(std::function<void(const dns::octets&)> done)
{
    d_done = std::move(done);
    error_code error;
    d_udp.open(d_resolver.protocol(), error);
    if (!error)
        d_udp.connect(d_resolver, error); // answers from other addresses are not received
    if (error) {
        // Not from inside the engine's own drain().
        wait(std::chrono::seconds(0), [self = shared_from_this()] { self->finish(0); });
        return;
    }
    d_answer.resize(udp_max);
    receive();
    send();
}

void dns_edge::question::wait(std::chrono::seconds s, std::function<void()> then)
{
    d_timer.expires_after(s);
    d_timer.async_wait(
        [self = shared_from_this(), then = std::move(then)](const error_code& error) {
            if (!error && self->d_done)
                then();
        });
}

void dns_edge::question::send()
{
    if (d_tries >= tries_max) {
        finish(0);
        return;
    }
    ++d_tries;
    error_code ignored; // the next try may succeed
    d_udp.send(boost::asio::buffer(d_message), 0, ignored);
    wait(d_tries * first_wait, [this] { send(); });
}

bool dns_edge::question::is_answer(size_t n) const
{
    return n > d_id.size() && std::equal(d_id.begin(), d_id.end(), d_answer.begin());
}

void dns_edge::question::receive()
{
    d_udp.async_receive(
        boost::asio::buffer(d_answer),
        [self = shared_from_this()](const error_code& error, size_t n) {
            if (!self->d_done || error == boost::asio::error::operation_aborted)
                return;
            // Refused by ICMP, or not our answer. The timer decides.
            if (error || !self->is_answer(n))
                self->receive();
            else if ((self->d_answer[2] & truncated) != 0)
                self->ask_by_tcp();
            else
                self->finish(n);
        });
}

void dns_edge::question::ask_by_tcp()
{
    auto self = shared_from_this();
    wait(tcp_wait, [this] { finish(0); });
    d_message.insert(d_message.begin(),
                     { static_cast<uint8_t>(d_message.size() >> 8),
                       static_cast<uint8_t>(d_message.size()) });
    const auto read_rest = [self](const error_code& error, size_t) {
        if (!self->d_done)
            return;
        const size_t n = static_cast<size_t>(self->d_length[0] << 8) | self->d_length[1];
        if (error || n == 0) {
            self->finish(0);
            return;
        }
        self->d_answer.resize(n);
        boost::asio::async_read(self->d_tcp,
                                boost::asio::buffer(self->d_answer),
                                [self, n](const error_code& e, size_t) {
                                    if (self->d_done)
                                        self->finish(!e && self->is_answer(n) ? n : 0);
                                });
    };
    const auto read = [self, read_rest](const error_code& error, size_t) {
        if (error || !self->d_done) {
            self->finish(0);
            return;
        }
        boost::asio::async_read(
            self->d_tcp, boost::asio::buffer(self->d_length), read_rest);
    };
    d_tcp.async_connect({ d_resolver.address(), d_resolver.port() },
                        [self, read](const error_code& error) {
                            if (error || !self->d_done) {
                                self->finish(0);
                                return;
                            }
                            boost::asio::async_write(
                                self->d_tcp, boost::asio::buffer(self->d_message), read);
                        });
}

void dns_edge::question::finish(size_t n)
{
    if (!d_done)
        return;
    const auto done = std::move(d_done);
    cancel();
    d_answer.resize(n);
    if (n > 0)
        std::fill_n(d_answer.begin(), d_id.size(), uint8_t(0));
    done(d_answer);
}

void dns_edge::question::cancel()
{
    error_code ignored;
    d_done = nullptr;
    d_timer.cancel();
    d_udp.close(ignored);
    d_tcp.close(ignored);
}

} // namespace gr::hf
