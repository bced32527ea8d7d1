/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "edges/tcp_edge.h"
#include "pep/handshake.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace gr::hf {

//! Alert of a TLS session that ends for a reason of HF-PEP.
tls::fault tls_fault_of(hfpep::status why);

//! Address and port of a socket. Mapped IPv4 addresses become IPv4.
hfpep::endpoint_address from_asio(const boost::asio::ip::tcp::endpoint& e);

/*! \brief One TCP connection of HF-PEP. Handlers keep it alive. Handlers that run after
 *         die() do nothing.
 */
class tcp_edge::connection : public std::enable_shared_from_this<tcp_edge::connection>
{
public:
    connection(tcp_edge& edge,
               hfpep::connection_id id,
               boost::asio::ip::tcp::socket socket);

    /*! \brief From now on read within the credit, and write.
     *  \param to of a connection from an application; null: we made it to a server
     */
    void begin(const hfpep::destination* to);
    /*! \brief Ask the client for its destination first.
     *  \param source its address
     */
    void begin_handshake(hfpep::handshake::protocol p,
                         const hfpep::endpoint_address& source);
    //! The engine wants a connection to a destination.
    void connect(const hfpep::action& a);
    //! The far end is connected. A client that waits for it is notified.
    void connected(const hfpep::action& a);
    void allow_read(size_t n);
    void write(std::vector<uint8_t> data);
    void shutdown_write();
    void close_when_written();
    //! RST, or the outcome in the form of the handshake to a client that waits for it.
    void reset(hfpep::status why);
    void die();
    //! True while it still asks its client. The engine does not know it yet.
    bool asking() const { return d_handshake && !d_known; }
    //! Source of a connection with a handshake.
    const ip::address& source() const { return d_source.host; }

private:
    using error_code = boost::system::error_code;

    void reset_unless_ended();
    void connect_to(const std::vector<boost::asio::ip::tcp::endpoint>& found);
    void connect_next();
    void connect_failed(hfpep::status why);
    void read();
    void on_read(const error_code& error, size_t n);
    void deliver();
    void read_handshake();
    void on_handshake(const error_code& error, size_t n);
    void on_request();
    void say(std::vector<uint8_t> data, bool then_close);
    void write();
    void on_written(const error_code& error);
    void fail();

    // TLS apart, in tcp_tls.cc.
    void begin_tls_near(const hfpep::destination& to);
    void begin_tls_far(const boost::asio::ip::tcp::endpoint& at);
    void on_cipher(const uint8_t* p, size_t n);
    void on_hello();
    void on_tls_open();
    void on_tls_failed();
    void on_tls_socket_end(const error_code& error);
    void write_tls(std::vector<uint8_t> data);
    void finish_tls();
    void send_cipher(size_t counts);
    void end_when_written();
    //! Whether the octets of the engine can pass: there is no TLS, or it is open.
    bool passes() const { return !d_tls.session || d_tls.open; }

    tcp_edge& d_edge;
    const hfpep::connection_id d_id;
    boost::asio::ip::tcp::socket d_socket;
    boost::asio::steady_timer d_timer; // limit of a connect or a handshake
    std::unique_ptr<boost::asio::ip::tcp::resolver> d_resolver;
    std::unique_ptr<hfpep::handshake> d_handshake; // until the client has its answer
    hfpep::endpoint_address d_source;
    bool d_known = false; // known to the engine; of a connection with a handshake
    std::deque<boost::asio::ip::tcp::endpoint> d_candidates;
    bool d_open = false;
    bool d_gone = false;
    //! From the application to the engine.
    struct reading {
        std::vector<uint8_t> buffer;
        hfpep::octets early; // octets for the engine that came before their credit
        size_t credit = 0;   // octets that the engine takes
        bool under_way = false;
        bool eof = false;
    } d_in;
    //! From the engine to the application.
    struct writing {
        struct piece {
            std::vector<uint8_t> data;
            size_t counts; // octets of the engine in it
        };
        std::deque<piece> pieces;
        bool under_way = false;
        bool fin = false, fin_sent = false; // after the last piece
        bool close = false;                 // after the last piece
    } d_out;
    //! TLS apart. Without it there is no session.
    struct securing {
        std::unique_ptr<tls::session> session;
        bool near = false, open = false;
        std::string host;                          // name or address of the server
        std::optional<hfpep::tls_request> request; // near: of the hello
        std::optional<hfpep::endpoint_address> server;
        std::deque<std::vector<uint8_t>> plain; // for the time when it is open
        bool finish = false;                    // after them
    } d_tls;
};

} // namespace gr::hf
