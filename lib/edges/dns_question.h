/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "edges/dns_edge.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>

namespace gr::hf {

/*! \brief One question to the upstream resolver. By UDP, each attempt from a port and
 *         with an id that cannot be guessed (RFC 5452), repeated without an answer. By
 *         TCP if the answer is too long.
 */
class dns_edge::question : public std::enable_shared_from_this<question>
{
public:
    //! \param message with id 0
    question(boost::asio::io_context& io,
             const boost::asio::ip::udp::endpoint& resolver,
             dns::octets message);

    //! \p done gets the answer with id 0, or nothing. It is called once.
    void ask(std::function<void(const dns::octets&)> done);
    //! Stop without calling done.
    void cancel();

private:
    void send();
    void receive();
    void wait(std::chrono::seconds s, std::function<void()> then);
    void ask_by_tcp();
    bool is_answer(size_t n) const;
    void finish(size_t n); // 0: failed

    boost::asio::ip::udp::endpoint d_resolver;
    boost::asio::ip::udp::socket d_udp;
    boost::asio::ip::tcp::socket d_tcp;
    boost::asio::steady_timer d_timer;
    dns::octets d_message;
    std::array<uint8_t, 2> d_id;
    dns::octets d_answer;
    std::array<uint8_t, 2> d_length;
    std::function<void(const dns::octets&)> d_done;
    int d_tries = 0;
};

} // namespace gr::hf
