/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/tun_device.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace gr::hf {
namespace {

//! A descriptor that is closed on every way out.
struct descriptor {
    int fd;
    ~descriptor()
    {
        if (fd >= 0)
            ::close(fd);
    }
};

[[noreturn]] void refused(const std::string& what)
{
    const int e = errno;
    std::string text = "TUN device: " + what + ": " + std::strerror(e);
    if (e == EPERM || e == EACCES)
        text += " (needs CAP_NET_ADMIN: run as root, or leave the IP client out)";
    else if (e == ENOENT)
        text += " (the kernel has no TUN driver)";
    throw std::runtime_error(text);
}

struct ipv4_prefix {
    in_addr address{};
    int length = 0;
};

ipv4_prefix parse_prefix(const std::string& text)
{
    const auto slash = text.find('/');
    ipv4_prefix p;
    const bool ok =
        slash != std::string::npos &&
        ::inet_pton(AF_INET, text.substr(0, slash).c_str(), &p.address) == 1 &&
        !text.substr(slash + 1).empty() && text.size() - slash <= 3 &&
        text.find_first_not_of("0123456789", slash + 1) == std::string::npos;
    if (ok)
        p.length = std::stoi(text.substr(slash + 1));
    if (!ok || p.length < 1 || p.length > 32)
        throw std::invalid_argument("TUN address '" + text +
                                    "': allowed is an IPv4 address with prefix length "
                                    "1 to 32, for example 10.66.0.1/24");
    return p;
}

} // namespace

tun_device::tun_device(const std::string& name, const std::string& address, int mtu)
{
    if (name.empty() || name.size() >= IFNAMSIZ || name.find('/') != std::string::npos)
        throw std::invalid_argument("TUN device name '" + name +
                                    "': allowed are 1 to 15 characters without /");
    if (mtu < 576 || mtu > 2048)
        throw std::invalid_argument("TUN MTU " + std::to_string(mtu) +
                                    ": allowed are 576 to 2048 octets");
    const ipv4_prefix prefix = parse_prefix(address);

    descriptor tun{ ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC) };
    if (tun.fd < 0)
        refused("cannot open /dev/net/tun");
    ifreq ifr{};
    std::strncpy(ifr.ifr_name, name.c_str(), IFNAMSIZ - 1);
    ifr.ifr_flags = IFF_TUN | IFF_NO_PI;
    if (::ioctl(tun.fd, TUNSETIFF, &ifr) != 0)
        refused("cannot make '" + name + "'");

    descriptor control{ ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) };
    const auto set = [&](unsigned long request, const char* what) {
        if (::ioctl(control.fd, request, &ifr) != 0)
            refused(std::string(what) + " of '" + name + "'");
    };
    ifr.ifr_mtu = mtu;
    set(SIOCSIFMTU, "MTU");
    sockaddr_in sa{};
    sa.sin_family = AF_INET;
    sa.sin_addr = prefix.address;
    std::memcpy(&ifr.ifr_addr, &sa, sizeof(sa));
    set(SIOCSIFADDR, "address");
    sa.sin_addr.s_addr = htonl(prefix.length == 0 ? 0 : ~0u << (32 - prefix.length));
    std::memcpy(&ifr.ifr_netmask, &sa, sizeof(sa));
    set(SIOCSIFNETMASK, "netmask");
    set(SIOCGIFFLAGS, "flags");
    ifr.ifr_flags |= IFF_UP | IFF_RUNNING;
    set(SIOCSIFFLAGS, "flags");

    d_fd = tun.fd;
    tun.fd = -1;
}

tun_device::~tun_device()
{
    if (d_fd >= 0)
        ::close(d_fd);
}

} // namespace gr::hf
