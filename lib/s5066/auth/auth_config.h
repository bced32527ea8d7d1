/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/words/address.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

/*! \file
 *  Keys and rules of link authentication. STANAG 5066 proves nobody's identity. These
 *  octets are our own, off by default, and claim no interoperability.
 */
namespace gr::hf::s5066 {

//! Key of a net, or one half of a signing key.
using auth_key = std::array<uint8_t, 32>;

//! Demand of a station on one peer or group.
enum class auth_policy {
    off,    //!< nothing is sealed or opened, as without authentication
    accept, //!< U_PDUs are sealed. Until the peer has proved itself once, those of it
            //!< that prove nothing are delivered, too.
    require //!< U_PDUs are sealed, and only proved ones are delivered
};

//! "off", "accept" or "require".
const char* to_string(auth_policy p);
//! Inverse of to_string(); empty for any other text.
std::optional<auth_policy> parse_auth_policy(const std::string& text);

//! Counters that must survive a restart. Without them old recordings are accepted again.
struct auth_state {
    uint64_t reserved = 0; //!< upper limit of all counters sent
    //! Highest counter proved, by source and destination.
    std::map<std::pair<address, address>, uint64_t> heard;
};

//! Numbers of net keys: 0 to 7.
constexpr unsigned auth_key_numbers = 8;
//! Net keys valid at once: during a change of keys the old and the new one.
constexpr size_t max_auth_keys = 2;

//! Keys and rules of one station. Without keys, authentication is off.
struct auth_config {
    std::map<unsigned, auth_key> keys; //!< net keys by number, at most \ref max_auth_keys
    unsigned send_key = 0;             //!< number of the key that seals
    //! Rule for nodes and groups that \ref peers does not name.
    auth_policy others = auth_policy::require;
    std::map<address, auth_policy> peers; //!< rule for each node or group
    //! Ed25519 private key. With it, U_PDUs to groups are signed.
    std::optional<auth_key> signing_key;
    //! Ed25519 public keys of stations. U_PDUs of these to groups must be signed.
    std::map<address, auth_key> public_keys;
    uint64_t start_minutes = 0; //!< minutes since 1970 at station time 0; 0: unknown
    auth_state state;           //!< as stored by the last run

    bool on() const { return !keys.empty(); }
    //! The rule for node or group \p a; off without keys.
    auth_policy policy_of(address a) const;
    //! Octets of the longest trailer that seal() adds.
    size_t max_trailer_octets() const;
    //! \throws std::invalid_argument naming the first bad value and what is allowed
    void validate() const;
};

} // namespace gr::hf::s5066
