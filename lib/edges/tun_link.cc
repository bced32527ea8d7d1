/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges/tun_link.h"

#include <linux/if_link.h>
#include <linux/ip.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

namespace gr::hf {
namespace {

int route_socket(unsigned groups)
{
    const int fd =
        ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (fd < 0)
        return -1;
    sockaddr_nl a{};
    a.nl_family = AF_NETLINK;
    a.nl_groups = groups;
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&a), sizeof(a)) == 0)
        return fd;
    const int e = errno;
    ::close(fd);
    errno = e;
    return -1;
}

} // namespace

bool accept_own_sources(int interface_index)
{
    // IFLA_AF_SPEC { AF_INET { IFLA_INET_CONF { ACCEPT_LOCAL = 1 } } }
    struct {
        nlmsghdr head;
        ifinfomsg link;
        rtattr spec, family, conf, accept;
        uint32_t value;
    } m{};
    static_assert(sizeof(m) == sizeof(nlmsghdr) + sizeof(ifinfomsg) + 4 * 4 + 4,
                  "attributes of netlink lie one in the other without gaps");
    constexpr uint16_t attribute = sizeof(rtattr);
    m.head.nlmsg_len = sizeof(m);
    m.head.nlmsg_type = RTM_SETLINK;
    m.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    m.link.ifi_family = AF_UNSPEC;
    m.link.ifi_index = interface_index;
    m.accept = { attribute + sizeof(m.value), IPV4_DEVCONF_ACCEPT_LOCAL };
    m.conf = { static_cast<uint16_t>(attribute + m.accept.rta_len), IFLA_INET_CONF };
    m.family = { static_cast<uint16_t>(attribute + m.conf.rta_len), AF_INET };
    m.spec = { static_cast<uint16_t>(attribute + m.family.rta_len), IFLA_AF_SPEC };
    m.value = 1;

    const int fd = route_socket(0);
    if (fd < 0)
        return false;
    // The kernel answers before send() returns.
    struct {
        nlmsghdr head;
        nlmsgerr error;
    } answer{};
    const bool asked = ::send(fd, &m, sizeof(m), 0) == static_cast<ssize_t>(sizeof(m)) &&
                       ::recv(fd, &answer, sizeof(answer), 0) > 0;
    const int e = asked ? -answer.error.error : errno;
    ::close(fd);
    errno = e;
    return e == 0 && answer.head.nlmsg_type == NLMSG_ERROR;
}

link_watch::link_watch(int interface_index)
    : d_index(interface_index), d_fd(route_socket(RTMGRP_LINK))
{
    if (d_fd < 0)
        throw std::runtime_error(std::string("cannot watch network devices: ") +
                                 std::strerror(errno));
}

link_watch::~link_watch() { ::close(d_fd); }

bool link_watch::came_up()
{
    bool rose = false;
    alignas(nlmsghdr) std::array<char, 32768> buffer;
    for (;;) {
        const ssize_t got = ::recv(d_fd, buffer.data(), buffer.size(), 0);
        if (got < 0 && errno == ENOBUFS) {
            // Some reports were lost. The device may have been down.
            d_up = false;
            continue;
        }
        if (got <= 0)
            return rose;
        auto left = static_cast<unsigned>(got);
        for (auto* m = reinterpret_cast<nlmsghdr*>(buffer.data()); NLMSG_OK(m, left);
             m = NLMSG_NEXT(m, left)) {
            if (m->nlmsg_type != RTM_NEWLINK ||
                m->nlmsg_len < NLMSG_LENGTH(sizeof(ifinfomsg)))
                continue;
            const auto* link = static_cast<const ifinfomsg*>(NLMSG_DATA(m));
            if (link->ifi_index != d_index)
                continue;
            const bool up = (link->ifi_flags & IFF_UP) != 0;
            rose = rose || (up && !d_up);
            d_up = up;
        }
    }
}

} // namespace gr::hf
