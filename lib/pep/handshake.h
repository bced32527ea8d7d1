/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "pep/codec.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gr::hf::hfpep {

/*! \brief Server side of the handshake on an explicit proxy port, before the data: SOCKS5
 *         (RFC 1928, no authentication, CONNECT only) or HTTP CONNECT (RFC 9110, 9.3.6).
 *
 * A SOCKS5 port also serves SOCKS4 and SOCKS4a (CONNECT only, the user id is ignored).
 *
 * Bounded and without I/O: feed() takes the client's octets, poll_reply() returns those
 * for the client. The far side resolves names.
 */
class handshake
{
public:
    //! socks5 becomes socks4 when the first octet of the client says so.
    enum class protocol { socks5, socks4, http_connect };
    enum class state {
        asking,    //!< more octets are needed
        requested, //!< request() returns the destination; answer() comes next
        failed,    //!< malformed: send the reply, then close
        done       //!< answer() was given
    };

    explicit handshake(protocol p) : d_protocol(p) {}

    /*! \brief Octets from the client.
     *  \details Octets after the request belong to the connection: early_data().
     */
    state feed(const uint8_t* p, size_t n);
    state now() const { return d_state; }
    const destination& request() const { return d_request; }
    //! Octets after the request. Returned once.
    octets early_data();
    //! The outcome, sent to the client by poll_reply().
    void answer(status code, const std::optional<endpoint_address>& actual = {});
    //! Octets for the client. Empty: none.
    octets poll_reply();

    //! A request longer than this fails.
    static constexpr size_t octets_max = 8192;

private:
    state feed_socks5();
    state feed_socks4();
    state feed_connect();
    state refuse_socks5(uint8_t code);
    state refuse_socks4();
    state refuse_connect(const std::string& status_line);
    bool take_name(const std::string& name, uint16_t port);

    protocol d_protocol;
    state d_state = state::asking;
    bool d_greeted = false; // SOCKS5: the method was chosen
    octets d_in, d_out;
    destination d_request;
};

} // namespace gr::hf::hfpep
