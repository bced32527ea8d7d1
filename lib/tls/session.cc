/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tls/session.h"
#include "tls/openssl.h"

#include <openssl/err.h>
#include <openssl/tls1.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace gr::hf::tls {

class session::impl
{
public:
    enum class verdict { waits, goes_on, refused };

    impl(const context& c, authority* authority_of_near) : ca(authority_of_near)
    {
        ssl.reset(SSL_new(c.d_context.get()));
        in = BIO_new(BIO_s_mem());
        out = BIO_new(BIO_s_mem());
        if (!ssl || in == nullptr || out == nullptr)
            throw std::bad_alloc();
        BIO_set_mem_eof_return(in, -1); // empty is not the end
        SSL_set_bio(ssl.get(), in, out);
        SSL_set_app_data(ssl.get(), this);
    }

    void shake()
    {
        if (!connecting || fail != fault::none ||
            (ca != nullptr && heard && decided == verdict::waits))
            return;
        ERR_clear_error();
        const int done = SSL_do_handshake(ssl.get());
        if (done == 1)
            connecting = false;
        else
            look_at(SSL_get_error(ssl.get(), done));
    }

    //! What a call of OpenSSL that did not succeed means.
    void look_at(int error)
    {
        if (error == SSL_ERROR_ZERO_RETURN)
            end = true;
        if (error != SSL_ERROR_SSL && error != SSL_ERROR_SYSCALL)
            return;
        const long verified = SSL_get_verify_result(ssl.get());
        fail = connecting && verified != X509_V_OK ? fault_of(verified)
                                                   : fault::no_handshake;
        if (connecting && verified != X509_V_OK) {
            text = X509_verify_cert_error_string(verified);
        } else if (text.empty()) { // otherwise on_hello() has said it
            const char* reason = ERR_reason_error_string(ERR_peek_last_error());
            text = reason != nullptr ? reason : "connection closed";
        }
        ERR_clear_error();
    }

    static fault fault_of(long verified)
    {
        switch (verified) {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return fault::expired;
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            return fault::not_trusted;
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH:
            return fault::wrong_name;
        default:
            return fault::refused;
        }
    }

    authority* const ca; // of the near end
    owned<SSL> ssl;
    BIO *in = nullptr, *out = nullptr; // of ssl
    bool connecting = true, end = false;
    fault fail = fault::none;
    std::string text;
    // Of the near end.
    std::optional<hello> heard;
    verdict decided = verdict::waits;
    int alert = SSL_AD_HANDSHAKE_FAILURE;
    std::string host, protocol;
};

namespace {

session::impl& impl_of(SSL* s)
{
    return *static_cast<session::impl*>(SSL_get_app_data(s));
}

//! Reads numbers and texts of an extension. Beyond the end everything is empty.
struct extension_reader {
    const unsigned char* p = nullptr;
    size_t n = 0;
    size_t number(size_t octets_of_it)
    {
        size_t v = 0;
        for (; octets_of_it > 0 && n > 0; --octets_of_it, --n)
            v = v << 8 | *p++;
        return v;
    }
    std::string text(size_t length)
    {
        length = std::min(length, n);
        std::string t(reinterpret_cast<const char*>(p), length);
        p += length;
        n -= length;
        return t;
    }
};

hello read_hello(SSL* s)
{
    hello h;
    extension_reader r;
    if (SSL_client_hello_get0_ext(s, TLSEXT_TYPE_server_name, &r.p, &r.n) == 1) {
        r.number(2); // length of the list, which has one name (RFC 6066 3)
        if (r.number(1) == TLSEXT_NAMETYPE_host_name)
            h.server_name = r.text(r.number(2));
        for (char& c : h.server_name)
            c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    r = {};
    if (SSL_client_hello_get0_ext(
            s, TLSEXT_TYPE_application_layer_protocol_negotiation, &r.p, &r.n) == 1) {
        r.number(2); // length of the list (RFC 7301 3.1)
        while (r.n > 0)
            h.alpn.push_back(r.text(r.number(1)));
    }
    return h;
}

int on_hello(SSL* s, int* alert, void*)
{
    using verdict = session::impl::verdict;
    auto& i = impl_of(s);
    if (!i.heard)
        i.heard = read_hello(s);
    if (i.decided == verdict::waits)
        return SSL_CLIENT_HELLO_RETRY;
    *alert = i.decided == verdict::refused ? i.alert : SSL_AD_UNRECOGNIZED_NAME;
    if (i.decided == verdict::goes_on && i.ca->use_certificate(s, i.host))
        return SSL_CLIENT_HELLO_SUCCESS;
    if (i.decided == verdict::goes_on)
        i.text = "the certificate authority is not for " + i.host;
    return SSL_CLIENT_HELLO_ERROR;
}

int on_alpn(SSL* s,
            const unsigned char** out,
            unsigned char* out_length,
            const unsigned char* in,
            unsigned in_length,
            void*)
{
    const std::string& wanted = impl_of(s).protocol;
    extension_reader r{ in, in_length };
    while (r.n > 0) {
        const size_t length = r.number(1);
        const unsigned char* at = r.p;
        if (r.text(length) == wanted && !wanted.empty()) {
            *out = at;
            *out_length = static_cast<unsigned char>(length);
            return SSL_TLSEXT_ERR_OK;
        }
    }
    return SSL_TLSEXT_ERR_NOACK;
}

ssl_ctx_st* new_context(const SSL_METHOD* method)
{
    owned<SSL_CTX> c(SSL_CTX_new(method));
    if (!c || SSL_CTX_set_min_proto_version(c.get(), TLS1_2_VERSION) != 1)
        throw std::runtime_error("OpenSSL has no TLS 1.2");
    // 112 bits: no RSA below 2048 and no SHA-1, also where the system permits them.
    SSL_CTX_set_security_level(c.get(), 2);
    SSL_CTX_set_options(c.get(), SSL_OP_NO_RENEGOTIATION);
    return c.release();
}

int alert_of(fault why)
{
    switch (why) {
    case fault::expired:
        return SSL_AD_CERTIFICATE_EXPIRED;
    case fault::not_trusted:
        return SSL_AD_UNKNOWN_CA;
    case fault::wrong_name:
        return SSL_AD_BAD_CERTIFICATE;
    case fault::refused:
        return SSL_AD_CERTIFICATE_UNKNOWN;
    default:
        return SSL_AD_HANDSHAKE_FAILURE;
    }
}

} // namespace

bool is_host_name(const std::string& name)
{
    return !name.empty() && name.size() <= 210 &&
           std::all_of(
               name.begin(),
               name.end(),
               [](unsigned char c) {
                   return (c < 128 && std::isalnum(c)) || c == '-' || c == '_' ||
                          c == '.';
               });
}

context::context(ssl_ctx_st* c) : d_context(c) {}
context::context(context&&) noexcept = default;
context& context::operator=(context&&) noexcept = default;
context::~context() = default;
void context::free::operator()(ssl_ctx_st* c) const { SSL_CTX_free(c); }

context context::for_programs()
{
    context c(new_context(TLS_server_method()));
    SSL_CTX_set_client_hello_cb(c.d_context.get(), on_hello, nullptr);
    SSL_CTX_set_alpn_select_cb(c.d_context.get(), on_alpn, nullptr);
    // A resumed session would keep the certificate of an authority that was replaced.
    SSL_CTX_set_session_cache_mode(c.d_context.get(), SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(c.d_context.get(), SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(c.d_context.get(), 0);
    return c;
}

context context::for_servers()
{
    context c(new_context(TLS_client_method()));
    if (SSL_CTX_set_default_verify_paths(c.d_context.get()) != 1)
        throw std::runtime_error("OpenSSL finds no trust store");
    SSL_CTX_set_verify(c.d_context.get(), SSL_VERIFY_PEER, nullptr);
    return c;
}

session::session(const context& c, authority& ca) : d_impl(std::make_unique<impl>(c, &ca))
{
    SSL_set_accept_state(d_impl->ssl.get());
}

session::session(const context& c,
                 const std::string& host,
                 const std::vector<std::string>& alpn)
    : d_impl(std::make_unique<impl>(c, nullptr))
{
    SSL* s = d_impl->ssl.get();
    SSL_set_connect_state(s);
    X509_VERIFY_PARAM* verify = SSL_get0_param(s);
    if (X509_VERIFY_PARAM_set1_ip_asc(verify, host.c_str()) != 1) {
        ERR_clear_error();
        // A common name is no host name (RFC 9525): its issuer has not checked it.
        SSL_set_hostflags(s,
                          X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
                              X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
        if (!is_host_name(host) || SSL_set1_host(s, host.c_str()) != 1 ||
            SSL_set_tlsext_host_name(s, host.c_str()) != 1) {
            d_impl->fail = fault::no_handshake;
            d_impl->text = "not a host name";
            return;
        }
    }
    octets list;
    for (const auto& one : alpn) {
        list.push_back(static_cast<uint8_t>(one.size()));
        list.insert(list.end(), one.begin(), one.end());
    }
    if (!list.empty())
        SSL_set_alpn_protos(s, list.data(), static_cast<unsigned>(list.size()));
    d_impl->shake();
}

session::~session() = default;

void session::feed(const uint8_t* p, size_t n)
{
    if (n > 0)
        BIO_write(d_impl->in, p, static_cast<int>(n));
    d_impl->shake();
}

octets session::poll()
{
    octets all(BIO_ctrl_pending(d_impl->out));
    if (!all.empty())
        BIO_read(d_impl->out, all.data(), static_cast<int>(all.size()));
    return all;
}

octets session::read()
{
    octets all;
    std::array<uint8_t, 16384> part;
    while (open() && !d_impl->end) {
        ERR_clear_error();
        const int n =
            SSL_read(d_impl->ssl.get(), part.data(), static_cast<int>(part.size()));
        if (n <= 0) {
            d_impl->look_at(SSL_get_error(d_impl->ssl.get(), n));
            break;
        }
        all.insert(all.end(), part.begin(), part.begin() + n);
    }
    return all;
}

void session::write(const octets& data)
{
    if (open() && !data.empty())
        SSL_write(d_impl->ssl.get(), data.data(), static_cast<int>(data.size()));
}

void session::finish()
{
    if (open())
        SSL_shutdown(d_impl->ssl.get());
}

const std::optional<hello>& session::from_program() const { return d_impl->heard; }

void session::go_on(const std::string& host, const std::string& alpn)
{
    d_impl->host = host;
    d_impl->protocol = alpn;
    d_impl->decided = impl::verdict::goes_on;
    d_impl->shake();
}

void session::refuse(fault why)
{
    d_impl->alert = alert_of(why);
    d_impl->decided = impl::verdict::refused;
    d_impl->shake();
}

bool session::waits() const
{
    return d_impl->heard && d_impl->decided == impl::verdict::waits;
}
bool session::open() const { return !d_impl->connecting && d_impl->fail == fault::none; }
bool session::ended() const { return d_impl->end; }
fault session::failed() const { return d_impl->fail; }
std::string session::why() const { return d_impl->text; }

std::string session::alpn() const
{
    const unsigned char* p = nullptr;
    unsigned n = 0;
    SSL_get0_alpn_selected(d_impl->ssl.get(), &p, &n);
    return { reinterpret_cast<const char*>(p), n };
}

} // namespace gr::hf::tls
