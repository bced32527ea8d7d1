/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/auth/auth_config.h"

#include <string>
#include <vector>

namespace gr::hf {

//! Keys and rules of authentication, and where its counters are stored.
struct auth_words {
    s5066::auth_config config;
    std::string state_path;
};

/*! \brief Reads the words of data_link::make().
 *  \throws std::invalid_argument naming the word and what is allowed. Keys are not named.
 */
auth_words read_auth_words(const std::vector<std::string>& words);

} // namespace gr::hf
