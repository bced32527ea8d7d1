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

/*! \brief SIS server on TCP (STANAG 5066 Annex A): other programs become clients of the
 *         data link.
 *  \ingroup hf
 *
 * Message port \c sis (in and out) connects to hf.data_link. Each TCP connection is one
 * client with one SAP. A connection carries S_primitives back to back and nothing else.
 *
 * A client can harm nobody else: what it sends is taken at a limited rate in station time,
 * data only while the data link takes data; what it does not read is kept up to \p max_out
 * octets, then it is disconnected; so is one that does not send primitives, or exchanges the
 * octets of size fields. Who is not bound takes no place from those who are: up to 64 such
 * connections are kept; beyond, one that says nothing goes, of the address with most of them.
 * If all places are taken, a bind of higher rank displaces the client of the lowest.
 */
class HF_API sis_server : virtual public gr::block
{
public:
    typedef std::shared_ptr<sis_server> sptr; //!< how flowgraphs hold it

    /*! \param address to listen on: IPv4 or IPv6; whoever reaches it can transmit
     *  \param port TCP port, 0 to 65535; 0: a free one, see port()
     *  \param max_clients bound at once, 5 to 60 (the standard asks for at least 5)
     *  \param max_out octets that may wait for a client that does not read, 65540 to 2^30
     *  \param netns network namespace of the socket; empty: the present one
     *  \param ranks who may have which rank (A.2.1.1), each "PREFIX=RANK": the highest of
     *         clients in that network, 0 to 15; the longest prefix that fits counts, and
     *         addresses that none fits may not connect. Empty: "127.0.0.0/8=15", "::1=15",
     *         "0.0.0.0/0=14", "::/0=14". A bind with more is refused with reason 1.
     *  \throws std::invalid_argument; std::runtime_error if it cannot listen
     */
    static sptr make(const std::string& address = "127.0.0.1",
                     int port = 5066,
                     int max_clients = 16,
                     size_t max_out = 4194304,
                     const std::string& netns = "",
                     const std::vector<std::string>& ranks = {});

    //! The port that it listens on.
    virtual int port() const = 0;
    //! Counters by name.
    virtual std::map<std::string, uint64_t> stats() const = 0;
};

} // namespace gr::hf
