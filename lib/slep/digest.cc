/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/digest.h"

#include <openssl/evp.h>

#include <new>

namespace gr::hf::slep {

void stream_digest::free::operator()(evp_md_ctx_st* c) const { EVP_MD_CTX_free(c); }

stream_digest::stream_digest() : d_state(EVP_MD_CTX_new())
{
    if (!d_state || EVP_DigestInit_ex(d_state.get(), EVP_sha256(), nullptr) != 1)
        throw std::bad_alloc();
}

void stream_digest::update(const uint8_t* p, size_t n)
{
    if (EVP_DigestUpdate(d_state.get(), p, n) != 1)
        throw std::bad_alloc();
}

uint32_t stream_digest::value() const
{
    const stream_digest last; // a copy, since the end changes the state
    uint8_t all[EVP_MAX_MD_SIZE];
    if (EVP_MD_CTX_copy_ex(last.d_state.get(), d_state.get()) != 1 ||
        EVP_DigestFinal_ex(last.d_state.get(), all, nullptr) != 1)
        throw std::bad_alloc();
    return uint32_t(all[0]) << 24 | uint32_t(all[1]) << 16 | uint32_t(all[2]) << 8 |
           all[3];
}

} // namespace gr::hf::slep
