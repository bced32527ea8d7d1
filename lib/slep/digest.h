/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

struct evp_md_ctx_st;

namespace gr::hf::slep {

//! Octets of a digest in a PDU with FIN.
constexpr size_t digest_octets = 4;

/*! \brief Digest of all octets of one direction of a stream, before compression: the
 *         first 32 bits of SHA-256 (FIPS 180-4).
 *  \details It reveals a PDU that a third station sent in the name of the peer. A CRC
 *  would not: who knows the genuine PDU finds another one with the same CRC.
 */
class stream_digest
{
public:
    stream_digest();
    void update(const uint8_t* p, size_t n);
    //! Digest of all octets so far.
    uint32_t value() const;

private:
    struct free {
        void operator()(evp_md_ctx_st* c) const;
    };
    std::unique_ptr<evp_md_ctx_st, free> d_state;
};

} // namespace gr::hf::slep
