/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/auth_words.h"

#include <stdexcept>
#include <utility>

namespace gr::hf {

namespace {

using s5066::address;
using s5066::auth_key;
using s5066::auth_policy;

std::pair<std::string, std::string> split(const std::string& text, char at)
{
    const size_t k = text.find(at);
    return k == std::string::npos ? std::pair(text, std::string())
                                  : std::pair(text.substr(0, k), text.substr(k + 1));
}

auth_key key_of(const std::string& word, const std::string& hex)
{
    auth_key key{};
    const bool good =
        hex.size() == 2 * key.size() &&
        hex.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
    if (!good) {
        throw std::invalid_argument("auth: " + word +
                                    ": a key must be 64 hexadecimal digits");
    }
    for (size_t k = 0; k < key.size(); ++k)
        key[k] = static_cast<uint8_t>(std::stoul(hex.substr(2 * k, 2), nullptr, 16));
    return key;
}

unsigned key_number(const std::string& word, const std::string& text)
{
    if (text.size() != 1 || text[0] < '0' || text[0] > '7') {
        throw std::invalid_argument("auth: " + word + " '" + text +
                                    "': a key number must be 0 to 7");
    }
    return unsigned(text[0] - '0');
}

auth_policy policy_of(const std::string& word, const std::string& text)
{
    const auto p = s5066::parse_auth_policy(text);
    if (!p) {
        throw std::invalid_argument("auth: " + word + " '" + text +
                                    "': allowed are off, accept, require");
    }
    return *p;
}

void read(const std::string& word, const std::string& value, auth_words& to)
{
    auto& c = to.config;
    const auto [first, second] = split(value, ':');
    if (word == "key") {
        c.keys[key_number(word, first)] = key_of(word, second);
    } else if (word == "send") {
        c.send_key = key_number(word, value);
    } else if (word == "others") {
        c.others = policy_of(word, value);
    } else if (word == "peer") {
        c.peers[address(first)] = policy_of(word + " " + first, second);
    } else if (word == "sign") {
        c.signing_key = key_of(word, value);
    } else if (word == "public") {
        c.public_keys[address(first)] = key_of(word + " " + first, second);
    } else if (word == "state") {
        to.state_path = value;
    } else {
        throw std::invalid_argument(
            "auth: '" + word +
            "' is unknown; allowed are key, send, others, peer, sign, public, state");
    }
}

} // namespace

auth_words read_auth_words(const std::vector<std::string>& words)
{
    auth_words all;
    for (const auto& w : words) {
        const auto [word, value] = split(w, '=');
        read(word, value, all);
    }
    return all;
}

} // namespace gr::hf
