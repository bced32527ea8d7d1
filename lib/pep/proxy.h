/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "pep/codec.h"
#include "pep/open_limiter.h"
#include "pep/reach.h"
#include "slep/endpoint.h"

#include <memory>

namespace gr::hf::hfpep {

//! Far proxy that serves a destination. Longest match wins, the first on a tie.
struct stream_route {
    //! Destination addresses. Each family needs its own entry ("0.0.0.0/0", "::/0").
    ip::prefix prefix;
    /*! \brief Not empty: the entry is for names with this suffix ("." matches every
     *         name), and \c prefix is ignored. "example.org" matches itself and its
     *         sub-domains.
     */
    std::string name_suffix;
    s5066::address node;
    uint8_t sap = 13;
};

//! Action for a connection that matches a rule.
enum class rule_action {
    proxy,     //!< carry the connection
    ip_client, //!< leave the connection to the IP client
    reject,    //!< reset the connection
    drop       //!< do not answer
};

//! Whether a rule makes our own direction one DEFLATE stream.
enum class compression {
    automatic, //!< on, but off for ports whose protocols encrypt
    on,
    off
};

//! Port rule. The first match counts. S5066-APP9 requires rules, the form is ours.
struct rule {
    // conditions
    uint16_t port_first = 0, port_last = 65535; //!< ports of the destination
    std::optional<ip::prefix> to;               //!< destination; matches only addresses
    std::optional<ip::prefix> from;             //!< source
    std::optional<s5066::address> node;         //!< address of the far proxy
    double rate_min = 0;                        //!< lowest link rate that matches, bit/s
    double rate_max = 1e12;                     //!< highest link rate that matches
    // effects
    rule_action action = rule_action::proxy;
    //! Limit of this rule for connections accepted here, and for those that each peer
    //! requests. 0: none.
    size_t max_connections = 0;
    uint8_t service_class = 4; //!< 0 to 7, each gets twice the share of the next one
    uint8_t priority = 0;      //!< STANAG 5066 priority, 0 to 15
    //! Limit of this rule for connections accepted here: octets under way to their far
    //! proxy, which wait for the link or for its confirmation. 0: none.
    size_t load_max = 0;
    //! Connections above max_connections or load_max. True: they wait, false: they are
    //! rejected.
    bool over_waits = false;
    compression compress = compression::automatic; //!< DEFLATE of our own direction
    bool late_accept = false;                      //!< \see action::kind::connected
    //! The near end takes the TLS session of the program, the far end makes the one to
    //! the server, and HF carries the text between.
    bool tls_apart = false;
    //! Of tls_apart: host names, each with all below it, for which the local certificate
    //! authority may be used. Empty: every host.
    std::vector<std::string> tls_names;
    station_time hold = station_time(50'000'000); //!< wait for the first data
    station_time idle_max = station_time(0);      //!< 0: none
    station_time outage_max = station_time(1'800'000'000'000);
};

//! The default list: SSH first, mail last, web ended after 300 s without a link.
std::vector<rule> default_rules();

//! Settings of a proxy.
struct proxy_config {
    slep::endpoint_config slep;
    std::vector<stream_route> routes;
    std::vector<rule> rules = default_rules();
    bool with_default_rules =
        true; //!< used when rules are filled in; the engine itself uses only rules
    rule_action no_route = rule_action::reject; //!< for destinations without a route
    /*! \brief Extended addresses to use, in this order. The proxy listens on them as
     *         well.
     *  \details One carries 128 streams at a time and per 10 minutes, so a busy proxy
     *  needs more than one. The first should be 0, which saves an octet.
     */
    std::vector<uint8_t> extended = { 0, 16, 17, 18, 19, 20, 21, 22, 23 };
    size_t max_connections = 256; //!< limit of both directions together, 1 to 4096
    open_limits opens;            //!< each direction has these rates
    station_time hold_max =
        station_time(100'000'000); //!< longest hold while data still arrives
    station_time hold_gap =
        station_time(5'000'000); //!< silence that ends the hold after data
    station_time connect_limit =
        station_time(30'000'000'000); //!< limit of the far TCP connect
    bool tell_source = false;         //!< send the client's address to the far side
                                      //!< (option 1)
    bool accept_from_anyone = true;   //!< false: only from nodes in routes
    /*! \brief Destinations that peers may connect to at this side. Empty: none.
     *  \details Rules decide about connections to these destinations. They cannot add
     *  others.
     */
    std::vector<reach> allow;

    //! \throws std::invalid_argument names the value and what is allowed.
    void validate() const;
};

/*! \brief Id of a TCP connection, shared by engine and edge.
 *  \details The edge chooses the ids of connections that it accepts, below 2^63 and never
 *  twice. The engine chooses those of connections that it requests (2^63 and above).
 */
using connection_id = uint64_t;

//! Work for the edge, which owns the sockets. In the order of poll_action().
struct action {
    enum class kind {
        /*! Connect to \c to within \c time_limit, bound to \c source if given. Only
         *  addresses that proxy::may_reach() permits are allowed. Answer with
         *  on_connect_ok() or on_connect_failed().
         */
        connect,
        //! The far end is connected (\c actual if known). A SOCKS or HTTP port with late
        //! accept answers its client now. Other ports ignore it.
        connected,
        write,          //!< send \c data, then on_tcp_written(); keep the order
        shutdown_write, //!< FIN after all writes
        close,          //!< forget the connection after all writes
        reset,          //!< RST (linger 0) and forget; \c why for SOCKS replies and logs
        read_more       //!< on_tcp_data() may deliver \c octets_allowed more
    };
    kind what = kind::write;
    connection_id conn = 0;
    destination to;
    std::optional<endpoint_address> source;
    std::optional<endpoint_address> actual;
    std::optional<tls_request> tls; //!< of connect: make a TLS session as well
    std::string alpn;               //!< of connected, with TLS apart: the protocol
    station_time time_limit{};
    octets data;
    size_t octets_allowed = 0;
    status why = status::connected;
};

//! Counters since the start.
struct proxy_stats {
    uint64_t accepted = 0;          //!< local connections
    uint64_t requested = 0;         //!< connects requested by peers
    uint64_t connected = 0;         //!< far connects that succeeded, either side
    uint64_t failed = 0;            //!< far connects that failed
    uint64_t rejected = 0;          //!< rejected by rule, limit or missing route
    uint64_t over_connections = 0;  //!< part of rejected: max_connections was reached
    uint64_t displaced = 0;         //!< idle ones that made room for others
    uint64_t over_peer = 0;         //!< part of rejected: the limit
                                    //!< open_limits::standing_peer was reached
    uint64_t over_rate = 0;         //!< part of rejected: they came too fast
    uint64_t closed = 0;            //!< ended cleanly
    uint64_t reset = 0;             //!< ended otherwise
    uint64_t bad_requests = 0;      //!< malformed
    uint64_t credit_violations = 0; //!< the edge read more than its credit
    uint64_t octets_out = 0;        //!< from local TCP to HF
    uint64_t octets_in = 0;         //!< from HF to local TCP
};

//! One connection, for displays.
struct connection_info {
    connection_id id = 0;
    bool local = false;     //!< accepted here; false: requested by the peer
    const char* state = ""; //!< "hold", "opening", "connecting", "open", "half ..."
    destination to;
    std::optional<endpoint_address> source;
    slep::user_address far;
    station_time since{};    //!< start time
    uint64_t octets_out = 0; //!< to HF
    uint64_t octets_in = 0;  //!< from HF
    size_t waiting = 0;      //!< octets for HF not yet confirmed by the far node
    size_t unread = 0;       //!< octets from HF not yet accepted by the socket
};

/*! \brief HF-PEP: carries TCP connections over SLEP streams (split proxy after RFC 3135).
 *
 * Sans-I/O. The edge owns the sockets. It reports their events with the on_tcp calls and
 * does the actions of poll_action(). It reads a socket only while it has credit
 * (action::kind::read_more). So the HF link limits the application through its own TCP
 * window, and buffers stay bounded. After each call drain poll_action() and poll_sis()
 * until both are empty, since taking an S_primitive may give credit. Calls for an unknown
 * connection do nothing, because a socket event and a reset may cross.
 */
class proxy
{
public:
    //! \throws std::invalid_argument names the value and what is allowed.
    explicit proxy(const proxy_config& c);
    ~proxy();

    //! \name Calls of the data link (one SIS connection) @{
    void sis_in(station_time now, const uint8_t* p, size_t n); //!< one whole primitive
    void sis_reset(station_time now); //!< the SIS connection is new; what the old one
                                      //!< held is lost
    std::optional<octets> poll_sis();
    //! @}

    //! \name Events of the sockets @{
    /*! \brief A local connection was accepted, or a SOCKS or CONNECT request was read.
     *  \param conn id that the edge chooses, below 2^63
     *  \param to the client's destination
     *  \param source the client
     *  \param late whether the client waits for action::kind::connected, as at a SOCKS or
     *         CONNECT port; empty: as in the rule
     *  \return the verdict. The engine knows \p conn only with rule_action::proxy.
     *  Otherwise the edge handles the socket itself.
     */
    rule_action on_accept(station_time now,
                          connection_id conn,
                          const destination& to,
                          const endpoint_address& source,
                          std::optional<bool> late = {});
    //! Why the last on_accept() was not rule_action::proxy, for the answer of SOCKS and
    //! HTTP.
    status refusal() const;
    /*! \brief Whether the peer that requested \p conn may have a connection to \p at, by
     *         proxy_config::allow.
     *  \param at the destination, or an address that its name has
     *  \param where \p at leads to
     */
    bool may_reach(connection_id conn, const ip::address& at, nearness where) const;
    //! Server for the destination of \p conn that proxy_config::allow names. Empty: look
    //! the destination up.
    std::optional<endpoint_address> server_of(connection_id conn) const;
    /*! \brief The verdict of on_accept() without a connection, for edges that see the
     *         SYN.
     *  \details Ignores the rate of opens, which counts only connections that start.
     */
    rule_action judge(const destination& to, const endpoint_address& source) const;
    //! How the edge takes the TLS session of a local connection.
    enum class tls_end {
        none,  //!< it is not taken
        early, //!< at once, with one of the program's protocols
        late   //!< when action::kind::connected names the protocol
    };
    tls_end tls_of(connection_id conn) const;
    //! What the far end needs is known: early when the session is open, late when its
    //! first message has arrived. Before, the engine neither opens a stream nor gives
    //! credit. A second call does nothing.
    void on_tls_hello(station_time now, connection_id conn, const tls_request& r);
    /*! \brief The server has ended without TLS saying so: what it sent may be cut.
     *  \details The peer gets what there is, and after it a reset.
     */
    void on_tcp_cut(station_time now, connection_id conn);
    void on_tcp_data(station_time now, connection_id conn, const uint8_t* p, size_t n);
    void on_tcp_eof(station_time now, connection_id conn); //!< FIN from the application
    void on_tcp_error(station_time now,
                      connection_id conn); //!< RST or any error: the connection has ended
    void on_connect_ok(station_time now,
                       connection_id conn,
                       const std::optional<endpoint_address>& actual = {},
                       const std::string& alpn = "");
    void on_connect_failed(station_time now, connection_id conn, status why);
    void on_tcp_written(station_time now,
                        connection_id conn,
                        size_t n); //!< the socket accepted n octets
    //! @}

    //! Data rate of the link, bit/s, for rules that depend on it. 0 until it is known.
    void set_link_rate(double bits_per_second);
    //! Rules of connections from now on. Earlier ones keep their own, and count towards the
    //! limit of the new rule that matches them.
    void set_rules(std::vector<rule> rules);

    std::optional<action> poll_action();
    //! A line of the edge about a connection, for the operator.
    void note(connection_id conn, const std::string& line);
    //! Next line for the operator.
    std::optional<std::string> poll_log();
    std::optional<station_time> next_deadline() const;
    void on_deadline(station_time now);

    //! In order of their start.
    std::vector<connection_info> connections() const;
    const proxy_stats& stats() const;
    const slep::endpoint& link() const; //!< the endpoint below, for displays
    const proxy_config& config() const;

private:
    class impl;
    std::unique_ptr<impl> d_impl;
};

} // namespace gr::hf::hfpep
