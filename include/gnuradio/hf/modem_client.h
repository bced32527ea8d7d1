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

/*! \brief Another maker's modem for our data link. This block is the data terminal of the
 *         LAN interface of MIL-STD-188-110C Appendix A.
 *  \ingroup hf
 *
 * Message port \c modem (in and out) connects to hf.data_link, instead of hf.modem.
 * Message port \c ticks (in) takes station time from hf.ticker. If the modem is an
 * hf.modem in the same flowgraph, connect its port \c modem instead.
 *
 * The connection is made at the start and made again when it is lost. Without a
 * connection the data link transmits nothing. Set the modem to \p mode, and the data link
 * to the same mode for data and acknowledgements (ack_mode "same"), because the interface
 * cannot request a mode. The interface does not report SNR and quality either, so the
 * data link cannot adapt its rate.
 */
class HF_API modem_client : virtual public gr::block
{
public:
    typedef std::shared_ptr<modem_client> sptr; //!< pointer type for flowgraphs

    /*! \param mode mode that the modem is set to; a warning is logged if the modem
     *         reports another
     *  \param form tcp or udp; hf.modem_server describes the control connection of udp
     *  \param host name or address of the modem
     *  \param port 1 to 65535
     *  \param netns network namespace of the sockets; empty: the current one
     *  \throws std::invalid_argument
     */
    static sptr make(const std::string& mode,
                     const std::string& form = "tcp",
                     const std::string& host = "127.0.0.1",
                     int port = 3000,
                     const std::string& netns = "");

    //! The initial exchange is complete.
    virtual bool connected() const = 0;
    //! Counters by name.
    virtual std::map<std::string, uint64_t> stats() const = 0;
};

} // namespace gr::hf
