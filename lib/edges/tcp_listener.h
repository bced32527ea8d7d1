/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "pep/codec.h"

#include <cstdint>
#include <string>

namespace gr::hf {

//! One listener for applications. hf.pep explains the string forms.
struct tcp_listener {
    enum class kind { redirect, tproxy, map, socks5, connect };
    kind how = kind::map;
    std::string bind_address = "127.0.0.1";
    uint16_t port = 0;     //!< 0: any free one, not with redirect and tproxy
    hfpep::destination to; //!< destination of a map

    //! \throws std::invalid_argument that names \p text and what is allowed.
    static tcp_listener parse(const std::string& text);
};

} // namespace gr::hf
