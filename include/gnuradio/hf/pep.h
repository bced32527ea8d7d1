/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/hier_block2.h>
#include <hf/api.h>
#include <hf/setting_info.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gr::hf {

//! One proxied TCP connection, for displays.
struct pep_connection {
    bool local = false;      //!< accepted here; false: requested by the far proxy
    std::string to;          //!< destination
    std::string state;       //!< in one word
    uint64_t octets_out = 0; //!< from the local application towards HF
    uint64_t octets_in = 0;  //!< from HF to the local application
};

/*! \brief HF-PEP: TCP proxy for HF over SLEP streams.
 *  \ingroup hf
 *
 * Message port \c sis (in and out) connects to hf.data_link; output \c log has a line of
 * text for each event. Applications connect to listeners, each given as a string:
 *
 *     redirect:[ADDRESS:]PORT       connections sent here by an nftables REDIRECT rule
 *     tproxy:[ADDRESS:]PORT         connections intercepted by an nftables TPROXY rule
 *     socks5:[ADDRESS:]PORT         SOCKS5 without authentication; names are resolved at the
 *                                   far side, the answer is that of the far connection.
 *                                   SOCKS4 and SOCKS4a at the same port
 *     connect:[ADDRESS:]PORT        HTTP CONNECT, the same way
 *     [ADDRESS:]PORT=HOST:PORT      everything accepted here goes to that host; the name or
 *                                   address is resolved at the far side
 *
 * Listeners bind to 127.0.0.1 unless an address is given, IPv6 in brackets (tproxy: to
 * all IPv4 addresses, as the kernel demands; [::] for IPv6). Port 0 is any free one, except
 * with redirect and tproxy. The list allow names what
 * peers may connect to at this side, each entry HOST:PORTS as of hfpep::reach
 * ("10.66.0.2:8000", "10.66.0.0/24:80-90", "[fd00::/8]:22", "example.org:443", "*:*", and
 * "NAME:PORTS=ADDRESS:PORT" for a name and the server that has it); by default nothing. Loopback, link-local and this host's own addresses are reached only if
 * the list names them.
 */
class HF_API pep : virtual public gr::hier_block2
{
public:
    typedef std::shared_ptr<pep> sptr; //!< pointer type for flowgraphs

    /*! \param listeners as above; may be empty for a station that only accepts
     *         connections from peers
     *  \param routes far proxies, each "PREFIX=NODE" or "NAME_SUFFIX=NODE", for example
     *         "10.66.0.0/24=1.2.0.2", "0.0.0.0/0=1.2.0.2", ".=1.2.0.2"
     *  \param queue_octets unconfirmed octets held in SIS for one node, 2048 to 2^26;
     *         choose about one longest transmission
     *  \param segment_octets longest segment of the data link, octets, 16 to 1023. U_PDUs
     *         are aligned to it
     *  \param max_connections limit of connections at the same time, 1 to 4096
     *  \param netns network namespace of the sockets; empty: the current one
     *  \param real_time true if the data link is not driven by a modem of this flowgraph:
     *         time then comes from the host's clock
     *  \param allow what peers may connect to at this side; empty: nothing
     *  \param rules words of each rule (lib/pep/rules.h), the first match counts; empty:
     *         the default rules
     *  \param settings further settings by name; see settings()
     *  \param ca folder of the certificate authority for rules with tls=apart, made at the
     *         first use. It is read only if there is such a rule
     *  \throws std::invalid_argument for a value that is not allowed, std::runtime_error
     *         if a listener cannot be opened, or the authority cannot be read or made
     */
    static sptr make(const std::vector<std::string>& listeners,
                     const std::vector<std::string>& routes,
                     size_t queue_octets = 168000,
                     size_t segment_octets = 1023,
                     size_t max_connections = 256,
                     const std::string& netns = "",
                     bool real_time = false,
                     const std::vector<std::string>& allow = {},
                     const std::vector<std::string>& rules = {},
                     const std::map<std::string, double>& settings = {},
                     const std::string& ca = "");

    //! Names and default values of the further settings.
    static std::map<std::string, double> settings();
    //! Further settings with meanings, units and ranges.
    static std::vector<setting_info> describe_settings();

    //! Counters by name.
    virtual std::map<std::string, uint64_t> stats() const = 0;
    //! Bound ports of the listeners, in their order.
    virtual std::vector<uint16_t> ports() const = 0;
    //! Current connections.
    virtual std::vector<pep_connection> connections() const = 0;
    //! Other rules for connections from now on, as \p rules of make(). A rule with
    //! tls=apart is allowed only if the rules of make() had the same names. Any thread may
    //! call it. \throws std::invalid_argument; the rules stay as they were
    virtual void set_rules(const std::vector<std::string>& rules) = 0;
};

} // namespace gr::hf
