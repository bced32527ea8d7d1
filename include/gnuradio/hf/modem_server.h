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

/*! \brief Our modem for another maker's data link. This block is the modem of the LAN
 *         interface of MIL-STD-188-110C Appendix A.
 *  \ingroup hf
 *
 * Message port \c modem (in and out) connects to hf.modem, instead of hf.data_link. It
 * serves one data terminal at a time and refuses others. Nothing is transmitted without a
 * terminal that has completed the initial exchange. Octets of a terminal are accepted
 * only while the transmit queue has room. A terminal that does not read, or breaks the
 * protocol, is disconnected. Synchronous operation only.
 *
 * The UDP form takes a control connection on the TCP port and datagrams on the UDP port
 * of the same number. The protocol of the control connection is our own, since the
 * standard leaves it open. Each end sends one line: the terminal "UDP PORT" with the port
 * of its datagrams, the modem "UDP PORT" or "BUSY". The session ends with the control
 * connection.
 */
class HF_API modem_server : virtual public gr::block
{
public:
    typedef std::shared_ptr<modem_server> sptr; //!< pointer type for flowgraphs

    /*! \param mode mode of all transmissions, for example 4539-9600S; the interface
     *         cannot request another
     *  \param form tcp or udp
     *  \param address address to listen on, IPv4 or IPv6. Any host that reaches it can
     *         transmit
     *  \param port 0 to 65535; 0: any free port, see port(). The standard suggests 3000.
     *  \param receiver_master a transmission waits for the end of a reception
     *         (A.5.1.2.7.2); otherwise the transmission ends the reception (A.5.1.2.7.1)
     *  \param netns network namespace of the sockets; empty: the current one
     *  \throws std::invalid_argument; std::runtime_error if it cannot listen
     */
    static sptr make(const std::string& mode,
                     const std::string& form = "tcp",
                     const std::string& address = "127.0.0.1",
                     int port = 3000,
                     bool receiver_master = true,
                     const std::string& netns = "");

    //! The port that the server listens on.
    virtual int port() const = 0;
    //! Counters by name.
    virtual std::map<std::string, uint64_t> stats() const = 0;
};

} // namespace gr::hf
