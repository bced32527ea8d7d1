/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/block.h>
#include <hf/api.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Remote data link: replaces hf.data_link and passes S_primitives over TCP to a
 *         SIS server, ours or another maker's.
 *  \ingroup hf
 *
 * Message port \c sis (in and out) connects to clients (hf.pep, hf.ip_client,
 * hf.traffic). It gives them time from the host's clock, so they need no ticker. Each
 * client gets its own TCP connection, made when the client asks to bind. If the
 * connection cannot be made, the bind is rejected. If the connection is lost, the client
 * is notified that it was unbound. Clients then bind again, which makes a new connection.
 * While the server does not read, clients are asked to send no data.
 */
class HF_API sis_client : virtual public gr::block
{
public:
    typedef std::shared_ptr<sis_client> sptr; //!< pointer type for flowgraphs

    /*! \param host name or address of the server
     *  \param port 1 to 65535
     *  \param netns network namespace of the sockets; empty: the current one
     *  \throws std::invalid_argument
     */
    static sptr make(const std::string& host = "127.0.0.1",
                     int port = 5066,
                     const std::string& netns = "");

    //! Counters by name.
    virtual std::map<std::string, uint64_t> stats() const = 0;
};

} // namespace gr::hf
