/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>

/*! \file Owners of objects of OpenSSL. Only the sources of this folder include it.
 */
namespace gr::hf::tls {

struct deleter {
    void operator()(BIO* p) const { BIO_free(p); }
    void operator()(NAME_CONSTRAINTS* p) const { NAME_CONSTRAINTS_free(p); }
    void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
    void operator()(SSL* p) const { SSL_free(p); }
    void operator()(SSL_CTX* p) const { SSL_CTX_free(p); }
    void operator()(X509* p) const { X509_free(p); }
};
template <class T>
using owned = std::unique_ptr<T, deleter>;

} // namespace gr::hf::tls
