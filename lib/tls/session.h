/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "tls/authority.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct ssl_ctx_st;

namespace gr::hf::tls {

using octets = std::vector<uint8_t>;

//! Why a handshake has failed.
enum class fault {
    none,
    expired,      //!< the certificate is not valid any more
    not_trusted,  //!< self signed, or its issuer is not in the trust store
    wrong_name,   //!< the certificate is for another host
    refused,      //!< the certificate is unfit for another reason
    no_handshake, //!< no common version, cipher or protocol, or not TLS at all
};

//! A client's first message.
struct hello {
    std::string server_name;       //!< SNI, in small letters; empty: none
    std::vector<std::string> alpn; //!< protocols, the preferred one first
};

//! Settings that many sessions share.
class context
{
public:
    //! For sessions that programs begin. \throws std::runtime_error
    static context for_programs();
    //! For sessions with servers: verifies by the trust store of the system.
    //! \throws std::runtime_error
    static context for_servers();
    context(context&&) noexcept;
    context& operator=(context&&) noexcept;
    ~context();

private:
    friend class session;
    explicit context(ssl_ctx_st* c);
    struct free {
        void operator()(ssl_ctx_st* c) const;
    };
    std::unique_ptr<ssl_ctx_st, free> d_context;
};

/*! \brief One TLS session without a socket: octets in, octets out. TLS 1.2 or 1.3.
 *
 * Either the near end, which takes the session of a program, or the far end, which makes
 * that to the server. After each call, send what poll() returns.
 */
class session
{
public:
    //! The near end. It waits after the hello for go_on() or refuse(). \p ca must outlive
    //! it.
    session(const context& c, authority& ca);
    /*! \brief The far end.
     *  \param host name or address that the certificate of the server must have
     *  \param alpn protocols to offer
     */
    session(const context& c,
            const std::string& host,
            const std::vector<std::string>& alpn);
    ~session();

    //! Octets from the socket.
    void feed(const uint8_t* p, size_t n);
    //! Octets for the socket.
    octets poll();
    //! Octets for the user: all that can be decrypted now.
    octets read();
    //! Octets from the user, once it is open.
    void write(const octets& data);
    //! The user has ended its data.
    void finish();

    //! Near end: the program's hello, once it has arrived.
    const std::optional<hello>& from_program() const;
    //! Near end: go on as \p host, with one of the program's protocols or none.
    void go_on(const std::string& host, const std::string& alpn);
    //! Near end, before go_on(): end the handshake with an alert.
    void refuse(fault why);

    //! Near end: the hello has arrived, and neither go_on() nor refuse() was called.
    bool waits() const;
    bool open() const;  //!< the handshake is complete
    bool ended() const; //!< the other end has closed with close_notify
    //! Not none: the session is over.
    fault failed() const;
    //! What OpenSSL says of the failure, for logs.
    std::string why() const;
    //! Protocol that the server has chosen; empty: none.
    std::string alpn() const;

    class impl; //!< known to callbacks of OpenSSL

private:
    std::unique_ptr<impl> d_impl;
};

//! Whether \p name may be a host name: letters, digits, "-", "_" and dots, up to 210.
bool is_host_name(const std::string& name);

} // namespace gr::hf::tls
