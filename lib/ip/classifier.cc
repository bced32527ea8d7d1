/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ip/classifier.h"

#include <stdexcept>

namespace gr::hf::ip {

namespace {

class list_builder
{
public:
    //! Adds a rule that drops, for further conditions.
    filter_rule& drop(const char* name)
    {
        filter_rule r;
        r.name = name;
        r.what = verdict::drop;
        d_rules.push_back(std::move(r));
        return d_rules.back();
    }
    void drop_udp(const char* name, uint16_t first, uint16_t last)
    {
        filter_rule& r = drop(name);
        r.protocol = proto_udp;
        r.port_first = first;
        r.port_last = last;
    }
    void drop_protocol(const char* name, uint8_t protocol)
    {
        drop(name).protocol = protocol;
    }
    void drop_icmp6(const char* name, int first, int last)
    {
        filter_rule& r = drop(name);
        r.protocol = proto_icmp6;
        r.icmp_first = first;
        r.icmp_last = last;
    }
    void drop_to(const char* name, const char* to) { drop(name).to = prefix(to); }
    void drop_from(const char* name, const char* from) { drop(name).from = prefix(from); }
    //! Adds a rule for interactive traffic that is worth a high priority.
    filter_rule& first(const char* name, uint8_t protocol, uint8_t priority)
    {
        filter_rule& r = drop(name);
        r.what = verdict::send;
        r.protocol = protocol;
        r.arq = true;
        r.priority = priority;
        r.interactive = true;
        return r;
    }
    std::vector<filter_rule> take() { return std::move(d_rules); }

private:
    std::vector<filter_rule> d_rules;
};

} // namespace

void filter_rule::validate() const
{
    const auto fail = [this](const std::string& what) {
        throw std::invalid_argument("filter rule \"" + name + "\": " + what);
    };
    if (version && *version != 4 && *version != 6)
        fail("version " + std::to_string(*version) + ", expected 4 or 6");
    if (port_first > port_last)
        fail("first port " + std::to_string(port_first) + " above the last");
    if (icmp_first > icmp_last || icmp_last > 255)
        fail("ICMP types " + std::to_string(icmp_first) + " to " +
             std::to_string(icmp_last) + ", expected 0 to 255");
    if (priority && *priority > 15)
        fail("priority " + std::to_string(*priority) + ", expected 0 to 15");
    if (repeats > 15)
        fail("repeats " + std::to_string(repeats) + ", expected 0 to 15");
}

bool filter_rule::matches(const packet_view& p) const
{
    if ((version && *version != p.version) || (protocol && *protocol != p.protocol) ||
        (from && !from->contains(p.src)) || (to && !to->contains(p.dst)) ||
        (length_max != 0 && p.size > length_max))
        return false;
    const auto in_range = [this](uint16_t port) {
        return port >= port_first && port <= port_last;
    };
    if (port_last != 0 &&
        !(p.has_ports && (in_range(p.src_port) || in_range(p.dst_port))))
        return false;
    return icmp_first < 0 || (p.icmp_type >= icmp_first && p.icmp_type <= icmp_last);
}

std::vector<filter_rule> default_filter()
{
    list_builder b;
    // Types of multicast listeners, routers, neighbours, redirects.
    b.drop_icmp6("IPv6 discovery", 130, 137);
    b.drop_icmp6("MLDv2", 143, 143);
    b.drop_protocol("IGMP", proto_igmp);
    b.drop_udp("mDNS", 5353, 5353);
    b.drop_udp("LLMNR", 5355, 5355);
    b.drop_udp("SSDP", 1900, 1900);
    b.drop_udp("NetBIOS", 137, 138);
    b.drop_udp("DHCP", 67, 68);
    b.drop_udp("DHCPv6", 546, 547);
    b.drop_udp("WS-Discovery", 3702, 3702);
    b.drop_udp("NTP", 123, 123);
    b.drop_udp("QUIC", 443, 443);
    b.drop("limited broadcast").to = prefix("255.255.255.255/32");
    b.drop_to("link-local", "169.254.0.0/16");
    b.drop_to("link-local", "fe80::/10");
    b.drop_from("link-local", "169.254.0.0/16");
    b.drop_from("link-local", "fe80::/10");
    b.drop_to("link-local multicast", "224.0.0.0/24");
    b.drop_to("link-local multicast", "ff02::/16");
    b.drop_protocol("OSPF", proto_ospf);
    b.drop_protocol("VRRP", proto_vrrp);
    b.drop_udp("RIP", 520, 521);
    for (const uint8_t p : { proto_udp, proto_tcp }) {
        filter_rule& dns = b.first("DNS", p, 12);
        dns.port_first = dns.port_last = 53;
        if (p == proto_udp)
            dns.duplicates = dedup::payload;
    }
    for (const bool v6 : { false, true }) {
        const uint8_t p = v6 ? proto_icmp6 : proto_icmp;
        filter_rule& ask = b.first("echo", p, 6);
        ask.icmp_first = ask.icmp_last = v6 ? 128 : 8;
        ask.duplicates = dedup::echo_newest;
        filter_rule& reply = b.first("echo reply", p, 6);
        reply.icmp_first = reply.icmp_last = v6 ? 129 : 0;
    }
    auto rules = b.take();
    for (filter_rule& r : rules)
        if (r.name == "QUIC") // browsers fall back to TCP at once
            r.what = verdict::port_unreachable;
    return rules;
}

dscp_table default_dscp()
{
    dscp_table t{};
    for (size_t dscp = 0; dscp < t.size(); ++dscp)
        t[dscp] = static_cast<uint8_t>(2 * (dscp >> 3));
    return t;
}

} // namespace gr::hf::ip
