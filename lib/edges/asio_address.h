/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ip/address.h"

#include <boost/asio/ip/address.hpp>

namespace gr::hf {

/*! \brief An address in the engines' form. IPv4 in IPv6 becomes IPv4, because a
 *         dual-stack socket shows IPv4 clients as mapped addresses.
 */
inline ip::address from_asio(const boost::asio::ip::address& a)
{
    if (a.is_v4())
        return ip::address::v4(a.to_v4().to_bytes().data());
    const auto v6 = a.to_v6();
    if (v6.is_v4_mapped())
        return ip::address::v4(
            boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, v6)
                .to_bytes()
                .data());
    return ip::address::v6(v6.to_bytes().data());
}

//! An address in the sockets' form.
inline boost::asio::ip::address to_asio(const ip::address& a)
{
    return boost::asio::ip::make_address(a.to_string());
}

} // namespace gr::hf
