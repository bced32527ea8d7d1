/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <string>

namespace gr::hf {

/*! \brief A TUN device of our own: made, addressed and switched on here, gone when closed.
 *
 * Needs CAP_NET_ADMIN. Must be made on a thread that is in the wanted network namespace.
 */
class tun_device
{
public:
    /*! \param name device name, 1 to 15 characters, for example hf0
     *  \param address IPv4 address with prefix length, for example 10.66.0.1/24
     *  \param mtu in octets, 576 to 2048
     *  \throws std::invalid_argument for a value outside these limits
     *  \throws std::runtime_error if the system refuses, saying what and why
     */
    tun_device(const std::string& name, const std::string& address, int mtu);
    ~tun_device();
    tun_device(const tun_device&) = delete;
    tun_device& operator=(const tun_device&) = delete;

    //! Non-blocking descriptor: one read or write is one IP datagram.
    int fd() const { return d_fd; }

private:
    int d_fd = -1;
};

} // namespace gr::hf
