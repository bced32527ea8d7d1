/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "edges/tun_link.h"
#include "ip/address.h"

#include <optional>
#include <string>
#include <vector>

namespace gr::hf {

/*! \brief Our own TUN device: made, addressed and switched on here, removed when closed.
 *
 * It accepts packets from the host's own address, which ICMP errors of the IP client
 * have. Needs CAP_NET_ADMIN, unless the operator has made the device for this user with the
 * same MTU and addresses, accept_local = 1, and switched it on. Such a device stays when it
 * is closed. Must be made on a thread that is in the wanted network namespace.
 */
class tun_device
{
public:
    /*! \param name device name, 1 to 15 characters, for example hf0
     *  \param address see addresses()
     *  \param mtu in octets, 576 to 2048, with IPv6 from 1280
     *  \throws std::invalid_argument for a value outside these limits
     *  \throws std::runtime_error if the system refuses, with what and why
     */
    tun_device(const std::string& name, const std::string& address, int mtu);
    struct host_prefix {
        ip::address address;
        unsigned length = 0;
    };
    /*! \brief Parse an address with prefix length, or one of IPv4 and one of IPv6
     *         separated by a comma or blanks.
     *  \throws std::invalid_argument with what is allowed
     */
    static std::vector<host_prefix> addresses(const std::string& text);
    ~tun_device();
    tun_device(const tun_device&) = delete;
    tun_device& operator=(const tun_device&) = delete;

    //! Non-blocking descriptor: one read or write is one IP datagram.
    int fd() const { return d_fd; }
    //! Non-blocking descriptor. When it is readable, call on_link_event().
    int link_fd() const { return d_link->fd(); }
    /*! \brief Sets the IPv6 address again when the device was switched off and on. The
     *         kernel keeps only the IPv4 address.
     */
    void on_link_event();

private:
    void set_up(const std::string& name, int mtu, int control) const;
    bool put_ipv6() const;

    std::vector<host_prefix> d_prefixes;
    int d_index = 0;
    int d_fd = -1;
    std::optional<link_watch> d_link;
};

} // namespace gr::hf
