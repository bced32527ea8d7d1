/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/auth/auth_config.h"

#include "s5066/auth/trailer.h"

#include <algorithm>
#include <stdexcept>

namespace gr::hf::s5066 {

namespace {

constexpr const char* policy_names[] = { "off", "accept", "require" };

} // namespace

const char* to_string(auth_policy p) { return policy_names[static_cast<size_t>(p)]; }

std::optional<auth_policy> parse_auth_policy(const std::string& text)
{
    const auto* const end = std::end(policy_names);
    const auto* const found = std::find(std::begin(policy_names), end, text);
    return found == end ? std::nullopt
                        : std::optional(auth_policy(found - std::begin(policy_names)));
}

auth_policy auth_config::policy_of(address a) const
{
    if (!on())
        return auth_policy::off;
    const auto found = peers.find(a);
    return found == peers.end() ? others : found->second;
}

size_t auth_config::max_trailer_octets() const
{
    return !on() ? 0 : signing_key ? signed_trailer_octets : tag_trailer_octets;
}

void auth_config::validate() const
{
    if (keys.size() > max_auth_keys) {
        throw std::invalid_argument("auth: " + std::to_string(keys.size()) +
                                    " net keys: at most 2 are allowed at once");
    }
    for (const auto& [number, key] : keys) {
        if (number >= auth_key_numbers) {
            throw std::invalid_argument("auth: key number " + std::to_string(number) +
                                        ": must be 0 to 7");
        }
    }
    if (on() && keys.count(send_key) == 0) {
        throw std::invalid_argument("auth: send_key " + std::to_string(send_key) +
                                    ": must be the number of a net key");
    }
    for (const auto& [a, key] : public_keys) {
        if (a.is_group()) {
            throw std::invalid_argument("auth: public key of " + a.to_string() +
                                        ": must be of a node, 0.0.0.0 to 15.255.255.255");
        }
    }
}

} // namespace gr::hf::s5066
