/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/auth/auth_config.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/*! \file
 *  Octets and cryptography of the trailer that proves the sender of a U_PDU, without any
 *  state. The trailer is the end of the sealed U_PDU:
 *
 *      proof (8 or 64) | low octets of the counter (3) | head (1)
 *
 *  The head has the version in its upper half, the form in bit 3 and the number of the
 *  net key in bits 2 to 0. The proof covers source, destination, both SAPs, the whole
 *  counter, the head and the U_PDU.
 */
namespace gr::hf::s5066 {

//! Kind of the proof.
enum class auth_form : uint8_t {
    tag = 0,      //!< the first 8 octets of HMAC-SHA-256 under derive_auth_key()
    signature = 1 //!< Ed25519 (RFC 8032)
};

constexpr size_t tag_octets = 8;
constexpr size_t signature_octets = 64;
//! Octets of counter and head.
constexpr size_t trailer_fields_octets = 4;
constexpr size_t tag_trailer_octets = tag_octets + trailer_fields_octets;
constexpr size_t signed_trailer_octets = signature_octets + trailer_fields_octets;
//! Bits of the counter that the trailer contains.
constexpr unsigned trailer_counter_bits = 24;

//! Everything that a proof covers, apart from the U_PDU.
struct auth_context {
    address src, dst;
    uint8_t src_sap = 0, dst_sap = 0;
    uint64_t counter = 0; //!< the whole counter
    auth_form form = auth_form::tag;
    unsigned key = 0; //!< number of the net key
};

//! Trailer of a received U_PDU, before the proof is checked.
struct auth_trailer {
    auth_form form = auth_form::tag;
    unsigned key = 0;               //!< number of the net key
    uint32_t low_counter = 0;       //!< low \ref trailer_counter_bits of the counter
    size_t octets = 0;              //!< of the whole trailer
    const uint8_t* proof = nullptr; //!< into the octets that were read
};

//! Reads the end of \p sealed. Empty if it is too short or of another version.
std::optional<auth_trailer> read_trailer(const std::vector<uint8_t>& sealed);

/*! \brief Key of one direction between two addresses: HKDF-SHA-256 (RFC 5869) of the net
 *         key without salt. The other direction has another key, so a U_PDU that is sent
 *         back to its sender proves nothing.
 */
auth_key derive_auth_key(const auth_key& net, address src, address dst);

//! Appends a trailer with a tag. \p net: the net key.
void append_tag(const auth_context& c, const auth_key& net, std::vector<uint8_t>& u_pdu);
//! Appends a trailer with a signature.
void append_signature(const auth_context& c,
                      const auth_key& private_key,
                      std::vector<uint8_t>& u_pdu);
//! Whether \p t at the end of \p sealed has the right tag. Takes equally long for all
//! wrong tags.
bool tag_is_right(const auth_context& c,
                  const auth_key& net,
                  const auth_trailer& t,
                  const std::vector<uint8_t>& sealed);
//! Whether \p t at the end of \p sealed has the right signature.
bool signature_is_right(const auth_context& c,
                        const auth_key& public_key,
                        const auth_trailer& t,
                        const std::vector<uint8_t>& sealed);
//! Public half of an Ed25519 key.
auth_key public_key_of(const auth_key& private_key);

} // namespace gr::hf::s5066
