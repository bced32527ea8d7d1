/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/auth/trailer.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>

#include <memory>
#include <new>
#include <string>

namespace gr::hf::s5066 {

namespace {

using octets = std::vector<uint8_t>;

constexpr uint8_t version = 1;
constexpr uint8_t form_bit = 0x08;
constexpr uint8_t key_bits = 0x07;

// OpenSSL fails here only for want of memory: all lengths are fixed.
void check(bool ok)
{
    if (!ok)
        throw std::bad_alloc();
}

template <auto Free>
struct freed_by {
    template <typename T>
    void operator()(T* p) const
    {
        Free(p);
    }
};
using pkey = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using pkey_context = std::unique_ptr<EVP_PKEY_CTX, freed_by<EVP_PKEY_CTX_free>>;
using digest_context = std::unique_ptr<EVP_MD_CTX, freed_by<EVP_MD_CTX_free>>;

void put(octets& to, uint64_t value, int n)
{
    for (int k = n - 1; k >= 0; --k)
        to.push_back(static_cast<uint8_t>(value >> 8 * k));
}

uint8_t head_of(auth_form form, unsigned key)
{
    return static_cast<uint8_t>(version << 4 | (form == auth_form::tag ? 0 : form_bit) |
                                key);
}

// Everything that the proof covers.
octets message(const auth_context& c, const uint8_t* u_pdu, size_t n)
{
    octets m;
    m.reserve(18 + n);
    m.push_back(head_of(c.form, c.key));
    put(m, c.src.raw(), 4);
    put(m, c.dst.raw(), 4);
    m.push_back(static_cast<uint8_t>(c.src_sap << 4 | c.dst_sap));
    put(m, c.counter, 8);
    m.insert(m.end(), u_pdu, u_pdu + n);
    return m;
}

using full_tag = std::array<uint8_t, 32>;

full_tag tag_of(const auth_context& c, const auth_key& net, const uint8_t* u, size_t n)
{
    const auth_key key = derive_auth_key(net, c.src, c.dst);
    const octets m = message(c, u, n);
    full_tag tag{};
    check(HMAC(EVP_sha256(),
               key.data(),
               int(key.size()),
               m.data(),
               m.size(),
               tag.data(),
               nullptr) != nullptr);
    return tag;
}

void append_fields(const auth_context& c, octets& u_pdu)
{
    put(u_pdu, c.counter, 3);
    u_pdu.push_back(head_of(c.form, c.key));
}

pkey private_of(const auth_key& key)
{
    pkey k(
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, key.data(), key.size()));
    check(k != nullptr);
    return k;
}

} // namespace

std::optional<auth_trailer> read_trailer(const octets& sealed)
{
    if (sealed.size() < trailer_fields_octets || sealed.back() >> 4 != version)
        return std::nullopt;
    auth_trailer t;
    const uint8_t head = sealed.back();
    const bool is_signed = (head & form_bit) != 0;
    t.form = is_signed ? auth_form::signature : auth_form::tag;
    t.key = head & key_bits;
    t.octets = is_signed ? signed_trailer_octets : tag_trailer_octets;
    if (sealed.size() < t.octets)
        return std::nullopt;
    const uint8_t* end = sealed.data() + sealed.size();
    t.proof = end - t.octets;
    t.low_counter = uint32_t(end[-4]) << 16 | uint32_t(end[-3]) << 8 | end[-2];
    return t;
}

auth_key derive_auth_key(const auth_key& net, address src, address dst)
{
    const std::string label = "gr-hf auth 1";
    octets info(label.begin(), label.end());
    put(info, src.raw(), 4);
    put(info, dst.raw(), 4);
    const pkey_context c(EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nullptr));
    auth_key key{};
    size_t n = key.size();
    check(c && EVP_PKEY_derive_init(c.get()) > 0 &&
          EVP_PKEY_CTX_set_hkdf_md(c.get(), EVP_sha256()) > 0 &&
          EVP_PKEY_CTX_set1_hkdf_key(c.get(), net.data(), int(net.size())) > 0 &&
          EVP_PKEY_CTX_add1_hkdf_info(c.get(), info.data(), int(info.size())) > 0 &&
          EVP_PKEY_derive(c.get(), key.data(), &n) > 0 && n == key.size());
    return key;
}

void append_tag(const auth_context& c, const auth_key& net, octets& u_pdu)
{
    const full_tag tag = tag_of(c, net, u_pdu.data(), u_pdu.size());
    u_pdu.insert(u_pdu.end(), tag.begin(), tag.begin() + tag_octets);
    append_fields(c, u_pdu);
}

void append_signature(const auth_context& c, const auth_key& private_key, octets& u_pdu)
{
    const pkey k = private_of(private_key);
    const digest_context d(EVP_MD_CTX_new());
    const octets m = message(c, u_pdu.data(), u_pdu.size());
    std::array<uint8_t, signature_octets> s{};
    size_t n = s.size();
    check(d && EVP_DigestSignInit(d.get(), nullptr, nullptr, nullptr, k.get()) == 1 &&
          EVP_DigestSign(d.get(), s.data(), &n, m.data(), m.size()) == 1 &&
          n == s.size());
    u_pdu.insert(u_pdu.end(), s.begin(), s.end());
    append_fields(c, u_pdu);
}

bool tag_is_right(const auth_context& c,
                  const auth_key& net,
                  const auth_trailer& t,
                  const octets& sealed)
{
    const full_tag tag = tag_of(c, net, sealed.data(), sealed.size() - t.octets);
    return CRYPTO_memcmp(tag.data(), t.proof, tag_octets) == 0;
}

bool signature_is_right(const auth_context& c,
                        const auth_key& public_key,
                        const auth_trailer& t,
                        const octets& sealed)
{
    // Octets that are no point of the curve fail here or in the check.
    const pkey k(EVP_PKEY_new_raw_public_key(
        EVP_PKEY_ED25519, nullptr, public_key.data(), public_key.size()));
    const digest_context d(EVP_MD_CTX_new());
    const octets m = message(c, sealed.data(), sealed.size() - t.octets);
    return k && d &&
           EVP_DigestVerifyInit(d.get(), nullptr, nullptr, nullptr, k.get()) == 1 &&
           EVP_DigestVerify(d.get(), t.proof, signature_octets, m.data(), m.size()) == 1;
}

auth_key public_key_of(const auth_key& private_key)
{
    const pkey k = private_of(private_key);
    auth_key key{};
    size_t n = key.size();
    check(EVP_PKEY_get_raw_public_key(k.get(), key.data(), &n) == 1);
    return key;
}

} // namespace gr::hf::s5066
