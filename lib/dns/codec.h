/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "dns/message.h"

/*! \file Messages of DNS-PEP over HF: one SLEP datagram for a question, one for its
 *  answer. The octet layout is our choice. It is known only to this module.
 *
 *      question  0 0 k k 0 0 0 0   transaction   [QTYPE, kind other]   name in ASCII
 *      answer    0 1 s s a a a a   transaction   b b b b t t t t   a A's   b AAAA's
 *      raw       1 0 or 1 1, 6 zeros   transaction   message of RFC 1035 without its id
 *
 * kk kind, ss outcome, t code of the TTL: 15 * 2^t seconds.
 */
namespace gr::hf::dns {

//! Record types that a question asks for.
enum class kind : uint8_t {
    a = 0,
    aaaa = 1,
    both = 2, //!< A and AAAA
    other = 3 //!< hf_question::type
};

struct hf_question {
    uint8_t transaction = 0;
    kind what = kind::both;
    uint16_t type = 0; //!< with kind::other
    std::string name;  //!< see \ref normal_name
};
//! Any query, for DNSSEC, without its id.
struct raw_question {
    uint8_t transaction = 0;
    octets message;
};
struct hf_answer {
    enum class outcome : uint8_t {
        ok = 0, //!< also without addresses: no data
        no_such_name = 1,
        server_failure = 2,
        refused = 3
    };
    uint8_t transaction = 0;
    outcome what = outcome::ok;
    std::vector<ip::address> addresses; //!< at most 15 of each family
    uint32_t ttl = 0; //!< s; rounded down to 15 * 2^n on the air, at least 15
};
//! Any response, without its id.
struct raw_answer {
    uint8_t transaction = 0;
    octets message;
};

using hf_message = std::variant<hf_question, raw_question, hf_answer, raw_answer>;

//! Octets. Empty: a value does not fit.
octets encode(const hf_message& m);
//! Empty: malformed.
std::optional<hf_message> decode(const uint8_t* p, size_t n);

} // namespace gr::hf::dns
