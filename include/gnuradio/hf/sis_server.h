/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/block.h>
#include <hf/api.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gr::hf {

/*! \brief SIS server on TCP (STANAG 5066 Annex A), for other programs as clients of the
 *         data link.
 *  \ingroup hf
 *
 * Message port \c sis (in and out) connects to hf.data_link. Each TCP connection is one
 * client with one SAP. A connection carries S_primitives back to back and nothing else.
 *
 * A client cannot harm others. Its primitives are read at a limited rate in station time,
 * and its data only while the data link accepts data. A client is disconnected when more
 * than \p max_out octets wait for it, or when it sends no valid primitives, or size
 * fields in the wrong octet order. Unbound connections do not count as clients. Up to 64
 * of them are kept. Beyond that a silent one of the address with the most connections is
 * closed. If all places are taken, a bind of higher rank displaces the client of the
 * lowest rank.
 */
class HF_API sis_server : virtual public gr::block
{
public:
    typedef std::shared_ptr<sis_server> sptr; //!< pointer type for flowgraphs

    /*! \param address address to listen on, IPv4 or IPv6. Any host that reaches it can
     *         transmit
     *  \param port TCP port, 0 to 65535; 0: any free port, see port()
     *  \param max_clients clients bound at once, 5 to 60 (the standard asks for at least
     *         5)
     *  \param max_out octets that may wait for a client that does not read, 65540 to 2^30
     *  \param netns network namespace of the socket; empty: the current one
     *  \param ranks highest rank (A.2.1.1) of clients in each network, each
     *         "PREFIX=RANK", 0 to 15. The longest matching prefix counts. Addresses that
     *         match none may not connect. Empty: "127.0.0.0/8=15", "::1=15",
     *         "0.0.0.0/0=14", "::/0=14". A bind with a higher rank is refused with reason
     *         1.
     *  \throws std::invalid_argument; std::runtime_error if it cannot listen
     */
    static sptr make(const std::string& address = "127.0.0.1",
                     int port = 5066,
                     int max_clients = 16,
                     size_t max_out = 4194304,
                     const std::string& netns = "",
                     const std::vector<std::string>& ranks = {});

    //! The port that the server listens on.
    virtual int port() const = 0;
    //! Counters by name.
    virtual std::map<std::string, uint64_t> stats() const = 0;
};

} // namespace gr::hf
