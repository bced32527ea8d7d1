/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges/tun_device.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace gr::hf {
namespace {

//! A descriptor that is closed on every return path.
struct descriptor {
    int fd;
    ~descriptor()
    {
        if (fd >= 0)
            ::close(fd);
    }
};

[[noreturn]] void refused(const std::string& what, bool ipv6 = false)
{
    const int e = errno;
    std::string text = "TUN device: " + what + ": " + std::strerror(e);
    if (ipv6 && (e == EACCES || e == EAFNOSUPPORT || e == ENODEV))
        text += " (IPv6 is switched off: leave the address out, or set "
                "net.ipv6.conf.default.disable_ipv6=0)";
    else if (e == EPERM || e == EACCES)
        text += " (needs CAP_NET_ADMIN: run as root, leave the IP client out, or have "
                "the device made for this user)";
    else if (e == ENOENT)
        text += " (the kernel has no TUN driver)";
    throw std::runtime_error(text);
}

//! Request of SIOCSIFADDR for IPv6. The kernel's header conflicts with those of libc.
struct ipv6_request {
    in6_addr address;
    uint32_t length;
    int index;
};

/*! \brief Asks the kernel to keep IPv6 addresses of a device that is switched off.
 *
 * It may fail, since containers mount /proc/sys read-only. Then on_link_event() sets the
 * address again, which a station that has given up its rights cannot do.
 */
void keep_ipv6_when_down(const std::string& name)
{
    const std::string path = "/proc/sys/net/ipv6/conf/" + name + "/keep_addr_on_down";
    const descriptor file{ ::open(path.c_str(), O_WRONLY | O_CLOEXEC) };
    if (file.fd >= 0) [[maybe_unused]]
        const ssize_t written = ::write(file.fd, "1", 1);
}

unsigned prefix_length(const sockaddr& mask)
{
    const bool v6 = mask.sa_family == AF_INET6;
    const void* at = v6 ? static_cast<const void*>(
                              &reinterpret_cast<const sockaddr_in6&>(mask).sin6_addr)
                        : &reinterpret_cast<const sockaddr_in&>(mask).sin_addr;
    const auto* octets = static_cast<const uint8_t*>(at);
    unsigned length = 0;
    while (length < (v6 ? 128 : 32) && (octets[length / 8] << length % 8 & 0x80) != 0)
        ++length;
    return length;
}

bool has_address(const std::string& device, const tun_device::host_prefix& p)
{
    ifaddrs* all = nullptr;
    if (::getifaddrs(&all) != 0)
        return false;
    bool found = false;
    for (const ifaddrs* a = all; a != nullptr; a = a->ifa_next) {
        if (device != a->ifa_name || a->ifa_addr == nullptr ||
            a->ifa_netmask == nullptr ||
            a->ifa_addr->sa_family != (p.address.is_v6() ? AF_INET6 : AF_INET))
            continue;
        const void* at =
            p.address.is_v6()
                ? static_cast<const void*>(
                      &reinterpret_cast<sockaddr_in6*>(a->ifa_addr)->sin6_addr)
                : &reinterpret_cast<sockaddr_in*>(a->ifa_addr)->sin_addr;
        found = found || (std::memcmp(at, p.address.data(), p.address.size()) == 0 &&
                          prefix_length(*a->ifa_netmask) == p.length);
    }
    ::freeifaddrs(all);
    return found;
}

//! Whether a device that exists needs no change, so that it may be used without rights.
bool is_ready(const std::string& name,
              const std::vector<tun_device::host_prefix>& prefixes,
              int mtu,
              int control)
{
    ifreq ifr{};
    std::strncpy(ifr.ifr_name, name.c_str(), IFNAMSIZ - 1);
    if (::ioctl(control, SIOCGIFMTU, &ifr) != 0 || ifr.ifr_mtu != mtu ||
        ::ioctl(control, SIOCGIFFLAGS, &ifr) != 0 || (ifr.ifr_flags & IFF_UP) == 0)
        return false;
    char accepts = '0';
    std::ifstream("/proc/sys/net/ipv4/conf/" + name + "/accept_local") >> accepts;
    return accepts == '1' &&
           std::all_of(prefixes.begin(), prefixes.end(), [&](const auto& p) {
               return has_address(name, p);
           });
}

} // namespace

std::vector<tun_device::host_prefix> tun_device::addresses(const std::string& text)
{
    std::string words = text;
    std::replace(words.begin(), words.end(), ',', ' ');
    std::istringstream in(words);
    std::vector<host_prefix> all;
    bool ok = true;
    for (std::string word; in >> word;) {
        const auto slash = word.find('/');
        const std::string length =
            slash != std::string::npos ? word.substr(slash + 1) : "";
        const auto a = ip::address::parse(word.substr(0, slash));
        ok = ok && a && !length.empty() && length.size() <= 3 &&
             length.find_first_not_of("0123456789") == std::string::npos;
        if (!ok)
            break;
        all.push_back({ *a, static_cast<unsigned>(std::stoul(length)) });
        ok = all.back().length >= 1 && all.back().length <= (a->is_v6() ? 128u : 32u);
    }
    const bool alike =
        all.size() == 2 && all[0].address.is_v6() == all[1].address.is_v6();
    if (!ok || all.empty() || all.size() > 2 || alike)
        throw std::invalid_argument("TUN address '" + text +
                                    "': allowed are an IPv4 address with prefix length "
                                    "1 to 32, one of IPv6 with 1 to 128, or both, for "
                                    "example 10.66.0.1/24, fd66::1/64");
    return all;
}

tun_device::tun_device(const std::string& name, const std::string& address, int mtu)
{
    if (name.empty() || name.size() >= IFNAMSIZ || name.find('/') != std::string::npos)
        throw std::invalid_argument("TUN device name '" + name +
                                    "': allowed are 1 to 15 characters without /");
    if (mtu < 576 || mtu > 2048)
        throw std::invalid_argument("TUN MTU " + std::to_string(mtu) +
                                    ": allowed are 576 to 2048 octets");
    d_prefixes = addresses(address);
    constexpr int mtu_v6 = 1280;
    for (const host_prefix& p : d_prefixes)
        if (p.address.is_v6() && mtu < mtu_v6)
            throw std::invalid_argument("TUN MTU " + std::to_string(mtu) +
                                        ": IPv6 needs 1280 octets at least");

    descriptor tun{ ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC) };
    if (tun.fd < 0)
        refused("cannot open /dev/net/tun");
    ifreq ifr{};
    std::strncpy(ifr.ifr_name, name.c_str(), IFNAMSIZ - 1);
    ifr.ifr_flags = IFF_TUN | IFF_NO_PI;
    if (::ioctl(tun.fd, TUNSETIFF, &ifr) != 0)
        refused("cannot make '" + name + "'");

    descriptor control{ ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) };
    if (::ioctl(control.fd, SIOCGIFINDEX, &ifr) != 0)
        refused("index of '" + name + "'");
    d_index = ifr.ifr_ifindex;
    if (!is_ready(name, d_prefixes, mtu, control.fd))
        set_up(name, mtu, control.fd);
    d_link.emplace(d_index);

    d_fd = tun.fd;
    tun.fd = -1;
}

void tun_device::set_up(const std::string& name, int mtu, int control) const
{
    ifreq ifr{};
    std::strncpy(ifr.ifr_name, name.c_str(), IFNAMSIZ - 1);
    const auto set = [&](unsigned long request, const char* what) {
        if (::ioctl(control, request, &ifr) != 0)
            refused(std::string(what) + " of '" + name + "'");
    };
    ifr.ifr_mtu = mtu;
    set(SIOCSIFMTU, "MTU");
    for (const host_prefix& p : d_prefixes) {
        if (p.address.is_v6())
            continue;
        sockaddr_in sa{};
        sa.sin_family = AF_INET;
        std::memcpy(&sa.sin_addr, p.address.data(), sizeof(sa.sin_addr));
        std::memcpy(&ifr.ifr_addr, &sa, sizeof(sa));
        set(SIOCSIFADDR, "address");
        sa.sin_addr.s_addr = htonl(~0u << (32 - p.length));
        std::memcpy(&ifr.ifr_netmask, &sa, sizeof(sa));
        set(SIOCSIFNETMASK, "netmask");
    }
    set(SIOCGIFFLAGS, "flags");
    ifr.ifr_flags |= IFF_UP | IFF_RUNNING;
    set(SIOCSIFFLAGS, "flags");
    keep_ipv6_when_down(name);
    if (!put_ipv6())
        refused("IPv6 address of '" + name + "'", true);
    if (!accept_own_sources(d_index))
        refused("accept_local of '" + name + "'");
}

bool tun_device::put_ipv6() const
{
    for (const host_prefix& p : d_prefixes) {
        if (!p.address.is_v6())
            continue;
        const descriptor v6{ ::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0) };
        ipv6_request r{};
        std::memcpy(&r.address, p.address.data(), sizeof(r.address));
        r.length = p.length;
        r.index = d_index;
        if (v6.fd < 0 || (::ioctl(v6.fd, SIOCSIFADDR, &r) != 0 && errno != EEXIST))
            return false;
    }
    return true;
}

void tun_device::on_link_event()
{
    // An address that cannot be set now (IPv6 is off) is tried again at the next event.
    if (d_link->came_up())
        put_ipv6();
}

tun_device::~tun_device()
{
    if (d_fd >= 0)
        ::close(d_fd);
}

} // namespace gr::hf
