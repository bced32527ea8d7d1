/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges/nearness.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace gr::hf {

using hfpep::nearness;

namespace {

// A route of a shorter prefix is a default route, or a part of one as tunnels have.
constexpr int network_bits_min = 4;

struct question {
    nlmsghdr head{};
    rtmsg route{};
    rtattr attribute{};
    std::array<uint8_t, 16> address{};
};

nearness kind_of(const rtmsg& route, const rtattr* a, int octets)
{
    if (route.rtm_type != RTN_UNICAST)
        return nearness::own; // local, broadcast, multicast
    bool by_router = false;
    for (; RTA_OK(a, octets); a = RTA_NEXT(a, octets))
        by_router = by_router || a->rta_type == RTA_GATEWAY || a->rta_type == RTA_VIA ||
                    a->rta_type == RTA_MULTIPATH;
    return by_router || route.rtm_dst_len < network_bits_min ? nearness::far
                                                             : nearness::link;
}

} // namespace

nearness nearness_of(const ip::address& to)
{
    const ip::address a = to.unmapped();
    question q;
    q.head.nlmsg_len = static_cast<uint32_t>(offsetof(question, address) + a.size());
    q.head.nlmsg_type = RTM_GETROUTE;
    q.head.nlmsg_flags = NLM_F_REQUEST;
    q.route.rtm_family = a.is_v6() ? AF_INET6 : AF_INET;
    q.route.rtm_dst_len = static_cast<uint8_t>(a.bits());
    q.route.rtm_flags = RTM_F_FIB_MATCH; // the entry of the table, with its prefix
    q.attribute.rta_type = RTA_DST;
    q.attribute.rta_len = static_cast<uint16_t>(RTA_LENGTH(a.size()));
    std::memcpy(q.address.data(), a.data(), a.size());

    const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0)
        return nearness::own;
    alignas(nlmsghdr) std::array<char, 4096> answer;
    // The kernel answers within the call.
    const ssize_t n = ::send(fd, &q, q.head.nlmsg_len, 0) < 0
                          ? -1
                          : ::recv(fd, answer.data(), answer.size(), MSG_DONTWAIT);
    ::close(fd);
    const auto* head = reinterpret_cast<const nlmsghdr*>(answer.data());
    if (n < 0 || !NLMSG_OK(head, static_cast<size_t>(n)))
        return nearness::own;
    if (head->nlmsg_type != RTM_NEWROUTE)
        return nearness::far; // an error: no route
    const auto* route = static_cast<const rtmsg*>(NLMSG_DATA(head));
    return kind_of(*route, RTM_RTA(route), static_cast<int>(RTM_PAYLOAD(head)));
}

} // namespace gr::hf
